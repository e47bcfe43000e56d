// SPDX-License-Identifier: Apache-2.0
// option: -ffast-math
// expect: which assume that there is no NaN and no infinity
#include <totograph/forecast/forecast.hpp>
