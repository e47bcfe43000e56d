# SPDX-License-Identifier: Apache-2.0
# Debian packages of the install tree, by CPack: `totograph`, the programs with the demo model and sample data, and
# `libtotograph-dev`, the library. `make package` builds them for any x86-64, in build/package.
if(NOT TOTOGRAPH_INSTALL OR NOT TOTOGRAPH_BUILD_EXAMPLES OR totograph_fetched)
    return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME totograph)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Forecasts of time series with the Toto transformer")
set(CPACK_PACKAGE_CONTACT "the totograph developers <totograph@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL programs model development)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_PROGRAMS_GROUP programs)
set(CPACK_COMPONENT_MODEL_GROUP programs)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development)

# Programs that were compiled for the processor of one machine say so in the name of their file.
set(native "")
if(TOTOGRAPH_NATIVE)
    set(native "-native")
endif()
set(architecture "${CMAKE_SYSTEM_PROCESSOR}")
find_program(TOTOGRAPH_DPKG dpkg)
mark_as_advanced(TOTOGRAPH_DPKG)
if(TOTOGRAPH_DPKG)
    execute_process(COMMAND "${TOTOGRAPH_DPKG}" --print-architecture
        OUTPUT_VARIABLE architecture OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_NAME totograph)
set(CPACK_DEBIAN_PROGRAMS_FILE_NAME "totograph_${PROJECT_VERSION}${native}_${architecture}.deb")
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS python3)  # for the tools that get checkpoints
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_CONFLICTS stress)  # which has a program of that name, too
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtotograph-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS python3)  # for totograph-package
set(CPACK_DEBIAN_DEVELOPMENT_FILE_NAME "libtotograph-dev_${PROJECT_VERSION}_all.deb")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "totograph (= ${PROJECT_VERSION}), libeigen3-dev (>= 3.4), nlohmann-json3-dev (>= 3.11)")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Forecasts of time series with the Toto transformer: C++20 headers")

# Where Debian looks for a package's licence; not in an install tree of all components.
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/totograph" RENAME copyright
    COMPONENT programs EXCLUDE_FROM_ALL)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/libtotograph-dev" RENAME copyright
    COMPONENT development EXCLUDE_FROM_ALL)
include(CPack)
