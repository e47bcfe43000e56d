# SPDX-License-Identifier: Apache-2.0
# The C of DOCUMENT compiles.
file(READ "${DOCUMENT}" text)
if(NOT text MATCHES "\n```c\n([^`]+)```")
    message(FATAL_ERROR "${DOCUMENT} has no C.")
endif()
file(WRITE "${SCRATCH}/document.c" "${CMAKE_MATCH_1}")
execute_process(COMMAND "${COMPILER}" -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I${INCLUDE}"
    "${SCRATCH}/document.c" COMMAND_ERROR_IS_FATAL ANY)
