// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/tuning_cache.hpp>
#include <totograph/exec/tuning_cache_report.hpp>

namespace totograph::cuda {

/// The fastest of the algorithms that cuBLASLt expects to be fast, by measuring them on the current device, and those
/// that are nearly as fast, in the order of their times. Throws `Error` when none of them runs, or the device has not
/// enough memory.
std::vector<GemmAlgorithm> rank_algorithms(const CublasLtGemm& gemm, const Device& device);

/// All that the fastest algorithm of a GEMM depends on beside the GEMM, as text. Devices of one kind share it.
std::string tuning_identity(const Device& device);

/// The algorithms that GEMMs use on each device, for all executors of this process. A GEMM that the process has
/// not met is looked up in a file, which all processes of a user share (`io::cache_folder` says where); for one that
/// the file does not have, an executor chooses. So the bits of a result are the same in each process that has found the
/// file.
class TunedAlgorithms {
public:
    /// The algorithms of this process.
    static TunedAlgorithms& instance();

    /// The algorithm that was chosen for a GEMM on a device, which must be current; nothing when none was, or the
    /// one of the file cannot be used: then somebody chooses, and keeps the choice.
    std::optional<GemmAlgorithm> find(const CublasLtGemm& gemm, const Device& device);

    /// Keeps the choice for a GEMM: for this process, and for others when it is saved.
    void keep(const CublasLtGemm& gemm, const Device& device, const GemmAlgorithm& algorithm);

    /// What became of the GEMMs of a device so far; nothing when it has had none.
    [[nodiscard]] TuningCacheReport report(int device) const;

    /// Forgets what this process has chosen and counted. The next GEMM reads the file again, wherever the
    /// environment then says that it is. Executors keep what they have.
    void forget();

private:
    friend class ChoosingAlgorithms;

    TunedAlgorithms();
    ~TunedAlgorithms();

    TuningCache& cache_of(const Device& device);

    /// Adds what has been measured since the last call to the files. Whatever keeps it from that, `report` tells.
    void save();

    /// Held by who chooses algorithms for a device.
    std::mutex& choosing(const Device& device);

    std::map<int, std::mutex> choosing_;
    mutable std::mutex mutex_;
    std::map<int, TuningCache> caches_;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
#include <totograph/exec/cuda/gemm/cublaslt/impl/tuning.hpp>
#endif
