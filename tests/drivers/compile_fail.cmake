# SPDX-License-Identifier: Apache-2.0
# Passes when CASE does not compile, and fails with every sentence that its `// expect: ...` lines name. A mistake that
# is an option of the compiler stands in a line `// option: ...`. Lines `// expect of g++: ...` are for g++ alone:
# clang prints text in a template argument as numbers. Options change what a compiler takes from a header PRECOMPILED, so
# such a case reads its headers itself.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
totograph_compiler_command(compiler)
list(APPEND compiler -DTOTOGRAPH_SEPARATE_COMPILATION "-I${CMAKE_CURRENT_LIST_DIR}/..")  # what tests share

file(STRINGS "${CASE}" expectations REGEX "^// expect: .+")
if(expectations STREQUAL "")
    message(FATAL_ERROR "${CASE} has no line `// expect: <part of the sentence>`: say what the compiler must print.")
endif()

if(NOT compiler MATCHES "clang")
    file(STRINGS "${CASE}" more REGEX "^// expect of g\\+\\+: .+")
    list(APPEND expectations ${more})
endif()

set(options "")
file(STRINGS "${CASE}" option_lines REGEX "^// option: .+")
foreach(line IN LISTS option_lines)
    string(REGEX REPLACE "^// option: *" "" option "${line}")
    list(APPEND options "${option}")
endforeach()
if(PRECOMPILED AND options STREQUAL "")
    list(APPEND options -include "${PRECOMPILED}")
endif()
execute_process(COMMAND ${compiler} ${options} -fsyntax-only "${CASE}"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(result EQUAL 0)
    message(FATAL_ERROR "${CASE} must not compile, and does.")
endif()
foreach(expectation IN LISTS expectations)
    string(REGEX REPLACE "^// expect[^:]*: *" "" sentence "${expectation}")
    string(STRIP "${sentence}" sentence)
    string(FIND "${text}" "${sentence}" position)
    if(position EQUAL -1)
        message("${text}")
        message(FATAL_ERROR "The compiler must say \"${sentence}\", and said what is above.")
    endif()
endforeach()
