// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/cublaslt/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/algorithm_timer.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>
#include <totograph/exec/tuning_cache.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/cache/cache_folder.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE std::vector<GemmAlgorithm> rank_algorithms(const CublasLtGemm& gemm, const Device& device) {
    constexpr int tried = 24;
    constexpr int finalists = 5;
    constexpr std::size_t most_ranked = 3;
    constexpr float nearly = 1.1F;
    // In rounds, the best of which counts: the choice is kept, so one disturbance must not decide it.
    constexpr int rounds = 2;
    constexpr int final_rounds = 10;
    struct Timed {
        float least;
        std::size_t place;  ///< Among the candidates.
        ReplayableGraph graph;
    };
    const auto candidates = gemm.candidates(tried);
    AlgorithmTimer timer(gemm, device);
    std::vector<Timed> timed;
    for (std::size_t place = 0; place < candidates.size(); ++place) {
        if (ReplayableGraph graph = timer.record(candidates[place])) {
            timed.push_back({std::numeric_limits<float>::infinity(), place, std::move(graph)});
        }
    }
    const std::size_t ran = timed.size();
    if (timed.empty()) {
        throw Error(ErrorCode::device_failure, "cuda: none of the " + std::to_string(candidates.size()) +
                                                   " algorithms of cuBLASLt runs " + gemm_key(gemm.shape()) +
                                                   " on this device; use another precision, or other sizes.");
    }
    const auto measure = [&](int count) {
        for (int round = 0; round < count; ++round) {
            for (Timed& each : timed) {
                each.least = std::min(each.least, timer.time(each.graph));
            }
        }
        std::sort(timed.begin(), timed.end(), [](const Timed& a, const Timed& b) { return a.least < b.least; });
    };
    measure(rounds);
    timed.erase(timed.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(ran, finalists)), timed.end());
    measure(final_rounds);
    const Timed& best = timed.front();
    log(LogTopic::tuning, [&] {
        const ReplayableGraph writing = timer.record_writing();
        float of_writing = std::numeric_limits<float>::infinity();
        for (int round = 0; round < final_rounds; ++round) {
            of_writing = std::min(of_writing, timer.time(writing));
        }
        const float of_launches = std::max(best.least - of_writing, 0.0F);
        const double microseconds = static_cast<double>(of_launches) * 1000 / AlgorithmTimer::repeats;
        return "GEMM " + gemm_key(gemm.shape()) + ": timed " + std::to_string(ran) + " of " +
               std::to_string(candidates.size()) + " algorithms of cuBLASLt alone, the fastest is number " +
               std::to_string(best.place + 1) + " by its expectation, and takes " +
               totograph::detail::number_text(microseconds, 3) + " us";
    });
    std::vector<GemmAlgorithm> ranked;
    for (const Timed& each : timed) {
        if (ranked.size() < most_ranked && each.least <= best.least * nearly) {
            ranked.push_back(candidates[each.place]);
        }
    }
    return ranked;
}

TOTOGRAPH_CUDA_INLINE std::string tuning_identity(const Device& device) {
    // Raised when GEMMs are measured in another way, so that older choices are made anew.
    constexpr int version = 4;
    const auto attribute = [&](cudaDeviceAttr wanted) {
        int value = 0;
        check(cudaDeviceGetAttribute(&value, wanted, device.index), "asking a device for its properties");
        return std::to_string(value);
    };
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    std::string driver_release;
    std::getline(std::ifstream("/sys/module/nvidia/version"), driver_release);  // stays empty where there is none
    return "totograph tuning " + std::to_string(version) + "; " + device.name + "; compute capability " +
           std::to_string(device.major) + "." + std::to_string(device.minor) + "; " +
           std::to_string(device.multiprocessors) + " multiprocessors; memory " +
           attribute(cudaDevAttrGlobalMemoryBusWidth) + " bits at " + attribute(cudaDevAttrMemoryClockRate) +
           " kHz; L2 " + attribute(cudaDevAttrL2CacheSize) + " bytes; CUDA driver " + std::to_string(driver) + " " +
           driver_release + "; cuBLASLt " + std::to_string(cublasLtGetVersion());
}

namespace tuning_detail {

/// Bytes of the right number.
inline GemmAlgorithm from_bytes(std::string_view bytes) {
    GemmAlgorithm algorithm{};
    std::memcpy(&algorithm, bytes.data(), sizeof algorithm);
    return algorithm;
}

}  // namespace tuning_detail

TOTOGRAPH_CUDA_INLINE TunedAlgorithms::TunedAlgorithms() = default;
TOTOGRAPH_CUDA_INLINE TunedAlgorithms::~TunedAlgorithms() = default;

TOTOGRAPH_CUDA_INLINE TunedAlgorithms& TunedAlgorithms::instance() {
    static TunedAlgorithms algorithms;
    return algorithms;
}

TOTOGRAPH_CUDA_INLINE std::optional<GemmAlgorithm> TunedAlgorithms::find(const CublasLtGemm& gemm,
                                                                         const Device& device) {
    const std::scoped_lock lock(mutex_);
    const auto accepts = [&](std::string_view bytes) {
        return bytes.size() == sizeof(GemmAlgorithm) && gemm.accepts(tuning_detail::from_bytes(bytes));
    };
    const auto known = cache_of(device).find(gemm_key(gemm.shape()), accepts);
    return known ? std::optional(tuning_detail::from_bytes(*known)) : std::nullopt;
}

TOTOGRAPH_CUDA_INLINE void TunedAlgorithms::keep(const CublasLtGemm& gemm, const Device& device,
                                                 const GemmAlgorithm& algorithm) {
    const std::scoped_lock lock(mutex_);
    cache_of(device).add(gemm_key(gemm.shape()), {reinterpret_cast<const char*>(&algorithm), sizeof algorithm});
}

TOTOGRAPH_CUDA_INLINE TuningCacheReport TunedAlgorithms::report(int device) const {
    const std::scoped_lock lock(mutex_);
    const auto found = caches_.find(device);
    return found == caches_.end() ? TuningCacheReport{} : found->second.report();
}

TOTOGRAPH_CUDA_INLINE void TunedAlgorithms::forget() {
    const std::scoped_lock lock(mutex_);
    caches_.clear();
}

TOTOGRAPH_CUDA_INLINE TuningCache& TunedAlgorithms::cache_of(const Device& device) {
    const auto known = caches_.find(device.index);
    if (known != caches_.end()) {
        return known->second;
    }
    return caches_
        .emplace(device.index, TuningCache(io::cache_folder(), "cuda " + device.name, tuning_identity(device)))
        .first->second;
}

TOTOGRAPH_CUDA_INLINE void TunedAlgorithms::save() {
    const std::scoped_lock lock(mutex_);
    for (auto& [device, cache] : caches_) {
        cache.save();
    }
}

TOTOGRAPH_CUDA_INLINE std::mutex& TunedAlgorithms::choosing(const Device& device) {
    const std::scoped_lock lock(mutex_);
    return choosing_[device.index];
}

}  // namespace totograph::cuda
