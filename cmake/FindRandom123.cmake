# SPDX-License-Identifier: Apache-2.0
# Finds Random123, a header-only library that ships no CMake package of its own.
#   Random123_INCLUDE_DIR   where Random123/philox.h lies
#   Random123::Random123    the imported target
find_path(Random123_INCLUDE_DIR Random123/philox.h)
mark_as_advanced(Random123_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Random123
    REQUIRED_VARS Random123_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "Install librandom123-dev, or set Random123_INCLUDE_DIR to where Random123/philox.h lies.")

if(Random123_FOUND AND NOT TARGET Random123::Random123)
    add_library(Random123::Random123 INTERFACE IMPORTED)
    target_include_directories(Random123::Random123 SYSTEM INTERFACE "${Random123_INCLUDE_DIR}")
endif()
