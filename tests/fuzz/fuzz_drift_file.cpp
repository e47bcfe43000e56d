// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/drift_file.hpp>
#include <totograph/forecast/bucket.hpp>

#include "require.hpp"
#include "scratch_file.hpp"

using fuzz::require;

namespace {

/// A header and the data behind its NUL, with the number before them that says how long the header is.
std::string with_length(std::string_view text) {
    const std::size_t nul = std::min(text.find('\0'), text.size());
    const std::uint64_t length = nul;
    std::string file(sizeof length, '\0');
    std::memcpy(file.data(), &length, sizeof length);
    file += text.substr(0, nul);
    return file.append(text.substr(std::min(nul + 1, text.size())));
}

}  // namespace

/// Reads recorded forecasts from the bytes behind the first: as they are, or, where the first is odd, as a header with
/// data. Of what is accepted all sizes agree.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ScratchFile file(".safetensors");
    if (size == 0) {
        return 0;
    }
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    file.set((data[0] & 1U) != 0 ? with_length(text) : std::string(text));
    try {
        const totograph::serve::DriftSet set = totograph::serve::load_forecasts(file.path());
        require(!set.cases.empty() && set.cases.size() <= size);
        for (const auto& one : set.cases) {
            const totograph::Bucket& sizes = one.request.sizes;
            const auto rows = static_cast<std::size_t>(sizes.batch * sizes.variates);
            const std::size_t values = rows * static_cast<std::size_t>(sizes.context);
            require(sizes.context > 0 && sizes.horizon > 0 && sizes.samples >= 0 && rows > 0);
            require(one.request.values.size() == values && one.request.observed.size() == values);
            const auto samples = static_cast<std::size_t>(sizes.samples);
            require(samples == 0 || one.levels.empty());
            require(one.forecast.size() == rows * static_cast<std::size_t>(sizes.horizon) *
                                               std::max<std::size_t>({1, samples, one.levels.size()}));
            require(std::is_sorted(one.levels.begin(), one.levels.end()));
            require(one.request.scales.size() == rows);
            require(std::all_of(one.request.scales.begin(), one.request.scales.end(),
                                [](double scale) { return scale > 0 && std::isfinite(scale); }));
        }
    } catch (const totograph::Error& error) {
        using totograph::ErrorCode;
        require(error.code() == ErrorCode::invalid_file || error.code() == ErrorCode::tensor_mismatch);
        fuzz::require_harmless(error, error.code());
    }
    return 0;
}
