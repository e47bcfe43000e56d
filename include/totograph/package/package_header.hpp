// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/json.hpp>
#include <totograph/io/json_text.hpp>
#include <totograph/io/json_value.hpp>
#include <totograph/io/text.hpp>
#include <totograph/package/elf_notes.hpp>
#include <totograph/package/instructions.hpp>
#include <totograph/package/note.hpp>

namespace totograph {

/// What a package says of itself.
struct PackageHeader {
    /// A model that it was compiled for.
    struct Model {
        std::string name;
        std::string config;  ///< JSON, as the `config.json` of its checkpoints has it.
        std::vector<Bucket> buckets;
    };

    std::filesystem::path path;
    std::string name;
    std::string version;   ///< Of the library.
    std::int64_t abi = 0;  ///< `TOTOGRAPH_ABI_VERSION`.
    std::string device;
    std::string architecture;
    std::vector<std::string> instructions;  ///< Extensions that its code may use.
    std::string compiler;
    std::string hash;  ///< Of all that it holds, as the linker computed it: hexadecimal.
    std::vector<Model> models;
};

namespace package::detail {

[[noreturn]] inline void refuse_header(const std::filesystem::path& path, std::string_view what) {
    refuse_file(path, "is no package of this library's kind: its header " + std::string(what) +
                          ". Name a file that totograph_add_package built.");
}

inline std::string text_at(const io::JsonValue& object, std::string_view name, const std::filesystem::path& path) {
    const io::JsonValue* const value = object.find(name);
    if (value == nullptr || value->string() == nullptr) {
        refuse_header(path, "does not say '" + std::string(name) + "'");
    }
    return *value->string();
}

inline Index integer_at(const io::JsonValue& object, std::string_view name, const std::filesystem::path& path) {
    const io::JsonValue* const value = object.find(name);
    if (value == nullptr || !value->integer()) {
        refuse_header(path, "does not say '" + std::string(name) + "'");
    }
    return *value->integer();
}

inline void read_package_note(PackageHeader& header, const io::JsonValue& note) {
    header.name = text_at(note, "name", header.path);
    header.version = text_at(note, "version", header.path);
    header.abi = integer_at(note, "abi", header.path);
    header.device = text_at(note, "device", header.path);
    header.architecture = text_at(note, "architecture", header.path);
    header.compiler = text_at(note, "compiler", header.path);
    if (const io::JsonValue* const list = note.find("instructions"); list != nullptr) {
        for (const io::JsonValue& one : list->items()) {
            header.instructions.push_back(one.string() == nullptr ? "" : *one.string());
        }
    }
}

inline PackageHeader::Model read_model_note(const io::JsonValue& note, const std::filesystem::path& path) {
    PackageHeader::Model model{.name = text_at(note, "name", path), .config = {}, .buckets = {}};
    if (const io::JsonValue* const config = note.find("config"); config != nullptr) {
        io::append_json(model.config, *config);
    }
    if (const io::JsonValue* const buckets = note.find("buckets"); buckets != nullptr) {
        for (const io::JsonValue& one : buckets->items()) {
            model.buckets.push_back({.batch = integer_at(one, "batch", path),
                                     .variates = integer_at(one, "variates", path),
                                     .context = integer_at(one, "context", path),
                                     .horizon = integer_at(one, "horizon", path),
                                     .samples = integer_at(one, "samples", path),
                                     .exogenous = integer_at(one, "exogenous", path)});
        }
    }
    return model;
}

inline std::string hexadecimal(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const char byte : bytes) {
        text += digits[static_cast<unsigned char>(byte) >> 4U];
        text += digits[static_cast<unsigned char>(byte) & 15U];
    }
    return text;
}

}  // namespace package::detail

/// Reads the header of a package, as data: nothing of the file runs. Throws `Error`: `file_not_found`, and
/// `invalid_file` for what is no package, or is not whole.
inline PackageHeader read_package_header(const std::filesystem::path& path) {
    using package::NoteKind;
    const package::ElfFile file = package::read_elf_notes(path);
    PackageHeader header;
    header.path = path;
    const std::string where = "The header of the package " + io::in_quotes(path.string(), io::longest_quote);
    for (const package::ElfNote& note : file.notes) {
        if (note.owner == "GNU" && note.kind == NT_GNU_BUILD_ID) {
            header.hash = package::detail::hexadecimal(note.content);
        } else if (note.owner == package::note_owner && note.kind == static_cast<std::uint32_t>(NoteKind::package)) {
            package::detail::read_package_note(header, io::parse_json(note.content, where));
        } else if (note.owner == package::note_owner && note.kind == static_cast<std::uint32_t>(NoteKind::model)) {
            header.models.push_back(package::detail::read_model_note(io::parse_json(note.content, where), path));
        }
    }
    if (header.name.empty()) {
        package::detail::refuse_file(path,
                                     "is a shared library, but no package: it has no header of one. Name a file that "
                                     "totograph_add_package built.");
    }
    return header;
}

/// Checks that this program and this machine can use a package. Throws `Error(invalid_file)`: for another version of
/// the interface, other processors or devices, or instructions that this one does not have.
inline void check_package_header(const PackageHeader& header) {
    using package::detail::refuse_file;
    if (header.abi != TOTOGRAPH_ABI_VERSION) {
        refuse_file(header.path, "is a package of totograph " + io::printable(header.version, 40) + " with version " +
                                     std::to_string(header.abi) + " of the C interface; this program knows version " +
                                     std::to_string(TOTOGRAPH_ABI_VERSION) + ". Build the " +
                                     (header.abi > TOTOGRAPH_ABI_VERSION ? "program" : "package") +
                                     " anew with the library of the other.");
    }
    if (header.device != "cpu" && header.device != "cuda") {
        refuse_file(header.path, "is a package for devices of the kind " + io::printable(header.device, 40) +
                                     ", which this program does not know. Use one for cpu or cuda.");
    }
    if (header.architecture != package::architecture) {
        refuse_file(header.path, "is a package for processors of the kind " + io::printable(header.architecture, 40) +
                                     ", and this program runs on " + std::string(package::architecture) +
                                     ". Use a package that was built for it.");
    }
    std::string missing;
    for (const std::string& one : header.instructions) {
        if (!package::processor_has(one)) {
            missing += (missing.empty() ? "" : ", ") + io::printable(one, 40);
        }
    }
    if (!missing.empty()) {
        refuse_file(header.path, "is a package for processors with " + missing +
                                     ", which this machine's does not have. Use one that was built for less, such as "
                                     "x86-64-v3.");
    }
}

}  // namespace totograph
