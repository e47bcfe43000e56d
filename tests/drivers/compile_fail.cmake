# SPDX-License-Identifier: Apache-2.0
# Passes when CASE compiles with TOTOGRAPH_COMPILE_FAIL_CONTROL defined, and without it fails with every sentence that
# its `// expect: ...` lines name. The first half shows that the sentence is the only thing wrong. A mistake that is an
# option of the compiler stands in a line `// option: ...`, with which the control is not compiled.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
totograph_compiler_command(compiler)

file(STRINGS "${CASE}" expectations REGEX "^// expect: .+")
if(expectations STREQUAL "")
    message(FATAL_ERROR "${CASE} has no line `// expect: <part of the sentence>`: say what the compiler must print.")
endif()

execute_process(COMMAND ${compiler} -fsyntax-only -DTOTOGRAPH_COMPILE_FAIL_CONTROL "${CASE}"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT result EQUAL 0)
    message("${text}")
    message(FATAL_ERROR "The control, with TOTOGRAPH_COMPILE_FAIL_CONTROL defined, must compile and does not.")
endif()

set(options "")
file(STRINGS "${CASE}" option_lines REGEX "^// option: .+")
foreach(line IN LISTS option_lines)
    string(REGEX REPLACE "^// option: *" "" option "${line}")
    list(APPEND options "${option}")
endforeach()
execute_process(COMMAND ${compiler} ${options} -fsyntax-only "${CASE}"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(result EQUAL 0)
    message(FATAL_ERROR "${CASE} must not compile, and does.")
endif()
foreach(expectation IN LISTS expectations)
    string(REGEX REPLACE "^// expect: *" "" sentence "${expectation}")
    string(STRIP "${sentence}" sentence)
    string(FIND "${text}" "${sentence}" position)
    if(position EQUAL -1)
        message("${text}")
        message(FATAL_ERROR "The compiler must say \"${sentence}\", and said what is above.")
    endif()
endforeach()
