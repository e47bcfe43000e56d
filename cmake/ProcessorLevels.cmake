# SPDX-License-Identifier: Apache-2.0
# totograph_targets(<program> <level>...): one program that runs on every x86-64 and uses what the processor has.
#
#     add_executable(app main.cpp)
#     target_link_libraries(app PRIVATE totograph::totograph)
#     totograph_targets(app x86-64-v3 x86-64-v4)
#     install(TARGETS app ${app_LEVELS})
#
# Levels are those of the x86-64 psABI: x86-64-v3 (AVX2 and FMA) and x86-64-v4 (AVX-512). <program> stays what it was,
# compiled without -march; beside it, `app.x86-64-v3` and `app.x86-64-v4` are compiled from the same sources, and so are
# the static and object libraries of this project that it links. When `app` starts on Linux with glibc, and before any
# of its own code runs, it becomes the one with the highest level that the processor has, or stays itself where there is
# none. The environment variable TOTOGRAPH_PROCESSOR_LEVEL names another level (x86-64 for the program itself).
#
# Why whole programs: the kernels are templates, chosen by what the compiler may emit. Files of one program that are
# compiled for different processors share the inline functions of all headers, and the linker keeps one copy of each,
# for whichever processor it was compiled. Choosing inside a program would end in illegal instructions on some machines.
#
# Call it last, after everything that adds sources, libraries, flags or properties to the program. On other processors it
# does nothing. Sets `<program>_LEVELS`, the names of the added targets, for install(TARGETS).
set(TOTOGRAPH_PROCESSOR_LEVELS_FOLDER "${CMAKE_CURRENT_LIST_DIR}/processor_levels")

# What a clone takes over from its target, beside sources, libraries and dependencies.
set(TOTOGRAPH_CLONED_PROPERTIES
    COMPILE_DEFINITIONS COMPILE_FEATURES COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_DIRECTORIES LINK_OPTIONS
    PRECOMPILE_HEADERS INTERFACE_COMPILE_DEFINITIONS INTERFACE_COMPILE_FEATURES INTERFACE_COMPILE_OPTIONS
    INTERFACE_INCLUDE_DIRECTORIES INTERFACE_LINK_DIRECTORIES INTERFACE_LINK_OPTIONS CXX_STANDARD CXX_STANDARD_REQUIRED
    CXX_EXTENSIONS CXX_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN POSITION_INDEPENDENT_CODE
    INTERPROCEDURAL_OPTIMIZATION UNITY_BUILD ENABLE_EXPORTS LINKER_LANGUAGE BUILD_RPATH INSTALL_RPATH
    INSTALL_RPATH_USE_LINK_PATH RUNTIME_OUTPUT_DIRECTORY EXCLUDE_FROM_ALL)

# The same target for a level, as `output`; made where it does not exist yet.
function(totograph_clone_for_level target level output)
    set(clone "${target}.${level}")
    set(${output} "${clone}" PARENT_SCOPE)
    if(TARGET "${clone}")
        return()
    endif()
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(given ${target} SOURCES)
    set(sources "")
    foreach(source IN LISTS given)
        if(source MATCHES "^\\$<TARGET_OBJECTS:(.+)>$")
            totograph_clone_for_level("${CMAKE_MATCH_1}" ${level} objects)
            set(source "$<TARGET_OBJECTS:${objects}>")
        elseif(NOT source MATCHES "^\\$<" AND NOT IS_ABSOLUTE "${source}" AND EXISTS "${folder}/${source}")
            set(source "${folder}/${source}")
        endif()
        list(APPEND sources "${source}")
    endforeach()

    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
        add_executable("${clone}" ${sources})
        get_target_property(name ${target} OUTPUT_NAME)
        if(name)
            set_target_properties("${clone}" PROPERTIES OUTPUT_NAME "${name}.${level}")
        endif()
    else()
        string(REPLACE "_LIBRARY" "" type "${type}")
        add_library("${clone}" ${type} ${sources})
    endif()
    foreach(property IN LISTS TOTOGRAPH_CLONED_PROPERTIES)
        get_property(is_set TARGET ${target} PROPERTY ${property} SET)
        if(is_set)
            get_target_property(value ${target} ${property})
            set_property(TARGET "${clone}" PROPERTY ${property} "${value}")
        endif()
    endforeach()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        totograph_libraries_for_level(${target} ${property} ${level} libraries)
        set_property(TARGET "${clone}" PROPERTY ${property} "${libraries}")
    endforeach()
    # As the last library, for the last -march of a command line is the one that counts.
    set_property(TARGET "${clone}" APPEND PROPERTY LINK_LIBRARIES "totograph_level_${level}")
    get_target_property(dependencies ${target} MANUALLY_ADDED_DEPENDENCIES)
    if(dependencies)
        add_dependencies("${clone}" ${dependencies})
    endif()
endfunction()

# A target's libraries, with clones in place of those that this project compiles into it.
function(totograph_libraries_for_level target property level output)
    get_target_property(given ${target} ${property})
    set(libraries "")
    if(NOT given)
        set(given "")
    endif()
    foreach(library IN LISTS given)
        if(library MATCHES "^::@")
            continue()  # says in which folder a library was named, for names that only that folder knows
        endif()
        string(REGEX REPLACE "^\\$<LINK_ONLY:(.+)>$" "\\1" name "${library}")
        if(TARGET "${name}")
            get_target_property(aliased "${name}" ALIASED_TARGET)
            if(aliased)
                set(name "${aliased}")
            endif()
            get_target_property(type "${name}" TYPE)
            get_target_property(is_imported "${name}" IMPORTED)
            if(type MATCHES "^(STATIC|OBJECT)_LIBRARY$" AND NOT is_imported)
                totograph_clone_for_level("${name}" ${level} clone)
                string(REPLACE "${name}" "${clone}" library "$<LINK_ONLY:${name}>")
                if(property STREQUAL "LINK_LIBRARIES")
                    set(library "${clone}")
                endif()
            endif()
        endif()
        list(APPEND libraries "${library}")
    endforeach()
    set(${output} "${libraries}" PARENT_SCOPE)
endfunction()

function(totograph_targets target)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "EXECUTABLE")
        message(FATAL_ERROR "totograph_targets: ${target} is no executable. A library is compiled for each level as "
            "part of the programs that link it: name those.")
    endif()
    set(levels ${ARGN})
    list(REMOVE_DUPLICATES levels)
    foreach(level IN LISTS levels)
        if(NOT level MATCHES "^x86-64-v[34]$")
            message(FATAL_ERROR "totograph_targets: '${level}' is no level that makes a difference. Expected "
                "x86-64-v3 (AVX2 and FMA), x86-64-v4 (AVX-512) or both.")
        endif()
    endforeach()
    set(${target}_LEVELS "" PARENT_SCOPE)
    set_property(TARGET ${target} PROPERTY TOTOGRAPH_LEVELS "${levels}")
    if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" OR NOT levels)
        return()
    endif()

    list(SORT levels ORDER DESCENDING)  # the program takes the first that it can
    set(clones "")
    foreach(level IN LISTS levels)
        if(NOT TARGET "totograph_level_${level}")
            add_library("totograph_level_${level}" INTERFACE)
            target_compile_options("totograph_level_${level}" INTERFACE
                "$<$<COMPILE_LANGUAGE:C,CXX>:-march=${level}>")
        endif()
        totograph_clone_for_level(${target} ${level} clone)
        set_property(TARGET "${clone}" PROPERTY TOTOGRAPH_LEVELS "${level}")
        list(APPEND clones "${clone}")
    endforeach()
    add_dependencies(${target} ${clones})

    list(JOIN levels "\", \"" TOTOGRAPH_LEVELS)
    file(CONFIGURE OUTPUT "${target}_levels.cpp" @ONLY CONTENT [[
// Made by totograph_targets.
#define TOTOGRAPH_LEVELS "@TOTOGRAPH_LEVELS@"
#include "@TOTOGRAPH_PROCESSOR_LEVELS_FOLDER@/choose_level.hpp"
]])
    target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${target}_levels.cpp")
    set(${target}_LEVELS "${clones}" PARENT_SCOPE)
endfunction()
