# SPDX-License-Identifier: Apache-2.0
# totograph::compiled: all of totograph::totograph, with the functions that do not depend on a model compiled once, into
# a static library of your project, in place of once in each file.
#
#     target_link_libraries(app PRIVATE totograph::compiled)
#
# It is built when something links it. Use it for all targets of a program, or for none. It takes the flags that your
# whole project has before this, like CMAKE_CXX_FLAGS; later ones, and those of single targets, like -march, it needs, too:
#
#     target_compile_options(totograph_compiled PRIVATE -march=x86-64-v3)
get_property(totograph_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("CXX" IN_LIST totograph_languages AND NOT TARGET totograph_compiled)  # not in a project of C, which loads packages
    add_library(totograph_compiled STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/compiled/compiled.cpp")
    add_library(totograph::compiled ALIAS totograph_compiled)
    target_link_libraries(totograph_compiled PUBLIC totograph::totograph)
    target_compile_definitions(totograph_compiled PUBLIC TOTOGRAPH_SEPARATE_COMPILATION)
    set_target_properties(totograph_compiled PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
endif()

# totograph::cuda_compiled: the same of totograph::cuda, for a project that has enabled CUDA before, and where CMake finds
# the toolkit. Its architectures are those of CMAKE_CUDA_ARCHITECTURES, and must be the architectures of all targets that
# link it. Nothing of this may stop a project that has CUDA for something else: unlike totograph::cuda, which is resolved
# where it is linked, a library of sources needs all that it links as soon as it is defined.
if("CUDA" IN_LIST totograph_languages AND NOT TARGET CUDA::cublasLt)
    find_package(CUDAToolkit 12.4 QUIET)
endif()
if("CUDA" IN_LIST totograph_languages AND TARGET CUDA::cudart AND TARGET CUDA::cublasLt
        AND TARGET totograph_compiled AND NOT TARGET totograph_cuda_compiled)
    add_library(totograph_cuda_compiled STATIC EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/compiled/cuda_compiled.cu")
    add_library(totograph::cuda_compiled ALIAS totograph_cuda_compiled)
    target_link_libraries(totograph_cuda_compiled PUBLIC totograph::cuda totograph::compiled)
    target_compile_definitions(totograph_cuda_compiled PUBLIC TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
    target_compile_options(totograph_cuda_compiled PRIVATE -std=c++20)
    set_target_properties(totograph_cuda_compiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
    totograph_group_cuda_architectures(totograph_cuda_compiled)
endif()
