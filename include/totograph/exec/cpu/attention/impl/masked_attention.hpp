// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/attention/masked_attention.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention.hpp>
#include <totograph/exec/cpu/attention/attention_kernels.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/attention.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace attention_detail {

TOTOGRAPH_INLINE void MaskedAttention::run() noexcept {
    for (Index query = 0; query < arguments_.queries; ++query) {
        if (!takes_part(query)) {
            std::fill_n(arguments_.out + query * arguments_.out_stride, value_dim_, 0.0F);
        } else if (is_by_group() ? is_first_of_group(query) : query == 0) {
            group_ = is_by_group() ? mask_of(place_of(query)) : 0;
            gather_keys();
            attend(query);
        }
    }
}

TOTOGRAPH_INLINE std::int32_t MaskedAttention::mask_of(Index key) const noexcept {
    const Index before = arguments_.keys[0].count;
    const KeyRows& rows = arguments_.keys[key < before ? 0 : 1];
    return rows.mask[(key < before ? key : key - before) * arguments_.mask_stride];
}

TOTOGRAPH_INLINE bool MaskedAttention::is_first_of_group(Index query) const noexcept {
    Index earlier = std::max<Index>(0, -arguments_.first_place);
    while (mask_of(place_of(earlier)) != mask_of(place_of(query))) {
        ++earlier;
    }
    return earlier == query;
}

TOTOGRAPH_INLINE void MaskedAttention::gather_keys() noexcept {
    Index found = 0;
    Index first = 0;
    for (const KeyRows& rows : arguments_.keys) {
        if (arguments_.mask == KeyMask::none) {
            transpose(rows.key, rows.key_stride, rows.count, head_dim_, keys_ + first, key_columns_);
            copy_rows(rows.value, rows.value_stride, rows.count, value_dim_, values_ + first * value_columns_,
                      value_columns_);
        }
        for (Index key = 0; arguments_.mask != KeyMask::none && key < rows.count; ++key) {
            if (counts(first + key)) {
                std::memcpy(gathered_ + found * head_dim_, rows.key + key * rows.key_stride,
                            static_cast<std::size_t>(head_dim_) * sizeof(float));
                copy_rows(rows.value + key * rows.value_stride, 0, 1, value_dim_, values_ + found * value_columns_,
                          value_columns_);
                ++found;
            }
        }
        first += rows.count;
    }
    if (arguments_.mask != KeyMask::none) {
        transpose(gathered_, head_dim_, found, head_dim_, keys_, key_columns_);
    }
}

TOTOGRAPH_INLINE void MaskedAttention::attend(Index leader) noexcept {
    Index passed = 0;
    Index seen = 0;
    rows_ = 0;
    for (Index query = leader; query < arguments_.queries; ++query) {
        if (!is_member(query)) {
            continue;
        }
        for (const Index end = arguments_.is_causal ? place_of(query) + 1 : count_; passed < end; ++passed) {
            seen += counts(passed) ? 1 : 0;
        }
        std::memcpy(queries_ + rows_ * head_dim_, arguments_.query + query * arguments_.query_stride,
                    static_cast<std::size_t>(head_dim_) * sizeof(float));
        query_[rows_] = query;
        seen_[rows_] = seen;
        if (++rows_ == row_block) {
            finish_block();
        }
    }
    if (rows_ > 0) {
        finish_block();
    }
}

TOTOGRAPH_INLINE void MaskedAttention::finish_block() noexcept {
    multiply_rows({queries_, head_dim_, keys_, key_columns_, head_dim_, scores_, key_columns_}, rows_,
                  seen_[rows_ - 1]);
    float divisors[row_block] = {};
    for (Index row = 0; row < rows_; ++row) {
        divisors[row] = exponentiate(scores_ + row * key_columns_, seen_[row], arguments_.size.scale);
    }
    const Index common = seen_[0];
    multiply_rows({scores_, key_columns_, values_, value_columns_, common, sums_, value_columns_}, rows_, value_dim_);
    for (Index row = 0; row < rows_; ++row) {
        finish_row(sums_ + row * value_columns_, scores_ + row * key_columns_ + common,
                   values_ + common * value_columns_, value_columns_, seen_[row] - common, divisors[row], value_dim_,
                   arguments_.out + query_[row] * arguments_.out_stride);
    }
    rows_ = 0;
}

}  // namespace attention_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
