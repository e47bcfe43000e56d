// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "totograph/core/error.hpp"
#include "totograph/io/text.hpp"

namespace totograph::io {

/// What `parse_json` accepts at most. A text that asks for more is refused before more is kept.
struct JsonLimits {
    std::size_t depth = 32;          ///< How deep objects and arrays may nest.
    std::size_t values = 1'000'000;  ///< Objects, arrays, strings, numbers, booleans and nulls, all together.
};

namespace detail {

/// Builds a document from the events of the parser, each in time that does not depend on those before it (a key: on
/// the logarithm of its object's size).
class JsonBuilder final : public nlohmann::json_sax<nlohmann::json> {
public:
    using Json = nlohmann::json;

    JsonBuilder(const std::string& where, JsonLimits limits) : where_(where), limits_(limits) {}

    bool null() override { return place(nullptr); }
    bool boolean(bool value) override { return place(value); }
    bool number_integer(Json::number_integer_t value) override { return place(value); }
    bool number_unsigned(Json::number_unsigned_t value) override { return place(value); }
    bool number_float(Json::number_float_t value, const std::string& /*text*/) override { return place(value); }
    bool string(std::string& value) override { return place(std::move(value)); }
    bool binary(Json::binary_t& value) override { return place(std::move(value)); }

    bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
    bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(std::string& name) override {
        const auto [position, is_new] = open_.back()->emplace(name, nullptr);
        if (!is_new) {
            fail("holds the key " + in_quotes(name, longest_quote) + " twice in one object; each key may stand once.");
        }
        member_ = &*position;
        return true;
    }

    bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const Json::exception& problem) override {
        // The parser's text begins with its own error number in brackets, which says nothing to a reader, and quotes
        // the token that it stopped at, however long.
        std::string_view reason = problem.what();
        if (const std::size_t bracket = reason.find("] "); bracket != std::string_view::npos) {
            reason.remove_prefix(bracket + 2);
        }
        fail("is not JSON: " + printable(reason, longest_quote) + ".");
    }

    [[nodiscard]] Json take() { return std::move(document_); }

private:
    [[noreturn]] void fail(const std::string& what) const { throw Error(ErrorCode::invalid_file, where_ + " " + what); }

    /// Puts a value where it belongs: at the top, under the last key, or at the end of an array.
    bool place(Json value) {
        if (++values_ > limits_.values) {
            fail("holds more than the " + std::to_string(limits_.values) + " values that are accepted.");
        }
        if (open_.empty()) {
            document_ = std::move(value);
            placed_ = &document_;
        } else if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
            placed_ = &open_.back()->back();
        } else {
            *member_ = std::move(value);
            placed_ = member_;
        }
        return true;
    }

    bool open(Json container) {
        if (open_.size() >= limits_.depth) {
            fail("nests deeper than the " + std::to_string(limits_.depth) + " levels that are accepted.");
        }
        place(std::move(container));
        open_.push_back(placed_);  // its parent stays as it is until it is closed, so the pointer does
        return true;
    }

    bool close() {
        open_.pop_back();
        return true;
    }

    const std::string& where_;
    JsonLimits limits_;
    Json document_;
    std::vector<Json*> open_;
    Json* member_ = nullptr;
    Json* placed_ = nullptr;
    std::size_t values_ = 0;
};

}  // namespace detail

/// Parses a JSON object, in time and memory linear in its text, more strictly than the underlying parser: a key that an
/// object holds twice, more depth or values than the limits, NUL bytes (which the parser would take for the end), and a
/// top level that is not an object are errors.
///
/// `where` begins each message, as in "The header of 'model.safetensors'". Throws `Error(invalid_file)`.
inline nlohmann::json parse_json(std::string_view text, const std::string& where, JsonLimits limits = {}) {
    if (const std::size_t position = text.find('\0'); position != std::string_view::npos) {
        throw Error(ErrorCode::invalid_file,
                    where + " is not JSON: it holds a NUL byte at offset " + std::to_string(position) + ".");
    }
    detail::JsonBuilder builder(where, limits);
    nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    nlohmann::json document = builder.take();
    if (!document.is_object()) {
        throw Error(ErrorCode::invalid_file, where + " must be a JSON object at its top level, but it is of type " +
                                                 std::string(document.type_name()) + ".");
    }
    return document;
}

}  // namespace totograph::io
