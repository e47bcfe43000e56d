# SPDX-License-Identifier: Apache-2.0
# Targets that look at the sources and build nothing: format, check_format, check_tidy, check_docs, docs. And `pictures`.
find_program(TOTOGRAPH_CLANG_FORMAT NAMES clang-format-14 clang-format)
find_program(TOTOGRAPH_CLANG_TIDY NAMES clang-tidy-14 clang-tidy)
mark_as_advanced(TOTOGRAPH_CLANG_FORMAT TOTOGRAPH_CLANG_TIDY)

if(TOTOGRAPH_CLANG_FORMAT)
    foreach(target format check_format)
        add_custom_target(${target}
            COMMAND "${CMAKE_COMMAND}" "-DACTION=${target}" "-DCLANG_FORMAT=${TOTOGRAPH_CLANG_FORMAT}"
                -P "${CMAKE_CURRENT_LIST_DIR}/format.cmake"
            WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
    endforeach()
endif()

# clang-tidy takes long to read what every file includes, so it looks at two: one that includes all headers, and one that
# has the text of all example programs, for its analyzer follows paths in that file alone. They use some names twice. So
# first comes what they share; then each with its own headers, in a namespace of its own in place of `examples`.
if(TOTOGRAPH_CLANG_TIDY)
    file(GLOB_RECURSE tidy_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/totograph/*.hpp")
    list(FILTER tidy_headers EXCLUDE REGEX "/totograph/.*cuda")  # clang-tidy 14 knows no CUDA 13
    list(FILTER tidy_headers EXCLUDE REGEX "/separate_compilation[.]hpp$")  # other headers include all that it does
    set(tidy_includes "")
    foreach(header IN LISTS tidy_headers)
        file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/include" "${header}")
        string(APPEND tidy_includes "#include <${name}>\n")
    endforeach()
    file(CONFIGURE OUTPUT tidy/headers.cpp CONTENT "${tidy_includes}")

    set(tidy_examples_folder "${PROJECT_SOURCE_DIR}/examples")
    file(GLOB_RECURSE tidy_example_headers CONFIGURE_DEPENDS "${tidy_examples_folder}/*.hpp")
    file(GLOB tidy_examples CONFIGURE_DEPENDS "${tidy_examples_folder}/*.cpp")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tidy_examples})
    set(tidy_names ${tidy_examples})
    list(TRANSFORM tidy_names REPLACE "^.*/([^/]+)\\.cpp$" "\\1")
    set(tidy_shared "")
    foreach(header IN LISTS tidy_example_headers)
        file(RELATIVE_PATH header "${tidy_examples_folder}" "${header}")
        string(REGEX REPLACE "/.*$" "" folder "${header}")
        # Of models/, what programs include: the rest takes long.
        if(NOT folder IN_LIST tidy_names AND NOT folder STREQUAL "models")
            list(APPEND tidy_shared "#include \"${header}\"")
        endif()
    endforeach()
    set(tidy_programs "")
    foreach(example IN LISTS tidy_examples)
        get_filename_component(name "${example}" NAME_WE)
        file(STRINGS "${example}" includes REGEX "^#include ")
        set(own_includes ${includes})
        list(FILTER own_includes INCLUDE REGEX "\"${name}/")
        list(FILTER includes EXCLUDE REGEX "\"${name}/")
        list(APPEND tidy_shared ${includes})
        list(JOIN own_includes "\n" own_includes)
        # Its includes stand above it; the lines keep their numbers.
        file(READ "${example}" text)
        string(REPLACE "\n#include " "\n// #include " text "${text}")
        string(APPEND tidy_programs "
// NOLINTBEGIN
namespace example_${name} {
using namespace examples;
namespace detail {
using namespace examples::detail;
}
}
#define examples example_${name}
${own_includes}
namespace examples::program {
// NOLINTEND
#line 1 \"${example}\"
${text}
// NOLINTBEGIN
}
#undef examples
// NOLINTEND
")
    endforeach()
    list(REMOVE_DUPLICATES tidy_shared)
    list(JOIN tidy_shared "\n" tidy_shared)
    file(CONFIGURE OUTPUT tidy/examples.cpp @ONLY CONTENT "@tidy_shared@\n@tidy_programs@")

    set(tidy_system "$<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>")
    set(tidy_stamps "")
    foreach(name headers examples)
        set(source "${PROJECT_BINARY_DIR}/tidy/${name}.cpp")
        set(stamp "${PROJECT_BINARY_DIR}/tidy/${name}.stamp")
        set(filter "include/totograph/")
        set(definitions "")
        if(name STREQUAL "examples")
            set(filter "examples/")
            # What is compiled separately, headers.cpp has, and every check walks through all that a file includes.
            set(definitions "-DTOTOGRAPH_SEPARATE_COMPILATION" "-DTOTOGRAPH_BUNDLED_METRICS=\"\""
                "-DTOTOGRAPH_METRICS_FROM_PROGRAM=\"\"")
        endif()
        add_custom_command(OUTPUT "${stamp}"
            COMMAND "${TOTOGRAPH_CLANG_TIDY}" --quiet --warnings-as-errors=* "--header-filter=${filter}"
                "--config-file=${PROJECT_SOURCE_DIR}/.clang-tidy" "${source}"
                -- -std=c++20 "-I${PROJECT_SOURCE_DIR}/include" "-I${PROJECT_SOURCE_DIR}/examples"
                -isystem "${tidy_system}" ${clang_limits} ${definitions}
            COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
            DEPENDS "${source}" ${tidy_examples} ${tidy_headers} ${tidy_example_headers}
                "${PROJECT_SOURCE_DIR}/.clang-tidy"
            WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
            COMMENT "clang-tidy ${name}" VERBATIM)
        list(APPEND tidy_stamps "${stamp}")
    endforeach()
    add_custom_target(check_tidy DEPENDS ${tidy_stamps})
endif()

find_program(TOTOGRAPH_DOXYGEN doxygen)
find_program(TOTOGRAPH_DOT dot)
mark_as_advanced(TOTOGRAPH_DOXYGEN TOTOGRAPH_DOT)
if(TOTOGRAPH_DOXYGEN)
    # `check_docs` looks for what doxygen warns about. The graphs of includes take most of the time, and warn of nothing.
    foreach(target docs check_docs)
        set(DOXYGEN_OUTPUT "${PROJECT_BINARY_DIR}/docs")
        set(DOXYGEN_HAVE_DOT NO)
        if(target STREQUAL "docs")
            set(DOXYGEN_OUTPUT "${PROJECT_SOURCE_DIR}/build/docs")
            if(TOTOGRAPH_DOT)
                set(DOXYGEN_HAVE_DOT YES)
            endif()
        endif()
        configure_file(docs/Doxyfile.in "${target}.doxyfile" @ONLY)
        file(MAKE_DIRECTORY "${DOXYGEN_OUTPUT}")
        add_custom_target(${target}
            COMMAND "${TOTOGRAPH_DOXYGEN}" "${PROJECT_BINARY_DIR}/${target}.doxyfile"
            WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" VERBATIM)
    endforeach()
endif()

# Each docs/pictures/*.cpp, and *.cu with TOTOGRAPH_CUDA, prints a picture as Graphviz text; `pictures` writes it beside
# its program, as SVG. Where tests are built, the programs are too, so that they go on compiling.
file(GLOB picture_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/pictures/*.cpp")
if(TOTOGRAPH_CUDA)
    file(GLOB cuda_picture_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/docs/pictures/*.cu")
endif()
add_custom_target(pictures)
foreach(source IN LISTS picture_sources cuda_picture_sources)
    get_filename_component(name "${source}" NAME_WE)
    if(source MATCHES "\\.cu$")
        totograph_add_cuda_program(picture_${name} "${source}")
    else()
        totograph_add_program(picture_${name} "${source}")
    endif()
    if(NOT TOTOGRAPH_BUILD_TESTS)
        set_target_properties(picture_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    add_custom_target(write_picture_${name}
        COMMAND "$<TARGET_FILE:picture_${name}>" > "${PROJECT_BINARY_DIR}/${name}.dot"
        COMMAND "${PROJECT_SOURCE_DIR}/tools/render_graph.sh" "${PROJECT_BINARY_DIR}/${name}.dot"
            "${PROJECT_SOURCE_DIR}/docs/pictures/${name}.svg"
        COMMENT "docs/pictures/${name}.svg" VERBATIM)
    add_dependencies(pictures write_picture_${name})
endforeach()

# The pictures that the example programs draw.
if(TARGET write_gallery)
    add_dependencies(pictures write_gallery)
endif()
