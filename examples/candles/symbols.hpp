// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/io/csv/split.hpp>
#include <totograph/io/text.hpp>
#include <totograph/models/kronos/candles.hpp>

#include "../common/format.hpp"
#include "../intake/read_input.hpp"
#include "candle_note.hpp"
#include "candle_table.hpp"
#include "column_roles.hpp"
#include "options.hpp"
#include "refuse_candles.hpp"

namespace examples {

/// The candles of one symbol.
struct Symbol {
    std::string name;
    CandleTable table;
    bool is_named;  ///< Whether the input names it, in a column or as one file of a folder.
};

namespace detail {

/// The column that names symbols: the one of --symbol-column, else one with a usual name. Nothing when there is none.
inline std::optional<std::string> symbol_column(const std::vector<std::string>& names, const std::string& wanted,
                                                const std::string& file) {
    for (const std::string& name : names) {
        const std::string bare = bare_name(name);
        if (wanted.empty() ? bare == "symbol" || bare == "ticker" : name == wanted) {
            return name;
        }
    }
    if (!wanted.empty()) {
        refuse_candles("The file " + file + " has no column " + totograph::io::in_quotes(wanted) +
                       ", which --symbol-column names.");
    }
    return std::nullopt;
}

/// The reader takes rows as they stand, for it makes gaps of nights; `candle_table` puts them in order.
inline CandleTable table_of_text(std::string_view text, const std::string& name, const IntakeOptions& intake,
                                 const SeenCandles& seen = {}) {
    IntakeOptions as_it_stands = intake;
    as_it_stands.as_is = true;
    as_it_stands.strict = false;
    return candle_table(read_table(text, name, as_it_stands, {}), name, intake, seen);
}

inline bool is_chosen(const std::string& name, const std::vector<std::string>& chosen) {
    return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
}

/// Whether a name ends so, in letters of either case. The ending has small ones.
inline bool ends_in(std::string_view name, std::string_view ending) {
    const auto is_of = [](char small, char letter) {
        return (letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter) == small;
    };
    return name.size() >= ending.size() && std::equal(ending.rbegin(), ending.rend(), name.rbegin(), is_of);
}

inline std::string symbol_of_file(const std::filesystem::path& file) {
    std::filesystem::path name = file.filename();
    if (ends_in(name.string(), ".gz")) {
        name = name.stem();
    }
    return name.stem().string();
}

/// The files of a folder that hold candles by their names. A link that leads nowhere is one, for its reader to refuse.
inline std::vector<std::filesystem::path> candle_files(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code failed;
    std::filesystem::directory_iterator entry(folder, failed);
    for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        std::error_code unknown;
        const bool is_file = entry->is_regular_file(unknown) || unknown;
        if (is_file && (ends_in(name, ".csv") || ends_in(name, ".csv.gz"))) {
            files.push_back(entry->path());
        }
    }
    const std::string quoted = totograph::io::in_quotes(folder.string(), totograph::io::longest_quote);
    if (failed) {
        refuse_candles("The folder " + quoted + " cannot be listed: " + failed.message() + ". Check the path.");
    }
    if (files.empty()) {
        refuse_candles("The folder " + quoted +
                       " holds no file whose name ends in .csv or .csv.gz, one for each symbol.");
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// A file for each symbol.
inline std::vector<Symbol> symbols_of_folder(const CandlesCommand& options, const SeenCandles& seen) {
    const std::vector<std::filesystem::path> files = candle_files(options.input);
    std::map<std::string, std::string> file_of;
    for (const std::filesystem::path& file : files) {
        const auto [first, is_new] = file_of.try_emplace(symbol_of_file(file), file.filename().string());
        if (!is_new && is_chosen(first->first, options.symbols)) {
            refuse_candles("The folder " + totograph::io::in_quotes(options.input.string()) +
                           " has two files for the symbol " + totograph::io::in_quotes(first->first) + ", " +
                           totograph::io::in_quotes(first->second) + " and " +
                           totograph::io::in_quotes(file.filename().string()) + "; leave one out.");
        }
    }
    std::vector<Symbol> symbols;
    for (const std::filesystem::path& file : files) {
        const std::string name = symbol_of_file(file);
        if (is_chosen(name, options.symbols)) {
            symbols.push_back(
                {name, table_of_text(read_input_text(file), input_name(file), options.intake, seen), true});
        }
    }
    return symbols;
}

/// One symbol, or a column that tells whose candle a row is.
inline std::vector<Symbol> symbols_of_file(const CandlesCommand& options, const SeenCandles& seen) {
    const std::string text = read_input_text(options.input);
    const std::string file = input_name(options.input);
    const totograph::io::CsvOptions csv = csv_options(options.intake);
    const std::optional<std::string> column = symbol_column(totograph::io::csv_column_names(text, file, csv),
                                                            options.symbol_column, totograph::io::in_quotes(file));
    std::vector<Symbol> symbols;
    if (!column) {
        const std::string name = options.input == "-" ? file : symbol_of_file(options.input);
        symbols.push_back({name, table_of_text(text, file, options.intake, seen), false});
        return symbols;
    }
    IntakeOptions intake = options.intake;
    std::vector<std::string> notes;
    for (const totograph::io::CsvPart& part : totograph::io::split_csv(text, file, *column, csv, &notes)) {
        if (is_chosen(part.value, options.symbols)) {
            intake.separator = part.separator;
            intake.marks = part.marks;
            symbols.push_back(
                {part.value, table_of_text(part.text, file + ", symbol " + part.value, intake, seen), true});
        }
    }
    if (!symbols.empty()) {
        std::vector<CandleNote>& first = symbols.front().table.notes;
        std::transform(notes.begin(), notes.end(), std::inserter(first, first.begin()), [](const std::string& note) {
            return CandleNote{note, note};
        });
    }
    return symbols;
}

}  // namespace detail

/// What the user should know of all symbols: how their files were read, what was done with rows, what is missing.
inline std::vector<std::string> notes_of(const std::vector<Symbol>& symbols) {
    CandleNotes notes;
    std::vector<std::string> without_volume;
    for (const Symbol& symbol : symbols) {
        for (const CandleNote& note : symbol.table.notes) {
            notes.add(note);
        }
        if (symbol.table.columns[static_cast<std::size_t>(totograph::kronos::Column::volume)].empty()) {
            without_volume.push_back(symbol.name);
        }
    }
    std::vector<std::string> sentences = notes.sentences();
    if (without_volume.size() == symbols.size()) {
        sentences.emplace_back("There is no column 'volume'; the model is told 0.");
    } else if (!without_volume.empty()) {
        sentences.push_back("There is no column 'volume' for " + std::to_string(without_volume.size()) + " of " +
                            plural(static_cast<std::int64_t>(symbols.size()), "symbol") + ", such as " +
                            totograph::io::in_quotes(without_volume.front()) + "; the model is told 0.");
    }
    return sentences;
}

/// The candles of all symbols that the command line names, or of all that there are. Throws `Error(invalid_file)` with
/// one sentence for what cannot be read, and for a symbol that is not there.
/// @param seen  which of them forecasts see
inline std::vector<Symbol> read_symbols(const CandlesCommand& options, const SeenCandles& seen) {
    std::error_code unknown;  // what it is says the reader
    std::vector<Symbol> symbols = options.input != "-" && std::filesystem::is_directory(options.input, unknown)
                                      ? detail::symbols_of_folder(options, seen)
                                      : detail::symbols_of_file(options, seen);
    for (const std::string& wanted : options.symbols) {
        const bool is_there =
            std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) { return symbol.name == wanted; });
        if (!is_there) {
            detail::refuse_candles("There is no symbol " + totograph::io::in_quotes(wanted) + " in " +
                                   totograph::io::in_quotes(input_name(options.input)) +
                                   "; a symbol is what a column 'symbol' says, or else the name of the file.");
        }
    }
    return symbols;
}

}  // namespace examples
