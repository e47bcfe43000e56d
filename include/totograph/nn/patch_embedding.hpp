// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Cuts the last axis into patches: `[..., steps]` becomes `[..., steps / patch_size, patch_size]`.
constexpr Tensor patchify(Tensor x, Index patch_size) {
    const Shape& shape = x.shape();
    return reshape(x, with_last(with_axis(shape, -1, shape[-1] / patch_size), patch_size));
}

/// A linear embedding of each patch: `[..., patches, patch_size]` becomes `[..., patches, width]`.
constexpr Tensor patch_embedding(Tensor patches, Tensor weight, Tensor bias) {
    return linear(patches, weight, bias);
}

}  // namespace totograph::nn
