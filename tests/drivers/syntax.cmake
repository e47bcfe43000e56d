# SPDX-License-Identifier: Apache-2.0
# A FILE of ours that no target of this build compiles is C++, with all that it instantiates; no code is made of it.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

totograph_compiler_command(command)
run(${command} -fsyntax-only -DTOTOGRAPH_SEPARATE_COMPILATION "-I${SOURCE}/examples" "${SOURCE}/${FILE}")
