// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/linear.hpp>

namespace totograph::nn {

/// Parameters of mixtures of Student-t distributions, each `[batch, samples, variates, patches, patch_size,
/// components]`.
struct StudentTMixture {
    Tensor degrees_of_freedom;
    Tensor location;
    Tensor scale;
    Tensor probability;
};

/// The smallest f32 step above 1: a lower bound of what softplus gives.
inline constexpr double f32_epsilon = 0x1p-23;

/// Sizes of a head that parametrizes a mixture of Student-t distributions.
struct StudentTHeadSize {
    Index width = 0;
    Index components = 1;
    bool is_mixture = true;  ///< A single distribution has no probabilities.
};

/// df = 2 + max(softplus(.), eps), location = ., scale = max(softplus(.), eps), probability = softmax(.), each of a
/// projection of x.
template <StudentTHeadSize size>
struct StudentTHead {
    static_assert(size.width > 0 && size.components > 0 && (size.is_mixture || size.components == 1),
                  "totograph: the sizes of a head must be positive, and a single distribution has one component.");
    using Projection = Linear<LinearSize{.in = size.width, .out = size.components}>;

    static constexpr Index width = size.width;
    static constexpr Index projections = size.is_mixture ? 4 : 3;
    static constexpr Index parameters = projections * Projection::parameters;
    static constexpr Index parameter_bytes = projections * Projection::parameter_bytes;
    static constexpr Index flops_per_row = projections * Projection::flops_per_row;

    Projection degrees_of_freedom;
    Projection location;
    Projection scale;
    Projection logits;  ///< Unused by a single distribution.

    /// x is `[batch, samples, variates, patches, patch_size, width]`.
    [[nodiscard]] constexpr StudentTMixture record(Tensor x) const {
        if (!detail::check_width<StudentTHead>(x, size.width)) {
            return {x, x, x, x};
        }
        const Tensor freedom = maximum(softplus(degrees_of_freedom.record(x)), f32_epsilon) + 2.0;
        const Tensor at = location.record(x);
        const Tensor spread = maximum(softplus(scale.record(x)), f32_epsilon);
        if constexpr (size.is_mixture) {
            return {freedom, at, spread, softmax(logits.record(x))};
        } else {
            return {freedom, at, spread, expand(x.recorder().constant(1.0), at.shape())};
        }
    }
};

/// Drops the axis of components, which has extent 1.
constexpr Tensor drop_components(Tensor x) {
    Shape shape = x.shape();
    --shape.rank;
    return reshape(x, shape);
}

/// sum_k p_k location_k, `[batch, samples, variates, patches, patch_size]`.
constexpr Tensor mixture_mean(const StudentTMixture& mixture) {
    return drop_components(sum(mixture.probability * mixture.location));
}

/// The variance of the mixture: mean of the variances plus variance of the means. A component's variance is
/// scale^2 df / (df - 2).
constexpr Tensor mixture_variance(const StudentTMixture& mixture) {
    const Tensor freedom = mixture.degrees_of_freedom;
    const Tensor inner = mixture.scale * mixture.scale * freedom / (freedom - 2.0);
    const Tensor deviation = mixture.location - sum(mixture.probability * mixture.location);
    return drop_components(sum(mixture.probability * (inner + deviation * deviation)));
}

/// One draw for each of `samples` (counter-based: see `core/random.hpp`), `[batch, samples, variates, patches,
/// patch_size]`. `seed` is `[2]` i32 (low and high half), `first` is `[2]` i32 (added to the index of a series and to
/// that of a sample), `patch` is `[1]` i32: the index of the forecast patch, which counts into the time of a draw.
constexpr Tensor sample(const StudentTMixture& mixture, Index samples, Tensor seed, Tensor first, Tensor patch) {
    Recorder& recorder = mixture.location.recorder();
    const Shape& parameters = mixture.location.shape();
    const bool is_mixture = parameters.rank == 6 && (parameters[1] == 1 || parameters[1] == samples);
    for (const Tensor& part : {mixture.degrees_of_freedom, mixture.location, mixture.scale, mixture.probability}) {
        if (!is_mixture || !(part.shape() == parameters) || part.dtype() != DType::f32) {
            recorder.fail(ModelErrorKind::sampled_shapes_differ)
                << "sample: " << samples << " samples of a mixture whose parameters are " << name(part.dtype()) << " "
                << part.shape() << " beside " << parameters
                << "; all are f32 [batch, 1 or samples, variates, patches, patch_size, components]";
            return mixture.location;
        }
    }
    recorder.check_integers(seed, 2, "sample: the seed");
    recorder.check_integers(first, 2, "sample: the first series and sample");
    recorder.check_integers(patch, 1, "sample: the patch");
    Shape shape = with_axis(parameters, 1, samples);
    --shape.rank;
    return seed.recorder().add(
        Op::sample_student_t_mixture, DType::f32, shape,
        {mixture.degrees_of_freedom, mixture.location, mixture.scale, mixture.probability, seed, first, patch});
}

}  // namespace totograph::nn
