// SPDX-License-Identifier: Apache-2.0
// option: -ffinite-math-only
// expect: which assume that there is no NaN and no infinity
#include <totograph/graph/program.hpp>
