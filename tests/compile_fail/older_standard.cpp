// SPDX-License-Identifier: Apache-2.0
// option: -std=c++17
// expect: the headers are C++20, and this file is compiled as an older standard
// expect: an_error_is_above.hpp
#include <totograph/totograph.hpp>
