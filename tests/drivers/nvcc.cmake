# SPDX-License-Identifier: Apache-2.0
# The CUDA part compiles with nvcc, on a machine with or without a device: each of its headers alone, and a forecaster
# in bf16 and one in tf32, for the oldest architecture and for one with clusters. Then it runs, which without a device must
# say so in a sentence.
find_program(NVCC nvcc PATHS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
if(NOT NVCC)
    message("skipped: no nvcc on this machine.")
    return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
totograph_compiler_command(command)
set(includes "")
set(take_next OFF)
foreach(argument IN LISTS command)
    if(take_next OR argument MATCHES "^-I")
        list(APPEND includes "${argument}")
        set(take_next OFF)
    elseif(argument STREQUAL "-isystem")
        list(APPEND includes "${argument}")
        set(take_next ON)
    endif()
endforeach()
set(nvcc "${NVCC}" -std=c++20 ${includes} --expt-relaxed-constexpr -Werror=all-warnings
    -Xcudafe=--max_cost_constexpr_call=2000000000
    -Xcompiler=-fconstexpr-ops-limit=8589934592 -Xcompiler=-fconstexpr-loop-limit=1073741824)
file(MAKE_DIRECTORY "${SCRATCH}")

file(GLOB_RECURSE headers RELATIVE "${SOURCE}/include" "${SOURCE}/include/totograph/*.hpp")
list(FILTER headers INCLUDE REGEX "cuda")
list(LENGTH headers count)
if(count LESS 20)
    message(FATAL_ERROR "Found ${count} CUDA headers, expected 20 or more.")
endif()
foreach(header IN LISTS headers)
    file(WRITE "${SCRATCH}/alone.cu" "#include <${header}>\n#include <${header}>  // again: it must guard itself\n")
    # Only as far as the host's C++: what device code comes to is seen below.
    execute_process(COMMAND ${nvcc} -arch=sm_90 --cuda "${SCRATCH}/alone.cu" -o "${SCRATCH}/alone.cpp"
        RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        message("${text}")
        message(FATAL_ERROR "${header} does not compile alone with ${NVCC}.")
    endif()
endforeach()

# The CUDA snippets of the documents: fences ```cuda.
file(GLOB documents "${SOURCE}/README.md" "${SOURCE}/docs/*.md")
set(count 0)
foreach(document IN LISTS documents)
    file(READ "${document}" text)
    string(REPLACE ";" "\\;" text "${text}")
    string(REGEX MATCHALL "<!-- compile with nvcc -->\n```cuda\n[^`]*" snippets "${text}")
    foreach(snippet IN LISTS snippets)
        math(EXPR count "${count} + 1")
        string(REGEX REPLACE "^<!-- compile with nvcc -->\n```cuda\n" "" snippet "${snippet}")
        file(WRITE "${SCRATCH}/snippet.cu" "${snippet}")
        execute_process(COMMAND ${nvcc} -arch=sm_90 --cuda "${SCRATCH}/snippet.cu" -o "${SCRATCH}/snippet.cpp"
            RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
        if(NOT result EQUAL 0)
            message("${text}")
            message(FATAL_ERROR "A CUDA snippet of ${document} does not compile with ${NVCC}.")
        endif()
    endforeach()
endforeach()
if(count LESS 2)
    message(FATAL_ERROR "Found ${count} CUDA snippets in the documents, expected 2 or more.")
endif()

execute_process(
    COMMAND ${nvcc} -O1 -gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90
        "${SOURCE}/tests/cuda/without_device.cu" -o "${SCRATCH}/without_device" -lcublasLt
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
    message("${text}")
    message(FATAL_ERROR "The CUDA executor does not compile with ${NVCC}.")
endif()
execute_process(COMMAND "${SCRATCH}/without_device" RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
message("${text}")
if(NOT result EQUAL 0)
    message(FATAL_ERROR "The program ended with ${result}.")
endif()
