// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/random_access_file.hpp>
#include <totograph/io/text.hpp>

// What a shared library says of itself, read as a file: nothing of it runs.
namespace totograph::package {

/// A note of a file in the ELF format.
struct ElfNote {
    std::string owner;
    std::uint32_t kind = 0;
    std::string content;
};

/// The notes of a shared library, and the machine that it is for.
struct ElfFile {
    std::uint16_t machine = 0;
    std::vector<ElfNote> notes;
};

namespace detail {

[[noreturn]] inline void refuse_file(const std::filesystem::path& path, const std::string& what) {
    throw Error(ErrorCode::invalid_file, "The file " + io::in_quotes(path.string(), io::longest_quote) + " " + what);
}

template <class Part>
Part read_part(const io::RandomAccessFile& file, std::uint64_t offset) {
    if (offset > file.size() || file.size() - offset < sizeof(Part)) {
        refuse_file(file.path(), "was cut: it ends at byte " + std::to_string(file.size()) +
                                     ", inside its table of contents. Copy or build it again.");
    }
    Part part{};
    file.read(offset, std::as_writable_bytes(std::span(&part, 1)));
    return part;
}

/// Cuts a segment of notes, which are aligned to 4 bytes, into notes; what does not hold together ends it.
inline void append_notes(std::vector<ElfNote>& notes, std::string_view segment) {
    const auto take = [&](std::size_t size) {
        const std::string_view taken = segment.substr(0, size);
        const std::size_t step = (size + 3) / 4 * 4;
        segment.remove_prefix(std::min(step, segment.size()));
        return taken;
    };
    Elf64_Nhdr head{};
    while (segment.size() >= sizeof head) {
        std::memcpy(&head, segment.data(), sizeof head);
        segment.remove_prefix(sizeof head);
        if (head.n_namesz > segment.size() || head.n_descsz > segment.size() - head.n_namesz) {
            return;
        }
        const std::string_view owner = take(head.n_namesz);
        const std::string_view content = take(head.n_descsz);
        notes.push_back({std::string(owner.substr(0, owner.find('\0'))), head.n_type, std::string(content)});
    }
}

}  // namespace detail

/// Reads a shared library's notes. Throws `Error`: `file_not_found`, and `invalid_file` for what is no shared library
/// of this machine's kind, or is not whole.
inline ElfFile read_elf_notes(const std::filesystem::path& path) {
    const io::RandomAccessFile file(path);
    std::array<char, EI_NIDENT> ident{};
    file.read(0, std::as_writable_bytes(std::span(ident).first(std::min<std::size_t>(ident.size(), file.size()))));
    if (std::string_view(ident.data(), SELFMAG) != ELFMAG) {
        detail::refuse_file(path,
                            "is no package: it is no shared library. Name a file that totograph_add_package built.");
    }
    const auto head = detail::read_part<Elf64_Ehdr>(file, 0);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_type != ET_DYN ||
        head.e_phentsize != sizeof(Elf64_Phdr)) {
        detail::refuse_file(path,
                            "is no package: it is no shared library for 64 bits, little end first. Name a file "
                            "that totograph_add_package built.");
    }
    constexpr std::uint64_t longest_segment = 1U << 20U;
    ElfFile result{.machine = head.e_machine, .notes = {}};
    for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
        const auto segment = detail::read_part<Elf64_Phdr>(file, head.e_phoff + i * sizeof(Elf64_Phdr));
        if (segment.p_offset > file.size() || segment.p_filesz > file.size() - segment.p_offset) {
            detail::refuse_file(path, "was cut: it has " + std::to_string(file.size()) +
                                          " bytes, and its parts reach further. Copy or build it again.");
        }
        if (segment.p_type == PT_NOTE && segment.p_align <= 4 && segment.p_filesz <= longest_segment) {
            std::string text(segment.p_filesz, '\0');
            file.read(segment.p_offset, std::as_writable_bytes(std::span(text)));
            detail::append_notes(result.notes, text);
        }
    }
    return result;
}

}  // namespace totograph::package
