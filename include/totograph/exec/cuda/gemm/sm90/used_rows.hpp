// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>

// Which rows of a GEMM its tiles have: those in use. Rows are taken in groups of neighbours, those of which any is in
// use, one group behind the other: wherever a tile has a row, its numbers are the same.

namespace totograph::cuda {

/// Groups of neighbouring rows of GEMMs of one input.
/// @tparam most_rows  of a group: those that are copied at once
/// @tparam Norm       that runs with them; void for none
template <int most_rows, class Norm, class... K>
struct RowGroups {
    using First = std::tuple_element_t<0, std::tuple<K...>>;
    static constexpr auto m = static_cast<int>(First::kernel.rows());
    static constexpr bool bounds_any = UsedExtents<First>::template bounds_any<UsedExtents<First>::rows>;
    static constexpr bool agree = (bounds_same_rows(First::bounds, K::bounds) && ...) && [] {
        if constexpr (std::is_void_v<Norm>) {
            return true;
        } else {
            return bounds_same_rows(First::bounds, Norm::bounds);  // else others read it of rows that are left out
        }
    }();
    /// Whether all of the GEMMs, and the norm, bound the same rows, and some, which are few enough to be listed.
    static constexpr bool is_bounded = bounds_any && agree && RowGroup::rows_of(m, most_rows) > 0;
    static constexpr int rows = is_bounded ? RowGroup::rows_of(m, most_rows) : RowGroup::least;
    static constexpr int count = (m + rows - 1) / rows;

    /// Those in use, in shared memory.
    struct List {
        std::uint16_t groups[is_bounded ? count : 1];
        int of_warps[32];  ///< How many of them each warp found.
        int found;         ///< How many there are.
    };
    static_assert(sizeof(List) <= RowGroup::list_bytes);
};

/// The rows of tiles where all are in use. Code of its own, the same as without bounds: a test of each row is worth 6%
/// of a forecast (`bench_cuda`, `readme`, H200).
template <class Groups>
struct AllTileRows {
    static constexpr bool are_all = true;

    /// Tiles of so many rows.
    template <int tile_rows>
    [[nodiscard]] static __device__ __forceinline__ int tiles() {
        return (Groups::m + tile_rows - 1) / tile_rows;
    }
    /// A row that exists: the one of a number, or another one that stands in for it.
    [[nodiscard]] static __device__ __forceinline__ int row_to_read(int number) { return min(number, Groups::m - 1); }
    /// Whether there is a row of a number.
    [[nodiscard]] static __device__ __forceinline__ bool exists(int number) { return number < Groups::m; }
};

/// The rows of tiles where some are left out: number `n` of those in use.
template <class Groups>
class UsedTileRows {
    using First = typename Groups::First;
    static constexpr int rows_of_group = Groups::rows;

public:
    static constexpr bool are_all = false;

    /// Lists the groups in use, in order. All threads of the block call it.
    static __device__ __forceinline__ void find(const UsedExtents<First>& used, typename Groups::List& list) {
        const int warps = static_cast<int>(blockDim.x) / 32;
        const int warp = static_cast<int>(threadIdx.x) / 32;
        const int lane = static_cast<int>(threadIdx.x) % 32;
        // Each warp has those of a part.
        const int each = ((Groups::count + warps - 1) / warps + 31) / 32 * 32;
        const int begin = warp * each;
        const int end = min(begin + each, Groups::count);
        int own = 0;
        for (int first = begin; first < end; first += 32) {
            const bool is_used = first + lane < end && has_group(used, first + lane);
            own += __popc(__ballot_sync(0xffffffffU, is_used));
        }
        if (lane == 0) {
            list.of_warps[warp] = own;
        }
        __syncthreads();
        int place = 0;
        int count = 0;
        for (int other = 0; other < warps; ++other) {
            place += other < warp ? list.of_warps[other] : 0;
            count += list.of_warps[other];
        }
        for (int first = begin; first < end; first += 32) {
            const bool is_used = first + lane < end && has_group(used, first + lane);
            const unsigned all = __ballot_sync(0xffffffffU, is_used);
            if (is_used) {
                list.groups[place + __popc(all & ((1U << lane) - 1U))] = static_cast<std::uint16_t>(first + lane);
            }
            place += __popc(all);
        }
        if (threadIdx.x == 0) {
            list.found = count;
        }
        __syncthreads();
    }

    /// @param list  that was made
    __device__ __forceinline__ explicit UsedTileRows(const typename Groups::List& list)
        : list_(list), count_(list.found) {}

    /// Tiles of so many rows that have any.
    template <int tile_rows>
    [[nodiscard]] __device__ __forceinline__ int tiles() const {
        return (count_ * rows_of_group + tile_rows - 1) / tile_rows;
    }
    /// Where the group of a row begins; beyond the last row where there is none.
    [[nodiscard]] __device__ __forceinline__ int group_begin(int number) const {
        const int group = number / rows_of_group;
        return group < count_ ? list_.groups[group] * rows_of_group : Groups::count * rows_of_group;
    }
    /// Whether the groups of so many rows are neighbours, as far as there are any.
    template <int tile_rows>
    [[nodiscard]] __device__ __forceinline__ bool are_neighbours(int number) const {
        const int first = number / rows_of_group;
        const int last = min(first + tile_rows / rows_of_group, count_) - 1;
        return last <= first || list_.groups[last] - list_.groups[first] == last - first;
    }

    /// As of `AllTileRows`.
    [[nodiscard]] __device__ __forceinline__ int row_to_read(int number) const {
        return min(row_of(min(number, count_ * rows_of_group - 1)), Groups::m - 1);
    }
    [[nodiscard]] __device__ __forceinline__ bool exists(int number) const {
        return number < count_ * rows_of_group && row_of(number) < Groups::m;
    }

private:
    [[nodiscard]] __device__ __forceinline__ int row_of(int number) const {
        return list_.groups[number / rows_of_group] * rows_of_group + number % rows_of_group;
    }

    static __device__ __forceinline__ bool has_group(const UsedExtents<First>& used, int group) {
        bool result = false;
        for (int i = 0; i < rows_of_group; ++i) {
            const int row = group * rows_of_group + i;
            result = result || (row < Groups::m && used.template has<UsedExtents<First>::rows>(row));
        }
        return result;
    }

    const typename Groups::List& list_;
    int count_;
};

}  // namespace totograph::cuda
