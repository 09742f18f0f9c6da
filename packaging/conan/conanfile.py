"""The Conan 2 recipe of Balm, for the source tree around it:

    conan create packaging/conan                               # a static library
    conan create packaging/conan -o "balm/*:shared=True"
"""

import pathlib
import re
import shutil

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, CMakeDeps, cmake_layout
from conan.tools.files import copy, rmdir


class BalmRecipe(ConanFile):
    name = "balm"
    license = "MIT"
    description = "GPU and CPU computing in plain C++20"
    topics = ("gpu", "opencl", "cuda", "gpgpu", "hpc")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": False}

    def set_version(self):
        lists = (pathlib.Path(self.recipe_folder) / "../../CMakeLists.txt").resolve().read_text()
        self.version = re.search(r"project\(balm VERSION ([0-9.]+)", lists).group(1)

    def export_sources(self):
        root, to = pathlib.Path(self.recipe_folder) / "../..", pathlib.Path(self.export_sources_folder)
        for folder in ("cmake", "include", "src", "apps/balm"):
            copy(self, "*", root / folder, to / folder)
        for name in ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
            shutil.copy2(root / name, to)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # In no public header.
        self.requires("fmt/[>=9 <13]")
        self.requires("libsodium/[>=1.0.18 <2]")
        self.requires("zlib/[>=1.2.11 <2]")
        self.requires("opencl-headers/[>=2022.01.04]", headers=True, libs=False)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["BUILD_SHARED_LIBS"] = bool(self.options.shared)
        toolchain.cache_variables["BALM_WERROR"] = False
        for what in ("APPS", "EXAMPLES", "TESTS", "BENCH"):
            toolchain.cache_variables["BALM_BUILD_" + what] = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):  # Conan makes its own
            rmdir(self, pathlib.Path(self.package_folder) / folder)

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "balm")
        self.cpp_info.set_property("cmake_target_name", "balm::balm")
        self.cpp_info.set_property("pkg_config_name", "balm")
        self.cpp_info.libs = ["balm", "balm_of_each_user"] if self.options.shared else ["balm"]
        if self.settings.os == "Linux":
            self.cpp_info.system_libs = ["dl", "pthread"]
