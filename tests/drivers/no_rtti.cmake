# SPDX-License-Identifier: Apache-2.0
# What a program forecasts and serves with compiles without run-time type information.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
totograph_compiler_command(compiler)
file(WRITE "${SCRATCH}/user.cpp" "#include <totograph/serve.hpp>
#include <totograph/totograph.hpp>
#include <totograph/separate_compilation.hpp>
")
run(${compiler} -fno-rtti -DTOTOGRAPH_SEPARATE_COMPILATION -fsyntax-only "${SCRATCH}/user.cpp")
