// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/results/result_memory.hpp>

#include <atomic>
#include <cstddef>
#include <span>

#include <totograph/core/inline.hpp>

namespace totograph {

TOTOGRAPH_INLINE ResultMemory::ResultMemory(std::size_t count) : block_(new Block) {
    try {
        block_->values.reserve(count);
    } catch (...) {
        delete block_;
        throw;
    }
}

TOTOGRAPH_INLINE ResultMemory::ResultMemory(const ResultMemory& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) {
        block_->holders.fetch_add(1, std::memory_order_relaxed);
    }
}

TOTOGRAPH_INLINE ResultMemory::~ResultMemory() {
    // What this holder read has been read before another one overwrites or frees it.
    if (block_ != nullptr && block_->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        delete block_;  // NOLINT(clang-analyzer-cplusplus.NewDelete): it ignores the count
    }
}

TOTOGRAPH_INLINE std::span<const float> ResultMemory::fill(std::span<const float> values) {
    if (block_ == nullptr) {
        *this = ResultMemory(values.size());
    }
    block_->values.assign(values.begin(), values.end());
    return block_->values;
}

}  // namespace totograph
