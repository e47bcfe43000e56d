# SPDX-License-Identifier: Apache-2.0
# What a build with tests precompiles for many targets. WHOM: `tests`, what most of them include (tests/precompiled.hpp);
# or `programs`, Eigen, for files that include it anyway through our headers, from which it hides nothing.
# KIND: how a target's files are compiled, `optimized` as their build is or, in the build for developers, `unoptimized`.
set(unoptimized "$<$<CONFIG:RelWithDebInfo>:-O0>")
if(TOTOGRAPH_PRECOMPILE AND TOTOGRAPH_BUILD_TESTS)
    find_package(doctest 2.4 REQUIRED)
    # Libraries of their own: tests/main.cpp compiles doctest's implementation, so it must not see the header precompiled.
    file(CONFIGURE OUTPUT precompiled.cpp CONTENT "// A precompiled header needs one source file.\n")
    foreach(kind optimized unoptimized)
        foreach(whom tests programs)
            set(precompiled totograph_precompiled_${whom}_${kind})
            add_library(${precompiled} OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/precompiled.cpp")
            target_link_libraries(${precompiled} PRIVATE totograph_development)
            set_target_properties(${precompiled} PROPERTIES CXX_EXTENSIONS OFF)
            if(kind STREQUAL "unoptimized")
                target_compile_options(${precompiled} PRIVATE "${unoptimized}")
            endif()
        endforeach()
        target_precompile_headers(totograph_precompiled_programs_${kind} PRIVATE <Eigen/Core>)
        target_precompile_headers(totograph_precompiled_tests_${kind} PRIVATE "${PROJECT_SOURCE_DIR}/tests/precompiled.hpp")
        target_include_directories(totograph_precompiled_tests_${kind} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
        target_link_libraries(totograph_precompiled_tests_${kind} PRIVATE doctest::doctest)
    endforeach()
endif()

function(totograph_reuse_precompiled whom target kind)
    if(TARGET totograph_precompiled_${whom}_${kind})
        target_precompile_headers(${target} REUSE_FROM totograph_precompiled_${whom}_${kind})
    endif()
endfunction()
