// SPDX-License-Identifier: Apache-2.0
//
// stream: reads observations from standard input as they arrive, forecasts the next ones, and tells of each how far it
// lies from what was expected. Its memory does not grow, and no line can end it. The parts are in stream/;
// forecast_stream.hpp is the part that uses totograph.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "models/model.hpp"
#include "shared/exit_codes.hpp"
#include "shared/format.hpp"
#include "shared/output_files.hpp"
#include "stream/command_line.hpp"
#include "stream/forecast_stream.hpp"
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
};

/// Names the first few lines that cannot be used; all are counted.
void complain(std::int64_t& count, std::int64_t line, const std::string& what, const Options& options) {
    constexpr std::int64_t most = 5;
    ++count;
    if (!options.quiet && count <= most) {
        std::cerr << "stream: Line " << line << " is left out: " << what << "."
                  << (count == most ? " Further ones are only counted." : "") << "\n";
    }
}

void summarize(const Counts& counts, const ForecastStream* stream, const Latency& line_latency) {
    std::cerr << "stream: " << plural(counts.lines, "line") << ": " << count_text(counts.used) << " used, "
              << count_text(counts.late) << " late, " << count_text(counts.malformed) << " malformed.\n";
    if (stream == nullptr) {
        return;
    }
    std::cerr << "stream: " << plural(stream->missing(), "value") << " missing, " << plural(stream->alarms(), "alarm")
              << ".\n";
    if (stream->latency().count() > 0) {
        std::cerr << "stream: " << plural(stream->latency().count(), "forecast") << ": " << stream->latency().text()
                  << ".\nstream: line to output: " << line_latency.text() << ".\n";
    }
}

int run(const Options& options, Stage& stage) {
    stage = Stage::checkpoint;
    const std::unique_ptr<AnyModel> model = open_model(checkpoint_or_demo(options.checkpoint));
    stage = Stage::input;
    ObservationReader observations(options);
    LineReader reader(STDIN_FILENO);
    std::optional<ForecastStream> stream;
    StreamClock clock;
    Latency latency;
    Counts counts;
    bool has_clock = false;
    std::int64_t number = 0;
    std::string line;
    std::string problem;
    LineReader::Result result{};
    while (!interrupted && (result = reader.next(line)) != LineReader::Result::end) {
        const auto start = std::chrono::steady_clock::now();
        ++number;
        std::string out;
        if (number == 1) {
            out = ForecastStream::heading();
        }
        if (number == 1 && observations.needs_header()) {
            observations.read_header(line);
            stage = Stage::output;
            print(out);
            stage = Stage::input;
            continue;
        }
        ++counts.lines;
        std::optional<Observation> observation = observations.read(line, problem);
        if (result == LineReader::Result::too_long) {
            problem = "it is longer than a mebibyte";
            observation.reset();
        }
        StreamClock::Tick tick;
        if (observation && !observation->timestamp.empty()) {
            has_clock = true;
            tick = clock.advance(observation->timestamp);
            problem = "'" + printable(shortened(observation->timestamp, 40)) + "' is no timestamp";
        } else if (observation && has_clock) {
            tick.is_readable = false;
            problem = "it has no timestamp";
        }
        if (!observation || !tick.is_readable) {
            complain(counts.malformed, number, problem, options);
            // Without timestamps a line is a step, whatever it holds; with them the next line tells what is missing.
            if (!has_clock && stream) {
                stream->skip(1);
            }
        } else if (tick.is_late) {
            complain(counts.late, number, "its timestamp is not after that of the line before", options);
        } else {
            ++counts.used;
            stage = Stage::forecast;
            if (!stream) {
                stream.emplace(*model, options, observations.names());
            }
            stream->set_time(has_clock ? observation->timestamp : std::to_string(counts.lines));
            stream->take(*observation, tick.skipped, out);
            stream->print_forecast(has_clock ? &clock : nullptr, counts.lines, out);
        }
        if (!out.empty()) {
            stage = Stage::output;
            print(out);
            latency.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
        stage = Stage::input;
    }
    if (!options.quiet) {
        summarize(counts, stream ? &*stream : nullptr, latency);
    }
    if (!interrupted && (!stream || stream->latency().count() == 0)) {
        const std::size_t least = stream ? stream->least_steps() : 2 * static_cast<std::size_t>(model->patch_size());
        throw totograph::Error(totograph::ErrorCode::invalid_series,
                               "The input ended before a forecast could be made: " + plural(counts.used, "line") +
                                   " could be used, and " + std::to_string(least) + " are needed.");
    }
    return exit_ok;
}

int fail(const std::string& message, int code) {
    std::cerr << "stream: " << message << "\n";
    return code;
}

}  // namespace

int main(int argument_count, char** arguments) {
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe shall be an error like any other
    catch_interrupts();
    Stage stage = Stage::arguments;
    try {
        std::ostringstream answer;
        const std::optional<Options> options = parse_command_line(argument_count, arguments, answer);
        if (options) {
            return run(*options, stage);
        }
        stage = Stage::output;
        print(answer.str());
        return exit_ok;
    } catch (const totograph::Error& error) {
        return fail(error.what(), exit_code(error.code(), stage));
    } catch (const std::exception& error) {
        return fail(std::string("Something unforeseen went wrong: ") + error.what() + ".", exit_other);
    }
}
