// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// How many columns (output features) a panel holds: two packets.
inline constexpr Index panel_width = 2 * packet_size;

/// The weights of a linear layer `y = x W^T`, rearranged so that a GEMM reads them once, in order.
///
/// `W` is `[columns, k]`, row-major, as checkpoints store it. A panel holds `panel_width` columns: for each index from
/// 0 to `k - 1` the `panel_width` weights of that index side by side. The last panel is filled up with zeros.
///
/// A *paired* matrix holds two layers of the same shape, the gate and the input of a gated layer. Each of its panels is
/// one packet of columns of the first followed by the same columns of the second, so that both values of an output meet
/// in one tile; `columns()` counts pairs.
///
/// `Storage` is `float`, or `BFloat16`, which rounds each weight to nearest. In the latter a 32-bit word holds the
/// weight of lane `j` of the first packet in its lower half and that of lane `j` of the second in its upper half.
template <class Storage>
class PackedMatrix {
    static_assert(std::is_same_v<Storage, float> || std::is_same_v<Storage, BFloat16>,
                  "totograph: a packed matrix stores its weights as float or as BFloat16.");

public:
    /// What memory is addressed in: a float, or a word of two bfloat16.
    using Element = std::conditional_t<std::is_same_v<Storage, float>, float, std::uint32_t>;

    /// Elements of a panel for one index along k.
    static constexpr Index row_elements = std::is_same_v<Storage, float> ? panel_width : packet_size;

    PackedMatrix() = default;

    /// A matrix of zeros, to be filled panel by panel. Both extents must be positive. Allocates.
    PackedMatrix(Index columns, Index k, bool is_paired)
        : columns_(columns),
          k_(k),
          panels_(panels_for(columns, is_paired)),
          is_paired_(is_paired),
          memory_(bytes_for(columns, k, is_paired)),
          elements_(reinterpret_cast<const Element*>(memory_.data())) {}

    /// A matrix whose `bytes()` lie elsewhere, laid out as described above, aligned to the size of a packet, and stay
    /// there as long as `owner` does. Nobody writes to them.
    PackedMatrix(Index columns, Index k, bool is_paired, const std::byte* bytes, std::shared_ptr<const void> owner)
        : columns_(columns),
          k_(k),
          panels_(panels_for(columns, is_paired)),
          is_paired_(is_paired),
          owner_(std::move(owner)),
          elements_(reinterpret_cast<const Element*>(bytes)) {}

    /// Packs `W [columns, k]`. Both extents must be positive. Allocates.
    static PackedMatrix pack(const float* weights, Index columns, Index k) {
        PackedMatrix packed(columns, k, false);
        for (Index panel = 0; panel < packed.panels(); ++panel) {
            packed.fill_panel(panel, weights + panel * packed.columns_per_panel() * k, nullptr);
        }
        return packed;
    }

    /// Packs two matrices `[columns, k]` into one paired matrix. Both extents must be positive. Allocates.
    static PackedMatrix pack_pair(const float* first, const float* second, Index columns, Index k) {
        PackedMatrix packed(columns, k, true);
        for (Index panel = 0; panel < packed.panels(); ++panel) {
            const Index offset = panel * packed.columns_per_panel() * k;
            packed.fill_panel(panel, first + offset, second + offset);
        }
        return packed;
    }

    /// Packs one panel of a matrix that owns its memory. `first` is where its rows of `W` begin, one after the other:
    /// `columns_in(panel)` of them. `second` is the same of the other matrix of a pair, else null.
    ///
    /// Several threads may fill different panels at the same time.
    void fill_panel(Index panel, const float* first, const float* second) noexcept {
        Element* const to = reinterpret_cast<Element*>(memory_.data()) + panel * panel_stride();
        const Index count = columns_in(panel);
        const float* rows[panel_width] = {};
        for (Index lane = 0; lane < panel_width; ++lane) {
            const Index column = is_paired_ ? lane % packet_size : lane;
            if (column < count) {
                rows[lane] = (is_paired_ && lane >= packet_size ? second : first) + column * k_;
            }
        }
        const Index whole = count == columns_per_panel() ? k_ / packet_size * packet_size : 0;
        for (Index i = 0; i < whole; i += packet_size) {
            store_block(rows, i, to + i * row_elements);
        }
        for (Index i = whole; i < k_; ++i) {
            for (Index lane = 0; lane < row_elements; ++lane) {
                const auto weight = [&](Index of) { return rows[of] == nullptr ? 0.0F : rows[of][i]; };
                if constexpr (is_float) {
                    to[i * row_elements + lane] = weight(lane);
                } else {
                    const std::uint32_t lower = BFloat16(weight(lane)).bits;
                    const std::uint32_t upper = BFloat16(weight(lane + packet_size)).bits;
                    to[i * row_elements + lane] = lower | (upper << 16U);
                }
            }
        }
    }

    /// Output features; pairs of them when paired.
    [[nodiscard]] Index columns() const noexcept { return columns_; }
    /// Input features.
    [[nodiscard]] Index k() const noexcept { return k_; }
    [[nodiscard]] Index panels() const noexcept { return panels_; }
    [[nodiscard]] bool is_paired() const noexcept { return is_paired_; }
    /// Columns, or pairs of columns, that one panel covers.
    [[nodiscard]] Index columns_per_panel() const noexcept { return is_paired_ ? packet_size : panel_width; }
    /// Columns, or pairs of columns, that a panel has: fewer in the last one.
    [[nodiscard]] Index columns_in(Index panel) const noexcept {
        return std::min(columns_per_panel(), columns_ - panel * columns_per_panel());
    }
    /// Memory that the packed weights take.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_for(columns_, k_, is_paired_); }
    /// The same of a matrix yet to be made.
    static std::size_t bytes_for(Index columns, Index k, bool is_paired) noexcept {
        return static_cast<std::size_t>(panels_for(columns, is_paired) * k * row_elements) * sizeof(Element);
    }

    /// Elements from the start of one panel to the start of the next.
    [[nodiscard]] Index panel_stride() const noexcept { return k_ * row_elements; }
    /// The first element of a panel, aligned to the size of a packet.
    [[nodiscard]] const Element* panel(Index index) const noexcept { return elements_ + index * panel_stride(); }

private:
    static Index panels_for(Index columns, bool is_paired) noexcept {
        return divide_rounding_up(columns, is_paired ? packet_size : panel_width);
    }

    static constexpr bool is_float = std::is_same_v<Storage, float>;

    /// What `BFloat16` rounds each lane to, in the lower half of its word.
    static PacketWords bfloat16_bits(Packet packet) noexcept {
        const auto wide = std::bit_cast<PacketWords>(packet);
        const PacketWords rounded = (wide + 0x7fffU + ((wide >> 16U) & 1U)) >> 16U;
        const auto is_nan = std::bit_cast<PacketWords>((wide & 0x7fffffffU) > 0x7f800000U);
        return (is_nan & ((wide >> 16U) | 0x0040U)) | (~is_nan & rounded);
    }

    /// Stores `packet_size` successive indices along k, from `first` on, of a panel that has all its columns.
    static void store_block(const float* const* rows, Index first, Element* to) noexcept {
// GCC notes that a packet as a template argument loses its alignment attribute; the class keeps the alignment.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif
        Eigen::internal::PacketBlock<Packet, static_cast<int>(packet_size)> halves[2];
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
        for (Index half = 0; half < 2; ++half) {
            for (Index lane = 0; lane < packet_size; ++lane) {
                halves[half].packet[lane] = load(rows[half * packet_size + lane] + first);
            }
            Eigen::internal::ptranspose(halves[half]);
        }
        for (Index step = 0; step < packet_size; ++step) {
            if constexpr (is_float) {
                store_aligned(to + step * panel_width, halves[0].packet[step]);
                store_aligned(to + step * panel_width + packet_size, halves[1].packet[step]);
            } else {
                const PacketWords lower = bfloat16_bits(halves[0].packet[step]);
                const PacketWords upper = bfloat16_bits(halves[1].packet[step]);
                *reinterpret_cast<PacketWords*>(to + step * packet_size) = lower | (upper << 16U);
            }
        }
    }

    Index columns_ = 0;
    Index k_ = 0;
    Index panels_ = 0;
    bool is_paired_ = false;
    Arena memory_;  ///< Empty when the weights lie elsewhere.
    std::shared_ptr<const void> owner_;
    const Element* elements_ = nullptr;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
