"""vectors.py - the modules vec and quaternion against NumPy: operators and functions of vectors of 2 to 4 components in float16, float32,
float64 and int32, on random numbers; products of quaternions against their matrices, rotations against Rodrigues' formula, slerp against
the rotation by a part of the angle.

UF_TEST_GPU=1 makes the calls on the GPU as well.
"""
import os
import sys

import numpy as np

from uf import Failure, Func, GPU, epsilon, run

COUNT = 500
DEVICES = [None] + ([GPU] if os.environ.get("UF_TEST_GPU") == "1" else [])


def call(expression, inputs, nout, uses="vec", declare=None):
    """Evaluates `expression`, whose value is a record of nout fields or a number (nout 0), of a, b .. : arrays of as many rows as the
    record has fields (1-d arrays: numbers). declare: the records; vec2, vec3 or vec4 if it is None. An array for each device."""
    t = inputs[0].dtype
    names, heads = [], []
    for k, x in enumerate(inputs):
        letter = "abcdefg"[k]
        if x.ndim == 1:
            names.append(letter)
            continue
        fields = [f"{letter}{i}" for i in range(len(x))]
        names += fields
        kind = declare or f"vec{len(x)}"
        heads.append(f"auto {letter} = ({kind}({t.name})){{{', '.join(fields)}}};")
    outs = [f"r{i}" for i in range(max(nout, 1))]
    fields = "wxyz" if declare == "quaternion" else "xyzw"
    ends = [f"r{i} = r.{fields[i]};" for i in range(nout)] or ["r0 = r;"]
    source = f"use {uses};\n({', '.join(names)}) -> ({', '.join(outs)}) {{ {' '.join(heads)} auto r = {expression}; {' '.join(ends)} }}"
    f = Func(source, f"{','.join([t.name] * len(names))}->{','.join([t.name] * len(outs))}")
    flat = [row for x in inputs for row in (x if x.ndim == 2 else [x])]
    for device in DEVICES:
        out = [np.zeros(COUNT, t) for _ in outs]
        f(*map(np.ascontiguousarray, flat), *out, device=device)
        yield np.array(out) if nout else out[0]


def draw(rng, n, t, low=-4, high=4):
    return rng.uniform(low, high, (n, COUNT) if n else COUNT).astype(t)


def wide(*arrays):
    return [x.astype(np.longdouble) for x in arrays]


def check(expression, inputs, want, ulps, size=0, **more):
    """size: of what is rounded on the way, where that is more than the result."""
    want = np.asarray(want, np.longdouble)
    t = inputs[0].dtype
    bound = 0 if t.kind == "i" else ulps * (epsilon(t) * np.maximum(np.abs(want), size) + np.finfo(t).smallest_subnormal)
    for got in call(expression, inputs, want.shape[0] if want.ndim == 2 else 0, **more):
        wrong = ~(np.abs(got.astype(np.longdouble) - want) <= bound)
        assert not wrong.any(), f"{expression} in {t}: {got[wrong][:3]}, should be {want[wrong][:3]}"


def vectors(dtype):
    def test(rng):
        t = np.dtype(dtype)
        for n in 2, 3, 4:
            a, b, s = draw(rng, n, t), draw(rng, n, t, 1, 5), draw(rng, 0, t, 1, 5)
            A, B, S = wide(a, b, s)
            check("a + b", [a, b], A + B, 1)
            check("a - b", [a, b], A - B, 1)
            check("a * b", [a, b], A * B, 1)
            check("-a", [a], -A, 0)
            check("a + c", [a, b, s], A + S, 1)
            check("c - a", [a, b, s], S - A, 1)
            check("2 * a - 1", [a], 2 * A - 1, 2, np.abs(A) + 1)
            check("min(a, b)", [a, b], np.minimum(A, B), 0)
            check("max(a, 0)", [a], np.maximum(A, 0), 0)
            check("dot(a, b)", [a, b], (A * B).sum(0), 8, np.abs(A * B).sum(0))
            check("a == a && a != b ? a : b", [a, b], A, 0)
            if t.kind == "i":
                check("a / b", [a, b], np.trunc(A / B), 0)
                continue
            check("fabs(a)", [a], np.abs(A), 0)
            check("a / b", [a, b], A / B, 1)
            check("0.5 * a / c", [a, b, s], A / S / 2, 2)
            check("lerp(a, b, 0.25)", [a, b], A + (B - A) / 4, 4, np.abs(A) + np.abs(B))
            check("lerp(a, b, c)", [a, b, s], A + S * (B - A), 8, np.abs(A) + S * (np.abs(A) + np.abs(B)))
            check("length(a)", [a], np.sqrt((A * A).sum(0)), 8)
            check("distance(a, b)", [a, b], np.sqrt(((A - B) ** 2).sum(0)), 16, 9)
            check("normalize(a)", [b], B / np.sqrt((B * B).sum(0)), 8)
        a, b = draw(rng, 3, t), draw(rng, 3, t)
        A, B = wide(a, b)
        check("cross(a, b)", [a, b], np.cross(A.T, B.T).T, 8, 32)
        check("a; r += b; r *= 2; r.x -= 1", [a, b], (A + B) * 2 - np.array([[1], [0], [0]]), 4, 20)

    test.__name__ = f"vec_{dtype}"
    return test


def product(p, q):
    w, x, y, z = p
    return np.einsum("ijk,jk->ik", np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]), q)


def rodrigues(axis, angle, v):
    u = axis / np.sqrt((axis * axis).sum(0))
    return v * np.cos(angle) + np.cross(u.T, v.T).T * np.sin(angle) + u * (u * v).sum(0) * (1 - np.cos(angle))


def quaternions(dtype):
    """Products by matrices, and what follows from them."""
    def test(rng):
        t = np.dtype(dtype)
        p, q, s = draw(rng, 4, t), draw(rng, 4, t), draw(rng, 0, t, 1, 3)
        p[0] += np.where(np.abs(p).max(0) < 0.5, 1, 0).astype(t)
        P, Q, S = wide(p, q, s)
        one, squares = np.array([[1], [0], [0], [0]], np.longdouble), (P * P).sum(0)
        conj = P * np.array([[1], [-1], [-1], [-1]])

        def both(expression, inputs, *more):
            check(expression, inputs, *more, uses="quaternion", declare="quaternion")

        both("a + b", [p, q], P + Q, 1)
        both("a - b", [p, q], P - Q, 1)
        both("-a", [p], -P, 0)
        both("a * b", [p, q], product(P, Q), 8, 64)
        both("conj(a)", [p], conj, 0)
        both("norm(a)", [p], np.sqrt(squares), 8)
        both("dot(a, b)", [p, q], (P * Q).sum(0), 8, 64)
        both("inverse(a)", [p], conj / squares, 8)
        both("a * inverse(a)", [p], one + 0 * P, 32, 1)
        both("b / a * a", [p, q], Q, 64, 64)
        both("2 * a + 1", [p], 2 * P + one, 2, 10)
        both("a * c / 3", [p, q, s], P * S / 3, 4)
        both("normalize(a)", [p], P / np.sqrt(squares), 8)

    test.__name__ = f"quaternion_{dtype}"
    return test


def rotations(dtype):
    def test(rng):
        t = np.dtype(dtype)
        axis, v, angle, part = draw(rng, 3, t), draw(rng, 3, t), draw(rng, 0, t, -7, 7), draw(rng, 0, t, 0, 1)
        axis[0] += np.where(np.abs(axis).max(0) < 0.1, 1, 0).astype(t)
        X, V, A, W = wide(axis, v, angle, part)

        def rotated(expression, angle, want):
            check(f"rotate({expression}, b)", [axis, v, angle, part], rodrigues(X, want, V), 128, 16, uses="quaternion, vec")

        rotated("rotation(a, c)", angle, A)
        rotated("rotation(a, c) * rotation(a, c * d)", angle, A + A * W)
        rotated("conj(rotation(a, c))", angle, -A)
        near = draw(rng, 0, t, 0.01, 3.1)
        tiny = (near * t.type(1e-12)).astype(t)
        for angle in near, tiny, 0 * near:
            A = angle.astype(np.longdouble)
            rotated("slerp(rotation(a, 0), rotation(a, c), d)", angle, A * W)
            rotated("slerp(rotation(a, 0), -rotation(a, c), d)", angle, A * W)  # the same rotation
            rotated("slerp(rotation(a, c), rotation(a, 0), d)", angle, A * (1 - W))
            rotated("slerp(rotation(a, 0), rotation(a, c), 0)", angle, 0 * A)
            rotated("slerp(rotation(a, 0), rotation(a, c), 1)", angle, A)

    test.__name__ = f"rotation_{dtype}"
    return test


def bad(rng):
    """What does not fit is said with types and candidates."""
    for text, message in [
            ("(vec2(float64)){a, a} + (vec3(float64)){a, a, a}", "no 'operator +' with (vec2(float64), vec3(float64))"),
            ("cross((vec2(float64)){a, a}, (vec2(float64)){a, a})", "no 'cross' with (vec2(float64), vec2(float64))"),
            ("(vec2(float32)){1, 2} * a", "no conversion from float64 to vec2(float32)"),
            ("(vec2(float64)){a, a}.z", "vec2(float64) has no field 'z'"),
            ("rotate((quaternion(float64)){1}, (vec4(float64)){1})", "no 'rotate' with (quaternion(float64), vec4(float64))")]:
        try:
            Func(f"use vec, quaternion;\n(a) {{ auto r = {text}; return a; }}", "d->d")
        except Failure as e:
            assert message in str(e), e
            continue
        raise AssertionError(f"{text} is taken")


TESTS = [vectors(t) for t in ("float16", "float32", "float64", "int32")] + [
    make(t) for t in ("float32", "float64") for make in (quaternions, rotations)] + [bad]

if __name__ == "__main__":
    sys.exit(run(TESTS))
