# SPDX-License-Identifier: Apache-2.0
# Each header of the CUDA part compiles alone with nvcc, on a machine with or without a device.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/nvcc_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/header_chains.cmake")
totograph_nvcc_command()

file(GLOB_RECURSE headers RELATIVE "${SOURCE}/include" "${SOURCE}/include/totograph/*.hpp")
list(FILTER headers INCLUDE REGEX "cuda")
list(FILTER headers EXCLUDE REGEX "/impl/|separate_compilation")  # nvcc_forecasters compiles the library of these
list(LENGTH headers count)
if(count LESS 20)
    message(FATAL_ERROR "Found ${count} CUDA headers, expected 20 or more.")
endif()
totograph_header_includes("${SOURCE}/include" ${headers})
totograph_header_chains(chains ${headers})
foreach(chain IN LISTS chains)
    totograph_chain_text(text "${chain}")
    file(WRITE "${SCRATCH}/alone.cu" "${text}")
    # Definitions that are compiled separately are left out: they take half the time, and `nvcc/forecasters` compiles
    # all of them.
    execute_process(COMMAND ${nvcc_syntax} -DTOTOGRAPH_SEPARATE_COMPILATION -DTOTOGRAPH_SEPARATE_CUDA_COMPILATION
            -arch=compute_90a "${SCRATCH}/alone.cu"
            -o "${SCRATCH}/alone.ptx"
        RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        message("${text}")
        message(FATAL_ERROR "One of these headers does not compile alone with ${NVCC}: ${chain}.")
    endif()
endforeach()

# What the benchmarks share, in one file: the names of the library that they use.
file(GLOB bench_headers "${SOURCE}/bench/cuda/*.hpp" "${SOURCE}/bench/cuda/*/*.hpp")
if(NOT bench_headers MATCHES "toto2_measure[.]hpp")
    message(FATAL_ERROR "Found no headers of the benchmarks in ${SOURCE}/bench/cuda.")
endif()
list(TRANSFORM bench_headers REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE text)
string(REPLACE ";" "" text "${text}")
file(WRITE "${SCRATCH}/bench.cu" "${text}")
execute_process(COMMAND ${nvcc_syntax} -DTOTOGRAPH_SEPARATE_COMPILATION -DTOTOGRAPH_SEPARATE_CUDA_COMPILATION
        -arch=compute_90a "${SCRATCH}/bench.cu" -o "${SCRATCH}/bench.ptx"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
    message("${text}")
    message(FATAL_ERROR "The headers of the benchmarks in bench/cuda do not compile with ${NVCC}.")
endif()
