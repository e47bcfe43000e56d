# SPDX-License-Identifier: Apache-2.0
cmake_policy(VERSION 3.25)  # this file is included by scripts, too

# totograph_header_includes(<folder> <header>...): sets all_of_<header> to all that each of these headers, below the folder,
# includes, directly or through others of them.
function(totograph_header_includes folder)
    foreach(header IN LISTS ARGN)
        file(STRINGS "${folder}/${header}" includes REGEX "^#include <[^>]+>")
        list(TRANSFORM includes REPLACE "^#include <([^>]+)>.*" "\\1")
        list(FILTER includes EXCLUDE REGEX "/impl/")  # behind the code of its header
        set(includes_${header} "${includes}")
        set(is_one_${header} ON)
    endforeach()

    # Known of a header when it is known of those that it names.
    set(unknown ${ARGN})
    while(unknown)
        set(later "")
        foreach(header IN LISTS unknown)
            set(all "")
            set(is_known ON)
            foreach(include IN LISTS includes_${header})
                if(is_one_${include} AND NOT DEFINED all_of_${include})
                    set(is_known OFF)
                    break()
                endif()
                list(APPEND all "${include}" ${all_of_${include}})
            endforeach()
            if(is_known)
                list(REMOVE_DUPLICATES all)
                set(all_of_${header} "${all}")
                set(all_of_${header} "${all}" PARENT_SCOPE)
            else()
                list(APPEND later "${header}")
            endif()
        endforeach()
        if(later STREQUAL unknown)
            message(FATAL_ERROR "These headers include each other: ${later}.")
        endif()
        set(unknown ${later})
    endwhile()
endfunction()

# totograph_headers_on(<variable> <base> <header>...): those of the headers that include the base, directly or not. After
# totograph_header_includes.
function(totograph_headers_on output base)
    set(found "")
    foreach(header IN LISTS ARGN)
        if(base IN_LIST all_of_${header})
            list(APPEND found "${header}")
        endif()
    endforeach()
    set(${output} "${found}" PARENT_SCOPE)
endfunction()

# totograph_header_chains(<variable> <header>...): headers as chains, `a.hpp|b.hpp|c.hpp`, in each of which every header
# is included, directly or not, by the next one. After totograph_header_includes.
#
# A file that includes a chain in this order shows that each of its headers compiles alone: what comes before a header
# is what it includes itself, and includes come before code. That takes the time of the chain's last header.
#
# There are as few chains as can be: as many headers as can be have one of their own that comes next, in a matching of
# headers with those that include them. Those that include most come first, for they would take longest as the last one.
function(totograph_header_chains output)
    set(order "")
    foreach(header IN LISTS ARGN)
        set(around_${header} "")  # the headers that include it
        set(next_of_${header} "")
        set(inner_of_${header} "")
        list(LENGTH all_of_${header} count)
        math(EXPR place "90000 - ${count}")
        list(APPEND order "${place}|${header}")
    endforeach()
    list(SORT order)
    list(TRANSFORM order REPLACE "^[0-9]+.(.*)$" "\\1")
    foreach(header IN LISTS order)
        foreach(inner IN LISTS all_of_${header})
            list(PREPEND around_${inner} "${header}")
        endforeach()
    endforeach()

    # Of each header, outward: one that includes it and is free, or whose own inner header can have another.
    set(hopeless "")  # where a search found none, later ones find none either
    foreach(header IN LISTS order)
        set(seen ${hopeless})
        set(queue "${header}")
        set(free "")
        while(queue AND NOT free)
            list(POP_FRONT queue inner)
            set(around ${around_${inner}})
            list(REMOVE_ITEM around ${seen} "")
            foreach(outer IN LISTS around)
                set(reached_from_${outer} "${inner}")
                if(inner_of_${outer} STREQUAL "")
                    set(free "${outer}")
                    break()
                endif()
                list(APPEND queue "${inner_of_${outer}}")
            endforeach()
            list(APPEND seen ${around})
        endwhile()
        if(NOT free)
            set(hopeless ${seen})
        endif()
        while(free)
            set(inner "${reached_from_${free}}")
            set(before "${next_of_${inner}}")
            set(inner_of_${free} "${inner}")
            set(next_of_${inner} "${free}")
            set(free "${before}")
        endwhile()
    endforeach()

    set(chains "")
    foreach(header IN LISTS order)
        if(next_of_${header} STREQUAL "")
            set(chain "${header}")
            while(NOT inner_of_${header} STREQUAL "")
                set(header "${inner_of_${header}}")
                set(chain "${header}|${chain}")
            endwhile()
            list(APPEND chains "${chain}")
        endif()
    endforeach()
    set(${output} "${chains}" PARENT_SCOPE)
endfunction()

# totograph_chain_text(<variable> <chain>): a file that includes a chain, and all of it again: headers must guard
# themselves.
function(totograph_chain_text output chain)
    string(REPLACE "|" ">\n#include <" includes "#include <${chain}>\n")
    set(${output} "${includes}\n// Again: each header must guard itself.\n${includes}" PARENT_SCOPE)
endfunction()
