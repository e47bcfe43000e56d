// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>

namespace totograph::cuda {

/// The keys and values of a cache, and those of a suffix where there is one.
template <class K>
class CacheRows {
    using S = AttentionSizes<K>;
    using Key = typename K::Key;

public:
    __device__ __forceinline__ explicit CacheRows(const KernelCall& call)
        : key_(call.operands[1].get<Key>(positions_of<K>(call))),
          value_(call.operands[2].get<Key>(positions_of<K>(call))),
          length_(call.operands[3].get<std::int32_t>(positions_of<K>(call))) {
        if constexpr (S::has_suffix) {
            suffix_key_ = call.operands[suffix_key].get<Key>(positions_of<K>(call));
            suffix_value_ = call.operands[suffix_value].get<Key>(positions_of<K>(call));
            suffix_length_ = call.operands[suffix_length].get<std::int32_t>(positions_of<K>(call));
        }
    }

    /// Keys of the prefix, and of the suffix. Both lengths are asked for before one is reported, which no load passes.
    struct Lengths {
        int prefix;
        int suffix;
    };
    [[nodiscard]] __device__ __forceinline__ Lengths lengths(const PositionReport& report,
                                                             const QueryPlace& place) const {
        const std::int32_t prefix = integer_of<K, 3>(length_, place.series);
        if constexpr (S::has_suffix) {
            const std::int32_t suffix = integer_of<K, suffix_length>(suffix_length_, place.series);
            return {report.bounded(prefix, key_capacity<K, 1>), report.bounded(suffix, key_capacity<K, suffix_key>, 1)};
        } else {
            return {report.bounded(prefix, key_capacity<K, 1>), 0};
        }
    }

    /// The rows of key `i`, where `prefix` keys come before the suffix.
    [[nodiscard]] __device__ __forceinline__ const Key* key(const QueryPlace& place, int prefix, int i) const {
        return row<1, suffix_key>(key_, suffix_key_, place, prefix, i);
    }
    [[nodiscard]] __device__ __forceinline__ const Key* value(const QueryPlace& place, int prefix, int i) const {
        return row<2, suffix_value>(value_, suffix_value_, place, prefix, i);
    }

private:
    template <int which, int of_suffix>
    static __device__ __forceinline__ const Key* row(const Key* base, const Key* suffix_base, const QueryPlace& place,
                                                     int prefix, int i) {
        if constexpr (S::has_suffix) {
            return i < prefix ? base + row_of<K, which>(place, place.variate, i)
                              : suffix_base + row_of<K, of_suffix>(place, place.variate, i - prefix);
        } else {
            return base + row_of<K, which>(place, place.variate, i);
        }
    }

    const Key* key_;
    const Key* value_;
    const std::int32_t* length_;
    const Key* suffix_key_ = nullptr;
    const Key* suffix_value_ = nullptr;
    const std::int32_t* suffix_length_ = nullptr;
};

}  // namespace totograph::cuda
