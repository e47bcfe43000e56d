// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/kernels/student_t.hpp>

#include <totograph/core/inline.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::cpu {

TOTOGRAPH_INLINE void sample_student_t_mixture(const StudentTMixtureArguments& arguments) {
    constexpr float certain = 1.0F;
    SampleKey key = arguments.key;
    for (Index time = 0; time < arguments.times; ++time, ++key.time) {
        const bool is_mixture = arguments.probabilities != nullptr;
        arguments.out[time * arguments.out_stride] = totograph::sample_student_t_mixture(
            is_mixture ? static_cast<int>(arguments.components) : 1, arguments.df + time * arguments.df_stride,
            arguments.loc + time * arguments.loc_stride, arguments.scale + time * arguments.scale_stride,
            is_mixture ? arguments.probabilities + time * arguments.probabilities_stride : &certain, key);
    }
}

}  // namespace totograph::cpu
