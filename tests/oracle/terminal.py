"""terminal.py - the tool at a terminal, and interrupted: progress that is seen and changes no result, signals that leave nothing
behind, and what `ufunc bench` says.
"""
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time

import numpy as np

from uf import in_folder, run

TOOL = os.path.join(os.environ.get("BUILD", "build"), "ufunc")
SLOW = "(x, y) { auto s = y; for (int i = 0; i < %d; i++) s += sin(x * i + s); return s; }"
LINE = re.compile(rb"\rcomputing \S+ [kM]? ?(?:elements|points), +(\d+) % done, \S+ [kM]? ?(?:elements|points)/s, [^\r]* left\x1b\[K")


def at_terminal(*args, interrupt_after=None):
    """Runs the tool at a pseudo-terminal; what it wrote there, and its wait status. interrupt_after: a text that ^C follows."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(TOOL, [TOOL, *map(str, args)])
    seen, end = b"", time.monotonic() + 120
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            part = b""
        if not part:
            break
        seen += part
        if interrupt_after and re.search(interrupt_after, seen):
            os.write(terminal, b"\x03")
            interrupt_after = None
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(terminal)
    return seen, os.waitpid(pid, 0)[1]


def slow_arguments(rng, path):
    """Arrays over which SLOW takes seconds if it goes some 1,000 steps at each element, and a minute if 50,000."""
    np.save(path("x.npy"), rng.random((70, 1, 300)))
    np.save(path("y.npy"), rng.random((11, 300)).astype("f4"))


@in_folder
def progress(rng, path):
    """More than a second's work: lines whose share grows, wiped at the end, and the same result as without a terminal."""
    slow_arguments(rng, path)
    np.save(path("row.npy"), rng.random(70))
    np.save(path("points.npy"), rng.random(5000))
    np.save(path("f.npy"), rng.random((30, 14, 50)))
    np.save(path("i.npy"), rng.integers(0, 1000, (30, 14, 50)))
    np.save(path("mask.npy"), rng.random((11, 300)) < 0.7)
    np.save(path("rows.npy"), rng.random((14, 1)) < 0.7)
    fold = "(x, y) { auto s = x; for (int i = 0; i < %d; i++) s = sin(s * i + y); return s + y; }"
    integers = "(x, y) { auto s = x; for (int i = 0; i < %d; i++) s = s * i + y; return s + y; }"
    each_point = "[i](x, y) { float64 s = x[i]; for (int k = 0; k < %d; k++) s = sin(s * k); y[i] = s; }"
    each = "(x) -> (y) { forall (i : n) { float64 s = x[i]; for (int k = 0; k < %d; k++) s = sin(s * k); y[i] = s; } }"
    x, y, row, f, i = map(path, ("x.npy", "y.npy", "row.npy", "f.npy", "i.npy"))
    for steps, text, verb, *arguments in ((1 << 7, SLOW, "run", x, y, "-w", path("mask.npy")),
                                          (1 << 7, SLOW, "outer", row, y),
                                          (1 << 10, each, "run", f, "--layout", "(n)->(n)"),
                                          (1 << 10, fold, "reduce", f, "--axis=-1"),
                                          (1 << 10, fold, "reduce", f, "--axis=1", "--serial", "-w", path("rows.npy"), "--initial", 0.5),
                                          (1 << 14, integers, "reduce", i, "--axis=0,-1", "--keepdims"),
                                          (1 << 9, fold, "accumulate", f, "--axis", 1),
                                          (1 << 9, fold, "reduceat", f, "--axis", 2, "--starts", "0,7,30"),
                                          (1 << 13, each_point, "forall", path("points.npy"), "float64[5000]")):
        shares, threads = [], rng.integers(1, 3)
        while len(set(shares)) < 2 and steps < 1 << 26:  # a processor that is quick, or free now, needs more work to be seen at it twice
            command = [str(a) for a in (verb, text % steps, *arguments, "--threads", threads)]
            began = time.monotonic()
            seen, status = at_terminal(*command, "-o", path("watched.npy"))
            assert status == 0, (command, seen)
            shares = [int(m.group(1)) for m in LINE.finditer(seen)]
            steps = int(steps * max(1.5, min(64, 1.6 / (time.monotonic() - began))))
        assert len(shares) >= 2 and shares == sorted(shares) and shares[-1] > shares[0] and seen.endswith(b"\r\x1b[K"), (command, seen)
        done = subprocess.run([TOOL, *command, "-o", path("z.npy")], capture_output=True)
        assert done.returncode == 0 and not done.stderr, done
        a, b = np.load(path("watched.npy")), np.load(path("z.npy"))
        assert a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes(), command


@in_folder
def short_work(rng, path):
    """Nothing is written about what takes less than a second."""
    np.save(path("x.npy"), rng.random(1000))
    seen, status = at_terminal("run", "x + 1", path("x.npy"), "-o", path("y.npy"))
    assert status == 0 and seen == b"", seen


@in_folder
def shape_given(rng, path):
    """--shape is compared with the inputs at a terminal, too, where work is cut in pieces."""
    np.save(path("x.npy"), np.arange(5.0))
    seen, status = at_terminal("run", "sqrt", path("x.npy"), "--shape", "10", "-t", "float64")
    assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1 and b"dimension 0 is 5" in seen, (seen, status)
    seen, status = at_terminal("run", "x + 0.5", path("x.npy"), "--shape", "5", "-t", "float64")
    assert status == 0 and b"[0.5 1.5 2.5 3.5 4.5]" in seen, (seen, status)


@in_folder
def uncut(rng, path):
    """Work that is not done in parts is seen to go on."""
    np.save(path("x.npy"), rng.random(100000))
    np.save(path("i.npy"), rng.integers(0, 9, 100000))
    endless = "(x, y) { auto s = x; for (int i = 0; i < 1000000; i++) s += sin(y * i + s); return s; }"
    seen, status = at_terminal("at", endless, path("x.npy"), path("i.npy"), 1.5, interrupt_after=rb"\rcomputing 100 k elements, 2 s")
    assert b"\rcomputing 100 k elements, 1 s\x1b[K" in seen and b"\r\x1b[K" in seen[-20:], seen
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, status


@in_folder
def every_verb(rng, path):
    """Whatever computes for long is seen to do so, and ended by ^C, without an output."""
    np.save(path("x.npy"), rng.random(100000))
    np.save(path("few.npy"), rng.random(300))
    np.save(path("i.npy"), rng.integers(0, 9, 100000))
    steps = "auto s = %s; for (int i = 0; i < 1000000; i++) s += sin(%s * i + s); "
    kernel = "(x, y) { " + steps % ("x", "y") + "return s; }"
    points = "[k](u, v) { " + steps % ("u[k]", "u[k]") + "v[k] = s; }"
    for args in (["run", kernel, path("x.npy"), 2.5], ["outer", kernel, path("few.npy"), path("few.npy")],
                 ["forall", points, path("x.npy"), "float64[100000]"], ["at", kernel, path("x.npy"), path("i.npy"), 1.5],
                 ["reduce", kernel, path("x.npy")], ["accumulate", kernel, path("x.npy")],
                 ["reduceat", kernel, path("x.npy"), "--starts", "0,5000"]):
        seen, status = at_terminal(*args, "-o", path("out.npy"), interrupt_after=rb"\rcomputing")
        assert b"\rcomputing " in seen and seen.endswith(b"\r\x1b[K"), (args, seen)
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, (args, seen, status)
        assert sorted(os.listdir(path("."))) == ["few.npy", "i.npy", "x.npy"], args


@in_folder
def interrupted(rng, path):
    """^C while it computes: no output, an old one as it was, and status 130 for a shell."""
    slow_arguments(rng, path)
    kernel = SLOW % 50000
    with open(path("out.npy"), "wb") as file:
        file.write(b"old")
    seen, status = at_terminal("run", kernel, path("x.npy"), path("y.npy"), "-o", path("out.npy"), interrupt_after=b"% done")
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT and seen.endswith(b"\r\x1b[K"), (seen, status)
    assert open(path("out.npy"), "rb").read() == b"old"
    assert sorted(os.listdir(path("."))) == ["out.npy", "x.npy", "y.npy"], os.listdir(path("."))
    shell = subprocess.Popen(["sh", "-c", 'trap : INT; "$0" "$@"; echo $?', TOOL, "run", kernel, path("x.npy"), path("y.npy")],
                             stdout=subprocess.PIPE, process_group=0)
    time.sleep(1)
    os.killpg(shell.pid, signal.SIGINT)
    assert shell.communicate()[0] == b"130\n"


@in_folder
def interrupted_while_writing(rng, path):
    """A signal while a file is being written: neither it nor the temporary file is there afterwards."""
    np.save(path("x.npy"), rng.random((2000, 1000)))
    limit = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, limit[1]))  # some of these signals leave one
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGXCPU, signal.SIGXFSZ):
        there = set(os.listdir(path(".")))
        process = subprocess.Popen([TOOL, "run", "x + 1", path("x.npy"), "-o", path("y.csv")], stderr=subprocess.PIPE)
        end = time.monotonic() + 60
        while set(os.listdir(path("."))) == there and time.monotonic() < end:
            time.sleep(0.01)
        temporary = set(os.listdir(path("."))) - there
        assert len(temporary) == 1 and temporary != {"y.csv"}, temporary
        process.send_signal(number)
        process.communicate()
        assert process.returncode == -number and set(os.listdir(path("."))) == there, (process.returncode, os.listdir(path(".")))
    resource.setrlimit(resource.RLIMIT_CORE, limit)


def benches(rng):
    """What it says is of the form promised, and the rate is bytes by time."""
    units = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    for args, nbytes in ((["add", "--shape", "1000,200"], 2400000), (["sum", "-n", "100000", "-t", "float64"], 800008),
                         (["matmul", "-n", "30,40", "-n", "40,50"], 4 * (1200 + 2000 + 1500)), (["add", "--as", "accumulate", "-n", "5000", "-t", "int64"], 80000),
                         (["x * y", "--as", "outer", "-n", "100"], 40800)):
        out = subprocess.run([TOOL, "bench", *args], capture_output=True, check=True, text=True).stdout
        call, took, elements, moved, copy = out.splitlines()
        assert call.startswith("call      ") and call.endswith(", on the CPU"), out
        seconds = float(re.match(r"time +([\d.e+-]+) us, the median of 7 times \d+ calls$", took).group(1)) * 1e-6
        size, rate = re.match(r"bytes +(.*)B read and written, (.*)B/s$", moved).groups()
        value = [float(t.split()[0]) * units[t.split()[1] if len(t.split()) > 1 else ""] for t in (size, rate)]
        assert abs(value[0] / nbytes - 1) < 0.01 and abs(value[0] / seconds / value[1] - 1) < 0.02, (out, value)
        assert re.match(r"elements +[\d.e+]+ ?[kMGT]?/s$", elements) and re.match(r"copy +.*B/s; the call has \d+ % of that$", copy), out


if __name__ == "__main__":
    sys.exit(run([progress, short_work, shape_given, uncut, every_verb, interrupted, interrupted_while_writing, benches]))
