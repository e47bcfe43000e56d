# SPDX-License-Identifier: Apache-2.0
# An overlay port of the tree that it lies in; the library is headers only:
#     vcpkg install totograph --overlay-ports=tools/packaging/vcpkg
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -DTOTOGRAPH_BUILD_TESTS=OFF -DTOTOGRAPH_BUILD_EXAMPLES=OFF -DTOTOGRAPH_BUILD_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/totograph)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
