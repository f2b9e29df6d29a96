/* black_scholes.c - prices of calls and puts by Black and Scholes, over a grid of strikes and spot prices, with their greeks: each is
 * the derivative, by uf_derivative, of the price's own text. Strikes and volatilities are columns, spot prices a row, and the rest are
 * numbers: they broadcast. Runs on the CPU and, if there is one, on the GPU; prices are compared with plain C, and greeks with
 * differences of these.
 *    black_scholes [STRIKES SPOTS] */
#include "example.h"
#include <math.h>

static const char price_source[] = UF_SOURCE(
    normal(x) { return 0.5 * erfc(-x * M_SQRT1_2); }(spot, volatility, years, rate, strike)->(call, put) {
        auto spread = volatility * sqrt(years), present = strike * exp(-rate * years);
        auto d = log(spot / present) / spread + 0.5 * spread;
        call = spot * normal(d) - present * normal(d - spread);
        put = present * normal(spread - d) - spot * normal(-d);
    });

enum {
    SPOT,
    VOLATILITY,
    YEARS,
    RATE,
    STRIKE,
    INPUTS
};
enum {
    PRICE,
    DELTA,
    VEGA,
    THETA,
    RHO,
    GAMMA,
    FUNCTIONS
};

/* What each function is: the derivative of an earlier one by one input, and the step of the differences that it is compared with.
 * Theta is by the time that is left. */
static const struct {
    const char *name;
    int of, by;
    double step;
} greeks[FUNCTIONS] = {[PRICE] = {.name = "price"},
                       [DELTA] = {"delta", PRICE, SPOT, 1e-3},
                       [VEGA] = {"vega", PRICE, VOLATILITY, 1e-5},
                       [THETA] = {"theta", PRICE, YEARS, 1e-5},
                       [RHO] = {"rho", PRICE, RATE, 1e-5},
                       [GAMMA] = {"gamma", DELTA, SPOT, 2e-2}};

typedef struct both {
    double call, put;
} both;

static both price_plainly(const double *in) {
    double spread = in[VOLATILITY] * sqrt(in[YEARS]), present = in[STRIKE] * exp(-in[RATE] * in[YEARS]);
    double d = log(in[SPOT] / present) / spread + 0.5 * spread;
    double put = present * 0.5 * erfc((d - spread) * sqrt(0.5)) - in[SPOT] * 0.5 * erfc(d * sqrt(0.5));
    return (both){put + in[SPOT] - present, put}; /* what a call and a put are worth together is known */
}

/* The price, its difference by one input, or the difference of differences. */
static both differ(int which, const double *in) {
    if (which == PRICE)
        return price_plainly(in);
    double up[INPUTS], down[INPUTS], step = greeks[which].step, scale = 0.5 / step;
    memcpy(up, in, sizeof up);
    memcpy(down, in, sizeof down);
    up[greeks[which].by] += step;
    down[greeks[which].by] -= step;
    both a = differ(greeks[which].of, up), b = differ(greeks[which].of, down);
    return (both){(a.call - b.call) * scale, (a.put - b.put) * scale};
}

/* Looks at every 101st place of the grid. */
static void check_all(double *const *results, DLTensor *inputs, int64_t strikes, int64_t spots) {
    for (int64_t place = 0; place < strikes * spots; place += 101) {
        int64_t i = place / spots, j = place % spots;
        double in[INPUTS];
        for (int k = 0; k < INPUTS; k++)
            in[k] = ((double *)inputs[k].data)[k == SPOT ? j : k == STRIKE || k == VOLATILITY ? i : 0];
        for (int f = 0; f < FUNCTIONS; f++) {
            both want = differ(f, in);
            double bound = f == PRICE ? 1e-12 * in[STRIKE] : 1e-5 * (fabs(want.call) + (f == GAMMA ? 0.01 : 1));
            check(fabs(results[2 * f][place] - want.call) <= bound, greeks[f].name);
            check(fabs(results[2 * f + 1][place] - want.put) <= bound, greeks[f].name);
        }
    }
}

int main(int argc, char **argv) {
    int64_t strikes = number(argc, argv, 1, 200), spots = number(argc, argv, 2, 500), n = strikes * spots;
    double *strike = allocate(strikes, sizeof *strike), *volatility = allocate(strikes, sizeof *volatility);
    double *spot = allocate(spots, sizeof *spot), *results[2 * FUNCTIONS], years = 0.5, rate = 0.03;
    for (int64_t i = 0; i < strikes; i++) {
        strike[i] = 80 + 40 * (double)i / (double)strikes;
        volatility[i] = 0.2 + 0.0002 * (strike[i] - 100) * (strike[i] - 100); /* a smile */
    }
    for (int64_t j = 0; j < spots; j++)
        spot[j] = 70 + 60 * (double)j / (double)spots;
    DLTensor inputs[INPUTS] = {[SPOT] = UF_ARRAY(spot, spots),
                               [VOLATILITY] = UF_ARRAY(volatility, strikes, 1),
                               [YEARS] = UF_SCALAR(years),
                               [RATE] = UF_SCALAR(rate),
                               [STRIKE] = UF_ARRAY(strike, strikes, 1)};

    uf_func *functions[FUNCTIONS];
    UF_CHECK(uf_vectorize(&functions[PRICE], "price", "float64,float64,float64,float64,float64->float64,float64",
                          price_source));
    for (int f = 1; f < FUNCTIONS; f++)
        UF_CHECK(uf_derivative(&functions[f], functions[greeks[f].of], greeks[f].by));
    for (int r = 0; r < 2 * FUNCTIONS; r++)
        results[r] = allocate(n, sizeof *results[r]);

    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        DLManagedTensor *s = copy_to(device, inputs[SPOT]), *v = copy_to(device, inputs[VOLATILITY]);
        DLManagedTensor *x = copy_to(device, inputs[STRIKE]);
        double took = 0;
        for (int f = 0; f < FUNCTIONS; f++) {
            DLTensor host[2] = {UF_ARRAY(results[2 * f], strikes, spots), UF_ARRAY(results[2 * f + 1], strikes, spots)};
            memset(results[2 * f], 0, (size_t)n * sizeof *results[0]);
            memset(results[2 * f + 1], 0, (size_t)n * sizeof *results[0]);
            DLManagedTensor *call = copy_to(device, host[0]), *put = copy_to(device, host[1]);
            for (int warm = 0; warm < 2; warm++) { /* the first round compiles */
                double start = seconds();
                UF_CHECK(UF_CALL(functions[f], s->dl_tensor, v->dl_tensor, inputs[YEARS], inputs[RATE], x->dl_tensor,
                                 call->dl_tensor, put->dl_tensor));
                UF_CHECK(uf_sync(device, NULL));
                took += warm * (seconds() - start);
            }
            take_back(host[0], call);
            take_back(host[1], put);
        }
        s->deleter(s), v->deleter(v), x->deleter(x);
        check_all(results, inputs, strikes, spots);
        printf("black_scholes  %-7s %8.2f Mvalue/s\n", name_of(device), 1e-6 * (double)(2 * n * FUNCTIONS) / took);
    }
    int64_t middle = strikes / 2 * spots + spots / 2;
    printf("black_scholes  strike %.4g, spot %.4g:  call       put\n", strike[strikes / 2], spot[spots / 2]);
    for (int f = 0; f < FUNCTIONS; f++)
        printf("black_scholes  %-16s %11.5f %11.5f\n", greeks[f].name, results[2 * f][middle],
               results[2 * f + 1][middle]);
    for (int f = 0; f < FUNCTIONS; f++)
        uf_free(functions[f]);
    for (int r = 0; r < 2 * FUNCTIONS; r++)
        free(results[r]);
    free(strike);
    free(volatility);
    free(spot);
}
