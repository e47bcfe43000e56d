# SPDX-License-Identifier: Apache-2.0
# The host headers compile with nvcc, the compiler of the CUDA executor's users.
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

file(MAKE_DIRECTORY "${SCRATCH}")
execute_process(
    COMMAND "${NVCC}" -std=c++20 -O0 ${includes} -Xcudafe=--max_cost_constexpr_call=2000000000
        -Xcompiler=-fconstexpr-ops-limit=8589934592 -Xcompiler=-fconstexpr-loop-limit=1073741824
        -c "${SOURCE}/tests/cuda/host_headers.cu" -o "${SCRATCH}/host_headers.o"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
    message("${text}")
    message(FATAL_ERROR "The headers do not compile with ${NVCC}.")
endif()
