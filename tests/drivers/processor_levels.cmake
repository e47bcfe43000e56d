# SPDX-License-Identifier: Apache-2.0
# Builds the program `levels` of the sample ../downstream, which calls totograph_targets, against an install tree,
# installs it, and runs it at each level that this processor has: what it computes agrees.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

cmake_host_system_information(RESULT processor QUERY OS_PLATFORM)
if(NOT processor MATCHES "^(x86_64|AMD64|amd64)$")
    message("skipped: this processor is no x86-64.")
    return()
endif()
load_cache("${BUILD}" READ_WITH_PREFIX "" CMAKE_GENERATOR CMAKE_CXX_COMPILER CMAKE_PREFIX_PATH)
file(REMOVE_RECURSE "${SCRATCH}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/prefix" --component development)
run("${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${SOURCE}/tests/downstream" -B "${SCRATCH}/build"
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
    "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix\\;${CMAKE_PREFIX_PATH}" -DWITH_LEVELS=ON)
run("${CMAKE_COMMAND}" --build "${SCRATCH}/build" --target levels)
run("${CMAKE_COMMAND}" --install "${SCRATCH}/build" --prefix "${SCRATCH}/installed")
set(program "${SCRATCH}/installed/bin/levels")

# at_level(<level, or empty>): what the program prints, compared with what it computed the first time.
function(at_level level)
    set(ENV{TOTOGRAPH_PROCESSOR_LEVEL} "${level}")
    execute_process(COMMAND "${program}" "${SCRATCH}/values" RESULT_VARIABLE result
        OUTPUT_VARIABLE text ERROR_VARIABLE text)
    set(output "${text}" PARENT_SCOPE)
    set(result "${result}" PARENT_SCOPE)
endfunction()

# expect(<level> <vectors>): it computes with these, in the main file and in the library, what it computed before.
function(expect level vectors)
    at_level("${level}")
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "At level '${level}' it ends with ${result}: ${output}")
    endif()
    output_says(1 "vectors ${vectors} and ${vectors}\n")
endfunction()

file(READ /proc/cpuinfo cpu)
set(best sse)
expect(x86-64 sse)
foreach(pair "x86-64-v3 avx2 movbe" "x86-64-v4 avx512 avx512vl")
    separate_arguments(pair)
    list(GET pair 0 level)
    list(GET pair 1 vectors)
    list(GET pair 2 flag)
    if(cpu MATCHES "flags[^\n]* ${flag}( |\n)")
        set(best ${vectors})
        expect(${level} ${vectors})
    else()
        at_level(${level})
        output_says(1 "which this processor has not")
    endif()
endforeach()
expect("" ${best})
at_level(x86-64-v9)
output_says(1 "TOTOGRAPH_PROCESSOR_LEVEL is 'x86-64-v9', which this program was not compiled for")
if(result EQUAL 0)
    message(FATAL_ERROR "A level that does not exist must be refused.")
endif()

# Alone, the program does what it can.
file(REMOVE "${program}.x86-64-v3" "${program}.x86-64-v4")
expect("" sse)
if(NOT best STREQUAL "sse")
    at_level(x86-64-v3)
    output_says(1 "whose program is not beside this one")
endif()

# Compiled with -march, it would not start everywhere: that does not compile.
file(WRITE "${SCRATCH}/native.cpp" "#define TOTOGRAPH_LEVELS \"x86-64-v3\"\n"
    "#include \"${SOURCE}/cmake/processor_levels/choose_level.hpp\"\nint main() {}\n")
execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -march=x86-64-v3 -c "${SCRATCH}/native.cpp"
    -o "${SCRATCH}/native.o" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
    message(FATAL_ERROR "A program with levels must not compile with -march.")
endif()
output_says(1 "Leave that flag away")
