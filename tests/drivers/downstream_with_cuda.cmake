# SPDX-License-Identifier: Apache-2.0
# A project that has enabled CUDA configures, through find_package and through add_subdirectory: whether it links the
# CPU library alone or totograph::cuda_compiled, and the first also where CMake finds no toolkit. Nothing is compiled.
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")

find_program(NVCC nvcc PATHS "$ENV{CUDA_HOME}/bin" "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
if(NOT NVCC)
    message("skipped: no nvcc on this machine.")
    return()
endif()
load_cache("${BUILD}" READ_WITH_PREFIX "" CMAKE_GENERATOR CMAKE_CXX_COMPILER CMAKE_PREFIX_PATH)
file(REMOVE_RECURSE "${SCRATCH}")
foreach(component development model)
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${SCRATCH}/prefix" --component ${component})
endforeach()

set(find_package_options "-DCMAKE_PREFIX_PATH=${SCRATCH}/prefix\\;${CMAKE_PREFIX_PATH}")
set(add_subdirectory_options "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}" "-DTOTOGRAPH_SOURCE=${SOURCE}")
foreach(way find_package add_subdirectory)
    set(configure "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${SOURCE}/tests/downstream" -B "${SCRATCH}/${way}"
        -DWITH_CUDA=ON)
    run(${configure} -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
        "-DCMAKE_CUDA_COMPILER=${NVCC}" "-DCMAKE_CUDA_ARCHITECTURES=86\\;89-real\\;90"
        -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
        ${${way}_options})
    run(${configure} -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=OFF)
    run(${configure} -DLIBRARY=totograph::cuda_compiled)
    file(READ "${SCRATCH}/${way}/compile_commands.json" output)
    output_says(1 "--generate-code=arch=compute_86,code=[sm_86,sm_89,compute_86]")
    output_says(1 "--generate-code=arch=compute_90,code=[sm_90,compute_90]")
    output_says(2 "--generate-code=")
endforeach()
