// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/inputs.hpp>
#include <totograph/models/kronos/parts.hpp>
#include <totograph/models/kronos/states.hpp>
#include <totograph/models/kronos/tokenizer.hpp>
#include <totograph/nn/rows.hpp>

namespace totograph::kronos {

/// Candles from `first` on, `count` of each series or path: ids are i32 `[batch, 1 or samples, 1, candles]`, `first` is
/// i32 `[batch]`. Ids pass as f32, which holds them exactly: rows of a table are f32.
constexpr Tensor ids_from(Tensor ids, Tensor first, Index count) {
    const Shape& shape = ids.shape();
    const Tensor rows = reshape(cast(ids, DType::f32), {shape[0], 1, shape[1], shape[3], 1});
    return cast(reshape(nn::rows_from(rows, first, count), {shape[0], shape[1], 1, count}), DType::i32);
}

/// Stamps, likewise: i32 `[batch, 1, 1, candles, 5]`.
constexpr Tensor stamps_from(Tensor stamps, Tensor first, Index count) {
    return cast(nn::rows_from(cast(stamps, DType::f32), first, count), DType::i32);
}

/// The ids of a forecast, as its programs hand them on: those of the history and those that were drawn; and where the
/// window slides both in a row, with their stamps.
template <class Parts>
class IdStates {
public:
    constexpr explicit IdStates(const Inputs<Parts>& inputs) : in_(inputs), r_(&inputs.recorder()) {}

    /// Begins with a history.
    constexpr void keep_history(const Ids& ids) const {
        r_->bound(ids.s1, 3, states::asked_positions);
        r_->bound(ids.s2, 3, states::asked_positions);
        if constexpr (!Parts::slides) {
            r_->store(history(states::history_s1), ids.s1);
            r_->store(history(states::history_s2), ids.s2);
        } else {
            const Shape of_paths{sizes.batch, sizes.samples, 1, Parts::context};
            r_->store(frame(states::frame_s1), expand(ids.s1, of_paths), 3, 0);
            r_->store(frame(states::frame_s2), expand(ids.s2, of_paths), 3, 0);
            const Tensor stamps = in_.stamps();
            const Tensor ahead = in_.future_stamps();
            r_->store(frame_stamps(), stamps, 3, 0);
            r_->store_at(frame_stamps(), ahead, 3, in_.length());
        }
    }

    /// Keeps ids that were drawn, `[batch, samples, 1, 1]`, as those of a step of the forecast.
    constexpr void keep_drawn(const Ids& ids, Tensor step) const {
        r_->store_at(drawn(states::drawn_s1), ids.s1, 3, step);
        r_->store_at(drawn(states::drawn_s2), ids.s2, 3, step);
        if constexpr (Parts::slides) {
            const Tensor place = in_.length() + step;
            r_->store_at(frame(states::frame_s1), ids.s1, 3, place);
            r_->store_at(frame(states::frame_s2), ids.s2, 3, place);
        }
    }

    /// Those of each series, `[batch, 1, 1, context]`.
    [[nodiscard]] constexpr Ids history() const {
        if constexpr (!Parts::slides) {
            const Tensor s1 = history(states::history_s1);
            return {s1, history(states::history_s2)};
        } else {  // each path has them
            const auto of_first = [&](std::string_view name) {
                return slice(slice(frame(name), 1, 0, 1), 3, 0, Parts::context);
            };
            const Tensor s1 = of_first(states::frame_s1);
            return {s1, of_first(states::frame_s2)};
        }
    }
    [[nodiscard]] constexpr Ids drawn() const {
        const Tensor s1 = drawn(states::drawn_s1);
        return {s1, drawn(states::drawn_s2)};
    }

    /// Candles of each path from `first` on.
    [[nodiscard]] constexpr Ids window(Tensor first, Index count) const {
        const Tensor s1 = ids_from(frame(states::frame_s1), first, count);
        return {s1, ids_from(frame(states::frame_s2), first, count)};
    }
    /// Those of the first path, where all paths have the same: `[batch, 1, 1, count]`.
    [[nodiscard]] constexpr Ids common_window(Tensor first, Index count) const {
        const auto of_first = [&](std::string_view name) {
            return ids_from(slice(frame(name), 1, 0, 1), first, count);
        };
        const Tensor s1 = of_first(states::frame_s1);
        return {s1, of_first(states::frame_s2)};
    }
    [[nodiscard]] constexpr Tensor window_stamps(Tensor first, Index count) const {
        return stamps_from(frame_stamps(), first, count);
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;

    [[nodiscard]] constexpr Tensor history(std::string_view name) const {
        return state(name, {sizes.batch, 1, 1, Parts::context}, states::asked_positions);
    }
    [[nodiscard]] constexpr Tensor drawn(std::string_view name) const {
        return state(name, {sizes.batch, sizes.samples, 1, Parts::horizon}, states::asked_patches);
    }
    [[nodiscard]] constexpr Tensor frame(std::string_view name) const {
        return state(name, {sizes.batch, sizes.samples, 1, Parts::context + Parts::horizon}, states::asked_tokens);
    }
    [[nodiscard]] constexpr Tensor frame_stamps() const {
        return state(states::frame_stamps, {sizes.batch, 1, 1, Parts::context + Parts::horizon, stamp_count},
                     states::asked_tokens);
    }
    [[nodiscard]] constexpr Tensor state(std::string_view name, const Shape& shape, std::int8_t candles) const {
        return r_->state(name, shape, DType::i32, {}, StateUse::any, states::row_bounds(candles));
    }

    Inputs<Parts> in_;
    Recorder* r_;
};

}  // namespace totograph::kronos
