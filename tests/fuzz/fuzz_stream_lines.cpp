// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/file_descriptor.hpp>

#include "../../examples/stream/held_lines.hpp"
#include "../../examples/stream/line_reader.hpp"
#include "../../examples/stream/observation.hpp"
#include "../../examples/stream/options.hpp"
#include "require.hpp"

namespace {

using fuzz::require;

/// What a program writes that `stream` reads from: the bytes, then the end.
totograph::io::FileDescriptor pipe_with(const std::uint8_t* data, std::size_t size) {
    int ends[2] = {-1, -1};
    require(::pipe2(ends, O_CLOEXEC) == 0);
    totograph::io::FileDescriptor reader(ends[0]);
    const totograph::io::FileDescriptor writer(ends[1]);
    require(::write(writer.get(), data, size) == static_cast<::ssize_t>(size));
    return reader;
}

examples::Options options_of(std::uint8_t choice) {
    constexpr const char* separators[] = {"", ";", "tab", "|"};
    examples::Options options;
    options.intake.separator = separators[choice & 3U];
    if ((choice & 4U) != 0) {
        options.variates = 2;  // no header
    } else {
        options.intake.timestamp = (choice & 8U) != 0 ? "t" : "";
        if ((choice & 16U) != 0) {
            options.columns = {"a", "b"};
        }
    }
    return options;
}

/// Each line is an observation of all variates, or there is a sentence that says why not.
void read_line(examples::ObservationReader& observations, const std::string& line) {
    std::string problem;
    const std::optional<examples::Observation> observation = observations.read(line, problem);
    require(observation ? observation->values.size() == observations.names().size() : !problem.empty());
    for (const double value : observation ? observation->values : std::vector<double>()) {
        require(!std::isinf(value));
    }
    require(totograph::io::printable(problem) == problem);
    for (const std::string& note : observations.take_notes()) {
        require(totograph::io::printable(note) == note);
    }
}

/// The first lines, as the program takes them.
void read_held(examples::ObservationReader& observations, examples::HeldLines& held) {
    const std::vector<std::string> lines = std::exchange(held, {}).lines();
    const std::size_t rows_at = lines.empty() ? 0 : observations.read_head(lines);
    require(rows_at <= lines.size() && (rows_at == lines.size() || !observations.needs_header()));
    for (std::size_t place = rows_at; place < lines.size(); ++place) {
        read_line(observations, lines[place]);
    }
}

}  // namespace

/// Reads the bytes behind the first, which chooses the options, as the lines of a stream.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace examples;
    constexpr std::size_t pipe_bytes = 60'000;  // a pipe holds so many without a reader
    if (size < 2 || size > pipe_bytes) {
        return 0;
    }
    const Options options = options_of(data[0]);
    const totograph::io::FileDescriptor input = pipe_with(data + 1, size - 1);
    LineReader lines(input.get());
    ObservationReader observations(options);
    HeldLines held;
    std::string line;
    try {
        for (auto result = lines.next(line); result != LineReader::Result::end; result = lines.next(line)) {
            require(line.size() <= LineReader::longest_line && line.find('\n') == std::string::npos);
            if (!observations.needs_header()) {
                read_line(observations, line);
                continue;
            }
            held.add(line, result == LineReader::Result::too_long);
            if (held.are_full() || (held.are_usual() && observations.is_told_by(held.lines()))) {
                read_held(observations, held);
            }
        }
        read_held(observations, held);
    } catch (const totograph::Error& error) {
        require(error.code() == totograph::ErrorCode::invalid_series ||
                error.code() == totograph::ErrorCode::invalid_argument ||
                error.code() == totograph::ErrorCode::invalid_file);
        require(totograph::io::printable(error.what()) == error.what());
    }
    return 0;
}
