// SPDX-License-Identifier: Apache-2.0
//
// bench_padding for Toto 2.0 4m: in one pass, and block by block.
//
//     bench_padding_toto2 [THREADS [REPEATS]]

#include <totograph/models/toto2/family.hpp>
#include <totograph/totograph.hpp>

#include "padding/compare.hpp"

namespace {

using totograph::Bucket;
using totograph::toto2::toto2_4m;

/// Forecasts two patches a block.
struct InBlocks {
    using Checkpoint = toto2_4m;
    static constexpr totograph::toto2::Toto2Config config = toto2_4m::config;
    static constexpr totograph::toto2::Inference inference{.decode_block_size = 64};
};

}  // namespace

int main(int count, char** words) {
    const padding::Arguments arguments(count, words);
    {
        constexpr Bucket whole{.batch = 4, .variates = 8, .context = 2048, .horizon = 256};
        padding::Padding<toto2_4m, whole> one_pass("Toto 2.0 4m, one pass", arguments);
        one_pass.compare<Bucket{4, 8, 1024, 256}>("half of the context");
        one_pass.compare<Bucket{4, 8, 256, 256}>("an eighth of the context");
        one_pass.compare<Bucket{4, 8, 2048, 128}>("half of the horizon");
        one_pass.compare<Bucket{4, 8, 256, 32}>("an eighth of context and horizon");
        one_pass.compare<Bucket{4, 4, 2048, 256}>("half of the variates");
        one_pass.compare<Bucket{4, 2, 2048, 256}>("a quarter of the variates");
        one_pass.compare<Bucket{2, 8, 2048, 256}>("half of the series");
    }
    constexpr Bucket whole{.batch = 4, .variates = 8, .context = 2048, .horizon = 512};
    padding::Padding<InBlocks, whole> blocks("Toto 2.0 4m, blocks of 64 steps", arguments);
    blocks.compare<Bucket{4, 8, 1024, 512}>("half of the context");
    blocks.compare<Bucket{4, 8, 256, 512}>("an eighth of the context");
    blocks.compare<Bucket{4, 8, 1024, 256}>("half of context and horizon");
    blocks.compare<Bucket{4, 4, 2048, 512}>("half of the variates");
    blocks.compare<Bucket{4, 2, 2048, 512}>("a quarter of the variates");
    blocks.compare<Bucket{2, 8, 2048, 512}>("half of the series");
    return 0;
}
