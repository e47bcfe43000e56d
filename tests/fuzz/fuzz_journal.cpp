// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/io/cache/checksum.hpp>

#include "../../examples/backtest/journal.hpp"
#include "require.hpp"
#include "scratch_file.hpp"

namespace {

using fuzz::require;

/// The text with a checksum at the end of each line, and a last line that is as it was.
std::string with_checksums(std::string_view text) {
    std::string sealed =
        "totograph-backtest-1 fuzz " + totograph::io::checksum_text("totograph-backtest-1 fuzz") + "\n";
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        const std::string_view line = text.substr(0, end);
        sealed.append(line) += " " + totograph::io::checksum_text(line) + "\n";
        text.remove_prefix(end + 1);
    }
    return sealed.append(text);
}

}  // namespace

/// Opens a journal whose content is the bytes behind the first: as they are, or, where the first is odd, as lines whose
/// checksums are right. What opens must keep a further result, and open again with all that it held.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".journal");
    if (size == 0) {
        return 0;
    }
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    file.set((data[0] & 1U) != 0 ? with_checksums(text) : text);
    std::map<std::int64_t, std::string> finished;
    try {
        examples::Journal journal(file.path(), "fuzz");
        finished = journal.finished();
        journal.append(7, "seven");
    } catch (const totograph::Error& error) {
        require(error.code() == totograph::ErrorCode::invalid_argument);  // the journal of something else
        return 0;
    }
    finished[7] = "seven";
    const examples::Journal again(file.path(), "fuzz");
    require(again.finished() == finished);
    return 0;
}
