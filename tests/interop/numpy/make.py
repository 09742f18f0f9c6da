#!/usr/bin/env python3
"""Makes the files beside it by NumPy (2.4.6): tests/interop/numpy/make.py

Element k of an array is `k * 37 % 101 - 50` in the array's type; without a sign 50 more, truth values where that is
odd, floating-point numbers a quarter of it, and the imaginary part the real one plus 0.5. In structures, k counts the
numbers of one element after the other, in the order of `record`; what is in no member of the test's is 7 or "seven".
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


leaf = [("flag", "?"), ("weight", "f8")]
record = [("mass", "f4"), ("kind", "i2"), ("leaves", leaf, (2,)), ("pos", "f4", (3,)), ("grid", "f4", (2, 3)),
          ("h", "f2")]


def fill(array, fields, counter):
    """Fills a structured array of no dimensions."""
    for name, inner, *shape in fields:
        for at in np.ndindex(*shape):
            if isinstance(inner, list):
                fill(array[name][at], inner, counter)
            else:
                value = made((counter[0] + 1,), inner)[-1]
                if at:
                    array[name][at] = value
                else:
                    array[name] = value
                counter[0] += 1


def made_records(shape, dtype, order="C"):
    array = np.zeros(shape, dtype, order=order)
    counter = [0]
    for at in np.ndindex(shape):
        for name in array.dtype.names:
            if name not in [field[0] for field in record]:
                array[name][at] = "seven" if array.dtype[name].kind in "SU" else np.zeros(1, array.dtype[name])[0]
        fill(array[at], record, counter)
    return array


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
packed = np.dtype(record)
more = np.dtype([("name", "<U5"), (("a title", "h"), "<f2"), ("grid", ">f4", (2, 3)), ("when", "<M8[ns]"), ("raw", "V5"),
                 ("leaves", [("weight", ">f8"), ("", "V3"), ("flag", "?")], (2,)), ("label", "S3"), ("kind", ">i2"),
                 ("pos", "<f4", (3,)), ("mass", ">f4"), ("other", [("x", "<c16", (2, 2))])])
np.savez(here / "records.npz", packed=made_records((2, 3), packed), big=made_records((4,), packed.newbyteorder(">")),
         aligned=made_records((3,), np.dtype(record, align=True)), columns=made_records((2, 3), packed, "F"),
         more=made_records((3, 1), more), one=made_records((), packed), none=made_records((0, 2), packed))
# As the test's structure lies in memory: 16 bytes of float3, and NumPy's padding.
in_memory_leaf = np.dtype({"names": ["flag", "weight"], "formats": ["?", "<f8"], "offsets": [0, 8], "itemsize": 16})
save("records.npy", made_records((2, 3), np.dtype({
    "names": ["mass", "kind", "leaves", "pos", "grid", "h"],
    "formats": ["<f4", "<i2", (in_memory_leaf, (2,)), ("<f4", (3,)), ("<f4", (2, 3)), "<f2"],
    "offsets": [0, 4, 8, 48, 64, 88], "itemsize": 96})))
save("text.npy", np.array(["one", "two"]))
