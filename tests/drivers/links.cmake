# SPDX-License-Identifier: Apache-2.0
# Every file of the project that DOCUMENT, a markdown file, links to exists.
cmake_minimum_required(VERSION 3.25)

# Brackets and semicolons mean something to CMake's lists. What a link begins with is marked before they go.
file(READ "${DOCUMENT}" text)
string(ASCII 1 mark)
string(REPLACE "](" "${mark}" text "${text}")
string(REGEX REPLACE "[][;]" " " text "${text}")
string(REGEX MATCHALL "${mark}[A-Za-z0-9_./-]+" links "${text}")

get_filename_component(folder "${DOCUMENT}" DIRECTORY)
set(missing "")
set(count 0)
foreach(link IN LISTS links)
    string(REPLACE "${mark}" "" link "${link}")
    if(link MATCHES "[./]")  # a lambda of a snippet looks like a link otherwise
        math(EXPR count "${count} + 1")
        if(NOT EXISTS "${folder}/${link}")
            list(APPEND missing "${link}")
        endif()
    endif()
endforeach()
if(missing)
    list(REMOVE_DUPLICATES missing)
    list(JOIN missing ", " missing)
    message(FATAL_ERROR "${DOCUMENT} links to files that are not there: ${missing}.")
endif()
message("${count} links of ${DOCUMENT} lead to files.")
