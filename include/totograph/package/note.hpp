// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/io/constant_json.hpp>

// The header of a package: ELF notes with JSON, which stand in the file itself. They are read without loading it, and
// stripping leaves them.
namespace totograph::package {

/// The owner of our notes.
inline constexpr std::string_view note_owner = "totograph";

/// The kinds of our notes.
enum class NoteKind : std::uint32_t {
    package = 1,  ///< One of a package: name, versions, device, architecture, instructions, compiler.
    model = 2,    ///< One of each model: name, configuration, buckets.
};

/// A note as ELF lays it out, to be put into a section `.note.totograph`.
template <std::size_t length>
struct Note {
    std::uint32_t owner_size = note_owner.size() + 1;
    std::uint32_t text_size = length;
    NoteKind kind = NoteKind::package;
    std::array<char, (note_owner.size() + 4) / 4 * 4> owner{};
    std::array<char, (length + 3) / 4 * 4> text{};
};

/// The note of what `Document::write(io::ConstantJson&)` writes.
template <class Document>
consteval auto make_note(NoteKind kind) {
    constexpr auto written = io::constant_json<Document>();
    Note<written.size()> note{.kind = kind};
    for (std::size_t i = 0; i < note_owner.size(); ++i) {
        note.owner[i] = note_owner[i];
    }
    for (std::size_t i = 0; i < written.size(); ++i) {
        note.text[i] = written[i];
    }
    return note;
}

}  // namespace totograph::package
