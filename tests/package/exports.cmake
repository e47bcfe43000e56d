# SPDX-License-Identifier: Apache-2.0
# A package exports each function that the C header declares, and nothing else.
execute_process(COMMAND "${NM}" -D --defined-only "${PACKAGE}" OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^ \n]+\n" exported "${exported}")
list(TRANSFORM exported STRIP)
list(SORT exported)
file(READ "${HEADER}" text)
string(REGEX MATCHALL "\nTOTOGRAPH_API [^;(]+[(]" declared "${text}")
list(TRANSFORM declared REPLACE "^.*[ *](totograph_[a-z_]+)[(]$" "\\1")
list(SORT declared)
list(LENGTH declared count)
if(count LESS 20 OR NOT exported STREQUAL declared)
    message(FATAL_ERROR "The package exports:\n${exported}\nbut ${HEADER} declares ${count}:\n${declared}")
endif()
