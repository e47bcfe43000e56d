# SPDX-License-Identifier: Apache-2.0
# No header has a name that Qt makes a macro of, unless it is told not to: a file may include the two in any order.
cmake_minimum_required(VERSION 3.25)

set(other "[^A-Za-z0-9_]")
set(names "(^|${other})(emit|foreach|forever|signals|slots)(${other}|$)")
file(GLOB_RECURSE headers RELATIVE "${SOURCE}/include" "${SOURCE}/include/*.hpp" "${SOURCE}/include/*.h")
set(wrong "")
foreach(header IN LISTS headers)
    file(STRINGS "${SOURCE}/include/${header}" lines REGEX "${names}")
    foreach(line IN LISTS lines)
        # Without comments, those of several lines as well (`* ` before the text), and without text. A line of code may
        # begin with `*` too, but not with a space behind it.
        string(REGEX REPLACE "//.*|/[*]([^*]|[*]+[^*/])*([*]+/|$)|^ *[*]( .*|/|$)|\"[^\"]*\"" "" code "${line}")
        if(code MATCHES "${names}")
            string(APPEND wrong "  ${header}: ${line}\n")
        endif()
    endforeach()
endforeach()
if(wrong)
    message(FATAL_ERROR "These names are macros of Qt (emit, foreach, forever, signals, slots); take others:\n${wrong}")
endif()
list(LENGTH headers count)
message("${count} headers have no name that is a macro of Qt.")
