// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <totograph/io/time/timestamp.hpp>

#include "../../examples/stream/stream_clock.hpp"
#include "require.hpp"

using fuzz::require;

/// Reads each line as a timestamp. What is one must be written as text that is one, of the same instant; and a clock
/// takes them all, in any order, and says what comes next.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace examples;
    using namespace totograph::io;
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    StreamClock clock;
    while (!rest.empty()) {
        const std::string line(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(rest.size() == line.size() ? rest.size() : line.size() + 1);
        for (const DateOrder order : {DateOrder::year_first, DateOrder::month_first, DateOrder::day_first}) {
            if (const auto stamp = parse_timestamp(line, order)) {
                const std::string text = timestamp_text(stamp->instant, stamp->style);
                const auto again = parse_timestamp(text, order);
                // A leap second may begin the first year that is out of reach.
                require(again ? timestamp_text(again->instant, again->style) == text
                              : text.find("2251") != std::string::npos);
            }
        }
        (void)clock.resolve_held(line);
        const StreamClock::Tick tick = clock.advance(line);
        require(tick.skipped >= 0);
        require(!clock.later(static_cast<std::int64_t>(size)).empty());
    }
    return 0;
}
