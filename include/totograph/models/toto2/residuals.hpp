// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::toto2 {

/// The residual stream, x <- (tau f(x) + x) / sqrt(1 + tau^2), where `tau` is a number of the checkpoint.
///
/// With x = A y, where A is the product of all 1 / sqrt(1 + tau^2) so far, that is y <- y + (tau / A) f(x): tau / A
/// goes into the weights of f, and nothing is left to multiply. A norm of x is that of y with epsilon / A^2. Without
/// that rewrite the stream is x, and A stays 1.
class ResidualStream {
public:
    constexpr ResidualStream(Recorder& recorder, bool is_plain, double epsilon)
        : is_plain_(is_plain), epsilon_(epsilon), square_(recorder.constant(1, DType::f64)) {}

    /// A^2, of weights alone: what a loop over layers hands on beside the stream.
    [[nodiscard]] constexpr Tensor square() const { return square_; }
    /// The stream where A^2 is another one.
    [[nodiscard]] constexpr ResidualStream at(Tensor square) const {
        ResidualStream result = *this;
        result.square_ = square;
        return result;
    }

    /// The epsilon of a norm that reads the stream, f32.
    [[nodiscard]] constexpr Tensor epsilon() const { return cast(epsilon_ / square_, DType::f32); }

    /// Adds the last layer of f to the stream. `tau` is a tensor of the checkpoint.
    template <class Last>
    [[nodiscard]] constexpr Tensor add(Tensor x, const Last& last, Tensor input, Tensor tau) {
        const Tensor weight = cast(tau, DType::f64);
        const Tensor growth = weight * weight + 1.0;
        if (is_plain_) {
            const Tensor sum = x + last.times(cast(weight / sqrt(square_), DType::f32)).record(input);
            square_ = square_ / growth;
            return sum;
        }
        const Tensor kept = rsqrt(growth);
        return x * cast(kept, DType::f32) + last.times(cast(weight * kept, DType::f32)).record(input);
    }

private:
    bool is_plain_;
    double epsilon_;
    Tensor square_;
};

}  // namespace totograph::toto2
