# SPDX-License-Identifier: Apache-2.0
# Install tree, in components: `development` (headers, the CMake package, the pkg-config file and totograph-package; all of
# it is text, so it goes below share/), `model` (the demo model, sample data, and the tools that get other checkpoints), and
# `programs`, which examples/ adds.
include(CMakePackageConfigHelpers)

if(totograph_fetched)
    message(STATUS "totograph: no install rules, because these dependencies were downloaded:${totograph_fetched}")
    return()
endif()

set(package_directory "${CMAKE_INSTALL_DATADIR}/cmake/totograph")
set(pkgconfig_directory "${CMAKE_INSTALL_DATADIR}/pkgconfig")
set(demo_model_directory "${CMAKE_INSTALL_DATADIR}/totograph/models/demo")

configure_package_config_file(cmake/totographConfig.cmake.in "${PROJECT_BINARY_DIR}/totographConfig.cmake"
    INSTALL_DESTINATION "${package_directory}" NO_SET_AND_CHECK_MACRO PATH_VARS demo_model_directory)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/totographConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

# pkg-config finds the prefix from where the file lies, so the tree can be moved; not where one of these folders was
# given as an absolute one, as some distributions do.
set(pkgconfig_prefix "${CMAKE_INSTALL_PREFIX}")
if(NOT IS_ABSOLUTE "${pkgconfig_directory}")
    file(RELATIVE_PATH pkgconfig_prefix "/prefix/${pkgconfig_directory}" "/prefix")
    string(REGEX REPLACE "/$" "" pkgconfig_prefix "\${pcfiledir}/${pkgconfig_prefix}")
endif()
foreach(part CMAKE_INSTALL_INCLUDEDIR demo_model_directory)
    set(pkgconfig_${part} "${${part}}")
    if(NOT IS_ABSOLUTE "${${part}}")
        string(PREPEND pkgconfig_${part} "\${prefix}/")
    endif()
endforeach()
configure_file(cmake/totograph.pc.in "${PROJECT_BINARY_DIR}/totograph.pc" @ONLY)

install(DIRECTORY include/totograph DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(TARGETS totograph totograph_cuda EXPORT totographTargets COMPONENT development)
install(EXPORT totographTargets NAMESPACE totograph:: DESTINATION "${package_directory}" COMPONENT development)
install(FILES
    "${PROJECT_BINARY_DIR}/totographConfig.cmake"
    "${PROJECT_BINARY_DIR}/totographConfigVersion.cmake"
    cmake/AddPackage.cmake
    cmake/BuildHints.cmake
    cmake/Compiled.cmake
    cmake/CudaArchitectures.cmake
    cmake/ProcessorLevels.cmake
    DESTINATION "${package_directory}" COMPONENT development)
install(DIRECTORY cmake/compiled cmake/package cmake/processor_levels DESTINATION "${package_directory}" COMPONENT development)
install(PROGRAMS tools/totograph-package DESTINATION "${CMAKE_INSTALL_DATADIR}/totograph/tools" COMPONENT development)
install(DIRECTORY python/totograph_package DESTINATION "${CMAKE_INSTALL_DATADIR}/totograph/tools" COMPONENT development
    FILES_MATCHING PATTERN "*.py")
install(FILES "${PROJECT_BINARY_DIR}/totograph.pc" DESTINATION "${pkgconfig_directory}" COMPONENT development)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)
install(DIRECTORY models/demo/ DESTINATION "${demo_model_directory}" COMPONENT model)
install(DIRECTORY examples/data/ DESTINATION "${CMAKE_INSTALL_DATADIR}/totograph/data" COMPONENT model)
install(PROGRAMS tools/get_checkpoint tools/convert_checkpoint.py
    DESTINATION "${CMAKE_INSTALL_DATADIR}/totograph/tools" COMPONENT model)
