// SPDX-License-Identifier: Apache-2.0
//
// stream: reads observations from standard input as they arrive, forecasts the next ones, and tells of each how far it
// lies from what was expected. Its memory does not grow, and no line can end it. The parts are in stream/;
// forecast_stream.hpp is the part that uses totograph.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/exit_codes.hpp"
#include "common/format.hpp"
#include "common/output_files.hpp"
#include "common/run_program.hpp"
#include "common/sampling.hpp"
#include "intake/read_input.hpp"
#include "models/model.hpp"
#include "stream/command_line.hpp"
#include "stream/forecast_stream.hpp"
#include "stream/held_lines.hpp"
#include "stream/latency.hpp"
#include "stream/line_reader.hpp"
#include "stream/observation.hpp"
#include "stream/options.hpp"
#include "stream/stream_clock.hpp"

namespace {

using namespace examples;

std::atomic<bool> interrupted = false;

void on_interrupt(int) {
    interrupted = true;
}

/// The first signal ends the waiting for a line, the second one the program.
void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);  // and not SA_RESTART: reading shall end
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

/// What became of the lines.
struct Counts {
    std::int64_t lines = 0;
    std::int64_t used = 0;
    std::int64_t late = 0;
    std::int64_t malformed = 0;
    std::int64_t early = 0;     // of the late ones, those with a time before the last
    std::int64_t repeated = 0;  // and those with the same time
    std::int64_t pauses = 0;    // places where lines are missing
};

/// One run: takes line after line and prints what follows from it.
class Session {
public:
    Session(const AnyModel& model, const Options& options, Stage& stage)
        : model_(model),
          options_(options),
          stage_(stage),
          observations_(options),
          clock_(observations_.dates(), options.intake.as_is) {}

    /// The first few lines are held back.
    void take(const std::string& line, bool is_too_long) {
        if (!has_begun_) {
            has_begun_ = true;
            write(ForecastStream::heading());
        }
        if (!observations_.needs_header()) {
            take_now(line, is_too_long);
            return;
        }
        if (is_too_long && !held_lines_.have_begun()) {
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   std::string("The first line is ") + too_long + ".");
        }
        held_lines_.add(line, is_too_long);
        if (held_lines_.are_full() || (held_lines_.are_usual() && observations_.is_told_by(held_lines_.lines()))) {
            take_held();
        }
    }

    /// No line follows. Throws `Error(invalid_series)` when there were too few for a forecast, and no interrupt either.
    void finish() {
        take_held();
        if (held_) {
            refute_held();
        }
        if (stream_) {
            stream_->finish();
            tell(stream_->take_notes());
        }
        if (!options_.quiet) {
            summarize();
        }
        if (!interrupted && (!stream_ || stream_->latency().count() == 0)) {
            const std::size_t least =
                stream_ ? stream_->least_steps() : 2 * static_cast<std::size_t>(model_.patch_size());
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   "The input ended before a forecast could be made: " + plural(counts_.used, "line") +
                                       " could be used, and " + std::to_string(least) + " are needed." +
                                       (counts_.early > counts_.used
                                            ? " Most lines came late: is the newest one first? Sort them, or take them "
                                              "as they stand (--as-is)."
                                            : ""));
        }
    }

private:
    void take_held() {
        const HeldLines held = std::exchange(held_lines_, {});
        const std::size_t count = held.lines().size();
        const std::size_t rows_at = count == 0 ? 0 : observations_.read_head(held.lines());
        number_ += static_cast<std::int64_t>(rows_at);
        clock_ = StreamClock(observations_.dates(), options_.intake.as_is, observations_.date_digits());
        tell(observations_.take_notes());
        for (std::size_t place = rows_at; place < count; ++place) {
            take_now(held.lines()[place], held.is_too_long(place));
        }
    }

    void write(const std::string& text) {
        stage_ = Stage::output;
        print(text);
        stage_ = Stage::input;
    }

    void take_now(const std::string& line, bool is_too_long) {
        const auto start = std::chrono::steady_clock::now();
        ++number_;
        take_line(line, is_too_long);
        tell(observations_.take_notes());
        const bool is_answered = counts_.lines > 0 && !out_.empty();
        if (!out_.empty()) {
            write(out_);
            out_.clear();
        }
        if (is_answered) {
            latency_.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
    }

    void take_line(const std::string& line, bool is_too_long) {
        if (!is_too_long && observations_.is_blank(line)) {
            ++blank_;
            return;
        }
        ++counts_.lines;
        std::string problem = std::string("it is ") + too_long;
        std::optional<Observation> observation;
        if (!is_too_long) {
            observation = observations_.read(line, problem);
        }
        const std::int64_t blank = take_blank();
        if (!observation) {
            leave_out(number_, problem, blank);
        } else if (!observations_.has_timestamps()) {
            use(*observation, blank);
        } else if (options_.intake.as_is) {
            clock_.advance(observation->timestamp);
            use(*observation, 0);
        } else {
            take_timed(*observation);
        }
    }

    /// The steps that blank lines before this one are, as in files; those at the end are none.
    std::int64_t take_blank() {
        const std::int64_t blank = std::exchange(blank_, 0);
        if (!observations_.has_blank_steps()) {
            return 0;
        }
        counts_.lines += blank;
        counts_.used += blank;
        return blank;
    }

    /// A line that the clock holds back until it knows the next one.
    struct Held {
        Observation observation;
        std::int64_t number = 0;
    };

    void take_timed(const Observation& observation) {
        if (const std::optional<StreamClock::Tick> resolved = clock_.resolve_held(observation.timestamp)) {
            if (resolved->is_refuted) {
                refute_held();
            } else {
                tell_skipped(held_->number, resolved->skipped);
                use(held_->observation, resolved->skipped);
                held_.reset();
            }
        }
        const StreamClock::Tick tick = clock_.advance(observation.timestamp);
        if (tick.is_unclear) {
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   "The date '" + printable(shortened(observation.timestamp, 40)) +
                                       "' could begin with the day or with the month. Say which (--date-format dmy, "
                                       "--date-format mdy).");
        }
        if (!tick.is_readable) {
            leave_out(number_, observation.timestamp.empty()
                                   ? "it has no timestamp"
                                   : "'" + printable(shortened(observation.timestamp, 40)) + "' is no timestamp");
        } else if (tick.is_late) {
            ++counts_.late;
            const std::string stamp = printable(shortened(observation.timestamp, 40));
            if (tick.is_repeated) {
                tell_once(counts_.repeated, number_, "has the time of the line before, " + stamp + ", and is left out");
            } else {
                tell_once(counts_.early, number_,
                          "is left out: its time, " + stamp +
                              ", is before that of the line before, and a stream "
                              "cannot be sorted");
            }
        } else if (tick.is_held) {
            held_ = Held{observation, number_};
        } else {
            tell_skipped(number_, tick.skipped);
            use(observation, tick.skipped);
        }
    }

    void tell_skipped(std::int64_t number, std::int64_t skipped) {
        if (skipped > 0) {
            tell_once(counts_.pauses, number,
                      "comes after " + plural(skipped, "missing step") +
                          (skipped == 1 ? ", which becomes a gap" : ", which become gaps"));
        }
    }

    /// Tells of a thing when it happens first; with --strict it is the end.
    void tell_once(std::int64_t& count, std::int64_t number, const std::string& what) {
        const std::string sentence = "Line " + std::to_string(number) + " " + what;
        if (options_.intake.strict) {
            throw totograph::Error(totograph::ErrorCode::invalid_series, sentence + " without --strict.");
        }
        if (count++ == 0) {
            tell({sentence + ". Further ones are only counted."});
        }
    }

    void tell(const std::vector<std::string>& notes) const {
        if (!options_.quiet) {
            print_notes("stream", notes);
        }
    }

    void refute_held() {
        leave_out(held_->number, "'" + printable(shortened(held_->observation.timestamp, 40)) +
                                     "' is far ahead, and the lines after it do not bear that out");
        held_.reset();
    }

    void use(const Observation& observation, std::int64_t skipped) {
        ++counts_.used;
        stage_ = Stage::forecast;
        if (!stream_) {
            stream_.emplace(model_, options_, observations_.names());
            tell(stream_->take_notes());
        }
        const bool has_clock = observations_.has_timestamps();
        stream_->set_time(has_clock ? observation.timestamp : std::to_string(counts_.lines));
        stream_->take(observation, skipped, out_);
        tell(stream_->take_notes());
        stream_->print_forecast(has_clock ? &clock_ : nullptr, counts_.lines, out_);
        stage_ = Stage::input;
    }

    /// `blank` lines came before it that are steps.
    void leave_out(std::int64_t number, const std::string& problem, std::int64_t blank = 0) {
        complain(counts_.malformed, number, problem);
        // Without timestamps a line is a step, whatever it holds; with them the next line tells what is missing.
        if (!observations_.has_timestamps() && stream_) {
            stream_->skip(blank + 1);
        }
    }

    /// Names the first few lines that cannot be used; all are counted.
    void complain(std::int64_t& count, std::int64_t line, const std::string& what) const {
        constexpr std::int64_t most = 5;
        ++count;
        if (!options_.quiet && count <= most) {
            std::cerr << "stream: Line " << line << " is left out: " << what << "."
                      << (count == most ? " Further ones are only counted." : "") << "\n";
        }
    }

    void summarize() const {
        std::cerr << "stream: " << plural(counts_.lines, "line") << ": " << count_text(counts_.used) << " used, "
                  << count_text(counts_.late) << " late, " << count_text(counts_.malformed) << " malformed.\n";
        if (counts_.repeated > 0 && counts_.repeated >= counts_.used) {
            std::cerr << "stream: " << plural(counts_.repeated, "line")
                      << " had the time of the line before. If the file has a row for each value, write the values of "
                         "one time into one line first; 'forecast' and 'backtest' read such files by --series and "
                         "--value.\n";
        }
        if (!stream_) {
            return;
        }
        std::cerr << "stream: " << plural(stream_->missing(), "value") << " missing, "
                  << plural(stream_->alarms(), "alarm") << ".\n";
        if (stream_->latency().count() > 0) {
            std::cerr << "stream: " << plural(stream_->latency().count(), "forecast") << ": "
                      << stream_->latency().text() << ".\nstream: line to output: " << latency_.text() << ".\n";
        }
        if (stream_->contexts() != nullptr) {
            summarize_contexts(*stream_->contexts());
        }
    }

    void summarize_contexts(const GrowingContexts& contexts) const {
        if (const Latency& grown = stream_->grown_latency(); grown.count() > 0) {
            std::cerr << "stream: " << plural(grown.count(), "forecast") << " went on from before: " << grown.text()
                      << ".\n";
        }
        if (const Latency& whole = stream_->whole_latency(); whole.count() > 0) {
            std::cerr << "stream: " << plural(whole.count(), "forecast") << " read the whole context: " << whole.text();
            for (std::size_t reason = 0; reason < whole_context_names.size(); ++reason) {
                if (const std::int64_t count = contexts.whole(static_cast<WholeContext>(reason)); count > 0) {
                    std::cerr << "; " << count_text(count) << " " << whole_context_names[reason];
                }
            }
            std::cerr << ".\n";
        }
    }

    static constexpr const char* too_long = "longer than a mebibyte";

    const AnyModel& model_;
    const Options& options_;
    Stage& stage_;
    ObservationReader observations_;
    StreamClock clock_;
    std::optional<ForecastStream> stream_;
    std::optional<Held> held_;
    HeldLines held_lines_;  // the first ones, until they tell how to read them
    bool has_begun_ = false;
    Latency latency_;
    Counts counts_;
    std::int64_t number_ = 0;  // of the line at hand, the header included
    std::int64_t blank_ = 0;   // lines just before it
    std::string out_;
};

int run(const Options& options, Stage& stage) {
    stage = Stage::checkpoint;
    const CheckpointModel found = model_of(checkpoint_or_demo(options.checkpoint), options.package);
    const std::unique_ptr<AnyModel> model = open_model(found);
    stage = Stage::arguments;
    check_sampling(options.sampling, found.title, model->levels());
    stage = Stage::input;
    Session session(*model, options, stage);
    LineReader reader(STDIN_FILENO);
    std::string line;
    LineReader::Result result{};
    while (!interrupted && (result = reader.next(line)) != LineReader::Result::end) {
        session.take(line, result == LineReader::Result::too_long);
    }
    session.finish();
    return exit_ok;
}

}  // namespace

int main(int argument_count, char** arguments) {
    catch_interrupts();
    return run_program(
        "stream", "a smaller --context or fewer columns",
        [&](std::ostream& answer) { return parse_command_line(argument_count, arguments, answer); }, run);
}
