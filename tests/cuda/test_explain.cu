// SPDX-License-Identifier: Apache-2.0
// What is told of a forecaster: what it launches, as text and as a picture, and its memory. No device is needed.
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/ops/ops_gemm_models.hpp"
#include "cuda/replay_requests.hpp"

using namespace device_test;

namespace {

template <tg::cuda::Precision precision>
using Forecaster =
    tg::cuda::Forecaster<replay::Model, replay::sampled, tg::cuda::ForecasterOptions{.precision = precision}>;
using Rounded = Forecaster<tg::cuda::Precision::bf16>;
using Exact = Forecaster<tg::cuda::Precision::f32>;

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
        ++found;
    }
    return found;
}

/// Bytes that a program reads, or writes, less than it would if all of it were f32: two for each element that is stored
/// as bf16, which inputs of GEMMs, results, and queries, keys and values of attentions can be.
template <class Executor, class Program>
tg::Index saved_bytes(bool reads) {
    using Lowered = tg::cuda::Lowering<Program, Executor::template streams<0>>;
    tg::Index elements = 0;
    Program::loops.for_each_step(Program::steps.size(), [&](int number, tg::LoopTurn) {
        const tg::Step& step = Program::steps[static_cast<std::size_t>(number)];
        const tg::Kernel& kernel = Program::kernels[static_cast<std::size_t>(step.kernel)];
        if (!reads) {
            elements += Lowered::stores_bf16(step.output) ? kernel.iteration.size() : 0;
            return;
        }
        if (kernel.kind == tg::KernelKind::gemm) {
            elements += Lowered::stores_bf16(step.input) ? kernel.rows() * kernel.k : 0;
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            elements += Lowered::stores_bf16(step.operands[i]) ? kernel.operands[i].shape.size() : 0;
        }
    });
    return 2 * elements;
}

/// Every step is in one launch, every launch is drawn or like one that is drawn, and nothing is counted twice.
template <class Forecaster, std::size_t which>
void check_launches() {
    using Executor = typename Forecaster::Executor;
    using Program = typename Executor::template ProgramAt<which>;
    constexpr auto precision = Executor::template streams<0> ? tg::cuda::Precision::bf16 : tg::cuda::Precision::f32;
    const auto list = tg::cuda::explain_detail::LaunchList::of<Program, precision>(tg::cuda::compiled_for, {});
    int next = 0;
    for (const auto& launch : list.launches()) {
        CHECK(launch.launch.first == next);
        CHECK(launch.steps.size() == static_cast<std::size_t>(launch.launch.count));
        next += launch.launch.count;
    }
    CHECK(next == tg::Facts<Program>::steps);
    const tg::StepFacts planned =
        tg::Facts<Program>::run(Executor::template streams<0> ? tg::DType::bf16 : tg::DType::f32);
    CHECK(list.facts().flops == planned.flops);
    CHECK(list.facts().bytes_read == planned.bytes_read - saved_bytes<Executor, Program>(true));
    CHECK(list.facts().bytes_written == planned.bytes_written - saved_bytes<Executor, Program>(false));
    std::size_t grouped = 0;
    std::size_t drawn = 0;
    for (const auto& group : list.groups()) {
        CHECK(group.first == grouped);
        grouped += group.count * static_cast<std::size_t>(group.repeats);
        drawn += group.count;
    }
    CHECK(grouped == list.launches().size());
    check_has(list.summary(), std::to_string(Executor::template launches<which>()) + " launch");

    // Each drawn launch is declared once and reached from the one before; the picture's braces are in pairs.
    const std::string picture = Forecaster::template explain_dot<which>();
    CHECK(count(picture, " [shape=") == drawn);
    CHECK(count(picture, " -> launch") - count(picture, "next layer") == drawn - 1);
    CHECK(count(picture, "{\n") == count(picture, "}\n"));
    std::set<std::string> declared;
    for (std::size_t at = picture.find("launch"); at != std::string::npos; at = picture.find("launch", at + 1)) {
        const std::size_t end = picture.find_first_not_of("0123456789", at + 6);
        if (picture.compare(end, 8, " [shape=") == 0) {
            CHECK(declared.insert(picture.substr(at, end - at)).second);
        }
    }
    for (std::size_t at = picture.find("-> launch"); at != std::string::npos; at = picture.find("-> launch", at + 1)) {
        const std::size_t end = picture.find_first_not_of("0123456789", at + 9);
        CHECK(declared.contains(picture.substr(at + 3, end - at - 3)));
    }
}

}  // namespace

TEST_CASE("what is told of launches adds up to the plan") {
    check_launches<Rounded, 0>();
    check_launches<Rounded, 1>();
    check_launches<Exact, 0>();
    check_launches<Exact, 1>();
}

TEST_CASE("what is stored as bf16 counts half") {
    const auto saved = []<class Forecaster>(Forecaster*) {
        using Executor = typename Forecaster::Executor;
        return saved_bytes<Executor, typename Executor::template ProgramAt<1>>(true);
    };
    CHECK(saved(static_cast<Rounded*>(nullptr)) >= static_cast<tg::Index>(Rounded::memory().caches));
    CHECK(saved(static_cast<Exact*>(nullptr)) == 0);
}

TEST_CASE("the text names the bucket, the memory, both programs and what they compute") {
    for (const std::string& text : {Rounded::explain(), Exact::explain()}) {
        check_has(text, "sizes " + tg::to_string(replay::sampled));
        check_has(text, "prefill: ");
        check_has(text, "decode: ");
        check_has(text, ", causal");
        check_has(text, ", against a cache and a suffix");
        check_has(text, "sample_student_t_mixture");
    }
    check_has(Exact::explain(), "cuBLASLt");
    // In f32 no attention is on tensor cores.
    CHECK(count(Exact::explain(), "  attention warp  ") + count(Exact::explain(), "  attention block  ") > 0);
    CHECK(count(Exact::explain(), "  attention tiles  ") == 0);
    check_has(Exact::explain_dot<1>(), "peripheries=2");
    check_has(Rounded::explain(), ", against a cache and a suffix -> bf16\n");
    CHECK(count(Rounded::explain(), ", against a cache and a suffix -> bf16 in part") == 0);
    const std::string told =
        tg::cuda::explain_launches<tg::Program<ops::PointwiseOfSums<3, 64, 48>>, tg::cuda::Precision::bf16>("sums");
    check_has(told, "silu -> bf16 in part");
    CHECK(count(Exact::explain(), "-> bf16") == 0);
}

TEST_CASE("a GEMM is told by the kernel that computes it on a device") {
    constexpr tg::cuda::DeviceTraits h200 = tg::cuda::traits_of(90);
    constexpr tg::cuda::DeviceTraits l40s = tg::cuda::traits_of(89);
    const auto told = []<class Model>(Model, const tg::cuda::DeviceTraits& device) {
        return tg::cuda::explain_launches<tg::Program<Model>, tg::cuda::Precision::bf16>("rows", device);
    };
    constexpr std::string_view tail = "sm90 cluster  ";
    constexpr std::string_view norm = "epilogue inside, and of the next launch the bf16 input and the norm";
    using Norm = ops::ResidualAndNorm<1664, 64, 512, 64>;
    CHECK(count(told(Norm{}, h200), tail) == 1);
    CHECK(count(told(Norm{}, h200), norm) == 1);
    CHECK(count(told(Norm{}, l40s), tail) == 0);
    CHECK(count(told(Norm{}, l40s), "cuBLASLt") == 3);
    // 300 rows fill no clusters; of 1,792, nothing but bf16 is asked for.
    CHECK(count(told(ops::ResidualAndNorm<300, 64, 512, 64>{}, h200), tail) == 0);
    CHECK(count(told(ops::ResidualAndRounding<1792, 64, 512, 64>{}, h200), tail) == 1);
    CHECK(count(told(ops::ResidualAndRounding<1792, 64, 512, 64>{}, h200), norm) == 0);
    CHECK(count(told(ops::FeedForward<1280, 768, 6144>{}, h200), "epilogue of a tile beside the next tile") == 1);
    CHECK(count(told(ops::FeedForward<1280, 768, 6144>{}, l40s), "epilogue of a tile beside the next tile") == 0);
    using Waves = tg::Program<ops::ResidualAndNorm<1100, 256, 704, 512, 800, true, 424>>;
    constexpr std::string_view squares = "epilogue inside, and of the next launch the squares of its norm";
    constexpr std::string_view before = "norm in a kernel before, ";
    const std::string in_tf32 = tg::cuda::explain_launches<Waves, tg::cuda::Precision::tf32>("rows", h200);
    CHECK(count(in_tf32, squares) == 1);
    CHECK(count(in_tf32, before) == 0);
    CHECK(count(tg::cuda::explain_launches<Waves, tg::cuda::Precision::tf32>("rows", l40s), before) == 1);
    CHECK(count(tg::cuda::explain_launches<Waves, tg::cuda::Precision::f32>("rows", h200), before) == 1);
    CHECK(count(tg::cuda::explain_launches<Waves, tg::cuda::Precision::f32>("rows", h200), squares) == 0);
    check_has(told(ops::NormsAndResiduals<40>{}, l40s), "skinny tiles");
    // A k that is too long for the blocks of a GEMM in tf32, where clusters can share it.
    using LongK = tg::Program<ops::Residual<18, 5464, 2048>>;
    constexpr std::string_view clusters = "skinny cluster  ";
    const std::string long_in_tf32 = tg::cuda::explain_launches<LongK, tg::cuda::Precision::tf32>("rows", h200);
    CHECK(count(long_in_tf32, clusters) == 1);
    check_has(long_in_tf32, "epilogue inside");
    CHECK(count(tg::cuda::explain_launches<LongK, tg::cuda::Precision::tf32>("rows", l40s), "cuBLASLt") == 1);
    CHECK(count(tg::cuda::explain_launches<LongK, tg::cuda::Precision::f32>("rows", h200), "cuBLASLt") == 1);
    CHECK(count(tg::cuda::explain_launches<LongK, tg::cuda::Precision::bf16>("rows", h200), "skinny tiles") == 1);
    check_has(told(ops::NormsAndResiduals<40>{}, l40s), "sm_89 with 142 multiprocessors");
}

TEST_CASE("the memory is known when the forecaster is compiled") {
    constexpr tg::cuda::MemoryReport rounded = Rounded::memory();
    constexpr tg::cuda::MemoryReport exact = Exact::memory();
    static_assert(rounded.own() == Rounded::device_bytes());
    static_assert(exact.own() == Exact::device_bytes());
    static_assert(rounded.weights < exact.weights);
    static_assert(rounded.caches < exact.caches && rounded.caches > 0);  // keys and values as bf16
    static_assert(rounded.result == sizeof(float) * 2 * 3 * 24 * 12);
    check_has(to_string(exact), tg::detail::bytes_text(exact.weights));
    check_has(Exact::explain(), to_string(exact));
    check_has(Rounded::explain(), to_string(rounded));
}
