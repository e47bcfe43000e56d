# SPDX-License-Identifier: Apache-2.0
# Configures the sample ../downstream in one WAY, find_package or add_subdirectory, and reads what it is told: that
# nothing is optimized, and that a program is compiled for any x86-64. Builds nothing.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

load_cache("${BUILD}" READ_WITH_PREFIX "" CMAKE_GENERATOR CMAKE_CXX_COMPILER CMAKE_PREFIX_PATH)
file(REMOVE_RECURSE "${SCRATCH}")
set(where "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}" "-DTOTOGRAPH_SOURCE=${SOURCE}")
if(WAY STREQUAL "find_package")
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/prefix" --component development)
    set(where "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix\\;${CMAKE_PREFIX_PATH}")
endif()

# The parts of sentences that stand for them.
set(slow "does not optimize")
set(plain "without AVX: downstream.")
set(nothing -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_FLAGS= -DCHOOSES_PROCESSOR=OFF -DWITH_LEVELS=OFF)  # in the cache from before
function(configure)
    run("${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${SOURCE}/tests/downstream" -B "${SCRATCH}/build"
        "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}" ${where} ${nothing} ${ARGN})
    set(output "${output}" PARENT_SCOPE)
endfunction()

cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
set(on_x86 0)
if(processor MATCHES "^(x86_64|AMD64|amd64)$")
    set(on_x86 1)
endif()

configure()
output_says(1 "${slow}")
output_says(${on_x86} "${plain}")
configure(-DCMAKE_BUILD_TYPE=Debug)
output_says(1 "${slow}")
configure(-DCMAKE_BUILD_TYPE=Release)
output_says(0 "${slow}")
output_says(${on_x86} "${plain}")
output_says(${on_x86} "totograph:")
configure("-DCMAKE_CXX_FLAGS=-O2 -march=x86-64-v3")
output_says(0 "totograph:")
configure(-DCMAKE_BUILD_TYPE=Release -DCHOOSES_PROCESSOR=ON)
output_says(0 "totograph:")
configure(-DCMAKE_BUILD_TYPE=Release -DWITH_LEVELS=ON)
output_says(${on_x86} "${plain}")  # but not `levels`
configure(-DTOTOGRAPH_NO_BUILD_HINTS=ON)
output_says(0 "totograph:")
