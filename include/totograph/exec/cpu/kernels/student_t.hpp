// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::cpu {

/// The arguments of `sample_student_t_mixture` for consecutive times of one sample path. At each time the parameters
/// of the components lie next to each other; strides are in elements. A stride of 0 uses one set of parameters for all
/// times.
struct StudentTMixtureArguments {
    const float* df = nullptr;     ///< Degrees of freedom, positive.
    const float* loc = nullptr;    ///< Locations.
    const float* scale = nullptr;  ///< Scales.
    const float* probabilities =
        nullptr;                     ///< Weights of the components; null is the same as one component of weight 1.
    float* out = nullptr;            ///< One draw for each time.
    Index df_stride = 0;             ///< From one time to the next in `df`.
    Index loc_stride = 0;            ///< From one time to the next in `loc`.
    Index scale_stride = 0;          ///< From one time to the next in `scale`.
    Index probabilities_stride = 0;  ///< From one time to the next in `probabilities`.
    Index out_stride = 1;            ///< From one time to the next in `out`.
    Index components = 1;            ///< How many components the mixture has.
    Index times = 0;                 ///< How many times to draw for.
    SampleKey key;                   ///< Names the draw of the first time; later ones count `key.time` up.
};

/// Draws one number for each time. One work item is one (series, variate, sample): the result depends on the
/// parameters and the key alone, so items may run in any order, on any thread.
void sample_student_t_mixture(const StudentTMixtureArguments& arguments);

}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/kernels/impl/student_t.hpp>
#endif
