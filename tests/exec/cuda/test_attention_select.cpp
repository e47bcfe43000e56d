// SPDX-License-Identifier: Apache-2.0
// How attentions are computed on a device: no device is needed, and no CUDA.
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace {

using namespace totograph;
using namespace totograph::cuda;

/// A step of decoding with 12 heads: each sample has its own suffix behind a prefix of so many keys.
Kernel decode(Index samples, Index variates, Index head_dim, Index prefix = 64) {
    Kernel kernel;
    kernel.op = Op::attention;
    kernel.iteration = {1, samples, variates, 1, 12 * head_dim};
    kernel.attention = {.heads = 12,
                        .kv_heads = 12,
                        .head_dim = head_dim,
                        .value_dim = head_dim,
                        .queries = QueryPlaces::last,
                        .has_suffix = true};
    kernel.operand_count = 7;
    kernel.operands[1].shape = {1, 1, variates, prefix, 12 * head_dim};
    kernel.operands[4].shape = {1, samples, variates, 5, 12 * head_dim};
    return kernel;
}
/// Over so many positions of so many variates.
Kernel prefill(Index variates, Index positions, Index head_dim) {
    Kernel kernel = decode(1, variates, head_dim);
    kernel.iteration = {1, 1, variates, positions, 12 * head_dim};
    kernel.attention.queries = QueryPlaces::first;
    kernel.attention.is_causal = true;
    kernel.attention.has_suffix = false;
    kernel.operands[1].shape = kernel.iteration;
    return kernel;
}

AttentionKernel chosen(const Kernel& kernel, Precision precision = Precision::bf16,
                       const AttentionStorage& storage = {}) {
    return select_attention(kernel, storage, precision, least_device);
}

}  // namespace

TEST_CASE("a step that is no attention has no kernel of one") {
    Kernel other = decode(1, 1, 64);
    other.op = Op::softmax;
    CHECK(chosen(other) == AttentionKernel::none);
    other = decode(1, 1, 64);
    other.kind = KernelKind::gemm;
    CHECK(chosen(other) == AttentionKernel::none);
}

TEST_CASE("few queries take a block each, of positions with two keys and more") {
    // 12 heads of 42 positions are 504 queries, of 43 they are 516.
    CHECK(chosen(prefill(1, 42, 64)) == AttentionKernel::block);
    CHECK(chosen(prefill(1, 43, 64)) == AttentionKernel::tiles);
    CHECK(chosen(prefill(1, 2, 64)) == AttentionKernel::block);
    CHECK(chosen(prefill(1, 2, 64), Precision::f32) == AttentionKernel::block);
    CHECK(chosen(prefill(1, 1, 64)) == AttentionKernel::tiles);
    CHECK(chosen(prefill(1, 42, 64), Precision::f32) == AttentionKernel::block);
    CHECK(chosen(prefill(1, 42, 64), Precision::bf16, {.is_aligned = false}) == AttentionKernel::tiles);
    CHECK(chosen(prefill(1, 42, 48)) == AttentionKernel::tiles);
    CHECK(chosen(decode(1, 1, 64)) == AttentionKernel::block);
}

TEST_CASE("few variates, keys of a cache or wide heads take no block") {
    const auto variates = [](Index count) {
        Kernel kernel = prefill(count, 1, 64);
        kernel.attention.axis = AttentionAxis::variates;
        return chosen(kernel);
    };
    CHECK(variates(8) == AttentionKernel::warp);
    CHECK(variates(9) == AttentionKernel::block);
    // Beside a suffix of five.
    CHECK(chosen(decode(1, 1, 64, 2)) == AttentionKernel::tiles);
    CHECK(chosen(decode(1, 1, 64, 3)) == AttentionKernel::block);
    CHECK(chosen(prefill(1, 8, 192)) == AttentionKernel::warp);
    CHECK(chosen(prefill(1, 9, 192)) == AttentionKernel::block);
}

TEST_CASE("more queries than else take a block each where it reads all keys at once") {
    // 12 heads of 28 variates of 3 positions are 1,008 queries, of 29 they are 1,044.
    const auto chosen_of = [](Index variates, Index keys) {
        Kernel kernel = prefill(variates, 3, 64);
        kernel.attention.queries = QueryPlaces::last;
        kernel.operands[1].shape = {1, 1, variates, keys, 12 * 64};
        return chosen(kernel, Precision::bf16, {.keys_are_bf16 = true});
    };
    CHECK(chosen_of(28, 32) == AttentionKernel::block);
    CHECK(chosen_of(28, 33) == AttentionKernel::tiles);
    CHECK(chosen_of(29, 32) == AttentionKernel::tiles);
    // Positions that fill half of a tile.
    CHECK(chosen(prefill(2, 31, 64), Precision::bf16, {.keys_are_bf16 = true}) == AttentionKernel::block);
    CHECK(chosen(prefill(2, 32, 64), Precision::bf16, {.keys_are_bf16 = true}) == AttentionKernel::tiles);
}

TEST_CASE("eight lanes read a key where blocks share multiprocessors, but while three find room with four") {
    CHECK(block_key_lanes(prefill(1, 11, 64), true) == 4);  // 132 queries
    CHECK(block_key_lanes(prefill(1, 12, 64), true) == 8);
    CHECK(block_key_lanes(prefill(1, 22, 64), true) == 8);  // 264
    CHECK(block_key_lanes(prefill(1, 23, 64), true) == 4);
    CHECK(block_key_lanes(prefill(1, 33, 64), true) == 4);  // 396
    CHECK(block_key_lanes(prefill(1, 34, 64), true) == 8);
    CHECK(block_key_lanes(prefill(1, 23, 64), false) == 8);
    CHECK(block_key_lanes(decode(1, 23, 64), true) == 8);   // with a suffix
    CHECK(block_key_lanes(prefill(1, 12, 96), true) == 4);  // 96 is no multiple of 64
    CHECK(block_key_lanes(prefill(1, 2, 256), true) == 8);
    CHECK(block_key_lanes(prefill(1, 23, 128), true) == 8);  // whose blocks of four lanes take more registers
}

TEST_CASE("blocks share the keys of a query where queries are few and keys are many") {
    // A block takes 128 keys at a time, and of heads of 256 dimensions 64.
    CHECK(block_parts_of(decode(1, 1, 64, 123)) == 1);
    // Two would not pay.
    CHECK(block_parts_of(decode(1, 1, 64, 251)) == 1);
    CHECK(block_parts_of(decode(1, 1, 64, 252)) == 4);
    CHECK(block_parts_of(decode(1, 1, 64, 4096)) == 8);
    CHECK(block_parts_of(decode(1, 1, 256, 123)) == 1);
    CHECK(block_parts_of(decode(1, 1, 256, 124)) == 4);
    // Two blocks for each multiprocessor at most: 12 heads of 5 are 60 queries.
    CHECK(block_parts_of(decode(1, 5, 64, 4096)) == 4);
    CHECK(block_parts_of(decode(1, 6, 64, 4096)) == 1);
}

TEST_CASE("warps share the keys of a long prefix where samples or blocks are few") {
    CHECK(warps_share_keys(decode(16, 100, 64, 128)));
    CHECK_FALSE(warps_share_keys(decode(16, 100, 64, 127)));
    CHECK_FALSE(warps_share_keys(decode(17, 100, 64, 128)));
    // A block has 64 samples of a head.
    CHECK(warps_share_keys(decode(64, 11, 64, 128)));
    CHECK_FALSE(warps_share_keys(decode(65, 11, 64, 128)));
    // The same of positions.
    CHECK(warps_share_keys(prefill(1, 400, 64)));
    CHECK(warps_share_keys(prefill(5, 128, 64)));
    CHECK_FALSE(warps_share_keys(prefill(6, 128, 64)));
    CHECK_FALSE(warps_share_keys(prefill(1, 127, 64)));
    CHECK(tile_warps_of(prefill(1, 352, 64), true) == 8);
    CHECK(tile_warps_of(prefill(1, 353, 64), true) == 4);
    // Those that share a suffix do not.
    Kernel cached = decode(1, 1, 64, 400);
    cached.iteration[3] = 47;
    CHECK_FALSE(warps_share_keys(cached));
}

TEST_CASE("tiles are staged as they lie in memory where positions have one operand of keys") {
    const AttentionStorage bf16{.keys_are_bf16 = true};
    CHECK(stages_tiles(prefill(7, 64, 64), bf16, Precision::bf16));
    CHECK(stages_tiles(prefill(7, 64, 64), {}, Precision::f32));
    // In tf32 where blocks are more than multiprocessors: 12 heads of 12 variates are 144.
    CHECK(stages_tiles(prefill(12, 64, 64), {}, Precision::tf32));
    CHECK_FALSE(stages_tiles(prefill(11, 64, 64), {}, Precision::tf32));
    CHECK(stages_tiles(prefill(6, 97, 64), {}, Precision::tf32));
    CHECK_FALSE(stages_tiles(prefill(6, 96, 64), {}, Precision::tf32));
    // Rows would be twice as long as those of a tile.
    CHECK_FALSE(stages_tiles(prefill(7, 64, 64), {}, Precision::bf16));
    CHECK_FALSE(stages_tiles(prefill(1, 400, 64), bf16, Precision::bf16));
    CHECK_FALSE(stages_tiles(decode(256, 7, 64), bf16, Precision::bf16));
    Kernel variates = prefill(7, 64, 64);
    variates.attention.axis = AttentionAxis::variates;
    CHECK_FALSE(stages_tiles(variates, bf16, Precision::bf16));
}

TEST_CASE("a block has one staged tile where that holds all keys") {
    CHECK(tile_stages_of(prefill(7, 64, 64), true) == 1);
    CHECK(tile_stages_of(prefill(7, 65, 64), true) == 2);
    CHECK(tile_stages_of(prefill(7, 32, 64), true) == 1);
    // A tile of those of a suffix follows.
    Kernel cached = decode(1, 1, 64, 32);
    cached.iteration[3] = 47;
    CHECK(tile_stages_of(cached, true) == 2);
    cached.attention.has_suffix = false;
    CHECK(tile_stages_of(cached, true) == 1);
}

TEST_CASE("a block has all positions where they are up to 96") {
    const auto warps = [](Index positions) { return tile_warps_of(prefill(64, positions, 64), true); };
    CHECK(warps(3) == 4);
    CHECK(warps(64) == 4);
    CHECK(warps(65) == 5);
    CHECK(warps(80) == 5);
    CHECK(warps(81) == 6);
    CHECK(warps(96) == 6);
    CHECK(warps(97) == 4);
    CHECK(tile_warps_of(decode(96, 7, 64), true) == 4);
}

TEST_CASE("eight or sixteen warps share keys where blocks are few and heads are narrow") {
    const auto warps = [](Index samples, Index variates, Index head_dim, bool keys_are_bf16 = true) {
        return tile_warps_of(decode(samples, variates, head_dim, 128), keys_are_bf16);
    };
    // 12 heads of 22 variates are 264 blocks.
    CHECK(warps(16, 22, 64) == 8);
    CHECK(warps(16, 23, 64) == 4);
    CHECK(warps(17, 11, 64) == 8);
    CHECK(warps(17, 12, 64) == 4);
    CHECK(tile_warps_of(decode(16, 22, 64, 127), true) == 4);
    // Of 132 multiprocessors, half have a block. In f32 and tf32 sixteen warps would have too few registers.
    CHECK(warps(16, 5, 64) == 16);
    CHECK(warps(16, 6, 64) == 8);
    CHECK(warps(16, 5, 64, false) == 8);
    // Wider heads, where no multiprocessor has two blocks.
    CHECK(warps(16, 11, 80) == 8);
    CHECK(warps(16, 12, 80) == 4);
    CHECK(warps(16, 11, 128) == 8);
    CHECK(warps(16, 1, 144) == 4);
    CHECK(warps(16, 11, 80, false) == 4);
}

TEST_CASE("four blocks share the keys of wide heads in a step of decoding where all clusters run at once") {
    // 12 heads of 32 samples take 24 clusters, of 33 samples 36.
    CHECK(tile_parts_of(decode(32, 1, 256, 400)) == 4);
    CHECK(tile_parts_of(decode(33, 1, 256, 400)) == 1);
    CHECK(tile_parts_of(decode(16, 2, 160, 400)) == 4);
    CHECK(tile_parts_of(decode(16, 3, 160, 400)) == 1);
    CHECK(tile_parts_of(decode(16, 2, 144, 400)) == 1);  // 18 eights
    CHECK(tile_parts_of(decode(16, 1, 128, 400)) == 1);
    CHECK(tile_parts_of(decode(16, 1, 256, 127)) == 1);
    CHECK(tile_parts_of(prefill(1, 128, 256)) == 1);
}

TEST_CASE("heads too wide for tiles take blocks, however many queries there are") {
    for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
        CHECK(chosen(decode(256, 7, 256), precision) == AttentionKernel::block);
        CHECK(chosen(prefill(1, 9, 192), precision) == AttentionKernel::block);
        CHECK(chosen(prefill(7, 64, 192), precision) == AttentionKernel::block);
    }
    // Tiles hold them where warps share keys in bf16.
    const AttentionStorage bf16{.keys_are_bf16 = true};
    CHECK(chosen(decode(5, 100, 208, 400), Precision::bf16, bf16) == AttentionKernel::tiles);
    CHECK(chosen(decode(5, 100, 192, 400), Precision::bf16, bf16) == AttentionKernel::tiles);
    CHECK(chosen(decode(5, 1, 208, 400), Precision::bf16, bf16) == AttentionKernel::tiles);
    CHECK(chosen(decode(5, 1, 192, 400), Precision::bf16, bf16) == AttentionKernel::block);
    // Few queries that fill a tile.
    CHECK(chosen(decode(15, 1, 256, 400), Precision::bf16, bf16) == AttentionKernel::block);
    CHECK(chosen(decode(16, 1, 256, 400), Precision::bf16, bf16) == AttentionKernel::tiles);
    CHECK(chosen(decode(16, 1, 128, 400), Precision::bf16, bf16) == AttentionKernel::block);
    CHECK(chosen(decode(5, 100, 256, 400), Precision::bf16, bf16) == AttentionKernel::tiles);
    CHECK(chosen(decode(5, 100, 272, 400), Precision::bf16, bf16) == AttentionKernel::warp);
    CHECK(chosen(decode(5, 100, 192, 127), Precision::bf16, bf16) == AttentionKernel::block);
    CHECK(chosen(decode(5, 100, 192, 400), Precision::bf16) == AttentionKernel::block);
    CHECK(chosen(decode(5, 100, 192, 400), Precision::tf32, bf16) == AttentionKernel::block);
    // Eight lanes read a key, eight elements each.
    CHECK(chosen(decode(1, 1, 160)) == AttentionKernel::warp);
    CHECK(chosen(decode(1, 1, 320)) == AttentionKernel::warp);
    CHECK(chosen(decode(256, 7, 256), Precision::bf16, {.is_aligned = false}) == AttentionKernel::warp);
}

TEST_CASE("the attentions of a forecast of 256 samples of 7 variates") {
    Kernel variates = prefill(7, 64, 64);
    variates.attention.axis = AttentionAxis::variates;
    variates.attention.mask = KeyMask::by_group;
    variates.attention.is_causal = false;
    for (const Kernel& kernel : {prefill(7, 64, 64), decode(256, 7, 64), variates}) {
        CHECK(chosen(kernel, Precision::bf16) == AttentionKernel::tiles);
        CHECK(chosen(kernel, Precision::tf32) == AttentionKernel::tiles);
        CHECK(chosen(kernel, Precision::f32) == AttentionKernel::tiles);
    }
}

TEST_CASE("what tiles do not know takes a warp a query") {
    CHECK(chosen(prefill(7, 64, 128)) == AttentionKernel::tiles);
    CHECK(chosen(prefill(7, 64, 144)) == AttentionKernel::warp);
    CHECK(chosen(prefill(7, 64, 80), Precision::tf32) == AttentionKernel::tiles);
    CHECK(chosen(prefill(7, 64, 96), Precision::tf32) == AttentionKernel::warp);
    CHECK(chosen(prefill(7, 64, 80), Precision::f32) == AttentionKernel::warp);
    CHECK(chosen(prefill(7, 64, 52)) == AttentionKernel::warp);
    // Tiles in f32 are for more keys than a short series has.
    CHECK(chosen(prefill(1, 1, 64), Precision::tf32) == AttentionKernel::tiles);
    CHECK(chosen(prefill(1, 1, 64), Precision::f32) == AttentionKernel::warp);
    CHECK(chosen(prefill(7, 31, 64), Precision::f32) == AttentionKernel::warp);
    CHECK(chosen(prefill(7, 32, 64), Precision::f32) == AttentionKernel::tiles);
    const auto differs = [](auto change) {
        Kernel kernel = decode(256, 7, 64);
        change(kernel);
        return chosen(kernel) == AttentionKernel::warp;
    };
    CHECK(differs([](Kernel& kernel) { kernel.attention.value_dim = 32; }));
    CHECK(differs([](Kernel& kernel) { kernel.attention.scale_is_data = true; }));
    CHECK(differs([](Kernel& kernel) { kernel.attention.mask = KeyMask::by_key; }));
    CHECK(differs([](Kernel& kernel) { kernel.operands[1].shape = {1, 256, 7, 64, 768}; }));
}

TEST_CASE("the attentions of Toto 2.0, whose masks are of keys") {
    // 22m: eight heads of 64. 64 series of 64 patches and those ahead; a later block behind keys of the context.
    Kernel first = prefill(64, 66, 64);
    first.attention.mask = KeyMask::by_group;
    Kernel read = first;
    read.iteration[3] = 3;
    read.attention.queries = QueryPlaces::last;
    Kernel later = decode(1, 64, 64);
    later.iteration[3] = 47;
    later.attention.mask = KeyMask::by_key;
    later.attention.is_causal = true;
    for (const Kernel& kernel : {first, read, later}) {
        CHECK(chosen(kernel, Precision::bf16) == AttentionKernel::tiles);
        CHECK(chosen(kernel, Precision::tf32) == AttentionKernel::tiles);
        CHECK(chosen(kernel, Precision::f32) == AttentionKernel::tiles);
        // A suffix that all queries share takes no memory of its own.
        CHECK(tile_bytes_of(kernel, {}, Precision::bf16) == 2 * 64 * (64 * 2 + 16));
    }
    // One series of 16 patches: few queries.
    Kernel small = prefill(1, 18, 64);
    small.attention.mask = KeyMask::by_group;
    CHECK(chosen(small) == AttentionKernel::block);
    // A lone position with a mask would leave a tile nearly empty.
    read.iteration[3] = 1;
    CHECK(chosen(read) == AttentionKernel::warp);
}

TEST_CASE("tiles need shared memory, of which every known device has enough") {
    DeviceTraits small = least_device;
    // Keys and values of 64 positions in bf16 with 16 bytes of padding, and 64 suffixes of f32.
    const std::size_t needed = 2 * 64 * (128 * 2 + 16) + 2 * 64 * 128 * 4;
    CHECK(tile_bytes_of(decode(256, 7, 128), {}, Precision::bf16) == needed);
    CHECK(tile_bytes_of(decode(1, 7, 128), {}, Precision::bf16) == 2 * 64 * (128 * 2 + 16));
    // A tile as it is stored, and two where that does not hold all keys.
    const AttentionStorage bf16{.keys_are_bf16 = true};
    CHECK(tile_bytes_of(prefill(7, 64, 64), {}, Precision::f32) == 2 * 64 * 64 * 4);
    CHECK(tile_bytes_of(prefill(7, 65, 64), {}, Precision::f32) == 2 * 2 * 64 * 64 * 4);
    // Of few positions tiles hold fewer keys: in f32 of any keys, in bf16 where one holds all.
    CHECK(tile_bytes_of(prefill(7, 49, 64), {}, Precision::f32) == 2 * 64 * 64 * 4);
    CHECK(tile_bytes_of(prefill(7, 48, 64), {}, Precision::f32) == 2 * 2 * 32 * 64 * 4);
    CHECK(tile_bytes_of(prefill(7, 33, 64), bf16, Precision::bf16) == 2 * 64 * 64 * 2);
    CHECK(tile_bytes_of(prefill(7, 32, 64), bf16, Precision::bf16) == 2 * 32 * 64 * 2);
    CHECK(tile_bytes_of(prefill(7, 17, 64), bf16, Precision::bf16) == 2 * 32 * 64 * 2);
    CHECK(tile_bytes_of(prefill(7, 16, 64), bf16, Precision::bf16) == 2 * 16 * 64 * 2);
    Kernel last = prefill(64, 3, 64);
    last.attention.queries = QueryPlaces::last;
    last.operands[1].shape = {1, 1, 64, 66, 12 * 64};
    CHECK(keys_of(last) == 66);
    CHECK(tile_bytes_of(last, bf16, Precision::bf16) == 2 * 2 * 64 * 64 * 2);
    CHECK(tile_bytes_of(prefill(7, 64, 128), bf16, Precision::bf16) == 2 * 64 * 128 * 2);
    CHECK(tile_bytes_of(prefill(7, 64, 80), bf16, Precision::bf16) == 2 * 64 * (80 * 2 + 16));
    // One tile that was rounded.
    CHECK(tile_bytes_of(prefill(7, 64, 80), {}, Precision::tf32) == 2 * 64 * (80 * 4 + 16));
    // In f32 two parts of keys and values, but not beside suffixes.
    CHECK(tile_bytes_of(decode(1, 7, 64), {}, Precision::f32) == 2 * 2 * 64 * (64 * 4 + 16));
    CHECK(tile_bytes_of(decode(256, 7, 64), {}, Precision::f32) == 2 * 64 * (64 * 4 + 16) + 2 * 64 * 64 * 4);
    // Four warps or eight with sixteen keys each, as they are stored, and two numbers of each lane.
    CHECK(tile_bytes_of(decode(5, 100, 64, 128), bf16, Precision::bf16) == 2 * 64 * 64 * 2 + 4 * 2 * 2 * 32 * 4);
    CHECK(tile_bytes_of(decode(5, 100, 64, 128), {}, Precision::bf16) == 2 * 64 * 64 * 4 + 4 * 2 * 2 * 32 * 4);
    CHECK(tile_bytes_of(decode(5, 10, 64, 128), bf16, Precision::bf16) == 2 * 128 * 64 * 2 + 8 * 2 * 2 * 32 * 4);
    // Rows of 96 bytes are padded. Of wide heads there are queries, too.
    CHECK(tile_bytes_of(decode(5, 100, 48, 128), bf16, Precision::bf16) == 2 * 64 * 112 + 4 * 2 * 2 * 32 * 4);
    CHECK(tile_bytes_of(decode(5, 100, 256, 128), bf16, Precision::bf16) == 144 * 256 * 2 + 4 * 2 * 2 * 32 * 4);
    // And what four blocks of a cluster found: a quarter of the sums each.
    CHECK(tile_bytes_of(decode(16, 1, 256, 128), bf16, Precision::bf16) ==
          144 * 256 * 2 + 4 * 2 * 2 * 32 * 4 + 16 * 256 * 4 + 4 * 16 * 2 * 4 + 8);
    small.shared_bytes_of_block = tile_bytes_of(decode(5, 100, 128, 128), bf16, Precision::bf16);
    CHECK(select_attention(decode(5, 100, 128, 128), bf16, Precision::bf16, small) == AttentionKernel::tiles);
    --small.shared_bytes_of_block;
    CHECK(select_attention(decode(5, 100, 128, 128), bf16, Precision::bf16, small) == AttentionKernel::warp);
    small.shared_bytes_of_block = needed;
    CHECK(select_attention(decode(256, 7, 128), {}, Precision::bf16, small) == AttentionKernel::tiles);
    small.shared_bytes_of_block = needed - 1;
    CHECK(select_attention(decode(256, 7, 128), {}, Precision::bf16, small) == AttentionKernel::warp);
}

TEST_CASE("all known devices take the same kernel, so that it is chosen when compiling") {
    for (const DeviceTraits& device : known_devices) {
        for (const Precision precision : {Precision::f32, Precision::tf32, Precision::bf16}) {
            for (const Index head_dim : {16, 20, 32, 48, 52, 64, 80, 96, 112, 128, 144, 208, 256, 272}) {
                for (const Kernel& kernel :
                     {decode(1, 1, head_dim), decode(256, 7, head_dim), decode(5, 100, head_dim, 400),
                      prefill(1, 9, head_dim), prefill(7, 64, head_dim)}) {
                    for (const AttentionStorage& storage : {AttentionStorage{}, AttentionStorage{.is_aligned = false},
                                                            AttentionStorage{.keys_are_bf16 = true}}) {
                        const AttentionKernel found = select_attention(kernel, storage, precision, device);
                        CHECK(found != AttentionKernel::none);
                        CHECK(found == chosen(kernel, precision, storage));
                    }
                }
            }
        }
    }
}
