# SPDX-License-Identifier: Apache-2.0
# Passes when every *.cpp of FOLDER compiles with TOTOGRAPH_COMPILE_FAIL_CONTROL defined: the mistake is the only thing
# wrong there. All in one file, each in a namespace of its own, for most of the time goes into the headers, which come
# first. A header PRECOMPILED has many of them.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
totograph_compiler_command(compiler)
list(APPEND compiler -DTOTOGRAPH_SEPARATE_COMPILATION "-I${CMAKE_CURRENT_LIST_DIR}/..")  # what tests share
if(PRECOMPILED)
    list(APPEND compiler -include "${PRECOMPILED}")
endif()

file(GLOB cases "${FOLDER}/*.cpp")
set(includes "")
set(namespaces "")
foreach(case IN LISTS cases)
    get_filename_component(name "${case}" NAME_WE)
    file(STRINGS "${case}" lines REGEX "^#include ")
    list(APPEND includes ${lines})
    string(APPEND namespaces "namespace ${name} {\n#include \"${case}\"\n}\n")
endforeach()
if(includes STREQUAL "")
    message(FATAL_ERROR "There is no case in ${FOLDER}.")
endif()
list(REMOVE_DUPLICATES includes)
list(JOIN includes "\n" includes)
file(MAKE_DIRECTORY "${SCRATCH}")
file(WRITE "${SCRATCH}/controls.cpp" "${includes}\n\n${namespaces}")

execute_process(COMMAND ${compiler} -fsyntax-only -DTOTOGRAPH_COMPILE_FAIL_CONTROL "${SCRATCH}/controls.cpp"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
    message("${text}")
    message(FATAL_ERROR "A control, with TOTOGRAPH_COMPILE_FAIL_CONTROL defined, must compile and does not.")
endif()
