// SPDX-License-Identifier: Apache-2.0
// How GEMMs are computed on a device: no device is needed, and no CUDA.
#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/exec/cuda/explain/explain.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/skinny_cluster_cut.hpp>
#include <totograph/exec/cuda/gemm/thresholds.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/direct_epilogue.hpp>
#include <totograph/exec/cuda/lowering/gemm_choices.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/execution.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/programs.hpp>
#include <totograph/models/toto2/config.hpp>

namespace {

namespace tg = totograph;
using namespace tg::cuda;
using tg::Index;

constexpr DeviceTraits h200 = traits_of(90);

constexpr GemmMember plain(Index n) {
    return {n, 1, true, {.is_short = true, .sigmoids = 0, .stores_bf16 = true}};
}
/// A gate and what it scales.
constexpr GemmMember gated(Index n) {
    return {n, 2, true, {.is_short = true, .sigmoids = 1, .stores_bf16 = true}};
}

/// GEMMs of one input as the layers of a transformer have them: bf16 weights, their input stored as f32.
template <class... Member>
constexpr GemmGroup group_of(Index m, Index k, const Member&... member) {
    GemmGroup group;
    group.m = m;
    group.k = k;
    group.count = sizeof...(member);
    group.members = {member...};
    group.is_bf16 = true;
    group.is_aligned = true;
    group.fits_in_32_bits = true;
    return group;
}
/// One GEMM as a program in tf32 has it.
constexpr GemmGroup in_tf32(Index m, Index k, const GemmMember& member) {
    GemmGroup group = group_of(m, k, member);
    group.is_bf16 = false;
    group.input_is_dense = true;
    group.members[0].epilogue.stores_bf16 = false;
    return group;
}
/// The same where cuBLASLt can compute what follows each product.
constexpr GemmGroup direct(GemmGroup group) {
    group.is_direct = true;
    return group;
}
/// A projection that adds a bias and a residual, and a norm before the next launch.
constexpr GemmGroup projection(Index m, Index k, Index n) {
    GemmGroup group = group_of(m, k, plain(n));
    group.input_is_bf16 = true;
    group.is_direct = group.adds_bias = true;
    group.tail = TailFusion::norm;
    return group;
}

/// GEMMs of one input.
template <Index rows, Index k, Index n, int count>
struct Projections {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor x = r.state("x", {rows, k});
        constexpr std::array names{"first", "second", "third"};
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            r.store(r.state(names[i], {rows, n}), tg::linear(x, r.weight(names[i], {n, k})) * 2.0);
        }
    }
};

/// What a GEMM adds to a residual stream, and the next GEMM, of `columns`, after a norm.
template <Index rows, Index columns>
struct ResidualAndNorm {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor hidden = tg::linear(r.state("x", {rows, 256}), r.weight("up", {1024, 256})) * 2.0;
        const tg::Tensor stream = r.state("stream", {rows, 512}) + tg::linear(hidden, r.weight("down", {512, 1024}));
        const tg::Tensor normed = stream * rsqrt(mean(stream * stream) + 1e-5);
        r.store(r.state("y", {rows, columns}), tg::linear(normed, r.weight("next", {columns, 512})));
    }
};

/// GEMMs one after the other, of so many columns between them.
template <Index rows, Index columns>
struct HiddenOf {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor hidden = tg::linear(r.state("x", {rows, 256}), r.weight("up", {columns, 256})) * 2.0;
        r.store(r.state("y", {rows, 64}), tg::linear(hidden, r.weight("down", {64, columns})));
    }
};

/// A projection that adds a bias, and its input.
template <Index rows>
struct AddsToInput {
    static constexpr void record(tg::Recorder& r) {
        const tg::Tensor x = r.state("x", {rows, 64});
        r.store(r.state("y", {rows, 64}), x + tg::linear(x, r.weight("weight", {64, 64}), r.weight("bias", {64})));
    }
};

constexpr GemmKernel kernel_for(const GemmGroup& group, const DeviceTraits& device = h200, bool fuses = true) {
    return select_gemm(group, {}, device, fuses).kernel;
}

/// Equal launches of a run, in the order in which they come first: `24x m 1792, k 768: sm90`.
template <class Program>
std::vector<std::string> launches_of(const DeviceTraits& device) {
    struct Row {
        std::string text;
        int count;
    };
    using Lowered = Lowering<Program, true>;
    const auto choices = gemm_choices<Program, Precision::bf16>(device, {});
    std::vector<Row> rows;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const GemmGroup& group = Lowered::at(static_cast<std::size_t>(Lowered::place(i).entry)).gemm;
        if (group.count == 0) {
            continue;
        }
        std::string text = "m " + std::to_string(group.m) + ", k " + std::to_string(group.k) + ", n";
        for (int member = 0; member < group.count; ++member) {
            text += " " + std::to_string(group.members[static_cast<std::size_t>(member)].weight_rows());
        }
        const GemmChoice& choice = choices[i];
        text += std::string(": ") + name(choice.kernel) +
                (choice.tail == TailFusion::norm   ? ", then norm"
                 : choice.tail == TailFusion::bf16 ? ", then bf16"
                                                   : "");
        text += choice.converts_input ? ", converts" : "";
        bool is_known = false;
        for (Row& row : rows) {
            row.count += row.text == text ? 1 : 0;
            is_known = is_known || row.text == text;
        }
        if (!is_known) {
            rows.push_back({text, 1});
        }
    }
    std::vector<std::string> lines;
    for (const Row& row : rows) {
        lines.push_back(std::to_string(row.count) + "x " + row.text);
    }
    return lines;
}

template <tg::Bucket bucket>
struct Workload {
    using Model = tg::toto1::open_base_1_0;
    using Prefill = tg::Program<tg::toto1::Prefill<Model, bucket, tg::toto1::Rewrites{}>>;
    using Decode = tg::Program<tg::toto1::Decode<Model, bucket, tg::toto1::Rewrites{}>>;
    using States = Bf16States<true, Prefill, Decode>;
    using Steps = RunningTogether<Decode, States>;
};
using Readme = Workload<tg::Bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256}>;
using Batch32 = Workload<tg::Bucket{.batch = 32, .variates = 1, .context = 512, .horizon = 192}>;

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("few rows are skinny, by tiles where one instruction has not all of them") {
    CHECK(takes_skinny(16, 768, 768, 768, true));
    CHECK(takes_skinny(64, 8, 32, 32, true));
    CHECK_FALSE(takes_skinny(65, 768, 768, 768, true));
    CHECK_FALSE(takes_skinny(16, 764, 768, 768, true));       // columns of an instruction
    CHECK(takes_skinny(16, 768, 752, 752, true));             // of the last chunk of k, lanes may have none
    CHECK_FALSE(takes_skinny(16, 768, 756, 756, true));       // what a lane takes of k at a time
    CHECK_FALSE(takes_skinny(16, 768, 6152, 6152, true));     // registers for weights
    CHECK_FALSE(takes_skinny(16, 768, 4104, 4104, true, 2));  // the same of a pair
    CHECK_FALSE(takes_skinny(16, 768, 768, 770, true));       // rows that begin at multiples of 16 bytes
    // Weights that are f32: a lane takes half of k at a time, and registers hold less.
    CHECK(takes_skinny(64, 768, 756, 756, false));
    CHECK_FALSE(takes_skinny(16, 768, 758, 758, false));
    CHECK(takes_skinny(16, 768, 4096, 4096, false));
    CHECK_FALSE(takes_skinny(16, 768, 4100, 4100, false));
    CHECK_FALSE(takes_skinny(16, 768, 2052, 2052, false, 2));
    GemmGroup group = group_of(16, 768, plain(768));
    group.is_skinny = true;
    CHECK(kernel_for(group) == GemmKernel::skinny);
    CHECK_FALSE(select_gemm(group, {}, h200).converts_input);
    group.m = 17;
    CHECK(kernel_for(group) == GemmKernel::skinny_tiles);
    CHECK(kernel_for(group, traits_of(80), false) == GemmKernel::skinny_tiles);
}

TEST_CASE("mixtures are drawn from accumulators, but of the fewest rows") {
    CHECK(may_draw_from(1, false));
    CHECK_FALSE(may_draw_from(16, true));
    CHECK(may_draw_from(17, true));
}

TEST_CASE("cuBLASLt adds a bias and a residual to a lone row as to several") {
    const auto check = []<class Model>(std::type_identity<Model>) {
        const DirectEpilogue direct = lowering_detail::direct_epilogue<tg::Program<Model>>(0);
        CHECK(direct.is_possible);
        CHECK(direct.bias == 0);
        CHECK(direct.residual == 1);
        CHECK(direct.residual_stride == 64);
    };
    check(std::type_identity<AddsToInput<1>>());
    check(std::type_identity<AddsToInput<2>>());
}

TEST_CASE("wgmma needs its instructions, many rows, and a short epilogue") {
    const GemmGroup pair = group_of(1750, 768, gated(3072));
    CHECK(kernel_for(pair) == GemmKernel::sm90);
    CHECK(kernel_for(pair, h200, false) == GemmKernel::cublaslt);
    for (const DeviceTraits& device : known_devices) {
        CHECK((kernel_for(pair, device) == GemmKernel::sm90) == device.has_wgmma);
    }
    CHECK(kernel_for(group_of(1023, 1088, gated(3072))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(1750, 712, gated(3072))) == GemmKernel::sm90);  // the last tile counts
    // With a shorter k, what waves of tiles compute is theirs, and the rest as long as the chain is hidden.
    CHECK(kernel_for(group_of(1750, 704, gated(3072))) == GemmKernel::sm90_wave);
    CHECK(kernel_for(group_of(4224, 512, gated(3072))) == GemmKernel::sm90);
    CHECK(kernel_for(group_of(4224, 456, gated(3072))) == GemmKernel::sm90);
    CHECK(kernel_for(group_of(4224, 448, gated(3072))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(4224, 512, plain(6144))) == GemmKernel::sm90);
    CHECK(kernel_for(group_of(4224, 448, plain(6144))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(4224, 512, plain(6152))) == GemmKernel::cublaslt);
    // Tables of rows and columns: where k hides what is read of them, and without a sigmoid.
    const auto with_tables = [](Index m, Index k, int tables, int sigmoids) {
        GemmMember rotated = plain(1024);
        rotated.epilogue.tables = tables;
        rotated.epilogue.sigmoids = sigmoids;
        return kernel_for(group_of(m, k, rotated, rotated, plain(1024)));
    };
    CHECK(with_tables(2560, 832, 2, 0) == GemmKernel::sm90);
    CHECK(with_tables(12800, 448, 2, 0) == GemmKernel::cublaslt);
    CHECK(with_tables(2560, 1088, 2, 0) == GemmKernel::sm90);
    CHECK(with_tables(2560, 1088, 2, 1) == GemmKernel::cublaslt);
    // Of a k that is too long for waves.
    const auto differs = [&](auto change) {
        GemmGroup group = group_of(1750, 1088, gated(3072));
        REQUIRE(kernel_for(group) == GemmKernel::sm90);
        change(group);
        return kernel_for(group) == GemmKernel::cublaslt;
    };
    CHECK(differs([](GemmGroup& group) { group.is_bf16 = false; }));
    CHECK(differs([](GemmGroup& group) { group.is_aligned = false; }));
    CHECK(differs([](GemmGroup& group) { group.is_direct = true; }));
    CHECK(differs([](GemmGroup& group) { group.feeds_draws = true; }));
    CHECK(differs([](GemmGroup& group) { group.members[0].epilogue.stores_bf16 = false; }));
    CHECK(differs([](GemmGroup& group) { group.members[0].epilogue.sigmoids = 2; }));
    CHECK(differs([](GemmGroup& group) { group.members[0].epilogue.is_short = false; }));
    CHECK(differs([](GemmGroup& group) { group.members[0].epilogue.large = 1; }));
    CHECK(differs([](GemmGroup& group) { group.members[0].is_packed = false; }));
}

TEST_CASE("tiles of waves are of the size that takes the least") {
    const auto cut_of = [](const GemmGroup& group, int m, int n, int cluster, int waves) {
        const Sm90WaveCut cut = sm90_wave_cut(group);
        return kernel_for(group) == GemmKernel::sm90_wave && cut.m == m && cut.n == n && cut.cluster == cluster &&
               cut.waves == waves;
    };
    // The layers of Toto 2.0: 22m with 968 rows and 4,224, and 4m.
    const auto queries = [](Index m, Index width) {
        return group_of(m, width, plain(width), plain(width), plain(width));
    };
    CHECK(cut_of(queries(968, 512), 128, 128, 1, 1));
    CHECK(cut_of(group_of(968, 512, gated(1368)), 128, 192, 1, 1));
    CHECK(cut_of(queries(4224, 512), 128, 128, 2, 3));
    CHECK(cut_of(group_of(4224, 512, gated(1368)), 128, 256, 1, 3));
    CHECK(cut_of(queries(4224, 256), 192, 128, 1, 1));
    CHECK(cut_of(group_of(4224, 256, gated(688)), 128, 192, 1, 2));
    CHECK(cut_of(projection(4224, 256, 256), 128, 64, 2, 1));
    CHECK(cut_of(projection(4224, 688, 256), 128, 64, 2, 1));
    CHECK(cut_of(projection(4224, 1368, 512), 128, 128, 2, 1));
    // A k that is not short, of a wave that is not full or of small tiles; more waves of it, or not full; and few rows.
    CHECK(cut_of(projection(968, 1368, 512), 64, 64, 2, 1));
    CHECK(kernel_for(projection(968, 1544, 512)) == GemmKernel::cublaslt);
    // A longer k, and a wave that is less full, where a kernel for the chain would follow cuBLASLt's.
    CHECK(kernel_for(group_of(896, 2112, plain(512))) == GemmKernel::sm90_wave);
    CHECK(kernel_for(direct(group_of(896, 2112, plain(512)))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(896, 2120, plain(512))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(832, 2112, plain(512))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(1792, 1544, plain(1024))) == GemmKernel::cublaslt);  // as many tiles of 128 x 128
    CHECK(kernel_for(projection(2560, 1024, 832)) == GemmKernel::sm90_wave);
    CHECK(kernel_for(projection(2560, 1032, 832)) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(1200, 448, plain(3848))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(1023, 1024, gated(3072))) == GemmKernel::sm90_wave);
    CHECK(kernel_for(group_of(1023, 1032, gated(3072))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(191, 512, plain(8192))) == GemmKernel::cublaslt);
    CHECK(kernel_for(group_of(192, 512, plain(8192))) == GemmKernel::sm90_wave);
    // Sums of squares are of whole 64 columns.
    CHECK(sm90_wave_cut(group_of(1000, 136, plain(1272))).n == 96);
    GemmGroup normed = group_of(1000, 136, plain(1272));
    normed.tail = TailFusion::norm;
    CHECK(sm90_wave_cut(normed).n % squared_columns == 0);
    // All tiles of a wave run at once, where there is `wgmma`.
    const GemmGroup gates = group_of(968, 512, gated(1368));
    DeviceTraits part = h200;
    part.multiprocessors = 119;
    CHECK(kernel_for(gates, part) == GemmKernel::cublaslt);
    part.multiprocessors = 120;
    CHECK(kernel_for(gates, part) == GemmKernel::sm90_wave);
    // What a program holds is taken, where it runs, though a smaller device might have been better off with another.
    part.multiprocessors = 114;
    CHECK(kernel_for(group_of(1024, 512, plain(2560)), part) == GemmKernel::sm90_wave);
    CHECK(kernel_for(gates, traits_of(100)) == GemmKernel::cublaslt);
    CHECK(kernel_for(gates, h200, false) == GemmKernel::cublaslt);
    const auto differs = [&](auto change) {
        GemmGroup changed = gates;
        change(changed);
        return kernel_for(changed) == GemmKernel::cublaslt;
    };
    CHECK(differs([](GemmGroup& changed) { changed.is_bf16 = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.is_aligned = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.feeds_draws = true; }));
    CHECK(differs([](GemmGroup& changed) { changed.members[0].epilogue.is_short = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.members[0].is_packed = false; }));
    CHECK_FALSE(differs([](GemmGroup& changed) { changed.members[0].epilogue.large = 2; }));
    CHECK(differs([](GemmGroup& changed) { changed.members[0].epilogue.large = 3; }));
}

TEST_CASE("some hundred rows take small tiles, where all blocks run at once") {
    const auto rows_of = [](const GemmGroup& group) {
        return kernel_for(group) == GemmKernel::sm90_small ? sm90_small_rows(group) : 0;
    };
    CHECK(rows_of(group_of(160, 1024, plain(832))) == 16);  // 10 x 13 blocks of 132
    CHECK(rows_of(group_of(160, 832, plain(1024), plain(1024), plain(1024))) == 80);
    CHECK(rows_of(group_of(160, 512, gated(1024))) == 40);
    CHECK(rows_of(group_of(189, 384, plain(3512))) == 128);
    CHECK(rows_of(group_of(400, 1152, plain(896))) == 64);  // a k too long for waves
    CHECK(rows_of(group_of(896, 384, plain(384))) == 0);    // waves take what more rows than 40 a block have
    CHECK(rows_of(group_of(896, 384, gated(1368))) == 0);   // 301 blocks
    CHECK(rows_of(group_of(1024, 384, plain(384))) == 0);   // too many rows
    CHECK(rows_of(group_of(896, 1368, plain(384))) == 0);   // a block would read too much
    CHECK(rows_of(group_of(160, 2048, plain(832))) == 16);
    CHECK(rows_of(group_of(77, 2560, plain(288))) == 16);
    CHECK(rows_of(group_of(77, 2568, plain(288))) == 0);    // a block would read too much
    CHECK(rows_of(group_of(160, 2056, plain(1664))) == 0);  // the same with 32 rows
    CHECK(rows_of(group_of(160, 120, plain(832))) == 0);    // two warpgroups, and a stage for one
    CHECK(rows_of(projection(160, 1024, 832)) == 16);       // with a bias and a residual
    const GemmGroup group = group_of(160, 832, plain(832));
    CHECK(kernel_for(group, h200, false) == GemmKernel::cublaslt);
    CHECK(kernel_for(group, traits_of(100)) == GemmKernel::cublaslt);
    DeviceTraits part = h200;  // 130 blocks would not run at once
    part.multiprocessors = 120;
    CHECK(kernel_for(group, part) == GemmKernel::cublaslt);
    const auto differs = [&](auto change) {
        GemmGroup changed = group;
        change(changed);
        return kernel_for(changed) == GemmKernel::cublaslt;
    };
    CHECK(differs([](GemmGroup& changed) { changed.is_bf16 = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.is_aligned = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.feeds_draws = true; }));
    CHECK(differs([](GemmGroup& changed) { changed.members[0].is_packed = false; }));
}

TEST_CASE("in bf16 groups of more than 48 rows are left to small tiles, where these can compute them") {
    const auto kind_of = []<class Model>(std::type_identity<Model>, bool is_bf16 = true) {
        return is_bf16 ? Lowering<tg::Program<Model>, true>::at(0).kind
                       : Lowering<tg::Program<Model>, false>::at(0).kind;
    };
    CHECK(kind_of(std::type_identity<Projections<48, 768, 768, 3>>()) == LaunchKind::skinny);
    CHECK(kind_of(std::type_identity<Projections<49, 768, 768, 3>>()) == LaunchKind::gemm);
    CHECK(kind_of(std::type_identity<Projections<49, 768, 768, 3>>(), false) == LaunchKind::skinny);
    // One GEMM, and three of which a block would read too much.
    CHECK(kind_of(std::type_identity<Projections<64, 2048, 2048, 1>>()) == LaunchKind::gemm);
    CHECK(kind_of(std::type_identity<Projections<64, 2048, 2048, 3>>()) == LaunchKind::skinny);
    CHECK(kind_of(std::type_identity<Projections<64, 64, 768, 1>>()) == LaunchKind::skinny);
}

TEST_CASE("tiles begin the next launch where tiles compute it") {
    const auto choices = []<class Model>(std::type_identity<Model>, const Execution& execution = {}) {
        return gemm_choices<tg::Program<Model>, Precision::bf16>(h200, execution);
    };
    const auto both = choices(std::type_identity<ResidualAndNorm<160, 512>>());
    REQUIRE(both.size() == 3);
    CHECK(both[0] == GemmChoice{GemmKernel::sm90_small, TailFusion::none, true});
    CHECK(both[1] == GemmChoice{GemmKernel::sm90_small, TailFusion::norm, false});
    CHECK(both[2] == GemmChoice{GemmKernel::sm90_small, TailFusion::none, false});
    const auto wide = choices(std::type_identity<ResidualAndNorm<160, 16384>>());
    CHECK(wide[1] == GemmChoice{GemmKernel::sm90_small, TailFusion::none, false});
    CHECK(wide[2] == GemmChoice{GemmKernel::cublaslt, TailFusion::none, true});
    const auto apart = choices(std::type_identity<ResidualAndNorm<160, 512>>(), {.fuses = false});
    CHECK(apart[1] == GemmChoice{GemmKernel::cublaslt, TailFusion::none, false});
    CHECK(apart[2] == GemmChoice{GemmKernel::cublaslt, TailFusion::none, true});
    // So do waves of tiles, and either for the other.
    const auto waves = choices(std::type_identity<ResidualAndNorm<1024, 512>>());
    CHECK(waves[0] == GemmChoice{GemmKernel::sm90_wave, TailFusion::none, true});
    CHECK(waves[1] == GemmChoice{GemmKernel::sm90_wave, TailFusion::norm, false});
    CHECK(waves[2] == GemmChoice{GemmKernel::sm90_wave, TailFusion::none, false});
    const auto mixed = choices(std::type_identity<ResidualAndNorm<300, 2304>>());
    CHECK(mixed[1] == GemmChoice{GemmKernel::sm90_small, TailFusion::norm, false});
    CHECK(mixed[2] == GemmChoice{GemmKernel::sm90_wave, TailFusion::none, false});
    // `sm90` begins with what they leave, and leaves nothing.
    const auto many = choices(std::type_identity<ResidualAndNorm<4224, 6144>>());
    CHECK(many[1] == GemmChoice{GemmKernel::sm90_wave, TailFusion::norm, false});
    CHECK(many[2] == GemmChoice{GemmKernel::sm90, TailFusion::none, false});
    CHECK(tile_tails(many, 2).finishes_norm);
    // No kernel is compiled that would begin it.
    CHECK(Lowering<tg::Program<ResidualAndNorm<9000, 512>>, true>::at(1).gemm.tail == TailFusion::none);
}

TEST_CASE("waves in tf32 leave sums of squares to the norm of the next wave") {
    const auto choices = []<Precision precision>(std::integral_constant<Precision, precision>, bool fuses = true) {
        return gemm_choices<tg::Program<ResidualAndNorm<1024, 512>>, precision>(h200, {.fuses = fuses});
    };
    const auto in_tf32 = std::integral_constant<Precision, Precision::tf32>();
    const auto waves = choices(in_tf32);
    REQUIRE(waves.size() == 3);
    CHECK(waves[0] == GemmChoice{GemmKernel::sm90_wave, TailFusion::none, false, false});
    CHECK(waves[1] == GemmChoice{GemmKernel::sm90_wave, TailFusion::norm, false, false});
    CHECK(waves[2] == GemmChoice{GemmKernel::sm90_wave, TailFusion::none, false, false});
    const auto tails = tile_tails(waves, 1);
    CHECK(tails.leaves_norm);
    CHECK(tile_tails(waves, 2).finishes_norm);
    // Else a kernel computes the norm, in the same launch.
    const auto apart = choices(in_tf32, false);
    CHECK(apart[1] == GemmChoice{GemmKernel::cublaslt, TailFusion::none, false, false});
    CHECK(apart[2] == GemmChoice{GemmKernel::cublaslt, TailFusion::none, false, true});
    const auto in_f32 = choices(std::integral_constant<Precision, Precision::f32>());
    REQUIRE(in_f32.size() == 3);
    CHECK(in_f32[1].tail == TailFusion::none);
    CHECK(in_f32[2].follows_norm);
    // Of a GEMM that neither waves nor small tiles compute, a norm is a launch of its own, for which nothing is left.
    const auto wide = gemm_choices<tg::Program<ResidualAndNorm<1024, 32768>>, Precision::tf32>(h200, {});
    REQUIRE(wide.size() == 4);
    CHECK(wide[1] == GemmChoice{GemmKernel::sm90_wave, TailFusion::none, false, false});
    CHECK(wide[2] == GemmChoice{});
    CHECK(wide[3] == GemmChoice{GemmKernel::cublaslt, TailFusion::none, false, false});
}

TEST_CASE("what a GEMM makes for the next one is bf16, whatever its size") {
    const auto reads_bf16 = []<class Model>(std::type_identity<Model>) {
        return Lowering<tg::Program<Model>, true>::at(1).gemm.input_is_bf16;
    };
    CHECK(reads_bf16(std::type_identity<ResidualAndNorm<160, 512>>()));
    CHECK(reads_bf16(std::type_identity<HiddenOf<77, 1368>>()));  // no multiple of an arena's alignment
    CHECK(reads_bf16(std::type_identity<HiddenOf<76, 1368>>()));
}

TEST_CASE("many rows in f32 are multiplied as tf32 parts") {
    const auto exact = [](Index m, Index k, Index n) {
        GemmGroup group = group_of(m, k, plain(n));
        group.is_bf16 = false;
        return group;
    };
    const auto kernel_of = [&](Index m, Index k, Index n) { return select_f32_gemm(exact(m, k, n), h200).kernel; };
    CHECK(kernel_of(400, 256, 768) == GemmKernel::tf32_parts);
    CHECK(select_f32_gemm(exact(400, 256, 768), h200, false).kernel == GemmKernel::cublaslt);
    // 64 tiles of 64 by 64.
    CHECK(kernel_of(512, 768, 512) == GemmKernel::tf32_parts);
    CHECK(kernel_of(448, 768, 512) == GemmKernel::cublaslt);
    CHECK(kernel_of(512, 1024, 512) == GemmKernel::tf32_parts);
    // A longer k needs 120 of them.
    CHECK(kernel_of(640, 1032, 768) == GemmKernel::tf32_parts);
    CHECK(kernel_of(576, 1032, 768) == GemmKernel::cublaslt);
    GemmGroup odd = exact(400, 256, 768);
    odd.is_aligned = false;
    CHECK(select_f32_gemm(odd, h200).kernel == GemmKernel::cublaslt);
    // The chain behind wide tiles is in the same kernel: of 80 of them, in rows that lie next to each other, unless it
    // is a residual or a bias alone, or too long.
    const auto chain_of = [](Index m, const GemmMember& member) {
        GemmGroup group = group_of(m, 768, member);
        group.is_bf16 = false;
        group.input_is_bf16 = false;
        group.input_is_dense = true;
        return group;
    };
    const GemmGroup with_chain = chain_of(1280, gated(512));
    CHECK(select_f32_gemm(with_chain, h200).kernel == GemmKernel::tf32_parts_chain);
    CHECK(select_f32_gemm(with_chain, h200, false).kernel == GemmKernel::cublaslt);
    CHECK(select_f32_gemm(with_chain, traits_of(86)).kernel == GemmKernel::cublaslt);
    CHECK(select_f32_gemm(chain_of(1152, gated(512)), h200).kernel == GemmKernel::tf32_parts);
    GemmGroup other = with_chain;
    other.input_is_dense = false;
    CHECK(select_f32_gemm(other, h200).kernel == GemmKernel::tf32_parts);
    other = with_chain;
    other.is_direct = true;
    CHECK(select_f32_gemm(other, h200).kernel == GemmKernel::tf32_parts);
    other = with_chain;
    other.members[0].epilogue.is_short = false;
    CHECK(select_f32_gemm(other, h200).kernel == GemmKernel::tf32_parts);
    // Where there is no `wgmma`.
    CHECK(select_f32_gemm(exact(400, 256, 768), traits_of(86)).kernel == GemmKernel::cublaslt);
    CHECK(kernel_for(exact(400, 256, 768)) == GemmKernel::cublaslt);
}

TEST_CASE("some hundred rows in tf32 take small tiles, of half as much k") {
    const auto rows_of = [](const GemmGroup& group, const DeviceTraits& device = h200, bool fuses = true) {
        return select_tf32_gemm(group, device, fuses).kernel == GemmKernel::sm90_small ? sm90_small_rows(group) : 0;
    };
    CHECK(rows_of(in_tf32(192, 256, gated(688))) == 32);
    CHECK(rows_of(in_tf32(160, 512, gated(1024))) == 40);
    CHECK(rows_of(in_tf32(190, 256, gated(1400))) == 0);  // waves take what more rows than 40 a block have
    CHECK(rows_of(in_tf32(65, 512, plain(512))) == 16);
    CHECK(rows_of(in_tf32(64, 512, plain(512))) == 0);   // too few rows
    CHECK(rows_of(in_tf32(1024, 256, plain(64))) == 0);  // too many
    CHECK(rows_of(in_tf32(192, 1280, plain(288))) == 16);
    CHECK(rows_of(in_tf32(192, 1284, plain(288))) == 0);   // a block would read too much
    CHECK(rows_of(in_tf32(192, 872, plain(1024))) == 32);  // 96 blocks of 96 rows and columns
    CHECK(rows_of(in_tf32(192, 876, plain(1024))) == 0);   // a block would read too much
    CHECK(rows_of(in_tf32(160, 60, plain(832))) == 0);     // two warpgroups, and a stage for one
    const GemmGroup group = in_tf32(192, 1280, plain(288));
    CHECK(rows_of(group, h200, false) == 0);
    CHECK(rows_of(group, traits_of(100)) == 0);
    CHECK(kernel_for(group) == GemmKernel::cublaslt);  // in f32
    DeviceTraits part = h200;                          // 60 blocks would not run at once
    part.multiprocessors = 59;
    CHECK(rows_of(group, part) == 0);
    const auto differs = [&](auto change) {
        GemmGroup changed = group;
        change(changed);
        return rows_of(changed) == 0;
    };
    CHECK_FALSE(differs([](GemmGroup& changed) { changed.members[0].epilogue.is_short = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.is_aligned = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.input_is_dense = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.feeds_draws = true; }));
    CHECK(differs([](GemmGroup& changed) { changed.members[0].is_packed = false; }));
}

TEST_CASE("GEMMs in tf32 of more rows than skinny ones run in waves of tiles, of half as much k") {
    const auto kernel_of = [](const GemmGroup& group, const DeviceTraits& device = h200) {
        return select_tf32_gemm(group, device).kernel;
    };
    CHECK(kernel_of(in_tf32(4224, 512, gated(1368))) == GemmKernel::sm90_wave);
    CHECK(sm90_wave_cut(in_tf32(4224, 512, gated(1368))).waves == 4);
    CHECK(kernel_of(in_tf32(77, 512, plain(8000))) == GemmKernel::sm90_wave);
    CHECK(kernel_of(in_tf32(64, 512, plain(8000))) == GemmKernel::cublaslt);
    // A k that is not short needs a wave that is nearly full.
    CHECK(kernel_of(in_tf32(1024, 1024, plain(64))) == GemmKernel::sm90_wave);
    CHECK(kernel_of(in_tf32(1024, 1032, plain(64))) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(4224, 1368, plain(512))) == GemmKernel::sm90_wave);
    // Small tiles take a k up to 3,072, less full where a kernel for the chain would follow cuBLASLt's.
    CHECK(kernel_of(direct(in_tf32(2048, 3072, plain(768)))) == GemmKernel::sm90_wave);
    CHECK(kernel_of(direct(in_tf32(2048, 3080, plain(768)))) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(896, 3072, plain(512))) == GemmKernel::sm90_wave);
    CHECK(kernel_of(in_tf32(896, 3080, plain(512))) == GemmKernel::cublaslt);
    // Eight waves of a k that is short.
    CHECK(sm90_wave_cut(in_tf32(4224, 1024, gated(2736))).waves == 8);
    CHECK(kernel_of(in_tf32(4224, 1024, gated(2736))) == GemmKernel::sm90_wave);
    CHECK(kernel_of(in_tf32(4800, 1024, gated(2736))) == GemmKernel::cublaslt);
    // As many stages as in bf16 of twice as much k.
    CHECK(sm90_wave_cut(in_tf32(448, 128, plain(512))).stages == sm90_wave_cut(group_of(448, 256, plain(512))).stages);
    GemmGroup strided = in_tf32(4224, 512, gated(1368));
    strided.input_is_dense = false;
    CHECK(kernel_of(strided) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(4224, 512, gated(1368)), traits_of(86)) == GemmKernel::cublaslt);
    CHECK(select_tf32_gemm(in_tf32(4224, 512, gated(1368)), h200, false).kernel == GemmKernel::cublaslt);
    CHECK(kernel_for(in_tf32(4224, 512, gated(1368))) == GemmKernel::cublaslt);  // in f32
}

TEST_CASE("in tf32 the blocks of a cluster share a k that is too long for one") {
    const auto kernel_of = [](const GemmGroup& group, const DeviceTraits& device = h200, bool fuses = true) {
        return select_tf32_gemm(group, device, fuses).kernel;
    };
    // The output of the feed-forward of Toto 2.0 2.5B: 15 clusters of eight blocks.
    const GemmGroup long_k = in_tf32(18, 5464, plain(2048));
    CHECK(kernel_of(long_k) == GemmKernel::skinny_cluster);
    CHECK(skinny_cluster_cut(18, 2048, 5464) == SkinnyClusterCut{.groups = 3, .turns = 6});
    CHECK(skinny_cluster_cut(18, 2048, 5464).clusters(2048) == 15);
    CHECK(skinny_cluster_cut(47, 2048, 5464) == SkinnyClusterCut{.groups = 2, .turns = 9});
    CHECK(skinny_cluster_cut(18, 64, 5464) == SkinnyClusterCut{.groups = 2, .turns = 1});
    // Few columns, for each block of a cluster finishes two at least; and one group too few.
    CHECK(kernel_of(in_tf32(18, 5464, plain(16))) == GemmKernel::skinny_cluster);
    CHECK(kernel_of(in_tf32(18, 5464, plain(8))) == GemmKernel::cublaslt);
    // Rows that blocks do not keep in registers, also of a longer k; as many as one instruction takes; more than
    // skinny.
    CHECK(kernel_of(in_tf32(48, 5464, plain(2048))) == GemmKernel::skinny_cluster);
    CHECK(kernel_of(in_tf32(49, 5464, plain(2048))) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(18, 8192, plain(2048))) == GemmKernel::skinny_cluster);
    CHECK(kernel_of(in_tf32(18, 8196, plain(2048))) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(16, 5464, plain(2048))) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(65, 5464, plain(2048))) == GemmKernel::cublaslt);
    // Columns of an instruction, and what a lane takes of k.
    CHECK(kernel_of(in_tf32(18, 5464, plain(2044))) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(18, 5462, plain(2048))) == GemmKernel::cublaslt);
    CHECK(kernel_of(in_tf32(18, 4100, plain(2048))) == GemmKernel::skinny_cluster);
    CHECK(kernel_of(in_tf32(18, 4096, plain(2048))) == GemmKernel::cublaslt);  // lowering takes it as skinny
    // In other precisions, and without fusing.
    CHECK(select_f32_gemm(long_k, h200).kernel == GemmKernel::cublaslt);
    CHECK(kernel_for(long_k) == GemmKernel::cublaslt);
    CHECK(kernel_of(long_k, h200, false) == GemmKernel::cublaslt);
    const auto differs = [&](auto change) {
        GemmGroup changed = long_k;
        change(changed);
        return kernel_of(changed) == GemmKernel::cublaslt;
    };
    CHECK(differs([](GemmGroup& changed) { changed.input_is_dense = false; }));
    CHECK(differs([](GemmGroup& changed) { changed.feeds_draws = true; }));
    CHECK(differs([](GemmGroup& changed) { changed.members[0].accumulators = 2; }));
    CHECK(differs([](GemmGroup& changed) { changed.members[changed.count++] = plain(2048); }));
    // All clusters run at once, where there are clusters.
    DeviceTraits part = h200;
    part.row_clusters = 14;
    CHECK(kernel_of(long_k, part) == GemmKernel::cublaslt);
    for (const DeviceTraits& device : known_devices) {
        CHECK((kernel_of(long_k, device) == GemmKernel::skinny_cluster) == (device.architecture() == 90));
        CHECK(is_compiled(kernel_of(long_k, device), long_k));
    }
}

TEST_CASE("every cut of clusters covers all columns, in shares of whole pairs") {
    int cuts = 0;
    for (const Index m : {17, 18, 32, 33, 47, 48, 64}) {
        for (const Index k : {4100, 4160, 5464, 6208, 8192}) {
            for (Index n = 8; n <= 4096; n += 8) {
                const SkinnyClusterCut cut = skinny_cluster_cut(m, n, k);
                if (cut.groups == 0) {
                    continue;
                }
                CAPTURE(m);
                CAPTURE(n);
                CAPTURE(k);
                CHECK(cut.columns() <= n);
                CHECK(cut.clusters(n) * cut.columns() >= n);
                CHECK(cut.columns() % (2 * cut.parts) == 0);
                CHECK(cut.clusters(n) <= h200.row_clusters);
                ++cuts;
            }
        }
    }
    CHECK(cuts > 8000);  // of 17,920 sizes, those of 64 rows and of the longest k have none
    // The results of a cluster lie in 47 KiB.
    CHECK(skinny_cluster_cut(48, 3600, 5464).groups > 0);
    CHECK(skinny_cluster_cut(48, 3608, 5464).groups == 0);
    CHECK(skinny_cluster_cut(18, 9600, 5464).groups > 0);
}

TEST_CASE("tiles are 224 columns where their waves are shorter") {
    CHECK(sm90_cut(group_of(1792, 768, gated(3072))).tile_n == 224);
    CHECK(sm90_cut(group_of(2048, 768, gated(3072))).tile_n == 256);
    CHECK(sm90_cut(group_of(1792, 768, plain(768), plain(768), plain(768))).tile_n == 256);
    // 2,048 rows of three times 768 columns: of four tiles of 224 each, a seventh lies beyond.
    const GemmGroup thirds = group_of(2048, 768, plain(768), plain(768), plain(768));
    CHECK(sm90_cut(thirds).tile_n == 224);
    CHECK_FALSE(takes(GemmKernel::sm90, thirds, h200, thresholds_of_h200));
}

TEST_CASE("clusters have whole rows where all of them run at once and few are idle") {
    CHECK(select_gemm(projection(1792, 3072, 768), {}, h200) ==
          GemmChoice{GemmKernel::sm90_cluster, TailFusion::norm, false});
    DeviceTraits device = h200;
    const auto runs = [&](Index m, int clusters) {
        device.row_clusters = clusters;
        return kernel_for(projection(m, 768, 768), device) == GemmKernel::sm90_cluster;
    };
    CHECK(runs(1920, 15));
    CHECK_FALSE(runs(1921, 15));
    CHECK(runs(1409, 15));
    CHECK_FALSE(runs(1408, 15));
    CHECK_FALSE(runs(2048, 16));  // more clusters than what is compiled is for
    CHECK_FALSE(runs(1792, 0));
    // A block has 64 or 96 of the columns.
    CHECK(kernel_for(projection(1792, 768, 512)) == GemmKernel::sm90_cluster);
    CHECK(kernel_for(projection(1792, 3072, 1024)) == GemmKernel::cublaslt);
    CHECK(kernel_for(projection(1792, 3072, 640)) == GemmKernel::cublaslt);
    CHECK(kernel_for(projection(1792, 3072, 2048)) == GemmKernel::cublaslt);
    GemmGroup alone = projection(1792, 3072, 768);
    alone.tail = TailFusion::none;
    CHECK(kernel_for(alone) == GemmKernel::cublaslt);
    CHECK(kernel_for(projection(1792, 768, 768), traits_of(100)) == GemmKernel::cublaslt);
}

TEST_CASE("an input is stored as bf16 once: by the launch before, or for this one") {
    const GemmGroup pair = group_of(1792, 768, gated(3072));
    CHECK(select_gemm(pair, {}, h200).converts_input);
    CHECK_FALSE(select_gemm(pair, {GemmKernel::sm90_cluster, TailFusion::norm, false}, h200).converts_input);
    CHECK(select_gemm(pair, {GemmKernel::cublaslt, TailFusion::none, true}, h200).converts_input);
    GemmGroup exact = pair;
    exact.is_bf16 = false;
    CHECK_FALSE(select_gemm(exact, {}, h200).converts_input);
}

TEST_CASE("a column of thresholds for each known device, and for those between") {
    for (const DeviceTraits& device : known_devices) {
        CHECK(thresholds_of(device.architecture()).architecture == device.architecture());
        CHECK(thresholds_of(device.architecture()).is_measured == (device.architecture() == 90));
    }
    CHECK(thresholds_of(87).architecture == 86);
    CHECK(thresholds_of(103).architecture == 100);
    CHECK(thresholds_of(121).architecture == 120);
    CHECK(thresholds_of(75).architecture == 80);
    CHECK(least_shared_bytes_of_block == 99 * 1024);
}

TEST_CASE("what is selected is always compiled, on any device and with any limits") {
    std::vector<GemmThresholds> columns(gemm_thresholds.begin(), gemm_thresholds.end());
    // Columns that someone might measure: one that takes the kernels much earlier, and one that never does.
    GemmThresholds early = thresholds_of_h200;
    early.sm90_least_m = 64;
    early.sm90_least_k_tiles = early.sm90_least_k_tiles_with_sigmoid = 1;
    early.sm90_n_unit = 8;
    early.sm90_wave_least_m = 16;
    early.sm90_small_most_rows_before_wave = 0;
    early.sm90_least_k_tiles_before_wave = 1;
    early.sm90_small_most_m = early.sm90_small_most_bytes = 1 << 21;
    early.sm90_least_fill = early.sm90_cluster_least_fill = 0;
    columns.push_back(early);
    GemmThresholds never = thresholds_of_h200;
    never.sm90_least_m = 1 << 20;
    never.sm90_wave_least_m = 1 << 20;
    never.sm90_small_most_m = 0;
    columns.push_back(never);
    int fused = 0;
    int fused_in_tf32 = 0;
    const auto check = [&](const GemmGroup& group) {
        bool is_right = true;
        for (const DeviceTraits& device : known_devices) {
            for (const GemmThresholds& limits : columns) {
                for (const bool fuses : {true, false}) {
                    const GemmKernel kernel = select_gemm(group, {}, device, fuses, limits).kernel;
                    const bool is_fused = kernel == GemmKernel::sm90 || kernel == GemmKernel::sm90_small ||
                                          kernel == GemmKernel::sm90_wave || kernel == GemmKernel::sm90_cluster;
                    is_right = is_right && kernel != GemmKernel::none && is_compiled(kernel, group) &&
                               (!is_fused || (fuses && device.has_wgmma));
                    fused += is_fused ? 1 : 0;
                }
            }
            for (const bool fuses : {true, false}) {
                const GemmGroup exact = in_tf32(group.m, group.k, group.members[0]);
                const GemmKernel kernel = select_tf32_gemm(exact, device, fuses).kernel;
                const bool is_fused = kernel != GemmKernel::cublaslt && kernel != GemmKernel::skinny_cluster;
                is_right =
                    is_right && (!is_fused || (fuses && device.has_wgmma && kernel == wgmma_kernel_in_tf32(exact)));
                fused_in_tf32 += is_fused ? 1 : 0;
            }
        }
        CAPTURE(group.m);
        CAPTURE(group.k);
        CAPTURE(group.members[0].n);
        CHECK(is_right);
    };
    for (const Index m : {1, 16, 17, 64, 65, 500, 1023, 1024, 1500, 1792, 4096}) {
        for (const Index k : {64, 448, 512, 768, 3072}) {
            for (const Index n : {8, 512, 768, 1000, 3072}) {
                GemmGroup group = group_of(m, k, plain(n));
                check(group);
                check(group_of(m, k, gated(n)));
                check(projection(m, k, n));
                group.is_skinny = takes_skinny(m, n, k, k, true);
                check(group);
            }
        }
    }
    CHECK(fused > 0);
    CHECK(fused_in_tf32 > 0);
    CHECK(is_compiled(GemmKernel::none, GemmGroup{}));
    CHECK(select_gemm(GemmGroup{}, {}, h200) == GemmChoice{});
    // 700 rows: the early column would take `sm90`, for which there is no kernel.
    CHECK(select_gemm(group_of(700, 1088, gated(3072)), {}, h200, true, early).kernel == GemmKernel::cublaslt);
}

TEST_CASE("explain tells the kernels of an executor that does not fuse") {
    const auto told = [](const DeviceTraits& device, const Execution& execution) {
        return explain_launches<Readme::Steps, Precision::bf16>("decode", device, execution);
    };
    const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
    CHECK(has(told(h200, {}), "sm90 cluster"));
    CHECK_FALSE(has(told(h200, {.fuses = false}), "sm90 cluster"));
    CHECK_FALSE(has(told(h200, {.fuses = false}), "beside the next tile"));
    CHECK(has(told(h200, {.fuses = false}), "cuBLASLt"));
    CHECK(has(told(traits_of(89), {}), "on sm_89 with 142 multiprocessors, whose thresholds"));
    CHECK_FALSE(has(told(h200, {}), "whose thresholds"));
}

// The launches of two workloads of bench/cuda. What computes them was timed there: a change here is to be timed again.
TEST_CASE("a decode step of `readme`") {
    CHECK(launches_of<Readme::Steps>(h200) ==
          Lines{"1x m 1792, k 64, n 768: sm90 cluster, then norm", "12x m 1792, k 768, n 768 768 768: sm90",
                "12x m 1792, k 768, n 768: sm90 cluster, then norm", "12x m 1792, k 768, n 6144: sm90",
                "11x m 1792, k 3072, n 768: sm90 cluster, then norm",
                "1x m 1792, k 3072, n 768: sm90 cluster, then bf16",
                "1x m 1792, k 768, n 1536 1536 1536 1536: cuBLASLt"});
    CHECK(launches_of<Readme::Steps>(traits_of(80)) ==
          Lines{"1x m 1792, k 64, n 768: cuBLASLt", "12x m 1792, k 768, n 768 768 768: cuBLASLt, converts",
                "12x m 1792, k 768, n 768: cuBLASLt", "12x m 1792, k 768, n 6144: cuBLASLt, converts",
                "12x m 1792, k 3072, n 768: cuBLASLt", "1x m 1792, k 768, n 1536 1536 1536 1536: cuBLASLt, converts"});
}

TEST_CASE("a decode step of `batch_32`") {
    CHECK(launches_of<Batch32::Steps>(h200) ==
          Lines{"1x m 32, k 64, n 768: skinny tiles", "11x m 32, k 768, n 768 768 768: skinny tiles",
                "13x m 32, k 768, n 768: skinny tiles", "12x m 32, k 768, n 6144: skinny tiles",
                "12x m 32, k 3072, n 768: skinny tiles", "1x m 32, k 768, n 1536 1536: skinny tiles"});
}

namespace {

/// Columns, k, and whether it is a pair.
struct Sizes {
    Index n, k;
    bool is_gated = false;
};
/// All GEMMs of a model of Toto 2.0.
std::vector<Sizes> gemms_of(const tg::toto2::Toto2Config& config) {
    const Index d = config.d_model;
    const Index patch = config.patch_size;
    return {{4 * d, 2 * patch},
            {d, 4 * d + 2 * patch},
            {config.num_heads * config.qk_dim, d},
            {d, config.num_heads * config.v_dim},
            {config.d_ff, d, true},
            {d, config.d_ff},
            {4 * d, d},
            {config.levels * patch, 4 * d + d}};
}

}  // namespace

TEST_CASE("no size of Toto 2.0 falls to a slow path") {
    using namespace tg::toto2;
    int clusters = 0;
    for (const Toto2Config& config :
         {toto2_4m::config, toto2_22m::config, toto2_313m::config, toto2_1b::config, toto2_2_5b::config}) {
        CAPTURE(config.d_model);
        for (const Sizes& gemm : gemms_of(config)) {
            CAPTURE(gemm.n);
            CAPTURE(gemm.k);
            // One series of 512 steps and a horizon of 96: 18 tokens, of which 3 are read; blocks of 24 patches, 47.
            for (const Index rows : {3, 18, 47}) {
                for (const bool is_bf16 : {true, false}) {
                    const int accumulators = gemm.is_gated ? 2 : 1;
                    CHECK(takes_skinny(rows, gemm.n, gemm.k, gemm.k, is_bf16, accumulators) ==
                          (gemm.k <= SkinnyTile::most_k(is_bf16, accumulators)));
                }
                // In tf32 clusters take the output of the feed-forward, but of rows that one instruction takes.
                if (rows > SkinnyTile::m && gemm.k == config.d_ff && gemm.k > SkinnyTile::most_k(false)) {
                    CHECK(select_tf32_gemm(in_tf32(rows, gemm.k, plain(gemm.n)), h200).kernel ==
                          GemmKernel::skinny_cluster);
                    clusters += 1;
                }
            }
            // 64 series of 2048 steps. A pair with a sigmoid has its epilogue inside.
            if (gemm.is_gated) {
                CHECK(kernel_for(group_of(64 * 66, gemm.k, gated(gemm.n))) ==
                      (gemm.k > 512 ? GemmKernel::sm90 : GemmKernel::sm90_wave));
            }
        }
        // In f32 many rows are left to cuBLASLt, or are multiplied as tf32 parts.
        GemmGroup others = group_of(64 * 66, config.d_model, gated(config.d_ff));
        others.is_bf16 = false;
        CHECK(kernel_for(others) == GemmKernel::cublaslt);
        CHECK(select_f32_gemm(others, h200).kernel == GemmKernel::tf32_parts);
    }
    CHECK(clusters == 2);  // 18 and 47 rows of 2.5B
}

TEST_CASE("rows that are left out are listed in groups that a list and a copy hold") {
    constexpr int of_tile = Sm90Tile::m;
    constexpr int of_cluster = Sm90ClusterTile::m / Sm90ClusterTile::cluster;
    CHECK(RowGroup::rows_of(1792, of_tile) == 8);
    CHECK(RowGroup::rows_of(32768, of_tile) == 8);
    CHECK(RowGroup::rows_of(40000, of_tile) == 16);
    CHECK(RowGroup::rows_of(114688, of_tile) == 32);
    CHECK(RowGroup::rows_of(524288, of_tile) == 128);
    CHECK(RowGroup::rows_of(524289, of_tile) == 0);
    CHECK(RowGroup::rows_of(40000, of_cluster) == 16);
    CHECK(RowGroup::rows_of(65536, of_cluster) == 16);
    // More rows are not left out there: a block of a cluster copies sixteen at a time.
    CHECK(RowGroup::rows_of(65537, of_cluster) == 0);
    CHECK(RowGroup::rows_of(114688, of_cluster) == 0);
}
