// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/language.hpp>

// What every number of this library rests on: NaN, infinities and the sign of zero mean what IEEE 754 says. Gaps,
// values that are too large, and the marks of values that are no numbers are all told by them. A compiler that may
// assume that there are none drops those tests without a word.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0)
#error \
    "totograph: forecasts are wrong under -ffast-math, -Ofast or -ffinite-math-only, which assume that there is no NaN and no infinity; compile the files that include totograph without them (the library chooses fast instructions itself)."
#elif defined(__NO_SIGNED_ZEROS__)
#error \
    "totograph: values that are no finite numbers are marked by the sign of a zero, which -fno-signed-zeros (part of -funsafe-math-optimizations) drops; compile the files that include totograph without it."
#endif
