// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <totograph/core/log.hpp>
#include <totograph/exec/cuda/device.hpp>
#include <totograph/exec/cuda/library_product.hpp>
#include <totograph/exec/cuda/library_tuning.hpp>
#include <totograph/exec/cuda/stream.hpp>
#include <totograph/graph/explain_text.hpp>

// The products that an executor leaves to the library.

namespace totograph::cuda {

/// Which of several graphs takes the shortest time; the first one, unless another is clearly faster. Graphs that take
/// long are not compared: what they do is long enough to be timed alone.
inline std::size_t fastest_graph(const std::vector<ReplayableGraph>& graphs, const Stream& stream) {
    constexpr float most_milliseconds = 200;
    constexpr int fewest_rounds = 3;
    constexpr int most_rounds = 15;
    constexpr float clearly =
        0.9975F;  // medians of interleaved replays differ by 0.1 to 0.2% from one time to the next
    const Event begin(true);
    const Event end(true);
    const auto time = [&](const ReplayableGraph& graph) {
        begin.record(stream.get());
        graph.launch(stream.get());
        end.record(stream.get());
        stream.synchronize();
        return end.since(begin);
    };
    float all = 0;
    for (const ReplayableGraph& graph : graphs) {
        time(graph);  // the first replay brings it to the device
        all += time(graph);
    }
    const int rounds = std::min(most_rounds, static_cast<int>(most_milliseconds / std::max(all, 1e-3F)));
    if (rounds < fewest_rounds) {
        return 0;
    }
    std::vector<std::vector<float>> times(graphs.size());
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            times[i].push_back(time(graphs[i]));
        }
    }
    std::vector<float> medians;
    for (std::vector<float>& of_graph : times) {
        std::sort(of_graph.begin(), of_graph.end());
        medians.push_back(of_graph[of_graph.size() / 2]);
    }
    const auto least = std::min_element(medians.begin(), medians.end());
    return *least < medians.front() * clearly ? static_cast<std::size_t>(least - medians.begin()) : 0;
}

/// The products that an executor leaves to the library, each with its algorithm.
class LibraryProducts {
public:
    /// Adds a product of a program, unless it is there. Its algorithm is the fastest one by its own time when it
    /// `tunes`, else the library's first choice. Throws `Error` when the library has none.
    void add(const ProductShape& shape, int program, const Device& device, bool tunes) {
        if (find(shape) != nullptr) {
            return;
        }
        LibraryProduct product(library_.get(), shape);
        std::vector<ProductAlgorithm> algorithms =
            tunes ? TunedAlgorithms::instance().fastest(product, device) : product.candidates(1);
        product.choose(algorithms.front());
        entries_.push_back({std::move(product), program, std::move(algorithms)});
    }

    /// The product of this shape; null when there is none.
    [[nodiscard]] const LibraryProduct* find(const ProductShape& shape) const {
        for (const Entry& entry : entries_) {
            if (entry.product.shape() == shape) {
                return &entry.product;
            }
        }
        return nullptr;
    }

    /// Whether there are products with several algorithms that are about as fast.
    [[nodiscard]] bool are_open() const {
        return std::any_of(entries_.begin(), entries_.end(),
                           [](const Entry& entry) { return entry.algorithms.size() > 1; });
    }

    /// Chooses among algorithms that were measured just now, and were about as fast, by the time of the programs that
    /// use them: beside its neighbours one may be faster by 10% that was slower by 3% alone.
    ///
    /// @param record  `record(program)` captures launches of a program, with the algorithms of the moment; an empty
    ///                graph when the program does not run
    template <class Record>
    void settle(const Device& device, const Stream& stream, const Record& record) {
        for (Entry& entry : entries_) {
            if (entry.algorithms.size() < 2) {
                continue;
            }
            std::vector<ReplayableGraph> graphs;
            for (const ProductAlgorithm& algorithm : entry.algorithms) {
                entry.product.choose(algorithm);
                graphs.push_back(record(entry.program));
            }
            const bool runs = std::all_of(graphs.begin(), graphs.end(), [](const auto& graph) { return bool(graph); });
            const std::size_t best = runs ? fastest_graph(graphs, stream) : 0;
            entry.product.choose(entry.algorithms[best]);
            if (best != 0) {
                TunedAlgorithms::instance().replace(entry.product, device, entry.algorithms[best]);
                log(LogTopic::tuning, [&] {
                    return "product " + product_key(entry.product.shape()) + ": within its program, number " +
                           std::to_string(best + 1) + " of " + std::to_string(entry.algorithms.size()) +
                           " algorithms of about the same time is the fastest";
                });
            }
            entry.algorithms.resize(1);
        }
    }

private:
    struct Entry {
        LibraryProduct product;
        int program = 0;
        std::vector<ProductAlgorithm> algorithms;  ///< More than one until it is settled.
    };

    LibraryHandle library_;
    std::vector<Entry> entries_;
};

}  // namespace totograph::cuda
