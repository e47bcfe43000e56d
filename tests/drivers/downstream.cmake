# SPDX-License-Identifier: Apache-2.0
# Builds and runs a project of its own against the library, in one WAY: the sample ../downstream through find_package,
# add_subdirectory or pkg_config, or with totograph::compiled; or `embed`, the example of that name. All but add_subdirectory use a fresh install tree,
# which is moved after the install: it must not matter.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

load_cache("${BUILD}" READ_WITH_PREFIX "" CMAKE_GENERATOR CMAKE_CXX_COMPILER CMAKE_PREFIX_PATH)
set(sample "${SOURCE}/tests/downstream")
set(program downstream)
set(options "")
if(WAY STREQUAL "embed")
    set(sample "${SOURCE}/examples/embed")
    set(program embed)
    # A forecaster takes long to compile.
    set(options "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DTOTOGRAPH_NO_OPTIMIZE_WARNING")
endif()
file(REMOVE_RECURSE "${SCRATCH}")
file(MAKE_DIRECTORY "${SCRATCH}")
if(WAY STREQUAL "compiled")
    # What no model changes takes half a minute, and this build has it, in the library COMPILED: that stands in for what
    # the project would compile, if it compiles the installed file as a part of the library. That the file and what it
    # includes are installed whole, the preprocessor looks at.
    totograph_compiler_command(ours)
    list(FILTER ours INCLUDE REGEX "^-march=")
    file(WRITE "${SCRATCH}/launcher" "#!/bin/sh
for argument; do
    case $argument in
        */compiled/compiled.cpp) source=$argument ;;
        -DTOTOGRAPH_SEPARATE_COMPILATION) is_separate=yes ;;
    esac
    [ \"\${last:-}\" = -o ] && output=$argument
    last=$argument
done
[ \"\${source:-}\" ] || exec \"$@\"
[ \"\${is_separate:-}\" ] && cmp \"$source\" '${SOURCE}/cmake/compiled/compiled.cpp' || exit 1
\"$@\" -E || exit 1
exec ar p '${COMPILED}' compiled.cpp.o >\"$output\"
")
    file(CHMOD "${SCRATCH}/launcher" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
    set(options -DLIBRARY=totograph::compiled "-DCMAKE_CXX_COMPILER_LAUNCHER=${SCRATCH}/launcher"
        "-DCMAKE_CXX_FLAGS_RELEASE=-O0 ${ours} -DTOTOGRAPH_NO_OPTIMIZE_WARNING")
endif()

if(NOT WAY STREQUAL "add_subdirectory")
    foreach(component development model)
        run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/first" --component ${component})
    endforeach()
    set(prefix "${SCRATCH}/prefix")
    file(RENAME "${SCRATCH}/first" "${prefix}")
endif()

if(WAY STREQUAL "pkg_config")
    find_program(PKG_CONFIG NAMES pkg-config pkgconf)
    if(NOT PKG_CONFIG)
        message("skipped: no pkg-config on this machine.")
        return()
    endif()
    set(ENV{PKG_CONFIG_PATH} "${prefix}/${PKGCONFIG_DIRECTORY}:$ENV{PKG_CONFIG_PATH}")
    run("${PKG_CONFIG}" --cflags --libs totograph)
    separate_arguments(flags UNIX_COMMAND "${output}")
    run("${CMAKE_CXX_COMPILER}" -std=c++20 "${sample}/main.cpp" -o "${SCRATCH}/downstream" ${flags})
    run("${SCRATCH}/downstream")
else()
    if(NOT WAY STREQUAL "add_subdirectory")
        list(APPEND options "-DCMAKE_PREFIX_PATH=${prefix}\\;${CMAKE_PREFIX_PATH}")
    else()
        list(APPEND options "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}" "-DTOTOGRAPH_SOURCE=${SOURCE}")
    endif()
    run("${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${sample}" -B "${SCRATCH}/build" -DCMAKE_BUILD_TYPE=Release
        "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" ${options})
    run("${CMAKE_COMMAND}" --build "${SCRATCH}/build")
    run("${SCRATCH}/build/${program}")
endif()
message("${output}")
