# SPDX-License-Identifier: Apache-2.0
# Sets `nvcc` to the command that compiles with what the project is compiled with, as a macro, so that a driver ends
# where there is no nvcc.
macro(totograph_nvcc_command)
    find_program(NVCC nvcc PATHS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
    if(NOT NVCC)
        message("skipped: no nvcc on this machine.")
        return()
    endif()
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
        -Xcompiler=-fconstexpr-ops-limit=8589934592 -Xcompiler=-fconstexpr-loop-limit=1073741824
        -Xcompiler=--param=ggc-min-heapsize=262144 -Xcompiler=--param=ggc-min-expand=200)
    # For code that is compiled but never run: where nvcc can, it stops behind its front end, which instantiates all
    # templates in use. Errors of code generation are found by the programs of `nvcc/forecasters` alone.
    set(nvcc_syntax ${nvcc} --ptx)
    execute_process(COMMAND "${NVCC}" --help OUTPUT_VARIABLE nvcc_help ERROR_QUIET)
    if(nvcc_help MATCHES "--fdevice-syntax-only")
        list(APPEND nvcc_syntax --fdevice-syntax-only)
    endif()
    file(MAKE_DIRECTORY "${SCRATCH}")
endmacro()
