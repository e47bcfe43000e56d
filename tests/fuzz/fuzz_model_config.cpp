// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/model_config.hpp>

#include "require.hpp"

namespace {

using fuzz::require;
constexpr const char* keys[] = {"patch_size",
                                "stride",
                                "embed_dim",
                                "spacewise_first",
                                "scaler_cls",
                                "output_distribution_classes.0",
                                "output_distribution_kwargs.k_components",
                                "scale_factor_exponent",
                                "a.0.b.1",
                                ""};

template <class Action>
bool throws(Action&& action) {
    try {
        action();
        return false;
    } catch (const totograph::Error& error) {
        require(error.code() == totograph::ErrorCode::config_mismatch);
        return true;
    }
}

}  // namespace

/// Parses the bytes as a configuration, asks for each field as each type, and checks that a comparison agrees.
// NOLINTNEXTLINE(readability-identifier-naming): the name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<char> text(reinterpret_cast<const char*>(data), reinterpret_cast<const char*>(data) + size);
    try {
        const auto config =
            totograph::io::ModelConfig::parse(std::string_view(text.data(), text.size()), "fuzz/config.json");
        for (const char* const key : keys) {
            const bool integer_differs = throws([&] { static_cast<void>(config.integer(key)); });
            const bool number_differs = throws([&] { static_cast<void>(config.number(key)); });
            const bool boolean_differs = throws([&] { static_cast<void>(config.boolean(key)); });
            const bool text_differs = throws([&] { static_cast<void>(config.text(key)); });
            require(config.contains(key) || (integer_differs && number_differs && boolean_differs && text_differs));

            totograph::io::ConfigCheck same(config);
            if (!integer_differs) {
                require(!number_differs);
                same.integer(key, config.integer(key));
            }
            if (!number_differs) {
                same.number(key, config.number(key));
            }
            if (!boolean_differs) {
                same.boolean(key, config.boolean(key));
            }
            if (!text_differs) {
                same.text(key, config.text(key));
            }
            same.finish();
            totograph::io::ConfigCheck other(config);
            other.integer(key, 1, 2).number(key, 0.5).boolean(key, true).text(key, "<class>", "<other>");
            require(!other.differences().empty() && throws([&] { other.finish(); }));
        }
    } catch (const totograph::Error& error) {
        fuzz::require_harmless(error, totograph::ErrorCode::invalid_file);
    }
    return 0;
}
