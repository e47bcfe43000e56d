// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/async_copy.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/movement.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// The suffix that each query of a block has for itself, one position after the other.

namespace totograph::cuda::tile_detail {

/// How many positions a suffix has; 0 without one.
template <class K>
__device__ __forceinline__ int count_of_suffix(const KernelCall& call, int series) {
    if constexpr (AttentionSizes<K>::has_suffix) {
        const auto* length = call.operands[suffix_length].template get<std::int32_t>(positions_of<K>(call));
        return call.report.bounded(integer_of<K, suffix_length>(length, series), key_capacity<K, suffix_key>, 1);
    } else {
        return 0;
    }
}

/// The suffixes of a warp's queries on their way through shared memory.
template <class K>
class SuffixPipeline {
    using Key = typename K::Key;
    using Rows = StagedRowsOf<K>;

public:
    /// @param memory  for `stages` positions of each warp
    /// @param stages  1 or 2
    /// @param count   positions of a suffix
    __device__ __forceinline__ SuffixPipeline(const KernelCall& call, const TilePlace<K>& place, void* memory,
                                              int stages, int count)
        : place_(place),
          key_(call.operands[suffix_key].template get<Key>(positions_of<K>(call))),
          value_(call.operands[suffix_value].template get<Key>(positions_of<K>(call))),
          rows_(static_cast<Rows*>(memory) + static_cast<int>(threadIdx.x) / warp_size * stages),
          stages_(stages),
          count_(count) {
        static_assert(most_stages<K> == 2, "totograph: one position or two are on their way.");
        for (int position = 0; position < stages; ++position) {
            copy(position);
        }
    }

    /// Lets queries attend to their suffixes.
    template <class Attention>
    __device__ __forceinline__ void add_to(Attention& attention) {
        for (int position = 0; place_.is_active() && position < count_; ++position) {
            if (stages_ == 1) {
                wait_for_copies<0>();
            } else {
                wait_for_copies<1>();
            }
            __syncwarp();
            attention.add_suffix(stage_of(position));
            __syncwarp();
            copy(position + stages_);
        }
    }

private:
    [[nodiscard]] __device__ __forceinline__ Rows& stage_of(int position) const {
        return rows_[position & (stages_ - 1)];
    }

    /// Begins to copy a position of each query, if there is one.
    __device__ __forceinline__ void copy(int position) {
        using Matrix = decltype(Rows::key);
        constexpr int pieces = Matrix::pieces;
        if (position < count_) {
            Rows& to = stage_of(position);
#pragma unroll
            for (int i = 0; i < queries_of_warp * pieces / warp_size; ++i) {
                const int item = static_cast<int>(threadIdx.x) % warp_size + i * warp_size;
                const int row = item / pieces;
                const int piece = item % pieces;
                QueryPlace own = place_.shared();
                own.sample = place_.warp_query() + row;
                if (own.sample < place_.used_queries()) {
                    const int first = piece * Matrix::piece_elements;
                    to.key.template copy_piece<K::is_aligned>(
                        row, piece, key_ + row_of<K, suffix_key>(own, own.variate, position) + first);
                    to.value.template copy_piece<K::is_aligned>(
                        row, piece, value_ + row_of<K, suffix_value>(own, own.variate, position) + first);
                }
            }
        }
        commit_copies();
    }

    const TilePlace<K>& place_;
    const Key* key_;
    const Key* value_;
    Rows* rows_;
    int stages_;
    int count_;
};

}  // namespace totograph::cuda::tile_detail
