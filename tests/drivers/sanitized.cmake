# SPDX-License-Identifier: Apache-2.0
# A program with a forecaster is C++ where undefined behaviour is looked for, too: g++ folds no comparison of a pointer
# with null then, so that constants must not need one. No code is made of it.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

totograph_compiler_command(compiler)
run(${compiler} -fsanitize=undefined -fsyntax-only "-I${SOURCE}/tests" "${CMAKE_CURRENT_LIST_DIR}/sanitized.cpp")
