# SPDX-License-Identifier: Apache-2.0
# The CUDA part compiles with nvcc, on a machine with or without a device: the snippets of the documents, and a
# forecaster in each precision, alone for an architecture with clusters, and with the compiled libraries for the oldest.
# Then it runs, which without a device must say so in a sentence. COMPILED is the library totograph::compiled of this
# build.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/nvcc_command.cmake")
totograph_nvcc_command()

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
        # Definitions that are compiled separately are left out, as `snippets` does.
        execute_process(COMMAND ${nvcc_syntax} -DTOTOGRAPH_SEPARATE_COMPILATION
                -DTOTOGRAPH_SEPARATE_CUDA_COMPILATION -arch=sm_90 "${SCRATCH}/snippet.cu"
                -o "${SCRATCH}/snippet.ptx"
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

# The host's code is not optimized: it is there to be compiled, linked and run once.
execute_process(
    COMMAND ${nvcc} -O0 -gencode=arch=compute_90a,code=sm_90a
        -c "${SOURCE}/tests/cuda/without_device.cu" -o "${SCRATCH}/without_device.o"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
    message("${text}")
    message(FATAL_ERROR "The CUDA executor does not compile with ${NVCC}.")
endif()
# A kernel has one type for nvcc and for the host's compiler. g++ keeps structs of constants (LK in a symbol) apart from
# equal structs of numbers, and launches what nvcc never registered.
find_program(NM nm REQUIRED)
execute_process(COMMAND "${NM}" "${SCRATCH}/without_device.o" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]*_kernelI[^\n]*" kernels "${symbols}")
if(kernels STREQUAL "")
    message(FATAL_ERROR "The program has no symbol of a kernel; expected those of its host functions.")
endif()
if(kernels MATCHES "[^;]*LK[a-zN][^;]*")
    message(FATAL_ERROR "The template arguments of a kernel depend on how the host's compiler computed them; expected "
                        "integers and enumerations in place of structs: ${CMAKE_MATCH_0}")
endif()

# Linked with a copy of itself, but for main, as a program of several files is: what is not inline is there twice.
find_program(OBJCOPY objcopy REQUIRED)
execute_process(
    COMMAND "${OBJCOPY}" --redefine-sym main=main_of_the_copy "${SCRATCH}/without_device.o" "${SCRATCH}/copy.o"
    COMMAND_ERROR_IS_FATAL ANY)
foreach(program "without_device" "several_files;${SCRATCH}/copy.o")
    list(POP_FRONT program name)
    execute_process(COMMAND ${nvcc} "${SCRATCH}/without_device.o" ${program} -o "${SCRATCH}/${name}" -lcublasLt
        RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        message("${text}")
        message(FATAL_ERROR "The program ${name} of the CUDA executor does not link: is a function of a header not "
                            "TOTOGRAPH_CUDA_INLINE?")
    endif()
endforeach()

execute_process(COMMAND "${SCRATCH}/without_device" RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
message("${text}")
if(NOT result EQUAL 0)
    message(FATAL_ERROR "The program ended with ${result}.")
endif()

# The same with the libraries totograph::compiled, compiled as it is for projects with CUDA, too, and
# totograph::cuda_compiled, for one architecture (-arch=sm_80 compiles for compute_80, too). They hold what headers only
# declare then; the program links nothing else of them.
set(libraries ${nvcc} -O0 -gencode=arch=compute_80,code=sm_80
    -DTOTOGRAPH_SEPARATE_COMPILATION -DTOTOGRAPH_SEPARATE_CUDA_COMPILATION)
foreach(file cmake/compiled/cuda_compiled.cu tests/cuda/compiled_library.cu)
    get_filename_component(name "${file}" NAME_WE)
    execute_process(COMMAND ${libraries} -c "${SOURCE}/${file}" -o "${SCRATCH}/${name}.o"
        RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT result EQUAL 0)
        message("${text}")
        message(FATAL_ERROR "${file} does not compile with ${NVCC} for the compiled libraries.")
    endif()
endforeach()
execute_process(
    COMMAND ${libraries} "${SCRATCH}/compiled_library.o" "${SCRATCH}/cuda_compiled.o" "${COMPILED}"
        -o "${SCRATCH}/compiled_library" -lcublasLt
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
    message("${text}")
    message(FATAL_ERROR "The compiled libraries lack what a forecaster needs.")
endif()
execute_process(COMMAND "${SCRATCH}/compiled_library" RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
message("${text}")
if(NOT result EQUAL 0)
    message(FATAL_ERROR "The program of the libraries ended with ${result}.")
endif()
