// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

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

/// A linear embedding of each patch: `[..., patches, patch_size]` becomes `[..., patches, width]`.
constexpr Tensor patch_embedding(Tensor patches, Tensor weight, Tensor bias) {
    return linear(patches, weight, bias);
}

}  // namespace totograph::nn
