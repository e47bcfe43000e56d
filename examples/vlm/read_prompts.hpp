// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/csv/text_encoding.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/text_file.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/models/nanovlm/prompts.hpp>

namespace examples {

/// Prompts with what they view.
struct VlmInput {
    std::vector<std::vector<std::int32_t>> tokens;
    std::vector<float> pixels;

    /// Pixels go to the prompts by their image tokens; those that are left over to the last one, which then refuses
    /// them.
    [[nodiscard]] std::vector<totograph::nanovlm::Prompt> prompts(
        const totograph::nanovlm::NanoVlmConfig& config) const {
        std::vector<totograph::nanovlm::Prompt> result;
        std::size_t used = 0;
        for (const std::vector<std::int32_t>& ids : tokens) {
            const auto rows = std::count(ids.begin(), ids.end(), config.image_token_id);
            const auto images = static_cast<std::size_t>(rows / config.vit.mp_image_token_length);
            const std::size_t left = pixels.size() - used;
            const bool is_last = result.size() + 1 == tokens.size();
            const std::size_t size =
                is_last ? left : std::min(left, images * static_cast<std::size_t>(config.vit.pixels()));
            result.push_back({ids, std::span(pixels).subspan(used, size)});
            used += size;
        }
        return result;
    }
};

namespace detail {

[[noreturn]] inline void reject_prompts(const std::string& sentence) {
    throw totograph::Error(totograph::ErrorCode::invalid_file, sentence);
}

/// The ids of one line.
inline std::vector<std::int32_t> ids_of(std::string_view line, std::size_t number) {
    constexpr std::string_view between = " \t,";
    std::vector<std::int32_t> ids;
    while (true) {
        const std::size_t begin = line.find_first_not_of(between);
        if (begin == std::string_view::npos) {
            return ids;
        }
        line.remove_prefix(begin);
        const std::string_view word = line.substr(0, line.find_first_of(between));
        std::int32_t id = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), id);
        if (read.ec != std::errc() || read.ptr != word.data() + word.size()) {
            reject_prompts("Line " + std::to_string(number) +
                           " of the prompts: " + totograph::io::in_quotes(word, totograph::io::longest_quote) +
                           " is no id; write whole numbers with blanks or commas between them.");
        }
        ids.push_back(id);
        line.remove_prefix(word.size());
    }
}

}  // namespace detail

/// A prompt of each line that is not empty. Throws `Error(invalid_file)`.
inline std::vector<std::vector<std::int32_t>> read_prompts(const std::filesystem::path& path) {
    constexpr std::size_t largest = 64U << 20U;
    std::string text;
    if (path == "-") {
        text.assign(std::istreambuf_iterator<char>(std::cin), {});
    } else {
        text = totograph::io::read_regular_text_file(path, largest);
    }
    std::vector<std::vector<std::int32_t>> prompts;
    std::size_t number = 0;
    std::string decoded;  // Windows writes marks, and UTF-16
    for (std::string_view left = totograph::io::as_utf8(text, decoded); !left.empty();) {
        const std::size_t end = std::min(left.find_first_of("\r\n"), left.size());
        std::vector<std::int32_t> ids = detail::ids_of(left.substr(0, end), ++number);
        left.remove_prefix(end);
        left.remove_prefix(left.starts_with("\r\n") ? 2 : std::min(left.size(), std::size_t{1}));
        if (!ids.empty()) {
            prompts.push_back(std::move(ids));
        }
    }
    if (prompts.empty()) {
        detail::reject_prompts("There is no prompt; write the ids of one on a line.");
    }
    return prompts;
}

/// The tensor `pixels` of a safetensors file, `[images, 3, size, size]`. Throws `Error`.
inline std::vector<float> read_pixels(const std::filesystem::path& path,
                                      const totograph::nanovlm::NanoVlmConfig& config) {
    const totograph::io::SafetensorsFile file(path);
    const std::string name = totograph::io::in_quotes(path.string(), totograph::io::longest_quote);
    const totograph::io::TensorInfo* const info = file.find("pixels");
    if (info == nullptr) {
        detail::reject_prompts("The file " + name + " has no tensor 'pixels'; save the images under that name.");
    }
    const auto& shape = info->shape;
    const totograph::Index size = config.vit.vit_img_size;
    if (shape.size() != 4 || shape[1] != 3 || shape[2] != size || shape[3] != size || !info->dtype ||
        !totograph::io::converts_to_float(*info->dtype)) {
        const std::string side = std::to_string(size);
        detail::reject_prompts("The tensor 'pixels' of " + name + " must be floats [images, 3, " + side + ", " + side +
                               "] of 0 to 1, but it is " + info->dtype_name + " " + totograph::io::to_string(shape) +
                               "; resize the images to what the model takes, and divide bytes by 255.");
    }
    std::vector<float> pixels(static_cast<std::size_t>(shape[0] * config.vit.pixels()));
    file.copy_to_float(*info, pixels);
    return pixels;
}

}  // namespace examples
