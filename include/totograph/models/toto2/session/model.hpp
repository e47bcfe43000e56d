// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/family.hpp>
#include <totograph/models/toto2/inference.hpp>
#include <totograph/models/toto2/parts.hpp>
#include <totograph/models/toto2/programs.hpp>
#include <totograph/models/toto2/rewrites.hpp>
#include <totograph/models/toto2/session/continue_program.hpp>

namespace totograph::toto2 {

/// The family of models whose context is continued: of their programs the first runs over a whole context, and the
/// other, which a `Session` runs, over what is new.
template <class Model>
struct ContinuedFamily : Family<Model> {
    /// Two patches, or there would be nothing to continue.
    static constexpr Bucket smallest_bucket{.variates = 2, .context = 2 * Model::config.patch_size, .horizon = 1};

    template <Bucket bucket>
    static consteval bool check() {
        using Parts = toto2::Parts<Model, bucket>;
        static_assert(bucket.exogenous == 0, "totograph: a session takes no variates whose future is known.");
        static_assert(!Parts::has_blocks,
                      "totograph: a session forecasts in one pass; decode_block_size must be 0, or no shorter than the "
                      "horizon.");
        static_assert(Parts::sizes.context_patches > 1,
                      "totograph: the context of a session must have room for two patches.");
        return Family<Model>::template check<bucket>();
    }

    template <Bucket bucket>
    struct Schedule {
        static constexpr std::size_t count = 2;
        using Models = ModelList<First<Model, bucket>, Continue<Model, bucket>>;
        static constexpr std::array<std::string_view, count> names{"whole", "continue"};
        static constexpr std::array<std::string_view, count> titles{"whole: the context and all patches",
                                                                    "continue: one new patch and all patches"};

        static constexpr Index runs(std::size_t program, Index) { return program == 0 ? 1 : 0; }
        /// A session says which of them runs.
        static constexpr bool runs_apart = true;
    };
};

struct ContinuedConfig : Toto2Config {
    template <class Model>
    using Family = ContinuedFamily<Model>;
};

/// A model as a session runs it. It reads the model's checkpoint.
template <Toto2Model Model>
struct Continued {
    using Checkpoint = typename CheckpointOf<Model>::type;
    static constexpr ContinuedConfig config{Model::config};
    static constexpr Inference inference = inference_of<Model>;
    static constexpr Rewrites rewrites = rewrites_of<Model>;
    static constexpr bool is_continued = true;
};

}  // namespace totograph::toto2
