// SPDX-License-Identifier: Apache-2.0
// Where each weight lies in a packed matrix, and how it is rounded.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/matmul_in_double.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/simd.hpp>

using totograph::BFloat16;
using totograph::Index;
using totograph::cpu::PackedMatrix;
using totograph::cpu::packet_size;
using totograph::cpu::panel_width;

namespace {

/// Weights of all magnitudes, ties of rounding, infinities and NaNs among them.
std::vector<float> weights_of(Index columns, Index k, std::uint32_t seed) {
    std::vector<float> weights(static_cast<std::size_t>(columns * k));
    std::uint32_t state = seed;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        state = state * 1664525U + 1013904223U;
        const std::uint32_t special[] = {0x7f800001U, 0xffc00000U, 0x7f800000U, 0x3f808000U, 0x3f818000U, 0x7f7fffffU};
        weights[i] = std::bit_cast<float>(i % 5 == 3 ? special[i / 5 % 6] : state);
    }
    return weights;
}

/// The bits of a weight as the matrix holds it.
template <class Storage>
std::uint32_t stored_bits(const PackedMatrix<Storage>& packed, Index panel, Index lane, Index k) {
    const auto* row = packed.panel(panel) + k * PackedMatrix<Storage>::row_elements;
    if constexpr (std::is_same_v<Storage, float>) {
        return std::bit_cast<std::uint32_t>(row[lane]);
    } else {
        const std::uint32_t word = row[lane % packet_size];
        return lane < packet_size ? word & 0xffffU : word >> 16U;
    }
}

template <class Storage>
std::uint32_t bits_of(float value) {
    if constexpr (std::is_same_v<Storage, float>) {
        return std::bit_cast<std::uint32_t>(value);
    } else {
        return Storage(value).bits;
    }
}

}  // namespace

TEST_CASE_TEMPLATE("every weight is in its place, and zeros are behind the last", Storage, float, BFloat16) {
    using Packed = PackedMatrix<Storage>;
    for (const Index columns : {Index{1}, packet_size, panel_width - 1, panel_width, 2 * panel_width + 3}) {
        for (const Index k : {Index{1}, packet_size - 1, packet_size, 2 * packet_size + 5}) {
            for (const bool is_pair : {false, true}) {
                CAPTURE(columns);
                CAPTURE(k);
                CAPTURE(is_pair);
                const std::vector<float> first = weights_of(columns, k, 1);
                const std::vector<float> second = weights_of(columns, k, 2);
                const Packed packed = is_pair ? Packed::pack_pair(first.data(), second.data(), columns, k)
                                              : Packed::pack(first.data(), columns, k);
                CHECK(packed.bytes() == Packed::bytes_for(columns, k, is_pair));
                CHECK(packed.bytes() == static_cast<std::size_t>(packed.panels() * panel_width * k) * sizeof(Storage));
                Index wrong = 0;
                for (Index panel = 0; panel < packed.panels(); ++panel) {
                    for (Index lane = 0; lane < panel_width; ++lane) {
                        const Index column = panel * packed.columns_per_panel() + (is_pair ? lane % packet_size : lane);
                        const auto& from = is_pair && lane >= packet_size ? second : first;
                        for (Index i = 0; i < k; ++i) {
                            const float weight =
                                column < columns ? from[static_cast<std::size_t>(column * k + i)] : 0.0F;
                            wrong += stored_bits(packed, panel, lane, i) != bits_of<Storage>(weight) ? 1 : 0;
                        }
                    }
                }
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_CASE("a matrix may look at weights that lie elsewhere, and keeps them alive") {
    const std::vector<float> weights = weights_of(panel_width, 8, 3);
    auto owner = std::make_shared<const PackedMatrix<float>>(PackedMatrix<float>::pack(weights.data(), panel_width, 8));
    const auto* bytes = reinterpret_cast<const std::byte*>(owner->panel(0));
    const std::weak_ptr<const PackedMatrix<float>> watched = owner;
    {
        const PackedMatrix<float> view(panel_width, 8, false, bytes, std::move(owner));
        CHECK(!watched.expired());
        CHECK(reinterpret_cast<const std::byte*>(view.panel(0)) == bytes);
        CHECK(view.bytes() == weights.size() * sizeof(float));
    }
    CHECK(watched.expired());
}

TEST_CASE("weights are composed in double, whatever their shape") {
    // Whole numbers, whose sums are exact in double: 2^24 + 1 is none in float.
    const auto number = [](Index i) { return static_cast<float>((i * 7919 + 13) % 4099 - 2049); };
    for (const Index outer : {1, 11, 12, 13, 25}) {
        for (const Index inner : {1, 37}) {
            for (const Index columns : {1, 15, 16, 33}) {
                CAPTURE(outer);
                CAPTURE(inner);
                CAPTURE(columns);
                std::vector<float> a(static_cast<std::size_t>(outer * inner));
                std::vector<float> b(static_cast<std::size_t>(inner * columns));
                for (std::size_t i = 0; i < a.size(); ++i) {
                    a[i] = number(static_cast<Index>(i));
                }
                for (std::size_t i = 0; i < b.size(); ++i) {
                    b[i] = number(static_cast<Index>(i) + 5);
                }
                std::vector<float> expected;
                for (Index row = 0; row < outer; ++row) {
                    for (Index column = 0; column < columns; ++column) {
                        std::int64_t sum = 0;
                        for (Index k = 0; k < inner; ++k) {
                            sum += static_cast<std::int64_t>(a[static_cast<std::size_t>(row * inner + k)]) *
                                   static_cast<std::int64_t>(b[static_cast<std::size_t>(k * columns + column)]);
                        }
                        expected.push_back(static_cast<float>(sum));
                    }
                }
                std::vector<float> result(expected.size(), -1);
                totograph::cpu::matmul_in_double(a.data(), b.data(), result.data(), outer, inner, columns);
                CHECK(result == expected);
            }
        }
    }
}
