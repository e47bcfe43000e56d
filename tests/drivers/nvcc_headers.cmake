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
    # The device's half of the compiler reads all of the code, the host's too. But for definitions that are compiled
    # separately: they take half the time, and `nvcc/forecasters` compiles all of them.
    execute_process(COMMAND ${nvcc} -DTOTOGRAPH_SEPARATE_COMPILATION -DTOTOGRAPH_SEPARATE_CUDA_COMPILATION
            -arch=compute_90a --ptx "${SCRATCH}/alone.cu"
            -o "${SCRATCH}/alone.ptx"
        RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        message("${text}")
        message(FATAL_ERROR "One of these headers does not compile alone with ${NVCC}: ${chain}.")
    endif()
endforeach()
