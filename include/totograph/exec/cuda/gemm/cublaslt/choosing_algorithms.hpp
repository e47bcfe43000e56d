// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/tuning_cache_report.hpp>

namespace totograph::cuda {

/// From `begin` to its end it keeps others from choosing algorithms for a device: they wait, and find what was chosen.
class ChoosingAlgorithms {
public:
    ChoosingAlgorithms();
    ChoosingAlgorithms(const ChoosingAlgorithms&) = delete;
    ChoosingAlgorithms& operator=(const ChoosingAlgorithms&) = delete;
    ~ChoosingAlgorithms();

    void begin(const Device& device);
    /// Lets others choose, and saves what was kept. Without it, that is saved with what somebody else chooses.
    void end();

private:
    struct Lock;
    std::unique_ptr<Lock> lock_;
};

/// Where the algorithms of a device's GEMMs have come from, in this process.
TuningCacheReport tuning_cache_report(int device = 0);

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
#include <totograph/exec/cuda/gemm/cublaslt/impl/choosing_algorithms.hpp>
#endif
