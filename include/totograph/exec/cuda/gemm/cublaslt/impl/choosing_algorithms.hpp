// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/cublaslt/choosing_algorithms.hpp>

#include <memory>
#include <mutex>

#include <totograph/core/held_log.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/tuning.hpp>
#include <totograph/exec/cuda/inline.hpp>

namespace totograph::cuda {

struct ChoosingAlgorithms::Lock {
    explicit Lock(std::mutex& mutex) : held(mutex) {}

    totograph::detail::HeldLog log;  // written when the lock is gone
    std::scoped_lock<std::mutex> held;
};

TOTOGRAPH_CUDA_INLINE ChoosingAlgorithms::ChoosingAlgorithms() = default;
TOTOGRAPH_CUDA_INLINE ChoosingAlgorithms::~ChoosingAlgorithms() = default;

TOTOGRAPH_CUDA_INLINE void ChoosingAlgorithms::begin(const Device& device) {
    if (lock_ == nullptr) {
        lock_ = std::make_unique<Lock>(TunedAlgorithms::instance().choosing(device));
    }
}

TOTOGRAPH_CUDA_INLINE void ChoosingAlgorithms::end() {
    if (lock_ != nullptr) {
        TunedAlgorithms::instance().save();
        lock_.reset();
    }
}

TOTOGRAPH_CUDA_INLINE TuningCacheReport tuning_cache_report(int device) {
    return TunedAlgorithms::instance().report(device);
}

}  // namespace totograph::cuda
