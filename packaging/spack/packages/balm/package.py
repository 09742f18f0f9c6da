"""The Spack recipe of Balm, for a source tree at hand:

    spack repo add packaging/spack
    spack dev-build balm@0.1.0
"""

from spack.package import *


class Balm(CMakePackage):
    """GPU and CPU computing in plain C++20: vector expressions and kernels, compiled for OpenCL and CUDA devices at
    run time."""

    license("MIT")

    version("0.1.0")

    variant("shared", default=True, description="Build a shared library")
    variant("tools", default=True, description="Build the balm tool")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt@9:")
    depends_on("libsodium@1.0.18:")
    depends_on("zlib-api")
    depends_on("opencl-c-headers", type="build")
    depends_on("cli11", type="build", when="+tools")
    depends_on("nlohmann-json", type="build", when="+tools")
    depends_on("libpng", when="+tools")
    depends_on("intel-oneapi-tbb", when="+tools")

    conflicts("%gcc@:11", msg="Balm needs g++ 12 or later")
    conflicts("%clang@:13", msg="Balm needs clang 14 or later")

    def cmake_args(self):
        off = ("BALM_WERROR", "BALM_BUILD_EXAMPLES", "BALM_BUILD_TESTS", "BALM_BUILD_BENCH")
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("BALM_BUILD_APPS", "tools"),
            *(self.define(option, False) for option in off),
        ]
