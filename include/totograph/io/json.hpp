// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "totograph/core/error.hpp"
#include "totograph/io/text.hpp"

namespace totograph::io {

/// The deepest nesting of objects and arrays that `parse_json` accepts.
inline constexpr int max_json_depth = 32;

/// Parses a JSON object more strictly than the underlying parser: a key that an object holds twice, nesting deeper than
/// `max_json_depth`, NUL bytes (which the parser would take for the end), and a top level that is not an object are
/// errors.
///
/// `where` begins each message, as in "The header of 'model.safetensors'". Throws `Error(invalid_file)`.
inline nlohmann::json parse_json(std::string_view text, const std::string& where) {
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        throw Error(ErrorCode::invalid_file,
                    where + " is not JSON: it holds a NUL byte at offset " + std::to_string(position) + ".");
    }
    std::vector<std::unordered_set<std::string>> keys;
    const auto watch = [&](int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::object_start || event == Event::array_start) {
            if (depth >= max_json_depth) {
                throw Error(ErrorCode::invalid_file, where + " nests deeper than the " +
                                                         std::to_string(max_json_depth) + " levels that are accepted.");
            }
        }
        if (event == Event::object_start) {
            keys.emplace_back();
        } else if (event == Event::object_end) {
            keys.pop_back();
        } else if (event == Event::key && !keys.back().insert(parsed.get_ref<const std::string&>()).second) {
            throw Error(ErrorCode::invalid_file, where + " holds the key " +
                                                     in_quotes(parsed.get_ref<const std::string&>(), 300) +
                                                     " twice in one object; each key may stand once.");
        }
        return true;
    };
    nlohmann::json document;
    try {
        document = nlohmann::json::parse(text.begin(), text.end(), watch);
    } catch (const nlohmann::json::exception& exception) {
        // The parser's text begins with its own error number in brackets, which says nothing to a reader, and quotes
        // the token that it stopped at, however long.
        constexpr std::size_t longest = 400;
        std::string_view reason = exception.what();
        if (const std::size_t bracket = reason.find("] "); bracket != std::string_view::npos) {
            reason.remove_prefix(bracket + 2);
        }
        throw Error(ErrorCode::invalid_file, where + " is not JSON: " + std::string(reason.substr(0, longest)) +
                                                 (reason.size() > longest ? "..." : "."));
    }
    if (!document.is_object()) {
        throw Error(ErrorCode::invalid_file, where + " must be a JSON object at its top level, but it is of type " +
                                                 std::string(document.type_name()) + ".");
    }
    return document;
}

}  // namespace totograph::io
