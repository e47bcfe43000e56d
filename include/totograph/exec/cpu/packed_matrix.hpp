// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// How many columns (output features) a panel holds: two packets.
inline constexpr Index panel_width = 2 * packet_size;

/// The weights of a linear layer `y = x W^T`, rearranged so that a product reads them once, in order.
///
/// `W` is `[columns, depth]`, row-major, as checkpoints store it. A panel holds `panel_width` columns: for each `k`
/// from 0 to `depth - 1` the `panel_width` weights of that `k` side by side. The last panel is filled up with zeros.
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

    /// Elements of one `k` of a panel.
    static constexpr Index row_elements = std::is_same_v<Storage, float> ? panel_width : packet_size;

    PackedMatrix() = default;

    /// Packs `W [columns, depth]`. Both extents must be positive. Allocates.
    static PackedMatrix pack(const float* weights, Index columns, Index depth) {
        PackedMatrix packed(columns, depth, false);
        packed.fill([=](Index panel, Index lane, Index k) {
            const Index column = panel * panel_width + lane;
            return column < columns ? weights[column * depth + k] : 0.0F;
        });
        return packed;
    }

    /// Packs two matrices `[columns, depth]` into one paired matrix. Both extents must be positive. Allocates.
    static PackedMatrix pack_pair(const float* first, const float* second, Index columns, Index depth) {
        PackedMatrix packed(columns, depth, true);
        packed.fill([=](Index panel, Index lane, Index k) {
            const Index column = panel * packet_size + lane % packet_size;
            const float* weights = lane < packet_size ? first : second;
            return column < columns ? weights[column * depth + k] : 0.0F;
        });
        return packed;
    }

    /// Output features; pairs of them when paired.
    [[nodiscard]] Index columns() const noexcept { return columns_; }
    /// Input features.
    [[nodiscard]] Index depth() const noexcept { return depth_; }
    [[nodiscard]] Index panels() const noexcept { return panels_; }
    [[nodiscard]] bool is_paired() const noexcept { return is_paired_; }
    /// Columns, or pairs of columns, that one panel covers.
    [[nodiscard]] Index columns_per_panel() const noexcept { return is_paired_ ? packet_size : panel_width; }
    /// Memory that the packed weights take.
    [[nodiscard]] std::size_t bytes() const noexcept { return memory_.size(); }

    /// Elements from the start of one panel to the start of the next.
    [[nodiscard]] Index panel_stride() const noexcept { return depth_ * row_elements; }
    /// The first element of a panel, aligned to the size of a packet.
    [[nodiscard]] const Element* panel(Index index) const noexcept { return elements() + index * panel_stride(); }

private:
    PackedMatrix(Index columns, Index depth, bool is_paired)
        : columns_(columns),
          depth_(depth),
          panels_(divide_rounding_up(columns, is_paired ? packet_size : panel_width)),
          is_paired_(is_paired),
          memory_(static_cast<std::size_t>(panels_ * depth * row_elements) * sizeof(Element)) {}

    [[nodiscard]] Element* elements() const noexcept { return reinterpret_cast<Element*>(memory_.data()); }

    /// Stores `weight(panel, lane, k)` everywhere.
    template <class Weight>
    void fill(Weight weight) {
        Element* element = elements();
        for (Index panel = 0; panel < panels_; ++panel) {
            for (Index k = 0; k < depth_; ++k) {
                for (Index lane = 0; lane < row_elements; ++lane) {
                    if constexpr (std::is_same_v<Storage, float>) {
                        *element++ = weight(panel, lane, k);
                    } else {
                        const std::uint32_t lower = BFloat16(weight(panel, lane, k)).bits;
                        const std::uint32_t upper = BFloat16(weight(panel, lane + packet_size, k)).bits;
                        *element++ = lower | (upper << 16U);
                    }
                }
            }
        }
    }

    Index columns_ = 0;
    Index depth_ = 0;
    Index panels_ = 0;
    bool is_paired_ = false;
    Arena memory_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
