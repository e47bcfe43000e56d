// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/cublaslt/gemm_shape.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

class CublasLtGemm;
struct GemmAlgorithm;

/// The place of the least of several times; 0 unless another one is clearly less than the first. Medians of some
/// interleaved replays differ by 0.1 to 0.2% from one time to the next.
std::size_t clearly_least(const std::vector<float>& times);

/// Which of several graphs takes the shortest time; the first one, unless another is clearly faster. Nothing when they
/// take long: what such graphs do is long enough to be timed alone. Throws `Error` when the device fails.
std::optional<std::size_t> fastest_graph(const std::vector<ReplayableGraph>& graphs, const Stream& stream);

/// The GEMMs that an executor leaves to cuBLASLt, each with its algorithm.
class CublasLtGemms {
public:
    CublasLtGemms();
    CublasLtGemms(CublasLtGemms&& other) noexcept;
    CublasLtGemms& operator=(CublasLtGemms&&) = delete;
    ~CublasLtGemms();

    /// Adds a GEMM of a program that runs. It gets the algorithm that was chosen for it before; else those that are
    /// the fastest alone stay open, and the first one is used until one is chosen. Others must be kept from choosing.
    /// Throws `Error` when cuBLASLt has none.
    void add_tuned(const GemmShape& shape, int program, const Device& device);
    /// Adds a GEMM with cuBLASLt's first choice of an algorithm, unless it is there.
    void add_untuned(const GemmShape& shape);
    /// Adds a GEMM, which is not there yet, with algorithms to choose from, when it `is_open`, or its only one.
    void add(CublasLtGemm gemm, int program, std::vector<GemmAlgorithm> algorithms, bool is_open);

    /// The GEMM of this shape; null when there is none.
    [[nodiscard]] const CublasLtGemm* find(const GemmShape& shape) const;
    /// Launches the GEMM of this shape, which is there.
    void launch(const GemmShape& shape, const GemmPointers& pointers, void* workspace, cudaStream_t stream) const;

    /// Keeps for each open GEMM the algorithm that is the fastest alone.
    void keep_fastest(const Device& device);
    /// Chooses for each open GEMM by the time of the program that uses it, and keeps the choice: beside its
    /// neighbours one may be faster by 10% that was slower by 3% alone. What cannot be tried, for one because the
    /// device has no memory left for it, stays with the fastest alone, and is not kept.
    ///
    /// @param record  `record(program)` captures launches of a program, with the algorithms of the moment
    template <class Record>
    void choose_in_programs(const Device& device, const Stream& stream, const Record& record) {
        // What is the same for all programs is compiled once.
        choose(device, stream, {&record, [](const void* recorder, int program) -> ReplayableGraph {
                                    return (*static_cast<const Record*>(recorder))(program);
                                }});
    }

private:
    /// A function of a program.
    struct Recorded {
        const void* recorder;
        ReplayableGraph (*call)(const void* recorder, int program);

        ReplayableGraph operator()(int program) const { return call(recorder, program); }
    };
    struct Entry;
    /// cuBLASLt, and GEMMs. Whoever launches programs needs no header of that library.
    struct Library;

    void choose(const Device& device, const Stream& stream, const Recorded& record);

    /// Of the GEMM of this shape among all; their number when there is none.
    [[nodiscard]] std::size_t place_of(const GemmShape& shape) const;

    /// The place of the algorithm that makes the program fastest; one that cannot be captured is left out.
    static std::size_t try_each(Entry& entry, const Stream& stream, const Recorded& record);

    static void keep(Entry& entry, const Device& device, std::size_t place);

    std::unique_ptr<Library> library_;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
#include <totograph/exec/cuda/gemm/cublaslt/impl/gemms.hpp>
#endif
