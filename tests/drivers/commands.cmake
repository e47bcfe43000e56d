# SPDX-License-Identifier: Apache-2.0
# Every `make <target>` and `--preset <name>` that DOCUMENT shows, in a code span or at the start of a line of a code
# block, exists in the Makefile or in CMakePresets.json. A code block names a target: without
# one, `make` only lists them.
file(READ "${DOCUMENT}" text)
file(READ "${SOURCE}/Makefile" makefile)
file(READ "${SOURCE}/CMakePresets.json" presets)
set(wrong "")

string(REGEX MATCHALL "(`|\n *(\\$ )?)make +[a-z_-]+" uses "${text}")
foreach(use IN LISTS uses)
    string(REGEX MATCH "make +([a-z_-]+)$" unused "${use}")
    # A paragraph's line may begin with the verb "make"; a command then ends the line, or the span.
    set(target "${CMAKE_MATCH_1}")
    string(REGEX MATCH "make +${target} *(`|\n|#|[A-Z]+=|&)" command "${text}")
    if(command AND NOT "\n${makefile}" MATCHES "\n${target}( [a-z_ -]*)?:")
        list(APPEND wrong "make ${target}")
    endif()
endforeach()

if(text MATCHES "\n *(\\$ )?make *(\n|#|&)")
    list(APPEND wrong "make without a target")
endif()

string(REGEX MATCHALL "--preset[ =][a-z_-]+" uses "${text}")
foreach(use IN LISTS uses)
    string(REGEX REPLACE "^--preset[ =]" "" preset "${use}")
    if(NOT presets MATCHES "\"name\": \"${preset}\"")
        list(APPEND wrong "--preset ${preset}")
    endif()
endforeach()

if(wrong)
    list(REMOVE_DUPLICATES wrong)
    list(JOIN wrong ", " wrong)
    message(FATAL_ERROR "${DOCUMENT} names what does not exist: ${wrong}.")
endif()
