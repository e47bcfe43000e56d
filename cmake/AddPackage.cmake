# SPDX-License-Identifier: Apache-2.0
# totograph_add_package(<name> MODELS <model>... BUCKETS <bucket>... [DEVICES cpu|cuda...] [TARGETS <level>...]): a package,
# which is a shared library <name>.so of models compiled for the sizes of requests that they serve.
#
#     totograph_add_package(demo
#         MODELS toto1::demo_1_0
#         BUCKETS "variates=8 context=512 horizon=96 samples=128 exogenous=4" "variates=8 context=512 horizon=96")
#
# A model is one of the library's, or "<type> from <header>": a header beside the CMakeLists.txt that calls this, or where
# the include directories of the project say. A bucket names what totograph::Bucket has; what it leaves out is as there.
# Each model is compiled for each bucket. The library exports the functions of <totograph/c/totograph.h> and nothing
# else. For CUDA it is `<name>.cuda.so`, for CMAKE_CUDA_ARCHITECTURES; enable the language CUDA and find CUDAToolkit
# first. With levels, such as x86-64-v3 and x86-64-v4, it is a library for each of them, `<name>.x86-64-v3.so`; without,
# it is compiled with the flags of the project. Sets `<name>_PACKAGES`, the names of the targets, for install(TARGETS).
# "variates=8 context=512" as an initializer of totograph::Bucket.
function(totograph_bucket_initializer text output)
    set(members "")
    set(left " ${text}")
    foreach(name batch variates context horizon samples exogenous)
        if(left MATCHES "[ ,]${name}=([0-9]+)")
            list(APPEND members ".${name} = ${CMAKE_MATCH_1}")
            string(REGEX REPLACE "[ ,]${name}=[0-9]+" "" left "${left}")
        endif()
    endforeach()
    if(NOT left MATCHES "^[ ,]*$" OR NOT members)
        message(FATAL_ERROR "totograph_add_package: '${text}' is no bucket. Expected names and numbers like "
            "'variates=8 context=512 horizon=96 samples=128'; the names are batch, variates, context, horizon, samples "
            "and exogenous.")
    endif()
    list(JOIN members ", " members)
    set(${output} "totograph::Bucket{${members}}" PARENT_SCOPE)
endfunction()

# The source files of a package, written below the build folder.
function(totograph_package_sources name device models buckets output)
    set(known
        "toto1::demo_1_0 from totograph/models/toto1/demo_1_0.hpp"
        "toto1::open_base_1_0 from totograph/models/toto1/family.hpp"
        "toto2::toto2_4m from totograph/models/toto2/family.hpp"
        "toto2::toto2_22m from totograph/models/toto2/family.hpp"
        "toto2::toto2_313m from totograph/models/toto2/family.hpp"
        "toto2::toto2_1b from totograph/models/toto2/family.hpp"
        "toto2::toto2_2_5b from totograph/models/toto2/family.hpp")
    set(initializers "")
    foreach(bucket IN LISTS buckets)
        totograph_bucket_initializer("${bucket}" initializer)
        list(APPEND initializers "${initializer}")
    endforeach()
    list(JOIN initializers ",\n                  " initializers)

    set(sources "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/exports.cpp")
    set(declared "")
    set(listed "")
    set(number 0)
    # All buckets are compiled with their model.
    set(elsewhere "")
    set(instances "")
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}_package")
    if(NOT device STREQUAL "cpu")
        string(APPEND folder "/${device}")
    endif()
    foreach(model IN LISTS models)
        set(own ${known})
        list(FILTER own INCLUDE REGEX "^${model} from ")
        if(own)
            set(model "totograph::${own}")
        endif()
        if(NOT model MATCHES "^([A-Za-z_][A-Za-z0-9_:]*) from ([^ ]+)$")
            message(FATAL_ERROR "totograph_add_package: '${model}' is none of the library's models. Expected one of "
                "those, such as toto1::demo_1_0, or '<type> from <header>'.")
        endif()
        set(type "${CMAKE_MATCH_1}")
        set(header "${CMAKE_MATCH_2}")
        string(REGEX REPLACE "^totograph::" "" title "${type}")
        set(make compile_model)
        set(runs "")
        set(runner "")
        if(device STREQUAL "cuda")
            set(make describe_model)
            set(runner ", add_device_${number}")
            set(runs "void add_device_${number}(serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);\n\n")
            set(options "cuda::ForecasterOptions{}")
            set(source "${folder}/device_${number}.cu")
            configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/device.cu.in" "${source}" @ONLY)
            list(APPEND sources "${source}")
        endif()
        set(source "${folder}/model_${number}.cpp")
        configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/model.cpp.in" "${source}" @ONLY)
        list(APPEND sources "${source}")
        string(APPEND declared "extern const PackagedModel model_${number};\n")
        string(APPEND listed "        &model_${number},\n")
        math(EXPR number "${number} + 1")
    endforeach()

    set(source "${folder}/package.cpp")
    configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/package.cpp.in" "${source}" @ONLY)
    list(APPEND sources "${source}")
    set(${output} "${sources}" PARENT_SCOPE)
endfunction()

# One library of a package.
function(totograph_add_package_library target sources level)
    add_library("${target}" MODULE ${sources})
    target_link_libraries("${target}" PRIVATE totograph::totograph)
    target_include_directories("${target}" PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    if(level)
        target_compile_options("${target}" PRIVATE "-march=${level}")
    endif()
    # All names but those of the C interface stay inside, also those of the standard library's templates.
    target_link_options("${target}" PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/exports.map"
        "LINKER:--build-id=sha1" "LINKER:--no-undefined")
    set_target_properties("${target}" PROPERTIES PREFIX "" SUFFIX ".so" OUTPUT_NAME "${target}" CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
        LINK_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/package/exports.map")
endfunction()

function(totograph_add_package name)
    cmake_parse_arguments(PARSE_ARGV 1 package "" "" "MODELS;BUCKETS;DEVICES;TARGETS")
    set(unknown_devices ${package_DEVICES})
    list(REMOVE_ITEM unknown_devices cpu cuda)
    if(package_UNPARSED_ARGUMENTS OR NOT package_MODELS OR NOT package_BUCKETS OR unknown_devices)
        message(FATAL_ERROR "totograph_add_package(${name}): expected MODELS <model>... BUCKETS <bucket>... [DEVICES "
            "cpu|cuda...] [TARGETS <level>...], found: ${ARGN}")
    endif()
    set(targets "")
    if(NOT package_DEVICES OR "cpu" IN_LIST package_DEVICES)
        totograph_package_sources("${name}" cpu "${package_MODELS}" "${package_BUCKETS}" sources)
        foreach(level IN LISTS package_TARGETS)
            totograph_add_package_library("${name}.${level}" "${sources}" "${level}")
            list(APPEND targets "${name}.${level}")
        endforeach()
        if(NOT package_TARGETS)
            totograph_add_package_library("${name}" "${sources}" "")
            list(APPEND targets "${name}")
        endif()
    endif()
    if("cuda" IN_LIST package_DEVICES)
        if(NOT CMAKE_CUDA_COMPILER OR NOT TARGET CUDA::cudart)
            message(FATAL_ERROR "totograph_add_package(${name}): for CUDA, call enable_language(CUDA) and "
                "find_package(CUDAToolkit REQUIRED) first.")
        endif()
        set(target "${name}.cuda")
        totograph_package_sources("${name}" cuda "${package_MODELS}" "${package_BUCKETS}" sources)
        totograph_add_package_library("${target}" "${sources}" "")
        target_link_libraries("${target}" PRIVATE totograph::cuda)
        target_compile_options("${target}" PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
        set_target_properties("${target}" PROPERTIES CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Shared)
        totograph_group_cuda_architectures("${target}")
        list(APPEND targets "${target}")
    endif()
    set(${name}_PACKAGES "${targets}" PARENT_SCOPE)
endfunction()
