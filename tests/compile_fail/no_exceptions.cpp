// SPDX-License-Identifier: Apache-2.0
// option: -fno-exceptions
// expect: mistakes are told by exceptions
// expect: an_error_is_above.hpp
#include <totograph/io/csv/csv.hpp>
