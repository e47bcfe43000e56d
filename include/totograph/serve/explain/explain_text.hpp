// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>

namespace totograph::serve {

namespace detail {

inline std::string rate_text(double bytes_per_second) {
    return totograph::detail::with_unit(bytes_per_second, 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}

inline std::string gemm_rate_text(double flops_per_second) {
    return totograph::detail::with_unit(flops_per_second, 1000, {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s"});
}

/// The time that one run of a program takes at least when all that it moves comes from memory, and what takes it.
inline std::string floor_text(const ProgramSummary& program, const DeviceSpeed& speed) {
    const double moving = static_cast<double>(program.bytes) / speed.bytes_per_second;
    const double computing = static_cast<double>(program.flops) / speed.flops_per_second;
    return seconds_text(std::max(moving, computing)) + (moving < computing ? ", computing" : ", moving");
}

/// One fact of an explanation, for comparing two.
struct ExplanationFact {
    std::string what;
    std::string text;
    double value = 0;
    bool is_number = false;
};

/// Lists every fact of an explanation.
class ExplanationFacts {
public:
    explicit ExplanationFacts(const Explanation& explanation);

    [[nodiscard]] const std::vector<ExplanationFact>& all() const { return facts_; }
    /// The fact of a name, or null.
    [[nodiscard]] const ExplanationFact* find(std::string_view what) const {
        const auto found =
            std::find_if(facts_.begin(), facts_.end(), [&](const ExplanationFact& fact) { return fact.what == what; });
        return found == facts_.end() ? nullptr : &*found;
    }

private:
    void add_count(std::string what, Index count) {
        facts_.push_back({std::move(what), std::to_string(count), static_cast<double>(count), true});
    }
    void add_flops(std::string what, Index flops) {
        facts_.push_back({std::move(what), totograph::detail::flops_text(flops), static_cast<double>(flops), true});
    }
    template <class Bytes>
    void add_bytes(std::string what, Bytes bytes) {
        facts_.push_back({std::move(what), totograph::detail::bytes_text(bytes), static_cast<double>(bytes), true});
    }

    std::vector<ExplanationFact> facts_;
};

/// One line of a difference; null for what one of the two does not have.
inline void add_difference(totograph::detail::TextTable& table, const std::string& what, const ExplanationFact* a,
                           const ExplanationFact* b) {
    const bool has_ratio = a != nullptr && b != nullptr && a->is_number && a->value != 0 && b->value != 0;
    const std::string ratio = has_ratio ? totograph::detail::number_text(b->value / a->value, 3) : "1";
    table.add_row({what, a == nullptr ? "-" : a->text, b == nullptr ? "-" : b->text, ratio == "1" ? "" : "x " + ratio});
}

/// What a forecaster holds beside the shared weights, in all and by parts, those that there are.
std::string memory_text(const Explanation& explanation);

}  // namespace detail

/// An explanation as a table of its programs, with the sums of a whole forecast and the memory below. With the speed of
/// the device, also the least time that each run and the whole forecast take when all that they move comes from memory,
/// and what they take it for: moving it or computing. What stays in a cache, such as the weights of a small model, is
/// moved faster.
std::string to_string(const Explanation& explanation, const DeviceSpeed* speed = nullptr);

/// The lines in which two explanations differ, such as those of two modes or buckets, and how many times the first the
/// second is, where that is not 1. What reads the same, with all digits that are shown, does not differ. Empty when
/// nothing does.
std::string explain_difference(const Explanation& a, const Explanation& b);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/explain/impl/explain_text.hpp>
#endif
