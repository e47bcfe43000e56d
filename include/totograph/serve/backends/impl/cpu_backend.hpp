// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/backends/cpu_backend.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/graph/explain/group_lines.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/io/cache/cache_file.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/explain/cpu_explanation.hpp>
#include <totograph/serve/explain/explain_text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/synthetic_request.hpp>
#include <totograph/serve/tuning/tune_threads.hpp>
#include <totograph/serve/tuning/tuned_threads.hpp>

namespace totograph::serve {
namespace detail {

TOTOGRAPH_INLINE std::string program_key(const Bucket& bucket, const FusedFacts& facts) {
    std::string text = std::string(name(facts.storage)) + " " + std::to_string(facts.plan.sizes.steps) + " steps, " +
                       std::to_string(facts.weight_bytes) + ", " + std::to_string(facts.state_bytes) + ", " +
                       std::to_string(facts.arena_bytes) + ", " + std::to_string(facts.scratch_bytes) + " bytes\n";
    for (const ProgramTables& program : facts.programs) {
        text += group_lines(program, "");
    }
    return to_string(bucket) + ", program " + std::to_string(io::checksum_of(text));
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<Bucket> CpuBackend::buckets() const {
    std::vector<Bucket> buckets;
    for (const detail::CompiledBucket& one : compiled_) {
        buckets.push_back(one.bucket);
    }
    return buckets;
}

TOTOGRAPH_INLINE std::string CpuBackend::describe(Mode mode) const {
    switch (mode) {
        case Mode::eager: return "the recorded nodes one by one, on one thread";
        case Mode::standard: return "the fused program, on all threads";
        case Mode::reduce_overhead:
            return "the fused program, on all threads: as default, for calls on the CPU have no overhead to save";
        case Mode::max_autotune:
        case Mode::max_autotune_no_cudagraphs:
            return "the fused program, on as many threads as it measures to be fastest with";
    }
    return {};
}

TOTOGRAPH_INLINE std::unique_ptr<BucketForecaster> CpuBackend::make(const Bucket& bucket, Mode mode,
                                                                    const BackendResources& resources) const {
    const std::size_t which = find(bucket);
    const detail::CompiledBucket& compiled = compiled_[which];
    const int threads = thread_count(resources.threads);
    require_mode(mode);
    log_program(bucket, compiled, mode);
    if (mode == Mode::eager) {
        return std::make_unique<detail::CpuForecaster<EagerForecaster>>(weights_, compiled.record());
    }
    return is_tuned(mode) ? make_tuned(which, threads, resources) : make_fused(compiled, threads, resources);
}

TOTOGRAPH_INLINE Explanation CpuBackend::explain(const Bucket& bucket, Mode mode) const {
    const std::size_t which = find(bucket);
    const detail::CompiledBucket& compiled = compiled_[which];
    require_mode(mode);
    const int all = thread_count(0);
    const int tuned = is_tuned(mode) ? tuned_.known(which, all) : 0;
    Explanation explanation = mode == Mode::eager ? detail::explain_eager(compiled.record())
                                                  : detail::explain_fused(compiled.facts(), tuned > 0 ? tuned : all);
    explanation.backend = name_;
    explanation.mode = serve::name(mode);
    return explanation;
}

TOTOGRAPH_INLINE void CpuBackend::require_mode(Mode mode) const {
    if (describe(mode).empty()) {
        throw Error(ErrorCode::invalid_argument, "The backend " + io::in_quotes(name_) +
                                                     " was asked for a mode that does not exist. Use one of the "
                                                     "enumerators of Mode.");
    }
}

TOTOGRAPH_INLINE std::size_t CpuBackend::find(const Bucket& bucket) const {
    std::string list;
    for (std::size_t i = 0; i < compiled_.size(); ++i) {
        if (compiled_[i].bucket == bucket) {
            return i;
        }
        list += (list.empty() ? "" : "; ") + to_string(compiled_[i].bucket);
    }
    throw Error(ErrorCode::no_bucket, "The backend " + io::in_quotes(name_) + " has no compiled size " +
                                          to_string(bucket) + "; it has: " + list + ". Compile it as well.");
}

TOTOGRAPH_INLINE std::unique_ptr<BucketForecaster> CpuBackend::make_tuned(std::size_t which, int most,
                                                                          const BackendResources& resources) const {
    const detail::CompiledBucket& compiled = compiled_[which];
    if (const int known = tuned_.known(which, most); known > 0) {
        return make_fused(compiled, known, resources);
    }
    if (resources.is_beside_forecasts) {
        return make_fused(compiled, most, resources);
    }
    const detail::ThreadQuestion question{
        .program = detail::program_key(compiled.bucket, compiled.facts()),
        .subject = "size " + to_string(compiled.bucket) + " of " + io::in_quotes(name_)};
    const auto measure = [&](int threads, double too_slow) {
        const SyntheticRequest request(compiled.bucket);
        return detail::median_seconds(*make_fused(compiled, threads, resources), request, too_slow);
    };
    const int best = tuned_.choose(which, most, detail::tuning_place(cpu::packet_size), question, measure);
    return make_fused(compiled, best, resources);
}

TOTOGRAPH_INLINE void CpuBackend::log_program(const Bucket& bucket, const detail::CompiledBucket& compiled,
                                              Mode mode) const {
    log(LogTopic::graph, [&] { return to_string(explain(bucket, mode)); });
    if (mode != Mode::eager) {
        log(LogTopic::fusion, [&] {
            const detail::FusedFacts facts = compiled.facts();
            std::string lines;
            for (std::size_t i = 0; i < facts.programs.size(); ++i) {
                lines += group_lines(facts.programs[i], facts.plan.names[i]);
            }
            return lines;
        });
    }
}

}  // namespace totograph::serve
