# SPDX-License-Identifier: Apache-2.0
cmake_policy(VERSION 3.25)  # this file is included by scripts, too

# totograph_header_chains(<variable> <folder> <header>...): headers below a folder as chains, `a.hpp|b.hpp|c.hpp`, in
# each of which every header is included, directly or not, by the next one.
#
# A file that includes a chain in this order shows that each of its headers compiles alone: what comes before a header
# is what it includes itself, and includes come before code. That takes the time of the chain's last header.
function(totograph_header_chains output folder)
    foreach(header IN LISTS ARGN)
        file(STRINGS "${folder}/${header}" includes REGEX "^#include <[^>]+>")
        list(TRANSFORM includes REPLACE "^#include <([^>]+)>.*" "\\1")
        list(FILTER includes EXCLUDE REGEX "/impl/")  # behind the code of its header
        set(includes_${header} "")
        foreach(include IN LISTS includes)
            if(include IN_LIST ARGN)
                list(APPEND includes_${header} "${include}")
            endif()
        endforeach()
    endforeach()

    # All that a header includes: known when it is known of those that it names.
    set(unknown ${ARGN})
    set(order "")
    while(unknown)
        set(later "")
        foreach(header IN LISTS unknown)
            set(all "")
            set(is_known ON)
            foreach(include IN LISTS includes_${header})
                if(NOT DEFINED all_of_${include})
                    set(is_known OFF)
                    break()
                endif()
                list(APPEND all "${include}" ${all_of_${include}})
            endforeach()
            if(is_known)
                list(REMOVE_DUPLICATES all)
                set(all_of_${header} "${all}")
                list(LENGTH all count)
                math(EXPR place "90000 - ${count}")
                list(APPEND order "${place}|${header}")
            else()
                list(APPEND later "${header}")
            endif()
        endforeach()
        if(later STREQUAL unknown)
            message(FATAL_ERROR "These headers include each other: ${later}.")
        endif()
        set(unknown ${later})
    endwhile()

    # From those that include most: the next one inward is the first in this order that is not in a chain yet.
    list(SORT order)
    list(TRANSFORM order REPLACE "^[0-9]+.(.*)$" "\\1")
    set(chains "")
    while(order)
        list(POP_FRONT order outer)
        set(chain "${outer}")
        set(others "")
        foreach(header IN LISTS order)
            if(header IN_LIST all_of_${outer})
                set(chain "${header}|${chain}")
                set(outer "${header}")
            else()
                list(APPEND others "${header}")
            endif()
        endforeach()
        set(order ${others})
        list(APPEND chains "${chain}")
    endwhile()
    set(${output} "${chains}" PARENT_SCOPE)
endfunction()

# totograph_chain_text(<variable> <chain>): a file that includes a chain, and all of it again: headers must guard
# themselves.
function(totograph_chain_text output chain)
    string(REPLACE "|" ">\n#include <" includes "#include <${chain}>\n")
    set(${output} "${includes}\n// Again: each header must guard itself.\n${includes}" PARENT_SCOPE)
endfunction()
