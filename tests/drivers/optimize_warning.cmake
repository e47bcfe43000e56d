# SPDX-License-Identifier: Apache-2.0
# A file that is compiled without optimization is told so, once, by a message that ends no -Werror build; one that is
# optimized, or that defines the switch, is not.
include("${CMAKE_CURRENT_LIST_DIR}/compiler_command.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
totograph_compiler_command(compiler)

# compile(<header> <flag>...): with warnings as errors, and without the switch that our own tests have.
function(compile header)
    file(WRITE "${SCRATCH}/user.cpp" "#include <${header}>\n#include <totograph/exec/cpu/optimize_warning.hpp>\n")
    run(${compiler} -Werror -UTOTOGRAPH_NO_OPTIMIZE_WARNING ${ARGN} -fsyntax-only "${SCRATCH}/user.cpp")
    set(output "${output}" PARENT_SCOPE)
endfunction()

set(sentence "compiled without optimization, a forecast takes dozens of times as long")
compile(totograph/exec/cpu/optimize_warning.hpp -O0)
output_says(1 "message: totograph: ${sentence}")
compile(totograph/exec/cpu/optimize_warning.hpp -O1)
output_says(0 "${sentence}")
compile(totograph/exec/cpu/optimize_warning.hpp -O0 -DTOTOGRAPH_NO_OPTIMIZE_WARNING)
output_says(0 "${sentence}")

# The header that everything comes with has it: seen by the preprocessor, for the rest takes long.
file(WRITE "${SCRATCH}/user.cpp" "#include <totograph/totograph.hpp>\n#include <totograph/exec/cpu/simd.hpp>\n")
foreach(flags "-O0" "-O1")
    run(${compiler} -UTOTOGRAPH_NO_OPTIMIZE_WARNING ${flags} -E "${SCRATCH}/user.cpp" -o "${SCRATCH}/user.ii")
    file(STRINGS "${SCRATCH}/user.ii" output REGEX "${sentence}")
    if(flags STREQUAL "-O0")
        output_says(1 "${sentence}")
    else()
        output_says(0 "${sentence}")
    endif()
endforeach()
