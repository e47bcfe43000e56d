// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>

// The pieces that attention on one core is made of. Every element is computed by one fixed sequence of operations on
// whole packets, whatever else is computed next to it; `attention.hpp` says why.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace attention_detail {

// GCC notes that a packet as a template argument loses its alignment attribute; the class keeps the alignment.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif
/// As many packets as one holds floats: a square that can be transposed.
using PacketSquare = Eigen::internal::PacketBlock<Packet, static_cast<int>(packet_size)>;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

using EachLane = std::make_integer_sequence<int, static_cast<int>(packet_size)>;

/// The widest packet of any target, so that scratch has one size everywhere.
inline constexpr Index widest = 16;
static_assert(packet_size <= widest, "totograph: attention plans its scratch for vectors of at most 16 floats.");

/// Rows that share each load of the right factor, and packets of columns: as many as keep all accumulators in
/// registers.
inline constexpr int row_block = 4;
inline constexpr int packet_block = packet_registers == 32 ? 4 : 2;
/// A single row needs this many independent chains to hide the latency of a multiply-add.
inline constexpr int single_row_packet_block = packet_registers == 32 ? 4 : 8;

/// How many queries `decode` carries through all its stages at once.
inline constexpr Index query_tile = std::max<Index>(packet_size, row_block);
/// With fewer queries than this, transposing and copying the shared keys and values does not pay.
inline constexpr Index few_queries = 4;

/// `out[row][column] = sum over i < k of left[row][i] * right[i][column]`, for columns in whole packets.
struct Gemm {
    const float* left;
    Index left_stride;
    const float* right;
    Index right_stride;
    Index k;
    float* out;
    Index out_stride;
};

/// The GEMM of `sizeof...(row)` rows with `sizeof...(column)` packets; `item` counts both, columns fastest.
template <int... row, int... column, int... item>
void multiply_block(const Gemm& gemm, std::integer_sequence<int, row...>, std::integer_sequence<int, column...>,
                    std::integer_sequence<int, item...>) noexcept {
    constexpr int packets = sizeof...(column);
    const float* const left[] = {gemm.left + row * gemm.left_stride...};
    float* const out[] = {gemm.out + (item / packets) * gemm.out_stride + (item % packets) * packet_size...};
    Packet accumulators[sizeof...(item)];
    ((accumulators[item] = zero_packet()), ...);
    const float* right = gemm.right;
    for (Index i = 0; i < gemm.k; ++i, right += gemm.right_stride) {
        const Packet columns[] = {load(right + column * packet_size)...};
        const Packet factors[] = {broadcast_packet(left[row][i])...};
        ((accumulators[item] = multiply_add(factors[item / packets], columns[item % packets], accumulators[item])),
         ...);
    }
    (store(out[item], accumulators[item]), ...);
}

template <int rows, int packets>
void multiply_columns(Gemm gemm, Index remaining) noexcept {
    for (; remaining >= packets; remaining -= packets) {
        multiply_block(gemm, std::make_integer_sequence<int, rows>{}, std::make_integer_sequence<int, packets>{},
                       std::make_integer_sequence<int, rows * packets>{});
        gemm.right += packets * packet_size;
        gemm.out += packets * packet_size;
    }
    if constexpr (packets > 1) {
        multiply_columns<rows, packets / 2>(gemm, remaining);
    }
}

/// The GEMM for any number of rows and `columns` columns, rounded up to whole packets.
inline void multiply_rows(Gemm gemm, Index rows, Index columns) noexcept {
    const Index packets = divide_rounding_up(columns, packet_size);
    for (; rows >= row_block; rows -= row_block) {
        multiply_columns<row_block, packet_block>(gemm, packets);
        gemm.left += row_block * gemm.left_stride;
        gemm.out += row_block * gemm.out_stride;
    }
    for (; rows > 0; --rows) {
        multiply_columns<1, single_row_packet_block>(gemm, packets);
        gemm.left += gemm.left_stride;
        gemm.out += gemm.out_stride;
    }
}

/// The first `count` elements of a packet, zeros after them.
inline Packet load_part(const float* from, Index count) noexcept {
    float whole[packet_size] = {};
    std::memcpy(whole, from, static_cast<std::size_t>(count) * sizeof(float));
    return load(whole);
}

template <int... lane>
PacketSquare load_transposed(const float* rows, Index stride, Index count, Index width,
                             std::integer_sequence<int, lane...>) noexcept {
    PacketSquare square;
    if (width >= packet_size) {
        ((square.packet[lane] = load(rows + std::min<Index>(lane, count - 1) * stride)), ...);
    } else {
        ((square.packet[lane] = load_part(rows + std::min<Index>(lane, count - 1) * stride, width)), ...);
    }
    Eigen::internal::ptranspose(square);
    return square;
}

/// Element `d` of each of `count` rows, for `d` below `width`, as packet `d`. Lanes past `count` repeat the last row.
inline PacketSquare load_transposed(const float* rows, Index stride, Index count, Index width) noexcept {
    return load_transposed(rows, stride, count, width, EachLane{});
}

/// Writes `count` rows as columns: `out[d * columns + row]`. Columns up to the next whole packet repeat the last row.
[[gnu::flatten]] inline void transpose(const float* rows, Index stride, Index count, Index head_dim, float* out,
                                       Index columns) noexcept {
    for (Index row = 0; row < count; row += packet_size) {
        for (Index d = 0; d < head_dim; d += packet_size) {
            const Index width = std::min<Index>(packet_size, head_dim - d);
            const PacketSquare square = load_transposed(rows + row * stride + d, stride, count - row, width);
            for (Index step = 0; step < width; ++step) {
                store(out + (d + step) * columns + row, square.packet[step]);
            }
        }
    }
}

/// Copies rows, each filled up to whole packets with zeros.
inline void copy_rows(const float* rows, Index stride, Index count, Index head_dim, float* out,
                      Index out_stride) noexcept {
    for (Index row = 0; row < count; ++row, rows += stride, out += out_stride) {
        Index d = 0;
        for (; d + packet_size <= head_dim; d += packet_size) {
            store(out + d, load(rows + d));
        }
        if (d < head_dim) {
            store(out + d, load_part(rows + d, head_dim - d));
        }
    }
}

template <bool transposed, int... step>
[[gnu::flatten]] Packet dots(const float* rows, Index stride, Index count, const float* other, Index head_dim,
                             std::integer_sequence<int, step...>) noexcept {
    Packet sum = zero_packet();
    const auto add_product = [&](Index d, const Packet& elements) {
        if constexpr (transposed) {
            sum = multiply_add(load(other + d * packet_size), elements, sum);
        } else {
            sum = multiply_add(broadcast_packet(other[d]), elements, sum);
        }
    };
    Index d = 0;
    for (; d + packet_size <= head_dim; d += packet_size) {
        const PacketSquare square = load_transposed(rows + d, stride, count, packet_size);
        (add_product(d + step, square.packet[step]), ...);
    }
    if (d < head_dim) {
        const PacketSquare square = load_transposed(rows + d, stride, count, head_dim - d);
        for (Index last = 0; d + last < head_dim; ++last) {
            add_product(d + last, square.packet[last]);
        }
    }
    return sum;
}

/// The dot products of up to a packet's worth of rows, one in each lane. `other` is one row for all lanes, or, if
/// `transposed`, one for each lane: `other[d * packet_size + lane]`.
template <bool transposed>
Packet dots(const float* rows, Index stride, Index count, const float* other, Index head_dim) noexcept {
    return dots<transposed>(rows, stride, count, other, head_dim, EachLane{});
}

/// The scores of one query for `count` keys; writes whole packets.
inline void score_keys(const float* query, const float* keys, Index stride, Index count, Index head_dim,
                       float* scores) noexcept {
    for (Index key = 0; key < count; key += packet_size) {
        const Index width = std::min<Index>(packet_size, count - key);
        store(scores + key, dots<false>(keys + key * stride, stride, width, query, head_dim));
    }
}

/// The weight of a score, before the division by the sum of all; 1 for the largest score.
inline Packet weights_of(Packet scores, Packet largest, Packet factor) noexcept {
    return Eigen::internal::pexp(multiply(subtract(scores, largest), factor));
}

/// Turns the first `count` scores into `exp((score - largest) * factor)` and returns their sum, or 1 where that is 0:
/// no key is seen, or all scores overflowed. The last packet is computed whole, so that a score rounds the same
/// wherever it stands.
inline float exponentiate(float* scores, Index count, float factor) noexcept {
    const Index whole = count / packet_size * packet_size;
    const Packet lowest = broadcast_packet(std::numeric_limits<float>::lowest());
    const Packet visible = Eigen::internal::pcmp_lt(Eigen::internal::plset<Packet>(0.0F),
                                                    broadcast_packet(static_cast<float>(count - whole)));
    Packet largest = lowest;
    for (Index key = 0; key < whole; key += packet_size) {
        largest = maximum(largest, load(scores + key));
    }
    Packet last = lowest;
    if (whole < count) {
        last = Eigen::internal::pselect(visible, load(scores + whole), lowest);
        largest = maximum(largest, last);
    }
    largest = broadcast_packet(maximum_of_lanes(largest));
    const Packet factors = broadcast_packet(factor);
    Packet sum = zero_packet();
    for (Index key = 0; key < whole; key += packet_size) {
        const Packet weights = weights_of(load(scores + key), largest, factors);
        store(scores + key, weights);
        sum = add(sum, weights);
    }
    if (whole < count) {
        const Packet weights = weights_of(last, largest, factors);
        store(scores + whole, weights);
        sum = add(sum, Eigen::internal::pand(visible, weights));
    }
    const float total = sum_of_lanes(sum);
    return total == 0.0F ? 1.0F : total;
}

/// Continues a query's sums over `count` more keys, divides them and writes them.
inline void finish_row(const float* sums, const float* weights, const float* values, Index stride, Index count,
                       float divisor, Index head_dim, float* out) noexcept {
    const Packet divisors = broadcast_packet(divisor);
    Index d = 0;
    for (; d + packet_size <= head_dim; d += packet_size) {
        Packet sum = load(sums + d);
        for (Index key = 0; key < count; ++key) {
            sum = multiply_add(broadcast_packet(weights[key]), load(values + key * stride + d), sum);
        }
        store(out + d, divide(sum, divisors));
    }
    if (const Index width = head_dim - d; width > 0) {
        Packet sum = load(sums + d);
        for (Index key = 0; key < count; ++key) {
            sum = multiply_add(broadcast_packet(weights[key]), load_part(values + key * stride + d, width), sum);
        }
        float whole[packet_size];
        store(whole, divide(sum, divisors));
        std::memcpy(out + d, whole, static_cast<std::size_t>(width) * sizeof(float));
    }
}

constexpr std::size_t padded(Index count) noexcept {
    return static_cast<std::size_t>(round_up(count, widest));
}

}  // namespace attention_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
