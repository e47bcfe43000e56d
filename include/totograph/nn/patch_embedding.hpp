// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/linear.hpp>

namespace totograph::nn {

/// Cuts the last axis into patches: `[..., steps]` becomes `[..., steps / patch_size, patch_size]`.
constexpr Tensor patchify(Tensor x, Index patch_size) {
    if (patch_size < 1 || x.extent(-1) % patch_size != 0) {
        x.recorder().fail(ModelErrorKind::reshape_changes_size)
            << "patchify: " << x.extent(-1) << " steps do not divide into patches of " << patch_size;
        return x;
    }
    return reshape(x, with_last(with_axis(x.shape(), -1, x.extent(-1) / patch_size), patch_size));
}

/// Sizes of a patch embedding.
struct PatchEmbeddingSize {
    Index patch_size = 0;
    Index width = 0;
};

/// A linear embedding of each patch.
template <PatchEmbeddingSize size>
struct PatchEmbedding {
    using Projection = Linear<LinearSize{.in = size.patch_size, .out = size.width}>;

    static constexpr Index width = size.width;
    static constexpr Index parameters = Projection::parameters;
    static constexpr Index parameter_bytes = Projection::parameter_bytes;
    static constexpr Index flops_per_row = Projection::flops_per_row;

    Projection projection;

    /// `[..., patches, patch_size]` becomes `[..., patches, width]`.
    [[nodiscard]] constexpr Tensor record(Tensor patches) const {
        return detail::check_width<PatchEmbedding>(patches, size.patch_size) ? projection.record(patches) : patches;
    }
};

}  // namespace totograph::nn
