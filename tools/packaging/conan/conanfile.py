# SPDX-License-Identifier: Apache-2.0
"""Conan recipe (2.x) of the library; it is headers only.

    conan create tools/packaging/conan
    conan create tools/packaging/conan -o "totograph/*:system_requirements=True"   # Eigen and nlohmann-json, too, from
                                                                                 # the system

The package is the library's own CMake package: `find_package(totograph)` in a consumer finds that one, through
CMakeToolchain, not one that Conan writes, so that flags, hints and totograph_targets come with it.
"""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

ROOT = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir)


class TotographRecipe(ConanFile):
    name = "totograph"
    license = "Apache-2.0"
    description = "Toto time-series forecasting as programs whose shapes are known to the compiler"
    topics = ("forecasting", "time-series", "transformer", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"system_requirements": [True, False]}
    default_options = {"system_requirements": False}
    no_copy_source = True

    def set_version(self):
        header = load(self, os.path.join(ROOT, "include", "totograph", "version.hpp"))
        parts = [re.search(rf"TOTOGRAPH_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
        self.version = ".".join(parts)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "models/*", "examples/data/*",
                        "tools/get_checkpoint", "tools/convert_checkpoint.py"):
            copy(self, pattern, src=ROOT, dst=self.export_sources_folder)

    def requirements(self):
        if not self.options.system_requirements:
            self.requires("eigen/3.4.0", transitive_headers=True)
            self.requires("nlohmann_json/3.11.3", transitive_headers=True)

    def system_requirements(self):
        if self.options.system_requirements:
            Apt(self).install(["libeigen3-dev", "nlohmann-json3-dev"], check=True)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os == "Windows":
            raise ConanInvalidConfiguration("totograph needs a POSIX system.")

    def layout(self):
        cmake_layout(self)

    def package_id(self):
        self.info.clear()

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"TOTOGRAPH_BUILD_{part}"] = False
        toolchain.user_presets_path = False
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "totograph")]
