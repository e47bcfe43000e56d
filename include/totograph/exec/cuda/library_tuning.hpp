// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
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
#include <totograph/exec/cuda/algorithm_timer.hpp>
#include <totograph/exec/cuda/check.hpp>
#include <totograph/exec/cuda/device.hpp>
#include <totograph/exec/cuda/library_product.hpp>
#include <totograph/exec/cuda/stream.hpp>
#include <totograph/exec/tuning_cache.hpp>
#include <totograph/graph/explain_text.hpp>
#include <totograph/io/cache_folder.hpp>

namespace totograph::cuda {

/// The fastest of the algorithms that cuBLASLt expects to be fast, by measuring them on the current device, and those
/// that are nearly as fast, in the order of their times. Throws `Error` when none of them runs, or the device has not
/// enough memory.
inline std::vector<ProductAlgorithm> rank_algorithms(const LibraryProduct& product, const Device& device) {
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
    const auto candidates = product.candidates(tried);
    AlgorithmTimer timer(product, device);
    std::vector<Timed> timed;
    for (std::size_t place = 0; place < candidates.size(); ++place) {
        const auto is_the_same = [&](const ProductAlgorithm& other) {
            return std::memcmp(&other, &candidates[place], sizeof other) == 0;
        };
        const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(place);
        if (std::any_of(candidates.begin(), end, is_the_same)) {
            continue;  // cuBLASLt may name an algorithm twice
        }
        if (ReplayableGraph graph = timer.record(candidates[place])) {
            timed.push_back({std::numeric_limits<float>::infinity(), place, std::move(graph)});
        }
    }
    const std::size_t ran = timed.size();
    if (timed.empty()) {
        throw Error(ErrorCode::device_failure, "cuda: none of the " + std::to_string(candidates.size()) +
                                                   " algorithms of cuBLASLt runs " + product_key(product.shape()) +
                                                   " on this device; use another precision or bucket.");
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
        return "product " + product_key(product.shape()) + ": timed " + std::to_string(ran) + " of " +
               std::to_string(candidates.size()) + " algorithms of cuBLASLt, chose number " +
               std::to_string(best.place + 1) + " by its expectation, which takes " +
               totograph::detail::number_text(microseconds, 3) + " us";
    });
    std::vector<ProductAlgorithm> ranked;
    for (const Timed& each : timed) {
        if (ranked.size() < most_ranked && each.least <= best.least * nearly) {
            ranked.push_back(candidates[each.place]);
        }
    }
    return ranked;
}

/// All that the fastest algorithm of a product depends on beside the product, as text. Devices of one kind share it.
inline std::string tuning_identity(const Device& device) {
    // Raised when products are measured in another way, so that older choices are made anew.
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

/// The algorithms that products use on each device, for all executors of this process. A product that the process has
/// not met is looked up in a file, which all processes of a user share (`io::cache_folder` says where); one that the
/// file does not have is measured. So the bits of a result are the same in each process that has found the file.
class TunedAlgorithms {
public:
    /// The algorithms of this process.
    static TunedAlgorithms& instance() {
        static TunedAlgorithms algorithms;
        return algorithms;
    }

    /// The fastest algorithm for a product on a device, which must be current. When it had to be measured, those that
    /// were nearly as fast follow.
    std::vector<ProductAlgorithm> fastest(const LibraryProduct& product, const Device& device) {
        const std::scoped_lock lock(mutex_);
        TuningCache& cache = cache_of(device);
        const std::string key = product_key(product.shape());
        const auto accepts = [&](std::string_view bytes) {
            return bytes.size() == sizeof(ProductAlgorithm) && product.accepts(from_bytes(bytes));
        };
        if (const auto known = cache.find(key, accepts)) {
            return {from_bytes(*known)};
        }
        std::vector<ProductAlgorithm> ranked = rank_algorithms(product, device);
        cache.add(key, to_bytes(ranked.front()));
        return ranked;
    }

    /// Uses another algorithm for a product from now on.
    void replace(const LibraryProduct& product, const Device& device, const ProductAlgorithm& algorithm) {
        const std::scoped_lock lock(mutex_);
        cache_of(device).add(product_key(product.shape()), to_bytes(algorithm));
    }

    /// What became of the products of a device so far; nothing when it has had none.
    [[nodiscard]] TuningCacheReport report(int device) const {
        const std::scoped_lock lock(mutex_);
        const auto found = caches_.find(device);
        return found == caches_.end() ? TuningCacheReport{} : found->second.report();
    }

    /// Forgets what this process has chosen and counted. The next product reads the file again, wherever the
    /// environment then says that it is. Executors keep what they have.
    void forget() {
        const std::scoped_lock lock(mutex_);
        caches_.clear();
    }

private:
    TunedAlgorithms() = default;

    TuningCache& cache_of(const Device& device) {
        const auto known = caches_.find(device.index);
        if (known != caches_.end()) {
            return known->second;
        }
        return caches_
            .emplace(device.index, TuningCache(io::cache_folder(), "cuda " + device.name, tuning_identity(device)))
            .first->second;
    }

    friend class ChoosingAlgorithms;

    /// Adds what has been measured since the last call to the files. Whatever keeps it from that, `report` tells.
    void save() {
        const std::scoped_lock lock(mutex_);
        for (auto& [device, cache] : caches_) {
            cache.save();
        }
    }

    static std::string_view to_bytes(const ProductAlgorithm& algorithm) {
        return {reinterpret_cast<const char*>(&algorithm), sizeof algorithm};
    }
    /// Bytes of the right number.
    static ProductAlgorithm from_bytes(std::string_view bytes) {
        ProductAlgorithm algorithm{};
        std::memcpy(&algorithm, bytes.data(), sizeof algorithm);
        return algorithm;
    }

    std::recursive_mutex choosing_;
    int choosers_ = 0;  ///< Guarded by `choosing_`.
    mutable std::mutex mutex_;
    std::map<int, TuningCache> caches_;
};

/// While one of these lives, one thread alone chooses algorithms: nobody uses, and no file holds, what may be replaced
/// yet. They may be nested; when the outermost one goes, the choices are saved.
class ChoosingAlgorithms {
public:
    /// @param chooses  whether there is anything to choose; else nobody waits for anybody
    explicit ChoosingAlgorithms(bool chooses) {
        if (chooses) {
            lock_ = std::unique_lock(TunedAlgorithms::instance().choosing_);
            ++TunedAlgorithms::instance().choosers_;
        }
    }
    ChoosingAlgorithms(const ChoosingAlgorithms&) = delete;
    ChoosingAlgorithms& operator=(const ChoosingAlgorithms&) = delete;
    ~ChoosingAlgorithms() {
        if (lock_ && --TunedAlgorithms::instance().choosers_ == 0) {
            TunedAlgorithms::instance().save();
        }
    }

private:
    std::unique_lock<std::recursive_mutex> lock_;
};

/// The fastest algorithm for a product on a device, which must be current, by its own time.
inline ProductAlgorithm fastest_algorithm(const LibraryProduct& product, const Device& device) {
    const ChoosingAlgorithms choosing(true);
    return TunedAlgorithms::instance().fastest(product, device).front();
}

/// Where the algorithms of a device's products have come from, in this process.
inline TuningCacheReport tuning_cache_report(int device = 0) {
    return TunedAlgorithms::instance().report(device);
}

}  // namespace totograph::cuda
