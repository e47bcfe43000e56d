// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/weights/open_checkpoint.hpp>

#include <memory>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/forecast/weights/checkpoint_source.hpp>
#include <totograph/forecast/weights/named_shape.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::shared_ptr<const TensorSource> open_checkpoint(const io::CheckpointFiles& files,
                                                                     const std::vector<NamedShape>& wanted,
                                                                     const CheckpointRules& rules) {
    return std::make_shared<CheckpointSource>(files, wanted, rules);
}

}  // namespace totograph
