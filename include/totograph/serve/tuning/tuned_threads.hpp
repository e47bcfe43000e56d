// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <istream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/held_log.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/tuning_cache.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/serve/tuning/tune_threads.hpp>

// Numbers of threads that were measured to be the fastest, kept for the process and in a file for the next ones.
namespace totograph::serve::detail {

/// Who measures: one at a time in a process, for two would find each other's load, and keep what they found. Whoever
/// compares backends makes forecasters meanwhile, which may tune threads on the same thread.
inline std::recursive_mutex& tuning_turn() {
    static std::recursive_mutex turn;
    return turn;
}

/// What a processor is called, from the text of `/proc/cpuinfo`: what its first processor says of all that tells models
/// apart, such as `AMD EPYC, 25, 17, 1, 1024 KB`. Empty when it says nothing.
std::string processor_name(std::istream& cpuinfo);

/// Where choices are kept, and what they are true of.
struct TuningPlace {
    io::CacheFolder folder;
    std::string processor;
    std::string identity;  ///< All that a choice depends on beside the program and the most threads.
};

/// The place of this process: version, compiler, width of vectors, processor, and how many of them it may use.
TuningPlace tuning_place(Index floats_of_a_vector);

/// What is to be tuned.
struct ThreadQuestion {
    std::string program;  ///< Tells programs apart whose forecasts take different time.
    std::string subject;  ///< What a log calls it.
};

/// The choices of a backend. Any number of threads may use it.
class TunedThreads {
public:
    /// What was chosen in this process for a bucket, by its place, with at most so many threads; 0 when nothing was.
    [[nodiscard]] int known(std::size_t bucket, int most) const {
        const std::scoped_lock lock(mutex_);
        const auto found = choices_.find({bucket, most});
        return found == choices_.end() ? 0 : found->second;
    }

    /// The same, or what the file says, or what is the fastest by `measure(threads, too_slow)` (see `tune_threads`),
    /// which is then kept. Measures for one caller at a time in this process. Look-ups of the file are counted as
    /// `tuning` (see `cache_counts`); a file that cannot be used is ignored. Throws what `measure` throws, and keeps
    /// nothing then.
    template <class Measure>
    int choose(std::size_t bucket, int most, const TuningPlace& place, const ThreadQuestion& question,
               Measure&& measure) {
        if (most == 1) {
            return 1;
        }
        const totograph::detail::HeldLog held;  // a sink must not wait for a turn
        const std::scoped_lock turn(tuning_turn());
        if (const int chosen = known(bucket, most); chosen > 0) {
            return chosen;  // by the one whose turn was before
        }
        TuningCache file(place.folder, "cpu " + place.processor, place.identity);
        const std::string key = question.program + ", at most " + std::to_string(most) + " threads";
        const auto is_possible = [&](std::string_view choice) { return threads_of(choice, most) > 0; };
        int best = 0;
        if (const std::optional<std::string> kept = file.find(key, is_possible)) {
            best = threads_of(*kept, most);
            log(LogTopic::tuning, [&] { return question.subject + ": takes " + *kept + ", as was measured before"; });
        } else {
            const ThreadTuning tuning = tune_threads(most, measure);
            log(LogTopic::tuning, [&] { return question.subject + ": " + to_string(tuning); });
            best = tuning.best;
            file.add(key, std::to_string(best));
            file.save();
        }
        const std::scoped_lock lock(mutex_);
        choices_[{bucket, most}] = best;
        return best;
    }

private:
    /// A choice of a file; 0 when it cannot be one.
    static int threads_of(std::string_view text, int most);

    mutable std::mutex mutex_;
    std::map<std::pair<std::size_t, int>, int> choices_;  ///< By bucket and the most that were allowed.
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/tuning/impl/tuned_threads.hpp>
#endif
