// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/cublaslt/choosing_algorithms.hpp>

#include <mutex>

#include <totograph/exec/cuda/gemm/cublaslt/tuning.hpp>
#include <totograph/exec/cuda/inline.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE void ChoosingAlgorithms::begin(const Device& device) {
    if (!lock_) {
        lock_ = std::unique_lock(TunedAlgorithms::instance().choosing(device));
    }
}

TOTOGRAPH_CUDA_INLINE void ChoosingAlgorithms::end() {
    if (lock_) {
        TunedAlgorithms::instance().save();
        lock_.unlock();
    }
}

TOTOGRAPH_CUDA_INLINE TuningCacheReport tuning_cache_report(int device) {
    return TunedAlgorithms::instance().report(device);
}

}  // namespace totograph::cuda
