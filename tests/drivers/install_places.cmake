# SPDX-License-Identifier: Apache-2.0
# An install tree whose folders were given as absolute ones, as some distributions do, has a pkg-config file that leads
# there; and a project of C, which calls packages, finds the library in it.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

load_cache("${BUILD}" READ_WITH_PREFIX "" CMAKE_GENERATOR CMAKE_CXX_COMPILER CMAKE_C_COMPILER CMAKE_PREFIX_PATH)
string(REPLACE ";" "\\;" prefix_path "${CMAKE_PREFIX_PATH}")  # one argument, of several folders
find_program(PKG_CONFIG NAMES pkg-config pkgconf)
file(REMOVE_RECURSE "${SCRATCH}")
set(prefix "${SCRATCH}/prefix")
# Outside of the sources, where the build folder may lie: CMake installs no headers among those.
set(temporary "$ENV{TMPDIR}")
if(NOT temporary)
    set(temporary "/tmp")
endif()
string(RANDOM LENGTH 12 name)
set(headers "${temporary}/totograph-${name}")
set(data "${SCRATCH}/data")
set(pkg_config_path "$ENV{PKG_CONFIG_PATH}")

# install(<definition>...): a tree of its own, with the folder of its pkg-config file as `where`.
function(install where)
    file(REMOVE_RECURSE "${SCRATCH}/build" "${prefix}" "${headers}" "${data}")
    run("${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${SOURCE}" -B "${SCRATCH}/build" -DTOTOGRAPH_BUILD_TESTS=OFF
        -DTOTOGRAPH_BUILD_EXAMPLES=OFF -DTOTOGRAPH_BUILD_BENCH=OFF "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
        "-DCMAKE_PREFIX_PATH=${prefix_path}" "-DCMAKE_INSTALL_PREFIX=${prefix}" ${ARGN})
    run("${CMAKE_COMMAND}" --install "${SCRATCH}/build" --component development)
    set(ENV{PKG_CONFIG_PATH} "${where}:${pkg_config_path}")
endfunction()

# leads(<variable> <folder>): where pkg-config says that something is.
function(leads variable folder)
    if(PKG_CONFIG)
        run("${PKG_CONFIG}" --variable=${variable} totograph)
        string(STRIP "${output}" found)
        cmake_path(NORMAL_PATH found)
        if(NOT found STREQUAL folder)
            message(FATAL_ERROR "pkg-config has '${found}' as ${variable}; expected '${folder}'.")
        endif()
    endif()
endfunction()

install("${data}/pkgconfig" "-DCMAKE_INSTALL_DATADIR=${data}")
leads(includedir "${prefix}/include")
leads(demo_model "${data}/totograph/models/demo")

install("${prefix}/share/pkgconfig" "-DCMAKE_INSTALL_INCLUDEDIR=${headers}")
leads(includedir "${headers}")
leads(demo_model "${prefix}/share/totograph/models/demo")

file(WRITE "${SCRATCH}/c/main.c" "#include <totograph/c/totograph.h>\nint main(void) { return TOTOGRAPH_OK; }\n")
file(WRITE "${SCRATCH}/c/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(c LANGUAGES C)
find_package(totograph REQUIRED)
add_executable(c main.c)
target_link_libraries(c PRIVATE totograph::totograph)
")
run("${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${SCRATCH}/c" -B "${SCRATCH}/c/build" -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}\\;${prefix_path}")
output_says(0 "totograph:")
run("${CMAKE_COMMAND}" --build "${SCRATCH}/c/build")
file(REMOVE_RECURSE "${headers}")
