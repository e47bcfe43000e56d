// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/library_product.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/library_tuning.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/replay_timer.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

/// The place of the least of several times; 0 unless another one is clearly less than the first. Medians of some
/// interleaved replays differ by 0.1 to 0.2% from one time to the next.
inline std::size_t clearly_least(const std::vector<float>& times) {
    constexpr float clearly = 0.9975F;
    const auto least = std::min_element(times.begin(), times.end());
    return *least < times.front() * clearly ? static_cast<std::size_t>(least - times.begin()) : 0;
}

/// Which of several graphs takes the shortest time; the first one, unless another is clearly faster. Nothing when they
/// take long: what such graphs do is long enough to be timed alone. Throws `Error` when the device fails.
inline std::optional<std::size_t> fastest_graph(const std::vector<ReplayableGraph>& graphs, const Stream& stream) {
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

/// The products that an executor leaves to the library, each with its algorithm.
class LibraryProducts {
public:
    /// Adds a product of a program that runs. It gets the algorithm that was chosen for it before; else those that are
    /// the fastest alone stay open, and the first one is used until it is settled. Others must be kept from choosing.
    /// Throws `Error` when the library has none.
    void add_tuned(const ProductShape& shape, int program, const Device& device) {
        if (const std::size_t known = place_of(shape); known < entries_.size()) {
            entries_[known].program = program;  // a later one may run many times
            return;
        }
        LibraryProduct product(library_.get(), shape);
        if (const auto chosen = TunedAlgorithms::instance().find(product, device)) {
            add(std::move(product), program, {*chosen}, false);
        } else {
            auto ranked = rank_algorithms(product, device);
            add(std::move(product), program, std::move(ranked), true);
        }
    }
    /// Adds a product with the library's first choice of an algorithm, unless it is there.
    void add_untuned(const ProductShape& shape) {
        if (find(shape) == nullptr) {
            LibraryProduct product(library_.get(), shape);
            auto first = product.candidates(1);
            add(std::move(product), 0, std::move(first), false);
        }
    }
    /// Adds a product, which is not there yet, with algorithms to choose from, when it `is_open`, or its only one.
    void add(LibraryProduct product, int program, std::vector<ProductAlgorithm> algorithms, bool is_open) {
        product.choose(algorithms.front());
        entries_.push_back({std::move(product), program, std::move(algorithms), is_open});
    }

    /// The product of this shape; null when there is none.
    [[nodiscard]] const LibraryProduct* find(const ProductShape& shape) const {
        const std::size_t place = place_of(shape);
        return place < entries_.size() ? &entries_[place].product : nullptr;
    }

    /// Keeps for each open product the algorithm that is the fastest alone.
    void settle(const Device& device) {
        for (Entry& entry : entries_) {
            if (entry.is_open) {
                keep(entry, device, 0);
            }
        }
    }
    /// Chooses for each open product by the time of the program that uses it, and keeps the choice: beside its
    /// neighbours one may be faster by 10% that was slower by 3% alone. What cannot be tried, for one because the
    /// device has no memory left for it, stays with the fastest alone, and is not kept.
    ///
    /// @param record  `record(program)` captures launches of a program, with the algorithms of the moment
    template <class Record>
    void settle(const Device& device, const Stream& stream, const Record& record) {
        for (Entry& entry : entries_) {
            if (!entry.is_open) {
                continue;
            }
            try {
                keep(entry, device, entry.algorithms.size() > 1 ? try_each(entry, stream, record) : 0);
            } catch (const Error&) {
                cudaGetLastError();  // whatever goes on failing says so when the programs are captured
                entry.product.choose(entry.algorithms.front());
                entry.is_open = false;
            }
        }
    }

private:
    struct Entry {
        LibraryProduct product;
        int program = 0;
        std::vector<ProductAlgorithm> algorithms;
        bool is_open = false;  ///< One of them is still to be chosen, and kept.
    };

    /// Of the product of this shape among all; their number when there is none.
    [[nodiscard]] std::size_t place_of(const ProductShape& shape) const {
        const auto found = std::find_if(entries_.begin(), entries_.end(),
                                        [&](const Entry& entry) { return entry.product.shape() == shape; });
        return static_cast<std::size_t>(found - entries_.begin());
    }

    /// The place of the algorithm that makes the program fastest; one that cannot be captured is left out.
    template <class Record>
    static std::size_t try_each(Entry& entry, const Stream& stream, const Record& record) {
        std::vector<ReplayableGraph> graphs;
        std::vector<std::size_t> places;
        for (std::size_t place = 0; place < entry.algorithms.size(); ++place) {
            entry.product.choose(entry.algorithms[place]);
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
            return "product " + product_key(entry.product.shape()) + ": tried " + std::to_string(graphs.size()) +
                   " algorithms within its program, " +
                   (fastest ? "chose number " : "which takes too long to compare them, left number ") +
                   std::to_string(best + 1) + " by its time alone";
        });
        return best;
    }

    static void keep(Entry& entry, const Device& device, std::size_t place) {
        entry.product.choose(entry.algorithms[place]);
        TunedAlgorithms::instance().keep(entry.product, device, entry.algorithms[place]);
        entry.is_open = false;
    }

    LibraryHandle library_;
    std::vector<Entry> entries_;
};

}  // namespace totograph::cuda
