// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/states.hpp>

namespace totograph::toto1 {

/// The states of a forecast's programs as tensors, declared where they are first used. `states.hpp` says what they
/// hold.
class ForecastStates {
public:
    constexpr ForecastStates(Recorder& recorder, const ForecastSizes& forecast_sizes)
        : r_(&recorder), sizes_(forecast_sizes) {}

    [[nodiscard]] constexpr Recorder& recorder() const { return *r_; }

    [[nodiscard]] constexpr Tensor series() const { return r_->state(states::series, context_shape()); }
    [[nodiscard]] constexpr Tensor observed() const { return r_->state(states::observed, context_shape()); }
    [[nodiscard]] constexpr Tensor groups() const {
        return r_->state(states::groups, {sizes_.batch, sizes_.variates, sizes_.context_patches}, DType::i32);
    }
    [[nodiscard]] constexpr Tensor length() const { return r_->state(states::length, {sizes_.batch}, DType::i32); }
    [[nodiscard]] constexpr Tensor is_exogenous() const { return r_->state(states::is_exogenous, variate_shape()); }
    [[nodiscard]] constexpr Tensor is_known() const { return r_->state(states::is_known, variate_shape()); }
    [[nodiscard]] constexpr Tensor future() const {
        return r_->state(states::future, {sizes_.batch, 1, sizes_.variates, sizes_.steps, sizes_.patch_size});
    }
    [[nodiscard]] constexpr Tensor seed() const { return r_->state(states::seed, {2}, DType::i32); }
    [[nodiscard]] constexpr Tensor first_draw() const { return r_->state(states::first_draw, {2}, DType::i32); }
    /// What of the bucket a request asks for: programs that declare it leave the rest of it undefined.
    constexpr void declare_request() const {
        (void)r_->state(states::request, {states::request_size}, DType::i32, {}, StateUse::bounds);
    }

    [[nodiscard]] constexpr Tensor forecast() const {
        return r_->state(states::forecast,
                         {sizes_.batch, sizes_.samples, sizes_.variates, sizes_.steps, sizes_.patch_size}, DType::f32,
                         {}, StateUse::any, states::row_bounds());
    }
    [[nodiscard]] constexpr Tensor step() const { return r_->state(states::step, {1}, DType::i32); }

    [[nodiscard]] constexpr Tensor history() const { return bounded(states::history); }
    [[nodiscard]] constexpr Tensor history_observed() const { return bounded(states::history_observed); }
    [[nodiscard]] constexpr Tensor history_length() const {
        return r_->state(states::history_length, {sizes_.batch}, DType::i32);
    }

    /// Zero or another number as the content of a `[1]` i32 state.
    [[nodiscard]] constexpr Tensor number(double value) const {
        return expand(r_->constant(value, DType::i32), Shape{1});
    }

private:
    [[nodiscard]] constexpr Shape context_shape() const {
        return {sizes_.batch, 1, sizes_.variates, sizes_.context_steps()};
    }
    [[nodiscard]] constexpr Shape variate_shape() const { return {sizes_.batch, 1, sizes_.variates, 1, 1}; }
    [[nodiscard]] constexpr Tensor bounded(std::string_view history) const {
        const Shape shape{sizes_.batch, sizes_.samples, sizes_.variates, sizes_.all_patches(), sizes_.patch_size};
        return r_->state(history, shape, DType::f32, {}, StateUse::any, states::row_bounds());
    }

    Recorder* r_;
    ForecastSizes sizes_;
};

}  // namespace totograph::toto1
