# SPDX-License-Identifier: Apache-2.0
# Eigen, nlohmann-json and threads: from the system; downloaded only when TOTOGRAPH_FETCH_DEPENDENCIES is on.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(totograph_fetched "")

# Finds a header-only package, or downloads it and wraps `include_subdirectory` of it in an imported target. The
# package's own build never runs.
function(totograph_find_or_fetch package target version repository tag include_subdirectory)
    if(NOT TOTOGRAPH_FETCH_DEPENDENCIES)
        find_package(${package} ${version} REQUIRED)
        return()
    endif()
    find_package(${package} ${version} QUIET)
    if(TARGET ${target})
        return()
    endif()
    include(FetchContent)
    message(STATUS "totograph: downloading ${package} ${tag}")
    FetchContent_Declare(totograph_${package}
        GIT_REPOSITORY "${repository}" GIT_TAG "${tag}" GIT_SHALLOW ON
        SOURCE_SUBDIR no-build)
    FetchContent_MakeAvailable(totograph_${package})
    string(TOLOWER "totograph_${package}" lower_case_name)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE
        "${${lower_case_name}_SOURCE_DIR}/${include_subdirectory}")
    set(totograph_fetched "${totograph_fetched} ${package}" PARENT_SCOPE)
endfunction()

totograph_find_or_fetch(Eigen3 Eigen3::Eigen 3.4 https://gitlab.com/libeigen/eigen.git 3.4.0 .)
totograph_find_or_fetch(nlohmann_json nlohmann_json::nlohmann_json 3.11
    https://github.com/nlohmann/json.git v3.11.3 include)
if(TOTOGRAPH_BUILD_EXAMPLES)
    totograph_find_or_fetch(CLI11 CLI11::CLI11 2.1 https://github.com/CLIUtils/CLI11.git v2.1.2 include)
endif()
