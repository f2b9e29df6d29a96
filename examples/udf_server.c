/* udf_server.c - a server that applies formulas of its clients to its columns x and y, on localhost. A request is a line, a kernel such
 * as "(x, y) { return x * y; }"; the reply is a line, "ok SUM" of the results, or "error: ..". A client may be hostile, and disturbs
 * the others as little as these bounds allow:
 *    a text can only read its columns           kernel C is checked, and has no undefined behaviour
 *    loops that do not end                      max_steps of the definition, for each row
 *    what takes long all the same               the watchdog sets the flag `cancel` of a call that has used its time of a processor
 *    large texts, and those that never end      a line has at most LINE bytes, and at most PATIENCE seconds to arrive
 *    replies that nobody reads                  sending waits no longer than that
 *    many connections                           more than CLIENTS are turned away
 * A loop that is proved short is not counted, and keeps a row for some 50 ms at most; the flag is looked at between rows. The GPU, which
 * takes one call at a time, is told to end nothing: there a row of each of 1000 threads may be as long.
 *    udf_server            tests itself by clients of its own, on the CPU and, if there is one, on the GPU
 *    udf_server PORT       serves */
#include "example.h"
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ROWS = 1000,
    CLIENTS = 12, /* room for all clients of the demonstration, those that are just leaving included */
    LINE = 2000,
    STEPS = 1000000
};
static const double PATIENCE = 0.5, TIME = 0.2; /* seconds: for a line, and of a processor for a call */

/* ---- The server ---- */

static double x[ROWS], y[ROWS];
static DLDevice device;
static DLTensor columns[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, gpu = PTHREAD_MUTEX_INITIALIZER;

/* What has the lock: used, cancel, until. */
typedef struct client {
    bool used;
    int fd;
    atomic_int cancel;
    clockid_t processor; /* the time that its thread has used, */
    double until;        /* and what that is when its call is over its time; 0: it has no call */
    size_t length;
    char text[LINE + 1];
} client;
static client clients[CLIENTS];

/* False: the client does not read. */
static bool say(int fd, const char *reply) {
    size_t length = strlen(reply);
    return send(fd, reply, length, MSG_NOSIGNAL) == (ssize_t)length;
}

/* Waits for a line, which then begins the text. Its length; -1: there is none, and the client is to go. */
static long await_line(client *c) {
    double until = seconds() + PATIENCE;
    for (;;) {
        char *end = memchr(c->text, '\n', c->length);
        if (end)
            return end - c->text;
        double left = until - seconds();
        if (c->length == LINE || left <= 0) {
            say(c->fd, c->length == LINE ? "error: the line is too long\n" : "error: too slow\n");
            return -1;
        }
        poll(&(struct pollfd){.fd = c->fd, .events = POLLIN}, 1, 1 + (int)(1000 * left));
        ssize_t got = recv(c->fd, c->text + c->length, LINE - c->length, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return -1;
        c->length += got > 0 ? (size_t)got : 0;
    }
}

static double time_of(clockid_t clock) {
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* For a call on this thread, which is that of the client. 0: the call has ended. */
static void set_limit(client *c, double time) {
    pthread_mutex_lock(&lock);
    c->cancel = 0;
    c->until = time > 0 && pthread_getcpuclockid(pthread_self(), &c->processor) == 0 ? time_of(c->processor) + time : 0;
    pthread_mutex_unlock(&lock);
}

static uf_status compute(client *c, const uf_func *formula, int nin, double *results) {
    DLTensor args[3] = {columns[0], columns[1]};
    bool on_gpu = device.device_type == kDLCUDA;
    DLManagedTensor *out;
    uf_status status = uf_empty(&out, device, UF_DTYPE_OF(*results), 1, (int64_t[]){ROWS});
    if (status)
        return status;
    if (on_gpu)
        pthread_mutex_lock(&gpu);
    set_limit(c, TIME);
    args[nin] = out->dl_tensor;
    status = uf_call(formula, nin + 1, args,
                     &(uf_options){.size = sizeof(uf_options),
                                   .threads = 1,
                                   .cancel = on_gpu ? NULL : (const volatile int *)&c->cancel});
    if (!status)
        status =
            uf_copy(&UF_ARRAY(results, ROWS), &out->dl_tensor, NULL); /* waits, and has the errors of a GPU's kernel */
    set_limit(c, 0);
    if (on_gpu)
        pthread_mutex_unlock(&gpu);
    out->deleter(out);
    return status;
}

static bool answer(client *c, const char *text) {
    double results[ROWS], sum = 0;
    char reply[300];
    uf_func *formula;
    uf_section section = {.source = text};
    uf_description about = {.size = sizeof about};
    uf_status status = uf_define(&formula, &(uf_definition){.size = sizeof(uf_definition),
                                                            .name = "formula",
                                                            .nsections = 1,
                                                            .sections = &section,
                                                            .max_steps = STEPS});
    if (!status)
        status = uf_describe(formula, &about);
    bool fits = about.nin <= 2 && about.nout == 1;
    if (!status && fits)
        status = compute(c, formula, about.nin, results);
    for (int i = 0; !status && fits && i < ROWS; i++)
        sum += results[i];
    if (status)
        snprintf(reply, sizeof reply, "error: %.*s\n", (int)fmin(280, (double)strcspn(uf_last_error()->message, "\n")),
                 uf_last_error()->message);
    else if (!fits)
        snprintf(reply, sizeof reply, "error: a formula takes at most two columns and returns one\n");
    else
        snprintf(reply, sizeof reply, "ok %.12g\n", sum);
    uf_free(formula);
    return say(c->fd, reply);
}

static void *serve(void *argument) {
    client *c = argument;
    for (long length; (length = await_line(c)) >= 0;) {
        char text[LINE + 1];
        memcpy(text, c->text, (size_t)length);
        text[length] = 0;
        c->length -= (size_t)length + 1;
        memmove(c->text, c->text + length + 1, c->length);
        if (!(strlen(text) < (size_t)length ? say(c->fd, "error: a byte 0\n") : answer(c, text)))
            break;
    }
    close(c->fd);
    pthread_mutex_lock(&lock);
    c->used = false;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void accept_client(int listener) {
    int fd = accept(listener, NULL, NULL), small = 4096;
    if (fd < 0)
        return;
    struct timeval wait = {0, (suseconds_t)(1e6 * PATIENCE)};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    client *c = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CLIENTS && !c; i++)
        c = clients[i].used ? NULL : &clients[i];
    if (c)
        *c = (client){.used = true, .fd = fd};
    pthread_mutex_unlock(&lock);
    pthread_t thread;
    if (c && pthread_create(&thread, NULL, serve, c) == 0) {
        pthread_detach(thread);
        return;
    }
    send(fd, "error: the server is full\n", 26, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
    if (c)
        c->used = false;
}

/* Accepts clients, and is the watchdog. */
static void *watch(void *argument) {
    int listener = *(int *)argument;
    struct pollfd news = {.fd = listener, .events = POLLIN};
    for (;;) {
        if (poll(&news, 1, 10) > 0)
            accept_client(listener);
        pthread_mutex_lock(&lock);
        for (int i = 0; i < CLIENTS; i++)
            if (clients[i].used && clients[i].until > 0 && time_of(clients[i].processor) > clients[i].until)
                clients[i].cancel = 1;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* Port 0: any that is free. *port is the one that it is. */
static int listen_at(uint16_t *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 64) ||
        getsockname(listener, (struct sockaddr *)&at, &size)) {
        perror("udf_server");
        exit(1);
    }
    *port = ntohs(at.sin_port);
    return listener;
}

/* ---- Its clients ---- */

static uint16_t port;

/* As check() does it, for threads: others are still at work, so that nothing may be torn down. */
static void demand(bool right, const char *what) {
    if (!right) {
        fprintf(stderr, "wrong: %s\n", what);
        _exit(1);
    }
}

static int connect_to_server(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){20, 0}, sizeof(struct timeval));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){20, 0}, sizeof(struct timeval));
    demand(fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "a client reaches the server");
    return fd;
}

/* One line of reply; "" if the server has ended the connection. */
static const char *read_reply(int fd, char *reply, size_t size) {
    size_t length = 0;
    while (length < size - 1) {
        ssize_t got = recv(fd, reply + length, 1, 0);
        demand(got >= 0 || errno == ECONNRESET, "the server answers within 20 seconds");
        if (got <= 0 || reply[length] == '\n')
            break;
        length++;
    }
    reply[length] = 0;
    return reply;
}

static void expect(int fd, const char *line, const char *want) {
    char reply[400];
    demand(send(fd, line, strlen(line), MSG_NOSIGNAL) == (ssize_t)strlen(line), "the server reads");
    read_reply(fd, reply, sizeof reply);
    if (!strstr(reply, want))
        fprintf(stderr, "got '%s' for %.60s", reply, line);
    demand(strstr(reply, want) != NULL, want);
}

static double slowest; /* of all replies to friendly clients; has the lock */

static void *be_friendly(void *unused) {
    int fd = connect_to_server();
    char line[100], want[40];
    for (int k = 1; k <= 8; k++) {
        double sum = 0, start = seconds();
        for (int i = 0; i < ROWS; i++)
            sum += k * x[i] + y[i];
        snprintf(line, sizeof line, "(x, y) { return %d * x + y; }\n", k);
        snprintf(want, sizeof want, "ok %.12g", sum);
        expect(fd, line, want);
        pthread_mutex_lock(&lock);
        slowest = fmax(slowest, seconds() - start);
        pthread_mutex_unlock(&lock);
    }
    close(fd);
    return unused;
}

static void *be_endless(void *unused) {
    int fd = connect_to_server();
    expect(fd, "(x) { while (x == x) x = x + 0; return x; }\n", "took more than 1000000 steps");
    if (device.device_type == kDLCPU) /* each row is within its steps; all of them are not within the time */
        expect(fd, "(x) { auto s = x; for (int i = 0; i < 900000 + (x < 0); i++) s = sin(s + i); return s; }\n",
               "was cancelled");
    if (device.device_type == kDLCPU) { /* no more passes than steps, but each of them is long */
        char line[LINE] = "(x) { for (int i = 0; i < 1000000; i++) x = ";
        for (int k = 0; k < 100; k++)
            strcat(line, "sin(");
        strcat(line, "x");
        for (int k = 0; k < 100; k++)
            strcat(line, ")");
        strcat(line, "; return x; }\n");
        expect(fd, line, "was cancelled");
    }
    expect(fd, "(x) { return 1; }\n", "ok 1000");
    close(fd);
    return unused;
}

static void *be_wrong(void *unused) {
    int fd = connect_to_server();
    expect(fd, "(x) { return x +; }\n", "error: ");
    expect(fd, "(a, b, c) { return a; }\n", "at most two columns");
    expect(fd, "(x) { return x * I; }\n", "error: ");
    expect(fd, "(x) { int t[9]; return t[1000000000] + 1 / (int)0; }\n", "ok 0");
    expect(fd, "\377\376\001\n", "error: ");
    demand(send(fd, "(x) {\0 }\n", 9, MSG_NOSIGNAL) == 9, "the server reads");
    expect(fd, "", "a byte 0");
    char deep[LINE];
    memset(deep, '(', sizeof deep);
    memcpy(deep + sizeof deep - 2, "\n", 2);
    expect(fd, deep, "error: ");
    close(fd);
    return unused;
}

static void *be_huge(void *unused) {
    int fd = connect_to_server();
    char piece[10000], reply[400];
    memset(piece, '+', sizeof piece);
    for (int i = 0; i < 100 && send(fd, piece, sizeof piece, MSG_NOSIGNAL) > 0; i++)
        ;
    while (read_reply(fd, reply, sizeof reply)[0])
        demand(strstr(reply, "too long") != NULL, reply);
    close(fd);
    return unused;
}

static void *be_slow(void *unused) {
    int fd = connect_to_server();
    char reply[400];
    double start = seconds();
    while (send(fd, "(", 1, MSG_NOSIGNAL) == 1 && seconds() < start + 10)
        poll(NULL, 0, 50);
    demand(seconds() < start + 10, "a slow client is sent away");
    read_reply(fd, reply, sizeof reply);
    close(fd);
    return unused;
}

/* Asks, and reads no reply. */
static void *be_deaf(void *unused) {
    int fd = connect_to_server();
    double start = seconds();
    while (send(fd, ")\n)\n)\n)\n", 8, MSG_NOSIGNAL) > 0 && seconds() < start + 10)
        ;
    demand(seconds() < start + 10, "a deaf client is sent away");
    close(fd);
    return unused;
}

static void *be_gone(void *unused) {
    for (int i = 0; i < 3; i++) {
        int fd = connect_to_server();
        send(fd, i ? "(x) { return exp(x); }\n" : "(x) { ret", i ? 23 : 9, MSG_NOSIGNAL);
        close(fd);
    }
    return unused;
}

/* More silent clients than there is room for. They are sent away, and there is room again. */
static void crowd(void) {
    int fds[2 * CLIENTS], full = 0;
    char reply[400];
    for (int i = 0; i < 2 * CLIENTS; i++)
        fds[i] = connect_to_server();
    for (int i = 0; i < 2 * CLIENTS; i++) {
        full += strstr(read_reply(fds[i], reply, sizeof reply), "full") != NULL;
        close(fds[i]);
    }
    demand(full >= CLIENTS && full < 2 * CLIENTS, "as many clients as there is room for are let in");
}

static void set_up(DLDevice where, DLManagedTensor **held) {
    DLTensor host[2] = {UF_ARRAY(x), UF_ARRAY(y)};
    device = where;
    for (int i = 0; i < ROWS; i++) {
        x[i] = i;
        y[i] = 0.5 * i + 1;
    }
    for (int k = 0; k < 2; k++)
        columns[k] = (held[k] = copy_to(device, host[k]))->dl_tensor;
}

/* Waits until no client is served any more. */
static void await_end(void) {
    for (int i = 0; i < CLIENTS;) {
        pthread_mutex_lock(&lock);
        bool used = clients[i].used;
        pthread_mutex_unlock(&lock);
        if (used)
            poll(NULL, 0, 5);
        else
            i++;
    }
}

int main(int argc, char **argv) {
    port = (uint16_t)number(argc, argv, 1, 0);
    int listener = listen_at(&port);
    DLManagedTensor *held[2];
    if (argc > 1) {
        set_up((DLDevice){kDLCPU, 0}, held);
        printf("udf_server  at port %d\n", port);
        watch(&listener);
    }
    pthread_t server;
    void *(*const kinds[])(void *) = {be_friendly, be_friendly, be_endless, be_wrong,
                                      be_huge,     be_slow,     be_deaf,    be_gone};
    enum {
        KINDS = sizeof kinds / sizeof *kinds
    };
    DLDevice where;
    for (int k = 0; find_device(k, &where); k++) {
        pthread_t threads[KINDS];
        set_up(where, held);
        if (k == 0)
            demand(pthread_create(&server, NULL, watch, &listener) == 0, "a thread for the server");
        slowest = 0;
        for (int i = 0; i < KINDS; i++)
            demand(pthread_create(&threads[i], NULL, kinds[i], NULL) == 0, "a thread for a client");
        for (int i = 0; i < KINDS; i++)
            pthread_join(threads[i], NULL);
        crowd();
        await_end();
        be_friendly(NULL);
        await_end();
        printf("udf_server  %-7s friendly clients got all replies, the slowest after %.0f ms\n", name_of(where),
               1e3 * slowest);
        for (int i = 0; i < 2; i++)
            held[i]->deleter(held[i]);
    }
}
