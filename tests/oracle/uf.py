"""uf.py - the library through ctypes, and random arrays, for tests that have NumPy as their oracle."""
import ctypes as c
import os
import random
import zlib

import numpy as np

lib = c.CDLL(os.environ.get("UFUNC_LIB", "build/libufunc.so"))


class DLDevice(c.Structure):
    _fields_ = [("type", c.c_int), ("id", c.c_int)]


class DLDataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", DLDevice), ("ndim", c.c_int), ("dtype", DLDataType),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class AxisList(c.Structure):
    _fields_ = [("count", c.c_int), ("axes", c.POINTER(c.c_int))]


class Axes(c.Structure):
    _fields_ = [("size", c.c_size_t), ("count", c.c_int), ("lists", c.POINTER(AxisList)), ("axis", c.POINTER(c.c_int)),
                ("keepdims", c.c_bool)]


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("stream", c.c_void_p), ("device", DLDevice), ("casting", c.c_int),
                ("signature", c.c_char_p), ("where", c.POINTER(DLTensor)), ("threads", c.c_int), ("flags", c.c_uint),
                ("axes", c.POINTER(Axes))]


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("argument", c.c_int), ("dimension", c.c_int), ("line", c.c_int),
                ("column", c.c_int), ("message", c.c_char * 4096)]


lib.uf_last_error.restype = c.POINTER(Error)
lib.uf_vectorize.argtypes = [c.POINTER(c.c_void_p), c.c_char_p, c.c_char_p, c.c_char_p]
lib.uf_guvectorize.argtypes = [c.POINTER(c.c_void_p)] + 4 * [c.c_char_p]
lib.uf_load.argtypes = [c.POINTER(c.c_void_p), c.c_char_p]
lib.uf_catalogue.argtypes = [c.c_int64]
lib.uf_catalogue.restype = c.c_char_p
lib.uf_call.argtypes = lib.uf_infer.argtypes = [c.c_void_p, c.c_int, c.POINTER(DLTensor), c.POINTER(Options)]
lib.uf_free.argtypes = [c.c_void_p]
lib.uf_free.restype = None

CASTING = {None: 0, "no": 1, "equiv": 2, "safe": 3, "same_kind": 4, "unsafe": 5}
STRONG_NUMBERS, STAGE = 2, 4
GPU = DLDevice(2, 0)
ERR_ARGUMENT, ERR_SIGNATURE, ERR_SHAPE, ERR_CAST = 1, 4, 5, 6
CODES = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}
KINDS = {code: kind for kind, code in CODES.items()}
DTYPES = [np.dtype(t) for t in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")]


class Failure(Exception):
    def __init__(self):
        error = lib.uf_last_error().contents
        super().__init__(error.message.decode())
        self.status, self.argument = error.status, error.argument


def tensor(a):
    """A DLTensor over a NumPy array, which must be kept."""
    t = DLTensor(a.ctypes.data, DLDevice(1, 0), a.ndim, DLDataType(CODES[a.dtype.kind], 8 * a.itemsize, 1))
    t.shape = (c.c_int64 * a.ndim)(*a.shape)
    assert all(s % a.itemsize == 0 for s in a.strides)
    t.strides = (c.c_int64 * a.ndim)(*(s // a.itemsize for s in a.strides))
    return t


def axes_of(axes, axis, keepdims):
    """NumPy's axes (a list of ints and tuples), axis and keepdims as the library's, or None."""
    if axes is None and axis is None and not keepdims:
        return None
    lists = [(a,) if isinstance(a, int) else a for a in axes or ()]
    rows = (AxisList * len(lists))(*(AxisList(len(a), (c.c_int * len(a))(*a)) for a in lists))
    one = None if axis is None else c.pointer(c.c_int(axis))
    return c.pointer(Axes(c.sizeof(Axes), len(lists), rows, one, keepdims))


class Func:
    def __init__(self, source, signatures=None, layout=None):
        self.f = c.c_void_p()
        texts = [None if t is None else t.encode() for t in (signatures, source)]
        if (lib.uf_guvectorize(c.byref(self.f), b"f", layout.encode(), *texts) if layout else
                lib.uf_vectorize(c.byref(self.f), b"f", *texts)):
            raise Failure()

    @classmethod
    def load(cls, what):
        """From a file, or of the catalogue."""
        self = cls.__new__(cls)
        self.f = c.c_void_p()
        if lib.uf_load(c.byref(self.f), what.encode()):
            raise Failure()
        return self

    def __del__(self):
        lib.uf_free(self.f)

    def __call__(self, *arrays, where=None, casting=None, threads=0, flags=0, axes=None, axis=None, keepdims=False,
                 device=None):
        mask = None if where is None else c.pointer(tensor(where))
        options = Options(size=c.sizeof(Options), casting=CASTING[casting], threads=threads, where=mask,
                          flags=flags | (STAGE if device else 0), device=device or DLDevice(),
                          axes=axes_of(axes, axis, keepdims))
        if lib.uf_call(self.f, len(arrays), (DLTensor * len(arrays))(*map(tensor, arrays)), options):
            raise Failure()

    def infer(self, *inputs, axes=None, axis=None, keepdims=False):
        """dtype and shape of the (one) output."""
        out = DLTensor(shape=(c.c_int64 * 64)())
        args = (DLTensor * (len(inputs) + 1))(*map(tensor, inputs), out)
        options = Options(size=c.sizeof(Options), axes=axes_of(axes, axis, keepdims))
        if lib.uf_infer(self.f, len(args), args, options):
            raise Failure()
        out = args[-1]
        return np.dtype(f"{KINDS[out.dtype.code]}{out.dtype.bits // 8}"), tuple(out.shape[:out.ndim])


def catalogue():
    names, name = [], lib.uf_catalogue(0)
    while name is not None:
        names.append(name.decode())
        name = lib.uf_catalogue(len(names))
    return names


def same(a, b):
    """Equal bits; any NaN equals any NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = np.ascontiguousarray(a).reshape(-1), np.ascontiguousarray(b).reshape(-1)
    if a.dtype.kind == "c":
        a, b = (z.view(f"f{z.itemsize // 2}") for z in (a, b))
    equal = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    return bool(np.all(equal | (np.isnan(a) & np.isnan(b)) if a.dtype.kind == "f" else equal))


def random_values(rng, shape, dtype):
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.asarray(rng.integers(info.min, info.max, shape, dtype, endpoint=True))
    values = np.asarray(rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 3))
    return (values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def random_shape(rng, most=2000):
    while True:
        shape = rng.choice([0, 1, 2, 3, 5, 7, 16, 17, 31, 33, 100, 257], rng.choice([0, 1, 1, 2, 2, 3, 4, 6]),
                           p=[.02, .1, .12, .12, .12, .1, .1, .1, .08, .08, .04, .02])
        if np.prod(np.maximum(shape, 1), dtype=np.int64) <= most:
            return tuple(map(int, shape))


def random_source(rng, shape):
    """A shape that broadcasts to `shape`."""
    source = tuple(1 if rng.random() < 0.25 else n for n in shape)
    return source[rng.integers(0, len(source) + 1):] if rng.random() < 0.25 else source


def random_window(rng, shape):
    """A shape, and a function that gives the view of `shape` inside an array of it: with the dimensions permuted,
    stepped, reversed, and more around it."""
    order = rng.permutation(len(shape))
    steps = rng.choice([1, 1, 1, 2, 3, -1, -2], len(shape))
    room = [n * abs(int(s)) + int(rng.choice([0, 0, 1, 2])) for n, s in zip(shape, steps)]
    index = tuple(slice(None, None, int(s)) for s in steps) + (...,)
    return ([room[d] for d in order],
            lambda block: block.transpose(np.argsort(order))[index][tuple(map(slice, shape)) + (...,)])


def random_view(rng, shape, dtype):
    block_shape, window = random_window(rng, shape)
    return window(random_values(rng, block_shape, dtype))


def run(tests):
    """Runs functions of a random generator, printed as TAP; the exit status. A test's numbers depend on UF_SEED and its name."""
    seed = int(os.environ.get("UF_SEED", "0"), 0) or random.randrange(1, 1 << 32)
    print(f"1..{len(tests)}\n# UF_SEED={seed}, NumPy {np.__version__}")
    failed = 0
    for number, test in enumerate(tests, 1):
        problem = None
        try:
            with np.errstate(all="ignore"):
                test(np.random.default_rng([seed, zlib.crc32(test.__name__.encode())]))
        except (AssertionError, Failure, KeyError) as e:
            failed, problem = failed + 1, f"{type(e).__name__}: {e}"
        print(f"{'not ok' if problem else 'ok'} {number} - {test.__name__}", flush=True)
        if problem:
            print("#", problem.replace("\n", "\n# "))
    return bool(failed)
