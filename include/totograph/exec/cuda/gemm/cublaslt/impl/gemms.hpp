// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/cublaslt/gemms.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/tuning.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/replay_timer.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

TOTOGRAPH_CUDA_INLINE std::size_t clearly_least(const std::vector<float>& times) {
    constexpr float clearly = 0.9975F;
    const auto least = std::min_element(times.begin(), times.end());
    return *least < times.front() * clearly ? static_cast<std::size_t>(least - times.begin()) : 0;
}

TOTOGRAPH_CUDA_INLINE std::optional<std::size_t> fastest_graph(const std::vector<ReplayableGraph>& graphs,
                                                               const Stream& stream) {
    constexpr float most_milliseconds = 200;
    constexpr int fewest_rounds = 3;
    constexpr int most_rounds = 15;
    const ReplayTimer timer(stream);
    float all = 0;
    for (const ReplayableGraph& graph : graphs) {
        (void)timer.time(graph);  // the first replay brings it to the device
        all += timer.time(graph);
    }
    const int rounds = std::min(most_rounds, static_cast<int>(most_milliseconds / std::max(all, 1e-3F)));
    if (rounds < fewest_rounds) {
        return std::nullopt;
    }
    std::vector<std::vector<float>> times(graphs.size());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            const std::size_t which = round % 2 == 0 ? i : graphs.size() - 1 - i;  // none always follows the same one
            times[which].push_back(timer.time(graphs[which]));
        }
    }
    std::vector<float> medians;
    for (std::vector<float>& of_graph : times) {
        std::sort(of_graph.begin(), of_graph.end());
        medians.push_back(of_graph[of_graph.size() / 2]);
    }
    return clearly_least(medians);
}

struct CublasLtGemms::Entry {
    CublasLtGemm gemm;
    int program = 0;
    std::vector<GemmAlgorithm> algorithms;
    bool is_open = false;  ///< One of them is still to be chosen, and kept.
};

struct CublasLtGemms::Library {
    CublasLtHandle handle;
    std::vector<Entry> entries;
};

TOTOGRAPH_CUDA_INLINE void CublasLtGemms::add_tuned(const GemmShape& shape, int program, const Device& device) {
    if (const std::size_t known = place_of(shape); known < library_->entries.size()) {
        library_->entries[known].program = program;  // a later one may run many times
        return;
    }
    CublasLtGemm gemm(library_->handle.get(), shape);
    if (const auto chosen = TunedAlgorithms::instance().find(gemm, device)) {
        add(std::move(gemm), program, {*chosen}, false);
    } else {
        auto ranked = rank_algorithms(gemm, device);
        add(std::move(gemm), program, std::move(ranked), true);
    }
}

TOTOGRAPH_CUDA_INLINE void CublasLtGemms::add_untuned(const GemmShape& shape) {
    if (find(shape) == nullptr) {
        CublasLtGemm gemm(library_->handle.get(), shape);
        auto first = gemm.candidates(1);
        add(std::move(gemm), 0, std::move(first), false);
    }
}

TOTOGRAPH_CUDA_INLINE void CublasLtGemms::add(CublasLtGemm gemm, int program, std::vector<GemmAlgorithm> algorithms,
                                              bool is_open) {
    gemm.choose(algorithms.front());
    library_->entries.push_back({std::move(gemm), program, std::move(algorithms), is_open});
}

TOTOGRAPH_CUDA_INLINE const CublasLtGemm* CublasLtGemms::find(const GemmShape& shape) const {
    const std::size_t place = place_of(shape);
    return place < library_->entries.size() ? &library_->entries[place].gemm : nullptr;
}

TOTOGRAPH_CUDA_INLINE void CublasLtGemms::launch(const GemmShape& shape, const GemmPointers& pointers, void* workspace,
                                                 cudaStream_t stream) const {
    find(shape)->launch(pointers.input, pointers.weight, pointers.output, pointers.residual, pointers.bias, workspace,
                        stream);
}

TOTOGRAPH_CUDA_INLINE void CublasLtGemms::keep_fastest(const Device& device) {
    for (Entry& entry : library_->entries) {
        if (entry.is_open) {
            keep(entry, device, 0);
        }
    }
}

TOTOGRAPH_CUDA_INLINE std::size_t CublasLtGemms::place_of(const GemmShape& shape) const {
    const auto found = std::find_if(library_->entries.begin(), library_->entries.end(),
                                    [&](const Entry& entry) { return entry.gemm.shape() == shape; });
    return static_cast<std::size_t>(found - library_->entries.begin());
}

TOTOGRAPH_CUDA_INLINE void CublasLtGemms::keep(Entry& entry, const Device& device, std::size_t place) {
    entry.gemm.choose(entry.algorithms[place]);
    TunedAlgorithms::instance().keep(entry.gemm, device, entry.algorithms[place]);
    entry.is_open = false;
}

TOTOGRAPH_CUDA_INLINE void CublasLtGemms::choose(const Device& device, const Stream& stream, const Recorded& record) {
    for (Entry& entry : library_->entries) {
        if (!entry.is_open) {
            continue;
        }
        try {
            keep(entry, device, entry.algorithms.size() > 1 ? try_each(entry, stream, record) : 0);
        } catch (const Error&) {
            cudaGetLastError();  // whatever goes on failing says so when the programs are captured
            entry.gemm.choose(entry.algorithms.front());
            entry.is_open = false;
        }
    }
}

TOTOGRAPH_CUDA_INLINE std::size_t CublasLtGemms::try_each(Entry& entry, const Stream& stream, const Recorded& record) {
    std::vector<ReplayableGraph> graphs;
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < entry.algorithms.size(); ++place) {
        entry.gemm.choose(entry.algorithms[place]);
        try {
            graphs.push_back(record(entry.program));
            places.push_back(place);
        } catch (const Error& error) {
            const bool is_last = place + 1 == entry.algorithms.size();
            if (error.code() == ErrorCode::out_of_memory || (is_last && graphs.empty())) {
                throw;
            }
            cudaGetLastError();
        }
    }
    const std::optional<std::size_t> fastest = fastest_graph(graphs, stream);
    const std::size_t best = fastest ? places[*fastest] : 0;
    log(LogTopic::tuning, [&] {
        return "GEMM " + gemm_key(entry.gemm.shape()) + ": tried " + std::to_string(graphs.size()) +
               " algorithms within its program, " +
               (fastest ? "chose number " : "which takes too long to compare them, left number ") +
               std::to_string(best + 1) + " by its time alone";
    });
    return best;
}

TOTOGRAPH_CUDA_INLINE CublasLtGemms::CublasLtGemms() : library_(std::make_unique<Library>()) {}
TOTOGRAPH_CUDA_INLINE CublasLtGemms::CublasLtGemms(CublasLtGemms&& other) noexcept = default;
TOTOGRAPH_CUDA_INLINE CublasLtGemms::~CublasLtGemms() = default;

}  // namespace totograph::cuda
