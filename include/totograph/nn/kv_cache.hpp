// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/graph/bounds.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Names of the states of a KV cache.
struct KvCacheNames {
    std::string_view keys;
    std::string_view values;
    std::string_view length;
};

/// The extents of a KV cache.
struct KvCacheSize {
    Index batch = 1;
    Index samples = 1;
    Index variates = 1;
    Index capacity = 1;     ///< Positions.
    Index width = 1;        ///< Of keys: kv_heads * head_dim.
    Index value_width = 0;  ///< Of values: kv_heads * value_dim; 0 for the width of keys.
};

/// Keys and values of earlier positions, for each layer that attends over time, with a capacity that is part of the
/// program. How many positions it holds is device data, so that a step is the same program at every length.
///
/// States: keys and values `[batch, samples, variates, capacity, width]` a layer, declared as `StateUse::kv_cache`;
/// length `[1]` i32.
template <KvCacheSize size>
class KvCache {
    static_assert(size.batch > 0 && size.samples > 0 && size.variates > 0 && size.capacity > 0 && size.width > 0,
                  "totograph: every size of a KV cache must be positive.");

public:
    static constexpr Index capacity = size.capacity;
    static constexpr Shape key_shape{size.batch, size.samples, size.variates, size.capacity, size.width};
    static constexpr Shape value_shape{size.batch, size.samples, size.variates, size.capacity,
                                       size.value_width > 0 ? size.value_width : size.width};
    /// What keys and values of one layer take in f32.
    static constexpr Index bytes_per_layer =
        static_cast<Index>(sizeof(float)) * (key_shape.size() + value_shape.size());

    /// @param bounds  of keys and values (`Recorder::state`)
    constexpr KvCache(Recorder& recorder, const KvCacheNames& names, const AxisBounds& bounds = {})
        : recorder_(&recorder), names_(names), bounds_(bounds) {
        if (names.keys == names.values) {
            recorder.fail(ModelErrorKind::state_declared_twice)
                << "KV cache: keys and values are both named '" << names.keys << "', and would be one memory";
        }
    }

    /// Writes positions after those that the cache holds. `keys` and `values` are
    /// `[batch, samples, variates, positions, width]`; `advance` is to follow when all layers have appended. More
    /// positions at once than the capacity do not compile; what exceeds it together with those before is an `Error`
    /// (`position_out_of_bounds`) of the executor, and writes nothing outside of the cache.
    constexpr void append(LayerIndex layer, Tensor keys, Tensor values) {
        check(keys, values);
        recorder_->store_at(this->keys(layer), keys, position_axis, length());
        recorder_->store_at(this->values(layer), values, position_axis, length());
    }

    /// Writes the first positions.
    constexpr void fill(LayerIndex layer, Tensor keys, Tensor values) {
        check(keys, values);
        recorder_->store(this->keys(layer), keys, position_axis, 0);
        recorder_->store(this->values(layer), values, position_axis, 0);
    }

    /// Counts positions that all layers have appended.
    constexpr void advance(Index positions) { recorder_->store(length(), length() + static_cast<double>(positions)); }

    /// Keeps the first positions alone, as many as `positions` says, i32 `[1]`.
    constexpr void keep_first(Tensor positions) { recorder_->store(length(), positions); }

    /// Forgets all positions.
    constexpr void reset() { recorder_->store(length(), expand(recorder_->constant(0, DType::i32), Shape{1})); }

    /// All keys of a layer, `[batch, samples, variates, capacity, width]`; only the first `length` positions count.
    [[nodiscard]] constexpr Tensor keys(LayerIndex layer) const {
        return recorder_->state(names_.keys, key_shape, DType::f32, layer, StateUse::kv_cache, bounds_);
    }
    [[nodiscard]] constexpr Tensor values(LayerIndex layer) const {
        return recorder_->state(names_.values, value_shape, DType::f32, layer, StateUse::kv_cache, bounds_);
    }
    /// How many positions the cache holds, `[1]` i32.
    [[nodiscard]] constexpr Tensor length() const { return recorder_->state(names_.length, Shape{1}, DType::i32); }

private:
    static constexpr int position_axis = 3;

    constexpr void check(Tensor keys, Tensor values) const {
        if (keys.shape().rank == 5 && values.shape().rank == 5 &&
            keys.extent(position_axis) != values.extent(position_axis)) {
            recorder_->fail(ModelErrorKind::attention_shapes_differ)
                << "KV cache '" << names_.keys << "': keys of " << keys.extent(position_axis)
                << " positions with values of " << values.extent(position_axis);
        }
        if (keys.shape().rank == 5 && keys.extent(position_axis) > capacity) {
            recorder_->fail(ModelErrorKind::cache_overflows)
                << "KV cache '" << names_.keys << "': appending " << keys.extent(position_axis)
                << " positions to a capacity of " << capacity;
        }
    }

    Recorder* recorder_;
    KvCacheNames names_;
    AxisBounds bounds_;
};

}  // namespace totograph::nn
