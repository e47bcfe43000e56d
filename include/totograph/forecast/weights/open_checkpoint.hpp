// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include <totograph/exec/weights.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/forecast/weights/named_shape.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>

namespace totograph {

/// Opens the files of a checkpoint and checks them against the list, as a `CheckpointSource` does: whoever only loads
/// weights needs none of what reads files. Throws `Error`.
std::shared_ptr<const TensorSource> open_checkpoint(const io::CheckpointFiles& files,
                                                    const std::vector<NamedShape>& wanted,
                                                    const CheckpointRules& rules);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/weights/impl/open_checkpoint.hpp>
#endif
