// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Names of the states of a KV cache.
struct KvCacheNames {
    std::string_view keys;
    std::string_view values;
    std::string_view length;
};

/// Keys and values of earlier positions, for each layer that attends over time, with a capacity that is part of the
/// program. How many positions it holds is device data, so that a step is the same program at every length.
///
/// States: keys and values `[series, samples, variates, capacity, width]` a layer, length `[1]` i32.
class KvCache {
public:
    /// The extents of its states.
    struct Size {
        Index series;
        Index samples;
        Index variates;
        Index capacity;
        Index width;            ///< Of keys: kv_heads * head_dim.
        Index value_width = 0;  ///< Of values: kv_heads * value_dim; 0 for the width of keys.
    };

    constexpr KvCache(Recorder& recorder, const KvCacheNames& names, const Size& size)
        : recorder_(&recorder), names_(names), size_(size) {}

    /// Writes positions after those that the cache holds. `keys` and `values` are
    /// `[series, samples, variates, positions, width]`; `advance` is to follow when all layers have appended. One run
    /// that exceeds the capacity does not compile; several runs that exceed it together are an `Error`
    /// (`position_out_of_bounds`) of the executor, and write nothing outside of the cache.
    constexpr void append(int layer, Tensor keys, Tensor values) {
        check(keys);
        recorder_->store_at(this->keys(layer), keys, position_axis, length());
        recorder_->store_at(this->values(layer), values, position_axis, length());
    }

    /// Writes the first positions.
    constexpr void fill(int layer, Tensor keys, Tensor values) {
        check(keys);
        recorder_->store(this->keys(layer), keys, position_axis, 0);
        recorder_->store(this->values(layer), values, position_axis, 0);
    }

    /// Counts positions that all layers have appended.
    constexpr void advance(Index positions) { recorder_->store(length(), length() + static_cast<double>(positions)); }

    /// Forgets all positions.
    constexpr void reset() { recorder_->store(length(), expand(recorder_->constant(0, DType::i32), Shape{1})); }

    /// All keys of a layer, `[series, samples, variates, capacity, width]`; only the first `length` positions count.
    [[nodiscard]] constexpr Tensor keys(int layer) const {
        return recorder_->state(names_.keys, shape(size_.width), DType::f32, layer);
    }
    [[nodiscard]] constexpr Tensor values(int layer) const {
        return recorder_->state(names_.values, shape(size_.value_width == 0 ? size_.width : size_.value_width),
                                DType::f32, layer);
    }
    /// How many positions the cache holds, `[1]` i32.
    [[nodiscard]] constexpr Tensor length() const { return recorder_->state(names_.length, Shape{1}, DType::i32); }
    [[nodiscard]] constexpr Index capacity() const { return size_.capacity; }

private:
    static constexpr int position_axis = 3;

    [[nodiscard]] constexpr Shape shape(Index width) const {
        return {size_.series, size_.samples, size_.variates, size_.capacity, width};
    }

    constexpr void check(Tensor keys) const {
        if (keys.shape().rank == 5 && keys.extent(position_axis) > size_.capacity) {
            recorder_->fail(ModelErrorKind::cache_overflows)
                << "KV cache '" << names_.keys << "': appending " << keys.extent(position_axis)
                << " positions to a capacity of " << size_.capacity;
        }
    }

    Recorder* recorder_;
    KvCacheNames names_;
    Size size_;
};

}  // namespace totograph::nn
