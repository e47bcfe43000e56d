// SPDX-License-Identifier: Apache-2.0
// What launches know before they run. Nothing here runs on a device.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/graph/program.hpp>

#include "cuda/ops/ops_attention_models.hpp"
#include "cuda/ops/ops_gemm_models.hpp"

using namespace ops;

namespace {

/// The launch of the first cached attention of a program; as many as there are launches when it has none.
template <class Program>
constexpr std::size_t cached_attention_of() {
    using Lowered = tg::cuda::Lowering<Program, true>;
    std::size_t found = Lowered::count;
    for (std::size_t i = Lowered::count; i-- > 0;) {
        const auto& kernel = tg::cuda::lowering_detail::kernel_of<Program>(Lowered::at(i).first);
        const bool is_attention = kernel.kind == tg::KernelKind::structural && kernel.op == tg::Op::attention;
        found = is_attention ? i : found;
    }
    return found;
}

template <class Program>
constexpr bool prefix_is_early() {
    constexpr std::size_t launch = cached_attention_of<Program>();
    static_assert(launch < tg::cuda::Lowering<Program, true>::count, "the program has a cached attention");
    return tg::cuda::Lowering<Program, true>::at(launch).prefix_is_early;
}

inline constexpr AttentionSize size{
    .series = 2, .samples = 5, .variates = 3, .positions = 45, .heads = 4, .head_dim = 16};

/// What the launch before an attention writes.
enum class Written { suffix, prefix_key, prefix_value, prefix_length, suffix_length };

template <Written written>
struct AfterStore {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor query = r.state("q", size.rows(size.samples, 1));
        const Tensor key = r.state("prefix.key", size.rows(1, size.positions));
        const Tensor value = r.state("prefix.value", size.rows(1, size.positions));
        const Tensor own_key = r.state("suffix.key", size.rows(size.samples, 4));
        const Tensor own_value = r.state("suffix.value", size.rows(size.samples, 4));
        const Tensor position = r.state("at", {1}, DType::i32);
        const Tensor prefix_length = r.state("prefix.length", {size.series}, DType::i32);
        const Tensor suffix_length = r.state("suffix.length", {1}, DType::i32);
        switch (written) {
            case Written::suffix: r.store_at(own_key, r.state("new", size.rows(size.samples, 1)), 3, position); break;
            case Written::prefix_key: r.store_at(key, r.state("new", size.rows(1, 1)), 3, position); break;
            case Written::prefix_value: r.store_at(value, r.state("new", size.rows(1, 1)), 3, position); break;
            case Written::prefix_length: r.store(prefix_length, prefix_length + prefix_length); break;
            case Written::suffix_length: r.store(suffix_length, suffix_length + suffix_length); break;
        }
        out(tg::nn::cached_attention(query, {key, value, prefix_length}, {own_key, own_value, suffix_length},
                                     {.heads = size.heads}));
    }
};

/// Draws from GEMMs of a norm. The norm's result, which their chains read, is no longer needed when the draws are
/// stored: where those are fed to a running sum, and not to a state, the plan gives them its memory.
template <bool sums>
struct DrawsOfNorm {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {5, 40, 4, 1, 96}));
        const auto parameter = [&] { return reshape(layer(x, 24), {5, 40, 4, 1, 1, 24}); };
        const Tensor freedom = softplus(parameter()) + 2.0;
        const Tensor location = parameter();
        const Tensor scale = softplus(parameter());
        const tg::nn::StudentTMixture mixture{freedom, location, scale, softmax(parameter())};
        const Tensor drawn = tg::nn::sample(mixture, 40, r.state("seed", {2}, DType::i32),
                                            r.state("first", {2}, DType::i32), r.state("patch", {1}, DType::i32));
        out(sums ? cumsum(drawn) : drawn);
    }
};

template <class Program>
constexpr bool has_draws() {
    using Lowered = tg::cuda::Lowering<Program, true>;
    bool result = false;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        result = result || Lowered::at(i).draws.is_possible;
    }
    return result;
}

/// Whether draws lie where a chain of a GEMM reads.
template <class Program>
constexpr bool draws_lie_on_operands() {
    using namespace tg::cuda::lowering_detail;
    bool result = false;
    for (int draw = 0; draw < static_cast<int>(Program::steps.size()); ++draw) {
        const auto& kernel = kernel_of<Program>(draw);
        if (kernel.kind != tg::KernelKind::structural || kernel.op != tg::Op::sample_student_t_mixture) {
            continue;
        }
        for (int gemm = 0; gemm < draw; ++gemm) {
            result = result ||
                     (kernel_of<Program>(gemm).kind == tg::KernelKind::gemm && !outlives_draw<Program>(gemm, draw));
        }
    }
    return result;
}

/// Small steps of which the planner gives later ones the memory of earlier ones: running sums of multiples of an input,
/// added up.
struct ReusedMemory {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {8, 24});
        Tensor total = cumsum(x);
        for (int i = 1; i < 6; ++i) {
            total = total + cumsum(x * static_cast<double>(i));
        }
        out(total);
    }
};

/// As `ReusedMemory`, of so many f64 numbers that not all fit into shared memory.
struct MuchMemory {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = cast(r.state("x", {8, 64}), DType::f64);
        Tensor total = cumsum(x);
        for (int i = 1; i < 6; ++i) {
            total = total + cumsum(x * static_cast<double>(i));
        }
        out(cast(total, DType::f32));
    }
};

/// Running sums of sums, and a chain of steps that has nothing to do with them.
struct TwoSides {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(cumsum(cumsum(cumsum(r.state("x", {2, 64})))));
        out(sum(cumsum(r.state("y", {2, 64}))));
    }
};

/// Steps that take a block several turns each, with one barrier between them.
template <int chains>
struct FewBarriers {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        for (int i = 0; i < chains; ++i) {
            out(cumsum(cumsum(r.state("x", {2, 4096}, DType::f32, i))));
        }
    }
};

/// What is wrong with how the segments of a program use shared memory, in words; nothing when all is well.
template <class Program>
std::string faults_of_segments() {
    using namespace tg::cuda::lowering_detail;
    using Lowered = tg::cuda::Lowering<Program, true>;
    const auto each_reference = [](int step, auto&& visit) {
        const tg::Step& s = step_of<Program>(step);
        visit(s.output);
        visit(s.input);
        for (int i = 0; i < kernel_of<Program>(step).operand_count; ++i) {
            visit(s.operands[static_cast<std::size_t>(i)]);
        }
    };
    const auto meet = [](const tg::Reference& a, const tg::Reference& b) {
        const int left = Lowered::local_offset(a);
        const int right = Lowered::local_offset(b);
        return left < 0 && right < 0 ? may_overlap<Program>(a, b) : a.space == b.space && a.index == b.index;
    };
    // Of an intermediate, each element is written once: two that write it write parts of it.
    const auto share_buffer = [](const tg::Reference& a, const tg::Reference& b) {
        return a.space == tg::Space::arena && b.space == tg::Space::arena && a.index == b.index;
    };
    std::string faults;
    std::array<std::size_t, Program::buffers.size()> launch_of_buffer{};
    launch_of_buffer.fill(Lowered::count);
    for (std::size_t l = 0; l < Lowered::count; ++l) {
        const tg::cuda::Launch& launch = Lowered::at(l);
        const bool has_local = launch.kind == tg::cuda::LaunchKind::segment && launch.local_bytes > 0;
        if (has_local && launch.blocks != 1) {
            faults += "launch " + std::to_string(l) + " has shared memory and several blocks; ";
        }
        for (int i = 0; i < launch.count; ++i) {
            each_reference(launch.first + i, [&](const tg::Reference& reference) {
                const int local = Lowered::local_offset(reference);
                if (local < 0) {
                    return;
                }
                const tg::Buffer& buffer = Program::buffers[static_cast<std::size_t>(reference.index)];
                std::size_t& owner = launch_of_buffer[static_cast<std::size_t>(reference.index)];
                owner = owner == Lowered::count ? l : owner;
                if (owner != l) {
                    faults += "step " + std::to_string(launch.first + i) + " reads another launch's shared memory; ";
                }
                if (!has_local || static_cast<std::size_t>(local) + buffer.bytes > launch.local_bytes ||
                    launch.local_bytes > tg::cuda::most_local_bytes) {
                    faults += "step " + std::to_string(launch.first + i) + " looks outside its shared memory; ";
                }
            });
        }
        std::array<int, tg::cuda::segment_steps> turns{};
        for (int i = 0; i < launch.count && launch.is_sequence(); ++i) {
            const int step = launch.order[static_cast<std::size_t>(i)];
            if (step < 0 || step >= launch.count || turns[static_cast<std::size_t>(step)]++ > 0) {
                faults += "launch " + std::to_string(l) + " does not run each step once; ";
            }
            const tg::Step& s = step_of<Program>(launch.first + step);
            std::uint32_t bits = Lowered::local_offset(s.output) >= 0 ? 1U : 0U;
            for (int o = 0; o < kernel_of<Program>(launch.first + step).operand_count; ++o) {
                bits |= Lowered::local_offset(s.operands[static_cast<std::size_t>(o)]) >= 0 ? 2U << o : 0U;
            }
            if (bits != Lowered::local_bits(launch.first + step)) {
                faults += "step " + std::to_string(launch.first + step) + " is told wrong places; ";
            }
        }
        // A step must see what those before it made, and spoil nothing that they still read.
        int level = 0;
        std::array<int, tg::cuda::segment_steps> levels{};
        std::array<bool, tg::cuda::segment_steps> is_aside{};
        for (int i = 0; i < launch.count && launch.is_sequence(); ++i) {
            level += launch.barriers[static_cast<std::size_t>(i)] ? 1 : 0;
            levels[static_cast<std::size_t>(launch.order[static_cast<std::size_t>(i)])] = level;
            is_aside[static_cast<std::size_t>(launch.order[static_cast<std::size_t>(i)])] =
                launch.aside[static_cast<std::size_t>(i)];
        }
        // What shares memory is used between other barriers.
        constexpr std::size_t buffers = Program::buffers.size();
        std::array<int, buffers> first_use{};
        std::array<int, buffers> last_use{};
        first_use.fill(-1);
        for (int i = 0; i < launch.count && has_local; ++i) {
            each_reference(launch.first + i, [&](const tg::Reference& reference) {
                if (Lowered::local_offset(reference) >= 0) {
                    const auto buffer = static_cast<std::size_t>(reference.index);
                    const int own = levels[static_cast<std::size_t>(i)];
                    first_use[buffer] = first_use[buffer] < 0 ? own : std::min(first_use[buffer], own);
                    last_use[buffer] = std::max(last_use[buffer], own);
                }
            });
        }
        for (std::size_t a = 0; a < buffers; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const auto place = [](std::size_t buffer) {
                    return Lowered::local_offset({tg::Space::arena, static_cast<int>(buffer)});
                };
                const auto end = [&](std::size_t buffer) {
                    return place(buffer) + static_cast<int>(Program::buffers[buffer].bytes);
                };
                if (first_use[a] >= 0 && first_use[b] >= 0 && place(a) < end(b) && place(b) < end(a) &&
                    first_use[a] <= last_use[b] && first_use[b] <= last_use[a]) {
                    faults += "intermediates " + std::to_string(a) + " and " + std::to_string(b) + " share memory; ";
                }
            }
        }
        std::array<int, tg::cuda::segment_steps> links{};  // of the longest chain of steps that ends with each
        int longest = 0;
        for (int later = 0; later < launch.count && launch.is_sequence(); ++later) {
            for (int earlier = 0; earlier < later; ++earlier) {
                const tg::Reference& written = step_of<Program>(launch.first + earlier).output;
                const tg::Reference& rewritten = step_of<Program>(launch.first + later).output;
                bool depends = false;
                depends = reads_position<Program>(launch.first + later, written) ||
                          reads_position<Program>(launch.first + earlier, rewritten);
                each_reference(launch.first + later, [&](const auto& r) {
                    depends = depends || (meet(r, written) && !(&r == &rewritten && share_buffer(r, written)));
                });
                each_reference(launch.first + earlier, [&](const auto& r) {
                    depends = depends || (meet(r, rewritten) && !(&r == &written && share_buffer(r, rewritten)));
                });
                const bool is_apart =
                    launch.kind == tg::cuda::LaunchKind::segment &&
                    is_aside[static_cast<std::size_t>(earlier)] != is_aside[static_cast<std::size_t>(later)];
                if (depends && is_apart) {
                    faults += "step " + std::to_string(launch.first + later) + " depends on step " +
                              std::to_string(launch.first + earlier) + ", which runs aside; ";
                }
                if (depends && levels[static_cast<std::size_t>(earlier)] >= levels[static_cast<std::size_t>(later)]) {
                    faults += "step " + std::to_string(launch.first + later) + " does not wait for step " +
                              std::to_string(launch.first + earlier) + "; ";
                }
                if (depends) {
                    int& own = links[static_cast<std::size_t>(later)];
                    own = std::max(own, links[static_cast<std::size_t>(earlier)] + 1);
                    longest = std::max(longest, own);
                }
            }
        }
        if (level > longest) {
            faults += "launch " + std::to_string(l) + " has " + std::to_string(level) + " barriers for a chain of " +
                      std::to_string(longest) + " links; ";
        }
    }
    return faults;
}

/// The first segment of a program.
template <class Program>
constexpr tg::cuda::Launch first_segment() {
    using Lowered = tg::cuda::Lowering<Program, true>;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        if (Lowered::at(i).kind == tg::cuda::LaunchKind::segment) {
            return Lowered::at(i);
        }
    }
    return {};
}

constexpr int barriers_of(const tg::cuda::Launch& launch) {
    int count = 0;
    for (const bool barrier : launch.barriers) {
        count += barrier ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST_CASE("draws do not go where chains of GEMMs still read") {
    using Summed = tg::Program<DrawsOfNorm<true>>;
    CHECK(draws_lie_on_operands<Summed>());
    CHECK(!has_draws<Summed>());
    CHECK(has_draws<tg::Program<DrawnGemms<1, 24>>>());
}

TEST_CASE("a prefix can be read early when the launch right before the attention does not write it") {
    constexpr tg::Bucket bucket{.variates = 7, .context = 4096, .horizon = 336, .samples = 256};
    using Model = tg::toto1::open_base_1_0;
    CHECK(prefix_is_early<tg::Program<tg::toto1::Decode<Model, bucket, tg::toto1::Rewrites{}>>>());
    CHECK(prefix_is_early<tg::Program<AfterStore<Written::suffix>>>());
    CHECK(!prefix_is_early<tg::Program<AfterStore<Written::prefix_key>>>());
    CHECK(!prefix_is_early<tg::Program<AfterStore<Written::prefix_value>>>());
    CHECK(!prefix_is_early<tg::Program<AfterStore<Written::prefix_length>>>());
    CHECK(!prefix_is_early<tg::Program<AfterStore<Written::suffix_length>>>());
    // Nothing is known of what ran before a program.
    CHECK(!prefix_is_early<tg::Program<Cached<small_cached, true, 3>>>());
}

TEST_CASE("a segment of one block has its intermediates in shared memory, where none is in the way of another") {
    constexpr tg::Bucket bucket{.variates = 1, .context = 512, .horizon = 192};
    using Model = tg::toto1::open_base_1_0;
    using Decode = tg::Program<tg::toto1::Decode<Model, bucket, tg::toto1::Rewrites{}>>;
    CHECK(faults_of_segments<Decode>() == "");
    CHECK(faults_of_segments<tg::Program<tg::toto1::Prefill<Model, bucket, tg::toto1::Rewrites{}>>>() == "");
    constexpr tg::cuda::Launch scaler = first_segment<Decode>();
    CHECK(scaler.blocks == 1);
    CHECK(scaler.local_bytes > 0);

    // A multiple, its running sum, the total: whichever memory the planner gave each of them.
    using Reused = tg::Program<ReusedMemory>;
    CHECK(faults_of_segments<Reused>() == "");
    constexpr tg::cuda::Launch reused = first_segment<Reused>();
    CHECK(reused.blocks == 1);
    CHECK(barriers_of(reused) == 2);
    tg::cuda::Launch in_arena = reused;
    in_arena.barriers.fill(false);
    tg::cuda::lowering_detail::order_steps<Reused>(in_arena, &tg::cuda::lowering_detail::may_overlap<Reused>);
    CHECK(barriers_of(in_arena) > 2);
}

TEST_CASE("steps of a segment that have nothing to do with the others run aside") {
    using Sides = tg::Program<TwoSides>;
    CHECK(faults_of_segments<Sides>() == "");
    constexpr tg::cuda::Launch sides = first_segment<Sides>();
    CHECK(sides.blocks == 1);
    const auto aside = std::count(sides.aside.begin(), sides.aside.end(), true);
    CHECK(aside > 0);
    CHECK(2 * aside < sides.count);
    constexpr tg::cuda::Launch one = first_segment<tg::Program<ReusedMemory>>();
    CHECK(std::count(one.aside.begin(), one.aside.end(), true) == 0);
}

TEST_CASE("what does not fit into shared memory stays in the arena") {
    using Much = tg::Program<MuchMemory>;
    CHECK(faults_of_segments<Much>() == "");
    constexpr tg::cuda::Launch much = first_segment<Much>();
    CHECK(much.blocks == 1);
    int local = 0;
    int elsewhere = 0;
    for (int i = 0; i < much.count; ++i) {
        const tg::Reference& output = Much::steps[static_cast<std::size_t>(much.first + i)].output;
        if (output.space == tg::Space::arena) {
            (tg::cuda::Lowering<Much, true>::local_offset(output) >= 0 ? local : elsewhere) += 1;
        }
    }
    CHECK(local > 0);
    CHECK(elsewhere > 0);
}

using WideSums = tg::cuda::TileAccumulators<256, 128>;
using NarrowSums = tg::cuda::TileAccumulators<224, 128>;
using FewSums = tg::cuda::TileAccumulators<96, 64>;
TEST_CASE_TEMPLATE("sums of a tile lie so that neither who stores nor who loads them waits for a bank", Sums, WideSums,
                   NarrowSums, FewSums) {
    std::set<int> offsets;
    for (int row = 0; row < Sums::rows; ++row) {
        std::set<int> banks_of_row;
        for (int chunk = 0; chunk < Sums::chunks; ++chunk) {
            offsets.insert(Sums::chunk_offset(row, chunk));
            banks_of_row.insert(Sums::chunk_offset(row, chunk) / Sums::chunk_bytes % 8 + chunk / 8 * 8);
        }
        CHECK(banks_of_row.size() == Sums::chunks);  // eight neighbours, which eight lanes load, are in eight banks
    }
    CHECK(offsets.size() == std::size_t{Sums::rows} * Sums::chunks);
    for (int row = 0; row < Sums::rows; ++row) {
        // Of a pair, the second's sums begin in the middle.
        for (int first = Sums::chunks / 2; first < Sums::chunks; first += 8) {
            std::set<int> banks;
            const int end = std::min(first + 8, Sums::chunks);
            for (int chunk = first; chunk < end; ++chunk) {
                banks.insert(Sums::chunk_offset(row, chunk) / Sums::chunk_bytes % 8);
            }
            CHECK(static_cast<int>(banks.size()) == end - first);
        }
    }
    CHECK(*offsets.rbegin() + Sums::chunk_bytes == static_cast<int>(Sums::bytes));
    for (int row = 0; row < Sums::rows; row += 8) {
        for (int chunk = 0; chunk < Sums::chunks; ++chunk) {
            std::set<int> banks;
            for (int i = 0; i < 8; ++i) {
                banks.insert(Sums::chunk_offset(row + i, chunk) / Sums::chunk_bytes % 8);
            }
            CHECK(banks.size() == 8);  // eight rows of a matrix, which are stored at once
        }
    }
}

TEST_CASE("a segment whose steps take a block more turns than it has barriers takes a cluster") {
    using Few = tg::Program<FewBarriers<2>>;
    constexpr tg::cuda::Launch few = first_segment<Few>();
    CHECK(few.count > 1);
    CHECK(few.blocks == tg::cuda::cluster_blocks);
    CHECK(few.local_bytes == 0);
    CHECK(faults_of_segments<Few>() == "");
    CHECK(tg::cuda::fewest_cluster_steps > 2);
    CHECK(first_segment<tg::Program<FewBarriers<1>>>().count == 1);  // each on the whole device
}
