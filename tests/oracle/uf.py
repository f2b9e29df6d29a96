"""uf.py - the library through ctypes, and random arrays, for tests that have NumPy as their oracle."""
import ctypes as c
import mmap
import os
import random
import tempfile
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
                ("axes", c.POINTER(Axes)), ("scratch", c.c_void_p), ("scratch_size", c.c_size_t), ("block", c.c_int),
                ("elements", c.c_int)]


class Launch(c.Structure):
    _fields_ = [("size", c.c_size_t), ("grid", c.c_int64), ("block", c.c_int), ("elements", c.c_int),
                ("vector", c.c_int), ("registers", c.c_int), ("shared_bytes", c.c_int), ("local_bytes", c.c_int),
                ("blocks_per_processor", c.c_int), ("occupancy", c.c_double), ("threads", c.c_int)]


class ReduceOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("stream", c.c_void_p), ("casting", c.c_int), ("signature", c.c_char_p),
                ("naxes", c.c_int), ("axes", c.POINTER(c.c_int)), ("keepdims", c.c_bool),
                ("initial", c.POINTER(DLTensor)), ("where", c.POINTER(DLTensor)), ("scratch", c.c_void_p),
                ("scratch_size", c.c_size_t), ("threads", c.c_int), ("flags", c.c_uint)]


class ReductionDef(c.Structure):
    _fields_ = [("size", c.c_size_t), ("map", c.c_char_p), ("combine", c.c_char_p), ("finish", c.c_char_p),
                ("state", c.c_char_p), ("identity", c.c_char_p), ("flags", c.c_uint)]


class Section(c.Structure):
    _fields_ = [("signatures", c.c_char_p), ("source", c.c_char_p)]


class Definition(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("doc", c.c_char_p), ("nsections", c.c_int),
                ("sections", c.POINTER(Section)), ("fast", c.c_uint), ("flags", c.c_uint), ("max_registers", c.c_int),
                ("layout", c.c_char_p), ("blas", c.c_char_p), ("identity", c.c_char_p),
                ("reduction", c.POINTER(ReductionDef))]


class Description(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("doc", c.c_char_p), ("kind", c.c_char_p),
                ("nin", c.c_int), ("nout", c.c_int), ("signatures", c.c_char_p), ("layout", c.c_char_p),
                ("identity", c.c_char_p), ("order", c.c_uint), ("nstate", c.c_int)]


class Managed(c.Structure):
    pass


Managed._fields_ = [("tensor", DLTensor), ("context", c.c_void_p), ("delete", c.CFUNCTYPE(None, c.POINTER(Managed)))]

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
lib.uf_reduction.argtypes = [c.POINTER(c.c_void_p), c.c_char_p, c.c_char_p, c.POINTER(ReductionDef)]
lib.uf_define.argtypes = [c.POINTER(c.c_void_p), c.POINTER(Definition)]
lib.uf_describe.argtypes = [c.c_void_p, c.POINTER(Description)]
FEW = [c.c_void_p, c.c_int, c.POINTER(DLTensor)]
VERBS = {
    "uf_reduce": FEW + [c.POINTER(ReduceOptions)],
    "uf_reduce_infer": FEW + [c.POINTER(ReduceOptions)],
    "uf_accumulate": FEW + [c.c_int, c.POINTER(Options)],
    "uf_accumulate_infer": FEW + [c.c_int, c.POINTER(Options)],
    "uf_reduceat": FEW + [c.POINTER(DLTensor), c.c_int, c.POINTER(Options)],
    "uf_outer": FEW + [c.POINTER(Options)],
    "uf_at": [c.c_void_p, c.POINTER(DLTensor), c.c_int, c.POINTER(DLTensor), c.POINTER(DLTensor), c.POINTER(Options)],
}
for verb in VERBS:
    getattr(lib, verb).argtypes = VERBS[verb]
    if verb in ("uf_reduce", "uf_accumulate", "uf_reduceat", "uf_at"):
        getattr(lib, verb + "_plan").argtypes = [c.POINTER(c.c_void_p)] + VERBS[verb]
lib.uf_plan_new.argtypes = [c.POINTER(c.c_void_p)] + lib.uf_call.argtypes
SPACE = [c.c_void_p, c.c_int, c.POINTER(c.c_int64), c.c_int, c.POINTER(DLTensor), c.POINTER(Options)]
lib.uf_kernel.argtypes = [c.POINTER(c.c_void_p)] + 3 * [c.c_char_p]
lib.uf_forall.argtypes = SPACE
lib.uf_forall_plan.argtypes = [c.POINTER(c.c_void_p)] + SPACE
lib.uf_launch_info.argtypes = SPACE + [c.POINTER(Launch)]
lib.uf_plan_run.argtypes = [c.c_void_p, c.POINTER(c.c_void_p), c.c_void_p]
lib.uf_plan_free.argtypes = [c.c_void_p]
lib.uf_plan_free.restype = None
lib.uf_empty.argtypes = [c.POINTER(c.POINTER(Managed)), DLDevice, DLDataType, c.c_int, c.POINTER(c.c_int64)]
lib.uf_copy.argtypes = [c.POINTER(DLTensor), c.POINTER(DLTensor), c.c_void_p]

CASTING = {None: 0, "no": 1, "equiv": 2, "safe": 3, "same_kind": 4, "unsafe": 5}
FIRST_MATCH, STRONG_NUMBERS, STAGE, UNEVEN, ORDERED, SERIAL, DETERMINISTIC, WIDEN = 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80
EXACT = np.longdouble if np.finfo(np.longdouble).eps < 1e-18 else np.float64
GPU = DLDevice(2, 0)
NO_AXES = -1
ERR_ARGUMENT, ERR_SIGNATURE, ERR_SHAPE, ERR_CAST = 1, 4, 5, 6
CODES = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5, "V": 4}
BFLOAT16 = np.dtype("V2")  # NumPy has none: two bytes
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


class Memory:
    """Where the arguments of a call are: in the host's memory, or in copies on a device. Those are of whole blocks, so that
    strides and overlaps stay as they are, and they are copied back when `with` ends."""

    def __init__(self, device=None):
        self.device, self.blocks = device, {}

    def copy(self, block, back):
        host, managed = block
        there, here = managed.contents.tensor, tensor(host)
        if lib.uf_copy(*((here, there) if back else (there, here)), None):
            raise Failure()

    def block(self, a):
        while isinstance(a.base, np.ndarray):
            a = a.base
        start, end = np.lib.array_utils.byte_bounds(a)
        if start not in self.blocks:
            host = np.ctypeslib.as_array((c.c_uint8 * (end - start)).from_address(start))
            managed = c.POINTER(Managed)()
            if lib.uf_empty(managed, self.device, DLDataType(1, 8, 1), 1, (c.c_int64 * 1)(end - start)):
                raise Failure()
            self.blocks[start] = host, managed
            self.copy(self.blocks[start], False)
        return start, self.blocks[start][1].contents.tensor.data

    def tensor(self, a):
        t = tensor(a)
        if self.device:
            host, there = self.block(a)
            t.data, t.device = (there or 0) + (a.ctypes.data - host), self.device
        return t

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for block in self.blocks.values():
            self.copy(block, True)
            block[1].contents.delete(block[1])


def ints(values):
    return None if values is None else (c.c_int * len(values))(*values)


def encoded(text):
    return None if text is None else text.encode()


class Func:
    def __init__(self, source, signatures=None, layout=None):
        self.f = c.c_void_p()
        texts = [None if t is None else t.encode() for t in (signatures, source)]
        if (lib.uf_guvectorize(c.byref(self.f), b"f", layout.encode(), *texts) if layout else
                lib.uf_vectorize(c.byref(self.f), b"f", *texts)):
            raise Failure()

    @classmethod
    def define(cls, source, signatures, layout=None, **fields):
        """fields: of the definition, such as flags and identity."""
        self = cls.__new__(cls)
        self.f = c.c_void_p()
        fields = {name: encoded(v) if isinstance(v, str) else v for name, v in fields.items()}
        section = Section(encoded(signatures), encoded(source))
        if lib.uf_define(self.f, Definition(size=c.sizeof(Definition), name=b"f", nsections=1, layout=encoded(layout),
                                            sections=c.pointer(section), **fields)):
            raise Failure()
        return self

    @classmethod
    def load(cls, what):
        """From a file, or of the catalogue."""
        self = cls.__new__(cls)
        self.f = c.c_void_p()
        if lib.uf_load(c.byref(self.f), what.encode()):
            raise Failure()
        return self

    @classmethod
    def reduction(cls, signatures, flags=0, **texts):
        """texts: map, combine, finish, state, identity."""
        self = cls.__new__(cls)
        self.f = c.c_void_p()
        texts = {name: encoded(text) for name, text in texts.items()}
        definition = ReductionDef(size=c.sizeof(ReductionDef), flags=flags, **texts)
        if lib.uf_reduction(c.byref(self.f), b"f", encoded(signatures), definition):
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
        options = Options(size=c.sizeof(Options), axes=axes_of(axes, axis, keepdims))
        return self.inferred(lib.uf_infer, inputs, 1, options)[0]

    def inferred(self, verb, inputs, nout, *options):
        outs = [DLTensor(shape=(c.c_int64 * 64)()) for _ in range(nout)]
        args = (DLTensor * (len(inputs) + nout))(*map(tensor, inputs), *outs)
        if verb(self.f, len(args), args, *options):
            raise Failure()
        return [(dtype_of_tensor(out), tuple(out.shape[:out.ndim])) for out in args[len(inputs):]]

    @staticmethod
    def options(memory, where=None, **fields):
        mask = None if where is None else c.pointer(memory.tensor(where))
        return Options(size=c.sizeof(Options), where=mask, **fields)

    @staticmethod
    def reduce_options(memory, axes=None, keepdims=False, initial=None, where=None, casting=None, signature=None,
                       threads=0, flags=0):
        first = None if initial is None else (DLTensor * len(initial))(*map(tensor, initial))
        mask = None if where is None else c.pointer(memory.tensor(where))
        return ReduceOptions(size=c.sizeof(ReduceOptions), casting=CASTING[casting], signature=encoded(signature),
                             naxes=NO_AXES if axes is not None and not axes else len(axes or ()), axes=ints(axes), keepdims=keepdims, initial=first, where=mask,
                             threads=threads, flags=flags)

    def run(self, verb, memory, arrays, *more):
        if verb(self.f, len(arrays), (DLTensor * len(arrays))(*map(memory.tensor, arrays)), *more):
            raise Failure()

    def reduce(self, *arrays, device=None, **options):
        """initial: 0-d arrays, one for each value of the state."""
        with Memory(device) as memory:
            self.run(lib.uf_reduce, memory, arrays, self.reduce_options(memory, **options))

    def accumulate(self, *arrays, axis=0, device=None, **options):
        with Memory(device) as memory:
            self.run(lib.uf_accumulate, memory, arrays, axis, self.options(memory, **options))

    def reduceat(self, *arrays, starts, axis=0, device=None, **options):
        with Memory(device) as memory:
            self.run(lib.uf_reduceat, memory, arrays, memory.tensor(starts), axis, self.options(memory, **options))

    def outer(self, *arrays, device=None, **options):
        with Memory(device) as memory:
            self.run(lib.uf_outer, memory, arrays, self.options(memory, **options))

    def at(self, target, indices, operand=None, device=None, **options):
        with Memory(device) as memory:
            where = (DLTensor * len(indices))(*map(memory.tensor, indices))
            value = None if operand is None else memory.tensor(operand)
            if lib.uf_at(self.f, memory.tensor(target), len(indices), where, value, self.options(memory, **options)):
                raise Failure()

    @classmethod
    def kernel(cls, parameters, source):
        """Over indices."""
        self = cls.__new__(cls)
        self.f = c.c_void_p()
        if lib.uf_kernel(c.byref(self.f), b"f", encoded(parameters), encoded(source)):
            raise Failure()
        return self

    def space(self, memory, extents, arrays, options):
        """The arguments of a launch. Arrays of no dimensions are numbers, and stay where they are."""
        args = [memory.tensor(a) if a.ndim else tensor(a) for a in arrays]
        return (self.f, len(extents), (c.c_int64 * len(extents))(*extents), len(args), (DLTensor * len(args))(*args),
                self.options(memory, **options))

    def forall(self, extents, *arrays, device=None, **options):
        with Memory(device) as memory:
            if lib.uf_forall(*self.space(memory, extents, arrays, options)):
                raise Failure()

    def launch_info(self, extents, *arrays, device=None, **options):
        info = Launch(size=c.sizeof(Launch))
        with Memory(device) as memory:
            if lib.uf_launch_info(*self.space(memory, extents, arrays, options), info):
                raise Failure()
        return info

    def forall_plan(self, extents, arrays, runs, device=None, **options):
        """Plans a launch with some arrays, and runs it with each list of others that have their shapes and strides."""
        plan = c.c_void_p()
        with Memory(device) as memory:
            if lib.uf_forall_plan(c.byref(plan), *self.space(memory, extents, arrays, options)):
                raise Failure()
        try:
            for others in runs:
                with Memory(device) as memory:
                    data = [(memory.tensor(a) if a.ndim else tensor(a)).data for a in others]
                    if lib.uf_plan_run(plan, (c.c_void_p * len(data))(*data), None):
                        raise Failure()
        finally:
            lib.uf_plan_free(plan)

    def reduce_infer(self, *inputs, nout=1, **options):
        """[(dtype, shape)] of the outputs."""
        return self.inferred(lib.uf_reduce_infer, inputs, nout, self.reduce_options(Memory(), **options))

    def accumulate_infer(self, *inputs, nout=1, axis=0, **options):
        return self.inferred(lib.uf_accumulate_infer, inputs, nout, axis, self.options(Memory(), **options))

    def describe(self):
        d = Description(size=c.sizeof(Description))
        assert lib.uf_describe(self.f, d) == 0
        d.owner = self  # its texts live as long as the function
        return d


def dtype_of_tensor(t):
    return BFLOAT16 if t.dtype.code == CODES["V"] else np.dtype(f"{KINDS[t.dtype.code]}{t.dtype.bits // 8}")


def catalogue():
    names, name = [], lib.uf_catalogue(0)
    while name is not None:
        names.append(name.decode())
        name = lib.uf_catalogue(len(names))
    return names


# ---- Values ----


def dtype_of(name):
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def is_floating(t):
    return t.kind in "fV"


def to_bfloat16(x):
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).view(BFLOAT16).reshape(np.shape(x))


def cast(x, t):
    return to_bfloat16(x) if t == BFLOAT16 else np.asarray(x).astype(t)


def widen(x):
    """The values of an array, floating ones in long double."""
    if x.dtype == BFLOAT16:
        x = (x.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return x.astype({"f": EXACT, "c": np.result_type(EXACT, np.complex64)}.get(x.dtype.kind, x.dtype))


def epsilon(t):
    return 2.0 ** -7 if t == BFLOAT16 else np.finfo(t).eps


def computed_in(t):
    return np.dtype("f4") if t == BFLOAT16 or t == np.float16 else t


def magnitude(x):
    return np.abs(widen(x)) if x.dtype.kind in "fcV" else np.abs(x.astype(np.float64))


def double(x):
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def limit_of(t, want, bound):
    """The error that a result may have: `bound`, and the rounding of the dtype. Beside it, how large the result is."""
    tiny = 2.0 ** -133 if t == BFLOAT16 else np.finfo(t).smallest_subnormal
    size = np.abs(np.where(np.isfinite(want.real), want.real, 0)) + np.abs(np.where(np.isfinite(want.imag), want.imag, 0))
    return bound + epsilon(t) * size + 2 * tiny, size


def near(got, want, bound):
    """Elementwise: within limit_of NumPy's long double result; where that does not fit, or may not, at least half the largest
    number."""
    t, got, want = got.dtype, widen(got), np.asarray(want)
    largest = 3.38e38 if t == BFLOAT16 else np.finfo(t).max
    limit, size = limit_of(t, want, bound)

    def part(got, want):
        close = (np.abs(got - want) <= limit) | (got == want) | (np.isnan(got) & np.isnan(want))
        return close | ((size + limit >= largest) & ~(np.abs(got) < largest / 2))

    return part(got.real, want.real) & part(got.imag, want.imag) if t.kind == "c" else part(got, want)


def same(a, b):
    """Equal bits; any NaN equals any NaN."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    a, b = np.ascontiguousarray(a).reshape(-1), np.ascontiguousarray(b).reshape(-1)
    if a.dtype.kind == "c":
        a, b = (z.view(f"f{z.itemsize // 2}") for z in (a, b))
    equal = a.view(f"u{a.itemsize}") == b.view(f"u{b.itemsize}")
    floating = a.dtype.kind == "f" or a.dtype == BFLOAT16
    return bool(np.all(equal | (np.isnan(widen(a)) & np.isnan(widen(b))) if floating else equal))


def random_values(rng, shape, dtype):
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.asarray(rng.integers(info.min, info.max, shape, dtype, endpoint=True))
    values = np.asarray(rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 3))
    return (values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def at_page_end(a):
    """A copy that ends where a page begins that nobody may touch."""
    page = mmap.PAGESIZE
    pages = (a.nbytes + page - 1) // page * page
    block = mmap.mmap(-1, pages + page)
    start = c.addressof(c.c_char.from_buffer(block))
    assert c.CDLL(None).mprotect(c.c_void_p(start + pages), c.c_size_t(page), 0) == 0
    copy = np.frombuffer(block, a.dtype, a.size, pages - a.nbytes).reshape(a.shape)
    copy[...] = a
    return copy


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


def has_512_bits():
    """Does the CPU engine use vectors of 512 bits, for which there are functions of our own?"""
    with open("/proc/cpuinfo") as f:
        flags = next((line.split() for line in f if line.startswith("flags")), [])
    return {"avx512f", "avx512dq", "avx512vl", "avx512bw"} <= set(flags)


def own_part(tests):
    """UF_PART=k/n: every nth test from the kth on, so that n processes run all of them; neighbours, which are alike, apart."""
    k, n = map(int, os.environ.get("UF_PART", "1/1").split("/"))
    return tests[k - 1::n]


def in_folder(test):
    """The test, with a folder for its files."""
    def with_folder(rng):
        with tempfile.TemporaryDirectory() as folder:
            test(rng, lambda name: os.path.join(folder, name))
    with_folder.__name__ = test.__name__
    return with_folder


def run(tests):
    """Runs functions of a random generator, printed as TAP; the exit status. A test's numbers depend on UF_SEED and its name."""
    tests = own_part(tests)
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
