# SPDX-License-Identifier: Apache-2.0
# What our own tests, examples and benchmarks are compiled with; nothing of this reaches users of totograph::totograph.
# totograph_flags has the flags, with all code in headers; totograph_development links the compiled library, too.
add_library(totograph_flags INTERFACE)
target_link_libraries(totograph_flags INTERFACE totograph)
add_library(totograph_development INTERFACE)
target_link_libraries(totograph_development INTERFACE totograph_flags totograph_compiled)
target_link_libraries(totograph_compiled PRIVATE totograph_flags)
target_compile_options(totograph_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees uninitialized values inside its own AVX-512 header (GCC bug 105593); clang watches our code.
    target_compile_options(totograph_flags INTERFACE
        "$<$<COMPILE_LANGUAGE:CXX>:-Wno-uninitialized;-Wno-maybe-uninitialized>")
endif()
# GCC collects garbage when its memory has grown by that many percent. By default it does so at every doubling, which
# takes a tenth of the time where it computes constants. After its first collection GCC 12 searches freed pages one by
# one, up to a fifth of the time for programs of many tests and for the library: those may grow by 2,000% first, so in
# practice they are never collected, and take up to 2.6 GB.
set(never "$<BOOL:$<TARGET_PROPERTY:TOTOGRAPH_NEVER_COLLECTS>>")
target_compile_options(totograph_flags INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-expand=$<IF:${never},2000,200>>")
set_target_properties(totograph_compiled PROPERTIES TOTOGRAPH_NEVER_COLLECTS ON)
# Tests are compiled without optimization on purpose.
target_compile_definitions(totograph_flags INTERFACE TOTOGRAPH_NO_OPTIMIZE_WARNING)
if(TOTOGRAPH_WERROR)
    target_compile_options(totograph_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()

if(TOTOGRAPH_NATIVE AND TOTOGRAPH_PROCESSOR_LEVELS)
    message(FATAL_ERROR "totograph: TOTOGRAPH_PROCESSOR_LEVELS is for programs that run on any x86-64, and TOTOGRAPH_NATIVE "
        "for those that run on machines like this one. Configure with -DTOTOGRAPH_NATIVE=OFF, or without levels.")
endif()
if(TOTOGRAPH_NATIVE)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-march=native TOTOGRAPH_HAS_MARCH_NATIVE)
    if(TOTOGRAPH_HAS_MARCH_NATIVE)
        target_compile_options(totograph_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-march=native>")
    endif()
endif()

if(TOTOGRAPH_FUZZ AND NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "totograph: TOTOGRAPH_FUZZ needs libFuzzer, which only clang has; the compiler is "
        "${CMAKE_CXX_COMPILER_ID}. Configure with -DCMAKE_CXX_COMPILER=clang++, or switch TOTOGRAPH_FUZZ off.")
endif()

if(TOTOGRAPH_SANITIZE)
    set(sanitize "-fsanitize=${TOTOGRAPH_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(totograph_flags INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${sanitize}>")
    target_link_options(totograph_flags INTERFACE ${sanitize})
    # Programs under sanitizers are large, and there are many: the default linker takes 2 s for each, LLVM's a quarter.
    find_program(TOTOGRAPH_LLD ld.lld)
    mark_as_advanced(TOTOGRAPH_LLD)
    if(TOTOGRAPH_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        target_link_options(totograph_flags INTERFACE -fuse-ld=lld)
    endif()
endif()

# An executable of ours: the library, our flags, plain C++20.
function(totograph_add_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE totograph_development)
    set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# The same in CUDA. C++20 by hand, because CMake 3.25 does not know that nvcc speaks it.
function(totograph_add_cuda_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE totograph_development totograph_cuda_compiled)
    target_compile_options(${name} PRIVATE -std=c++20)
endfunction()
