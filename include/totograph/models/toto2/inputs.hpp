// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/states.hpp>

namespace totograph::toto2 {

/// The states of a forecast's programs as tensors, declared where they are first used, and what follows from them
/// alone. `states.hpp` says what they hold.
template <class Parts>
class Inputs {
public:
    constexpr explicit Inputs(Recorder& recorder) : r_(&recorder) {}

    [[nodiscard]] constexpr Recorder& recorder() const { return *r_; }

    /// Values of the context, `[batch, 1, variates, patches, patch_size]`.
    [[nodiscard]] constexpr Tensor values() const { return reshape(r_->state(states::series, steps), context); }
    /// 1 where they are observed. The newest patch of a target is, whatever the caller says.
    [[nodiscard]] constexpr Tensor observed() const {
        const Tensor given = reshape(r_->state(states::observed, steps), context);
        // Of each step, not of each patch: a tensor of another shape would be a step of its own.
        const Tensor place = expand(reshape(r_->iota(context[3], DType::i32) + 1.0, {1, 1, 1, context[3], 1}), context);
        Tensor is_newest = cast(equal(place, reshape(length(), {sizes.batch, 1, 1, 1, 1})), DType::f32);
        if constexpr (sizes.known_future) {
            is_newest = is_newest * (1.0 - is_known());
        }
        return maximum(given, is_newest);
    }
    /// Patches of context that each series has, i32 `[batch]`.
    [[nodiscard]] constexpr Tensor length() const { return r_->state(states::length, {sizes.batch}, DType::i32); }
    /// The group of each patch of context, i32 `[batch, variates, patches]`.
    [[nodiscard]] constexpr Tensor groups() const {
        return r_->state(states::groups, {sizes.batch, sizes.variates, sizes.context_patches}, DType::i32);
    }
    /// The newest patch of context.
    struct Newest {
        Tensor place;   ///< Which it is, i32 `[batch]`.
        Tensor groups;  ///< The group of each variate there, and in what is forecast, i32 `[batch, variates, 1]`.

        /// The groups of so many patches, i32 `[batch, variates, count]`.
        [[nodiscard]] constexpr Tensor groups_of(Index count) const {
            return expand(groups, {sizes.batch, sizes.variates, count});
        }
    };
    [[nodiscard]] constexpr Newest newest() const {
        const Tensor place = length() - 1.0;
        return {place, take(groups(), 2, place)};
    }
    /// Whether a variate's future is known, f32 `[batch, 1, variates, 1, 1]`.
    [[nodiscard]] constexpr Tensor is_known() const {
        return r_->state(states::is_known, {sizes.batch, 1, sizes.variates, 1, 1});
    }
    /// Known values, and 1 where they are, `[batch, 1, variates, steps, patch_size]`.
    [[nodiscard]] constexpr Tensor future() const { return r_->state(states::future, ahead); }
    [[nodiscard]] constexpr Tensor future_observed() const { return r_->state(states::future_observed, ahead); }

    /// How many patches the request asks for, i32 `[1]`.
    [[nodiscard]] constexpr Tensor patches_asked() const {
        const Tensor horizon = cast(slice(request(), 0, 2, 1), DType::f64);
        const auto patch = static_cast<double>(sizes.patch_size);
        return cast(floor((horizon + (patch - 1)) / patch), DType::i32);
    }
    /// What of the bucket a request asks for.
    constexpr Tensor request() const {
        return r_->state(states::request, {states::request_size}, DType::i32, {}, StateUse::bounds);
    }

    [[nodiscard]] constexpr Tensor forecast() const {
        // A session may ask for more steps of a forecast later.
        return r_->state(states::forecast, {sizes.batch, sizes.values, sizes.variates, sizes.steps, sizes.patch_size},
                         DType::f32, {}, StateUse::any,
                         states::row_bounds(Parts::is_continued ? 0 : states::asked_patches));
    }
    [[nodiscard]] constexpr Tensor frame() const { return of_frame(states::frame); }
    [[nodiscard]] constexpr Tensor frame_observed() const { return of_frame(states::frame_observed); }

    /// Begins the frame: the context, then what is known of the future.
    constexpr void begin_frame() const {
        begin(frame(), values(), [&] { return future() * is_known(); });
        begin(frame_observed(), observed(), [&] { return future_observed() * is_known(); });
    }

private:
    [[nodiscard]] constexpr Tensor of_frame(std::string_view name) const {
        return r_->state(name, frame_shape, DType::f32, {}, StateUse::any, states::row_bounds());
    }

    static constexpr ForecastSizes sizes = Parts::sizes;
    static constexpr Shape steps{sizes.batch, 1, sizes.variates, sizes.context_steps()};
    static constexpr Shape context{sizes.batch, 1, sizes.variates, sizes.context_patches, sizes.patch_size};
    static constexpr Shape ahead{sizes.batch, 1, sizes.variates, sizes.steps, sizes.patch_size};
    static constexpr Shape frame_shape{sizes.batch, 1, sizes.variates, Parts::frame_patches, sizes.patch_size};

    template <class Known>
    constexpr void begin(Tensor state, Tensor of_context, const Known& known) const {
        r_->store(state, of_context, 3, 0);
        r_->store(state, expand(r_->constant(0), ahead), 3, sizes.context_patches);
        if constexpr (sizes.known_future) {
            r_->store_at(state, known(), 3, length());
        }
    }

    Recorder* r_;
};

}  // namespace totograph::toto2
