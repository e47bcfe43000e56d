// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_text.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/serve/explain/explanation.hpp>

// Explanations on their way through the C interface, as JSON.
namespace totograph::package {

namespace detail {

using ProgramField = std::pair<std::string_view, Index serve::ProgramSummary::*>;
inline constexpr std::array program_fields{ProgramField{"runs", &serve::ProgramSummary::runs},
                                           ProgramField{"recorded_nodes", &serve::ProgramSummary::recorded_nodes},
                                           ProgramField{"nodes", &serve::ProgramSummary::nodes},
                                           ProgramField{"kernels", &serve::ProgramSummary::kernels},
                                           ProgramField{"steps", &serve::ProgramSummary::steps},
                                           ProgramField{"launches", &serve::ProgramSummary::launches},
                                           ProgramField{"flops", &serve::ProgramSummary::flops},
                                           ProgramField{"bytes", &serve::ProgramSummary::bytes},
                                           ProgramField{"weight_bytes", &serve::ProgramSummary::weight_bytes}};

using MemoryField = std::pair<std::string_view, std::size_t serve::Explanation::*>;
inline constexpr std::array memory_fields{MemoryField{"shared_weight_bytes", &serve::Explanation::shared_weight_bytes},
                                          MemoryField{"state_bytes", &serve::Explanation::state_bytes},
                                          MemoryField{"cache_bytes", &serve::Explanation::cache_bytes},
                                          MemoryField{"arena_bytes", &serve::Explanation::arena_bytes},
                                          MemoryField{"workspace_bytes", &serve::Explanation::workspace_bytes},
                                          MemoryField{"own_weight_bytes", &serve::Explanation::own_weight_bytes}};

inline void append_field(std::string& to, std::string_view name, std::string_view value) {
    to += to.back() == '{' ? "\"" : ",\"";
    to += std::string(name) + "\":" + std::string(value);
}

inline Index integer_at(const io::JsonValue& object, std::string_view name) {
    const io::JsonValue* const found = object.find(name);
    return found == nullptr ? 0 : found->integer().value_or(0);
}

}  // namespace detail

/// All of an explanation but its backend, mode and bucket, which whoever asked knows.
inline std::string json_text(const serve::Explanation& explanation) {
    std::string text = "{";
    detail::append_field(text, "graph_launches", std::to_string(explanation.graph_launches));
    for (const auto& [name, member] : detail::memory_fields) {
        detail::append_field(text, name, std::to_string(explanation.*member));
    }
    detail::append_field(text, "programs", "[");
    for (const serve::ProgramSummary& program : explanation.programs) {
        text += text.back() == '[' ? "{" : ",{";
        std::string quoted;
        io::append_json_string(quoted, program.name);
        detail::append_field(text, "name", quoted);
        for (const auto& [name, member] : detail::program_fields) {
            detail::append_field(text, name, std::to_string(program.*member));
        }
        text += "}";
    }
    return text + "]}";
}

/// The explanation that such a text is of. Throws `Error(invalid_file)` for one that is no JSON.
inline serve::Explanation explanation_of(std::string_view text) {
    const io::JsonValue document = io::parse_json(text, "The explanation of a package");
    serve::Explanation explanation;
    explanation.graph_launches = detail::integer_at(document, "graph_launches");
    for (const auto& [name, member] : detail::memory_fields) {
        explanation.*member = static_cast<std::size_t>(detail::integer_at(document, name));
    }
    if (const io::JsonValue* const programs = document.find("programs"); programs != nullptr) {
        for (const io::JsonValue& each : programs->items()) {
            serve::ProgramSummary& program = explanation.programs.emplace_back();
            if (const io::JsonValue* const name = each.find("name"); name != nullptr && name->string() != nullptr) {
                program.name = *name->string();
            }
            for (const auto& [field, member] : detail::program_fields) {
                program.*member = detail::integer_at(each, field);
            }
        }
    }
    return explanation;
}

}  // namespace totograph::package
