#!/usr/bin/env python3
"""Arrays exchanged with NumPy, and with PyTorch where it is installed, by DLPack, both ways. The oracle is what these
libraries compute themselves.

    dlpack_python.py MODULE     the shared library of dlpack_module.cpp

Ends with 77, and a sentence, where there is no NumPy that knows DLPack.
"""

import ctypes
import sys
import weakref

try:
    import numpy
    numpy.from_dlpack
except (ImportError, AttributeError):
    print("dlpack_python: no NumPy of 1.22 or later here (python3-numpy), so nothing is tested")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

module = ctypes.CDLL(sys.argv[1])
module.module_fault.restype = ctypes.c_char_p
module.module_doubled.argtypes = [ctypes.c_void_p]
module.module_doubled.restype = ctypes.c_void_p
module.module_show.argtypes = [ctypes.c_int64]
module.module_show.restype = ctypes.c_void_p
module.module_sum_of_shown.restype = ctypes.c_double

api = ctypes.pythonapi
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = b"used_dltensor"  # outlives every capsule


class Tensor:
    """A tensor of Balm's, as consumers ask for it."""

    def __init__(self, managed):
        if not managed:
            raise RuntimeError(module.module_fault().decode())
        self.managed = managed

    def __dlpack__(self, **_):
        return api.PyCapsule_New(self.managed, b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)


def given(array):
    """The array's tensor, which the callee gives back."""
    capsule = array.__dlpack__()
    managed = api.PyCapsule_GetPointer(capsule, b"dltensor")
    api.PyCapsule_SetName(capsule, USED)
    return managed


def doubled(array):
    return Tensor(module.module_doubled(given(array)))


def numpy_both_ways():
    for kind in ("float32", "float64", "int64"):
        a = numpy.arange(12, dtype=kind).reshape(3, 4)
        for name, x in {"rows": a, "columns": a.T, "every second": a[:, ::2], "one row": a[1], "three": a.reshape(3, 2, 2)}.items():
            got = numpy.from_dlpack(doubled(x))
            assert got.dtype == x.dtype and got.shape == x.shape, (kind, name, got)
            assert (got == 2 * x + 1).all(), (kind, name, got)
    a = numpy.ones(3, dtype="float32")
    gone = weakref.ref(a)
    doubled(a)
    del a
    assert gone() is None, "the array was not given back"
    small = numpy.ones(3, dtype="int8")
    try:
        Tensor(module.module_doubled(given(small)))
    except RuntimeError as fault:
        assert "int8" in str(fault) or "i8" in str(fault), fault
    else:
        raise AssertionError("another type was taken")


def without_a_copy(library, count=1000):
    """The consumer writes into the vector's own memory; the vector is usable again when it has let go."""
    seen = library.from_dlpack(Tensor(module.module_show(count)))
    assert float(seen.sum()) == count * (count - 1) / 2
    assert module.module_sum_of_shown() == -1 and b"map" in module.module_fault(), module.module_fault()
    if library is torch or seen.flags.writeable:
        seen[0] = 1000
    changed = 1000 if float(seen[0]) == 1000 else 0
    del seen
    got = module.module_sum_of_shown()
    assert got == count * (count - 1) / 2 + changed, (got, module.module_fault())


def torch_both_ways():
    a = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    for x in (a, a.t(), a[:, ::2], a.to(torch.int64), a.to(torch.float64)):
        got = torch.from_dlpack(doubled(x))
        assert got.dtype == x.dtype and torch.equal(got, 2 * x + 1), (x, got)


numpy_both_ways()
without_a_copy(numpy)
if torch:
    torch_both_ways()
    without_a_copy(torch)
print("dlpack_python: NumPy", numpy.__version__, f"and PyTorch {torch.__version__}" if torch else "(no PyTorch here)")
