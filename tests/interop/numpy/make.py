#!/usr/bin/env python3
"""Makes the files beside it by NumPy (2.4.6): tests/interop/numpy/make.py

Element k of an array is `k * 37 % 101 - 50` in the array's type; without a sign 50 more, truth values where that is
odd, floating-point numbers a quarter of it, and the imaginary part the real one plus 0.5.
"""
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent


def made(shape, dtype, order="C"):
    dtype = np.dtype(dtype)
    k = np.arange(np.prod(shape, dtype=int))
    whole = k * 37 % 101 - 50
    if dtype.kind == "b":
        flat = whole % 2 != 0
    elif dtype.kind == "u":
        flat = whole + 50
    elif dtype.kind == "c":
        flat = whole / 4 + 1j * (whole / 4 + 0.5)
    else:
        flat = whole / 4 if dtype.kind == "f" else whole
    return np.array(flat.reshape(shape), dtype=dtype, order=order)


def save(name, array, version=None):
    with open(here / name, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


types = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
np.savez(here / "types.npz", **{name: made((2, 3), name) for name in types},
         **{"big_" + name: made((2, 3), ">" + name) for name in types},
         **{"fortran_" + name: made((2, 3, 4), name, "F") for name in ("u1", "f4", "c16")})
np.savez_compressed(here / "compressed.npz", ramp=made((30, 40), "f4"), zeros=np.zeros(100000, "i2"),
                    short=made((3,), "u1"),
                    noise=np.random.default_rng(1).integers(0, 256, 3000, dtype="u1"))
save("rows.npy", made((3, 4), "<f4"))
save("columns.npy", made((3, 4), "<f8", "F"))
save("scalar.npy", made((), "<i4"))
save("empty.npy", made((0, 3), "<f4"))
save("version_2.npy", made((5,), "<i2"), (2, 0))
save("version_3.npy", made((5,), "<i2"), (3, 0))
save("structures.npy", np.zeros(2, [("a", "<f4"), ("b", "<i2")]))
save("text.npy", np.array(["one", "two"]))
