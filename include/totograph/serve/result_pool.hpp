// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <totograph/forecast/results/result_memory.hpp>

namespace totograph::serve::detail {

/// Memory of a service's results, used again when nobody holds the result any more. One thread at a time may use it;
/// results may be let go by any thread at any time.
class ResultPool {
public:
    ResultPool() { memories_.reserve(most + 1); }

    /// Room for a result of so many values, so that the next request need not make it, whatever results there were
    /// before.
    void make_room(std::size_t needed);

    /// Memory whose result nobody holds any more, or new one. No more than 8 are kept for later: a caller who once
    /// holds many results does not make the service keep as much for good.
    [[nodiscard]] ResultMemory take();

private:
    static constexpr std::size_t most = 8;
    std::vector<ResultMemory> memories_;
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/result_pool.hpp>
#endif
