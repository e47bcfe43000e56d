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

# clang-tidy takes a long time to read Eigen, so few translation units cover all headers: those without it, those with
# it, and each example.
if(TOTOGRAPH_CLANG_TIDY)
    file(GLOB_RECURSE tidy_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/totograph/*.hpp")
    list(FILTER tidy_headers EXCLUDE REGEX "/totograph/.*cuda")  # clang-tidy 14 knows no CUDA 13
    file(GLOB_RECURSE tidy_example_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.hpp")
    file(GLOB tidy_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
    set(tidy_light "")
    set(tidy_heavy "")
    foreach(header IN LISTS tidy_headers)
        file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/include" "${header}")
        if(name MATCHES "^totograph/(core|graph|io)/")
            string(APPEND tidy_light "#include <${name}>\n")
        else()
            string(APPEND tidy_heavy "#include <${name}>\n")
        endif()
    endforeach()
    file(CONFIGURE OUTPUT tidy/light.cpp CONTENT "${tidy_light}")
    file(CONFIGURE OUTPUT tidy/heavy.cpp CONTENT "${tidy_heavy}")

    set(tidy_system "$<TARGET_PROPERTY:Eigen3::Eigen,INTERFACE_INCLUDE_DIRECTORIES>")
    set(tidy_stamps "")
    foreach(source "${PROJECT_BINARY_DIR}/tidy/light.cpp" "${PROJECT_BINARY_DIR}/tidy/heavy.cpp" ${tidy_examples})
        get_filename_component(name "${source}" NAME_WE)
        set(stamp "${PROJECT_BINARY_DIR}/tidy/${name}.stamp")
        # The heavy one also sees the light headers; they are reported once.
        set(filter "include/totograph/")
        if(name STREQUAL "heavy")
            set(filter "include/totograph/([a-z_0-9]+\\.hpp|(exec|nn|toto)/)")
        elseif(NOT name STREQUAL "light")
            set(filter "examples/")
        endif()
        add_custom_command(OUTPUT "${stamp}"
            COMMAND "${TOTOGRAPH_CLANG_TIDY}" --quiet --warnings-as-errors=* "--header-filter=${filter}" "${source}"
                -- -std=c++20 "-I${PROJECT_SOURCE_DIR}/include" -isystem "${tidy_system}" ${clang_limits}
                "-DTOTOGRAPH_BUNDLED_METRICS=\"\"" "-DTOTOGRAPH_METRICS_FROM_PROGRAM=\"\""
            COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
            DEPENDS "${source}" ${tidy_headers} ${tidy_example_headers} "${PROJECT_SOURCE_DIR}/.clang-tidy"
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
