// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/nanovlm/parts.hpp>
#include <totograph/models/nanovlm/states.hpp>

namespace totograph::nanovlm {

/// The states of a call's programs as tensors, declared where they are first used. `states.hpp` says what they hold.
template <class Parts>
class Inputs {
public:
    constexpr explicit Inputs(Recorder& recorder) : r_(&recorder) {}

    [[nodiscard]] constexpr Recorder& recorder() const { return *r_; }

    /// Tokens of the prompts, i32 `[batch, 1, 1, context]`.
    [[nodiscard]] constexpr Tensor tokens() const {
        return cast(r_->state(states::series, {sizes.batch, 1, 1, Parts::context}), DType::i32);
    }
    /// Tokens that each prompt has, i32 `[batch]`.
    [[nodiscard]] constexpr Tensor length() const { return r_->state(states::length, {sizes.batch}, DType::i32); }
    [[nodiscard]] constexpr Tensor first_position() const {
        return r_->state(states::first_position, {sizes.batch}, DType::i32);
    }
    [[nodiscard]] constexpr Tensor longest() const { return r_->state(states::longest, {1}, DType::i32); }

    [[nodiscard]] constexpr Tensor image_row() const {
        return r_->state(states::image_row, {sizes.batch, 1, 1, Parts::context}, DType::i32);
    }
    [[nodiscard]] constexpr Tensor image_rows() const {
        return r_->state(states::image_rows, {Parts::config.image_rows(), Parts::width});
    }
    [[nodiscard]] constexpr Tensor pixels() const {
        constexpr Index size = Parts::config.vit.vit_img_size;
        return r_->state(states::pixels, Shape{Parts::config.images, 3, size, size});
    }

    /// As the reference has it: of the `top_k` largest logits those stay up to which the softmax comes to `top_p`, and
    /// the temperature divides these.
    [[nodiscard]] constexpr CategoricalFilter filter() const {
        const Tensor temperature = r_->state(states::temperature, {1});
        const Tensor top_k = r_->state(states::top_k, {1}, DType::i32);
        const Tensor top_p = r_->state(states::top_p, {1});
        return {.temperature = temperature,
                .top_k = top_k,
                .top_p = top_p,
                .temperature_last = true,
                .drops_crossing = true};
    }
    /// What names the draws of a step.
    [[nodiscard]] constexpr DrawNames draw_names(Tensor step) const {
        const Tensor seed = r_->state(states::seed, {2}, DType::i32);
        return {seed, r_->state(states::first_draw, {2}, DType::i32), step};
    }
    /// What of the bucket a call asks for.
    [[nodiscard]] constexpr Tensor request() const {
        return r_->state(states::request, {states::request_size}, DType::i32);
    }
    [[nodiscard]] constexpr Tensor step() const { return r_->state(states::step, {1}, DType::i32); }
    /// Tokens that were drawn, as f32: `[batch, samples, 1, horizon, 1]`.
    [[nodiscard]] constexpr Tensor drawn() const {
        return r_->state(states::forecast, {sizes.batch, sizes.samples, 1, Parts::horizon, 1});
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;

    Recorder* r_;
};

}  // namespace totograph::nanovlm
