// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/weights/checkpoint_source.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/forecast/weights/checkpoint_rules.hpp>
#include <totograph/forecast/weights/name_prefix.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/checkpoint/foreign_file.hpp>
#include <totograph/io/checkpoint/safetensors.hpp>
#include <totograph/io/checkpoint/safetensors_header.hpp>
#include <totograph/io/file_identity.hpp>
#include <totograph/io/text.hpp>

namespace totograph {

TOTOGRAPH_INLINE CheckpointSource::CheckpointSource(const io::CheckpointFiles& files,
                                                    const std::vector<NamedShape>& wanted, const CheckpointRules& rules)
    : rules_(rules), parts_(files.parts) {
    files_.reserve(files.weights.size());  // readers point to them
    for (const std::string& path : files.weights) {
        files_.push_back({io::file_identity(path), io::SafetensorsFile(path)});
    }
    if (!files.index.empty()) {
        check_index(files);
    }
    unwrap_names(wanted);
    std::set<const io::TensorInfo*> known;
    std::vector<std::string> missing;
    for (const NamedShape& tensor : wanted) {
        const std::optional<Place> place = find_any(tensor.name);
        const auto is_named = [&](const std::string& name) { return place->info.name == name; };
        const bool is_wrapped = place && !is_named(tensor.name) &&
                                (rules_.other_name == nullptr || !is_named(rules_.other_name(tensor.name)));
        // What wraps a name may be a part of another one that is wanted: no tensor stands for both.
        if (!place || (!known.insert(&place->info).second && is_wrapped)) {
            missing.push_back(tensor.name);
        }
    }
    const std::vector<Place> unknown = unknown_beside(known);
    if (!missing.empty()) {
        refuse_missing(missing.front(), {missing.begin() + 1, missing.end()}, unknown);
    }
    for (const NamedShape& tensor : wanted) {
        const Place place = find(tensor.name);
        check_dtype(place);
        check_shape(place, tensor.shape);
        check_other_name(place, tensor);
    }
    if (!unknown.empty()) {
        refuse_unknown(unknown);
    }
}

TOTOGRAPH_INLINE void CheckpointSource::read(const std::string& name, const Shape& shape,
                                             std::span<float> values) const {
    const Place place = find(name);
    check_shape(place, shape);
    place.file.copy_to_float(place.info, values);
}

TOTOGRAPH_INLINE std::unique_ptr<const TensorReader> CheckpointSource::reader(const std::string& name,
                                                                              const Shape& shape) const {
    const Place place = find(name);
    check_dtype(place);
    check_shape(place, shape);
    return std::make_unique<const Reader>(place.file, place.info);
}

TOTOGRAPH_INLINE std::string CheckpointSource::identity() const {
    std::string text;
    for (const File& file : files_) {
        const io::FileIdentity& before = file.before;
        if (before.path.empty() || !before.is_stable() || io::file_identity(file.opened.path()) != before) {
            return {};
        }
        text += before.text() + "header " + std::to_string(file.opened.header_checksum()) + "\n";
    }
    return text;
}

TOTOGRAPH_INLINE void CheckpointSource::check_index(const io::CheckpointFiles& files) const {
    std::map<std::string, const io::SafetensorsFile*> named;
    for (const File& file : files_) {
        const std::string name = std::filesystem::path(file.opened.path()).filename().string();
        named[name] = &file.opened;
        for (const io::TensorInfo& info : file.opened.tensors()) {
            const auto entry = files.shards.find(info.name);
            if (entry == files.shards.end() || entry->second != name) {
                throw Error(ErrorCode::invalid_file,
                            quoted(file.opened.path()) + " holds the tensor " +
                                io::in_quotes(info.name, io::longest_quote) + ", which the index " +
                                quoted(files.index) + " does not place there; the files are of different checkpoints.");
            }
        }
    }
    for (const auto& [tensor, name] : files.shards) {
        if (const io::SafetensorsFile& file = *named.at(name); file.find(tensor) == nullptr) {
            throw Error(ErrorCode::missing_tensor, quoted(file.path()) + " lacks the tensor " +
                                                       io::in_quotes(tensor, io::longest_quote) + ", which the index " +
                                                       quoted(files.index) +
                                                       " places there; the files are of different checkpoints.");
        }
    }
}

TOTOGRAPH_INLINE void CheckpointSource::unwrap_names(const std::vector<NamedShape>& wanted) {
    std::set<std::string, std::less<>> taken;
    for (const NamedShape& tensor : wanted) {
        taken.insert(tensor.name);
        if (rules_.other_name != nullptr) {
            taken.insert(rules_.other_name(tensor.name));
        }
    }
    for (const File& file : files_) {
        for (const io::TensorInfo& info : file.opened.tensors()) {
            std::string name = forecast_detail::unwrapped_name(info.name);
            if (name != info.name && !taken.contains(info.name)) {
                unwrapped_[std::move(name)].push_back({file.opened, info});
            }
        }
    }
}

TOTOGRAPH_INLINE std::optional<CheckpointSource::Place> CheckpointSource::find_spelled(const std::string& name) const {
    for (const File& file : files_) {
        if (const io::TensorInfo* info = file.opened.find(name); info != nullptr) {
            return Place{file.opened, *info};
        }
    }
    // Of several, as of a model and its average, none is known to be the one.
    const auto wrapped = unwrapped_.find(forecast_detail::unwrapped_name(name));
    return wrapped != unwrapped_.end() && wrapped->second.size() == 1 ? std::optional(wrapped->second.front())
                                                                      : std::nullopt;
}

TOTOGRAPH_INLINE std::optional<CheckpointSource::Place> CheckpointSource::find_any(const std::string& name) const {
    const std::optional<Place> place = find_spelled(name);
    return place || rules_.other_name == nullptr ? place : find_spelled(rules_.other_name(name));
}

TOTOGRAPH_INLINE CheckpointSource::Place CheckpointSource::find(const std::string& name) const {
    if (const std::optional<Place> place = find_any(name)) {
        return *place;
    }
    refuse_missing(name);
}

TOTOGRAPH_INLINE std::vector<CheckpointSource::Place> CheckpointSource::unknown_beside(
    const std::set<const io::TensorInfo*>& known) const {
    std::vector<Place> unknown;
    for (const File& file : files_) {
        for (const io::TensorInfo& info : file.opened.tensors()) {
            if (!known.contains(&info) && !is_ignored({file.opened, info})) {
                unknown.push_back({file.opened, info});
            }
        }
    }
    return unknown;
}

TOTOGRAPH_INLINE bool CheckpointSource::is_ignored(const Place& place) const {
    const std::string& name = place.info.name;
    if (rules_.is_ignored != nullptr && rules_.is_ignored(name)) {
        return true;
    }
    if (name == "n_averaged") {
        const std::span<const io::TensorInfo> beside = place.file.tensors();
        return std::any_of(beside.begin(), beside.end(),
                           [](const io::TensorInfo& one) { return one.name.starts_with("module."); });
    }
    if (rules_.is_ignored == nullptr) {
        return false;
    }
    const std::string unwrapped = forecast_detail::unwrapped_name(name);
    const std::optional<Place> meant = rules_.is_ignored(unwrapped) ? find_spelled(unwrapped) : std::nullopt;
    return meant && &meant->info == &place.info;
}

namespace forecast_detail {

/// A sentence with the first few of several names; nothing where there are none.
/// @param one, several  what is said of one, and of several behind their number
inline std::string names_sentence(const std::vector<std::string>& names, std::string_view one,
                                  std::string_view several) {
    constexpr std::size_t most = 8;
    if (names.empty()) {
        return {};
    }
    std::string text =
        " " + (names.size() == 1 ? std::string(one) : std::to_string(names.size()) + std::string(several)) + ": ";
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
        text += (i == 0 ? "" : ", ") + io::in_quotes(names[i], io::longest_quote);
    }
    return text + (names.size() > most ? ", ..." : ".");
}

/// What to do where all names of a file differ from the model's by one prefix.
inline std::string prefix_sentence(const NamePrefix& prefix, std::size_t tensors) {
    const std::string all = "all " + std::to_string(tensors) + " that are missing";
    return prefix.too_little.empty()
               ? ", and has " + all + " with " + io::in_quotes(prefix.too_much, io::longest_quote) +
                     " before the name, which what wraps a model in training puts there; save the model inside of it, "
                     "or take that from the names."
               : ", and has " + all + " without " + io::in_quotes(prefix.too_little, io::longest_quote) +
                     " before the name, as a part of a model is saved; save the whole model, or put that before the "
                     "names.";
}

inline bool is_of_adapter(std::string_view name) {
    return name.find("lora_") != std::string_view::npos || name.starts_with("base_model.model.");
}

/// What to do about a tensor of an adapter, as the end of a sentence.
inline std::string adapter_sentence(const std::string& name) {
    return io::in_quotes(name, io::longest_quote) + " is a part of " + std::string(io::adapter_and_advice) +
           " and save that.";
}

}  // namespace forecast_detail

TOTOGRAPH_INLINE std::vector<CheckpointSource::Place>::const_iterator CheckpointSource::first_of_adapter(
    const std::vector<Place>& places) {
    return std::find_if(places.begin(), places.end(),
                        [](const Place& place) { return forecast_detail::is_of_adapter(place.info.name); });
}

TOTOGRAPH_INLINE void CheckpointSource::refuse_missing(const std::string& name, const std::vector<std::string>& others,
                                                       const std::vector<Place>& unknown) const {
    std::vector<std::string> unread;
    unread.reserve(unknown.size());
    for (const Place& place : unknown) {
        unread.push_back(place.info.name);
    }
    std::span<const File> searched = files_;
    if (const std::size_t part = rules_.part_of == nullptr ? 0 : rules_.part_of(name); part < parts_.size()) {
        const auto before =
            std::accumulate(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(part), std::size_t{0});
        searched = searched.subspan(before, parts_[part]);
    }
    const std::string first = quoted(searched.front().opened.path());
    const std::string last = quoted(searched.back().opened.path());
    const bool is_one = searched.size() == 1;
    const std::string lacks =
        (is_one ? first + " lacks"
                : "The " + std::to_string(searched.size()) + " files from " + first + " to " + last + " lack") +
        " the tensor '" + name + "'";
    for (const std::string& spelled : {name, rules_.other_name == nullptr ? name : rules_.other_name(name)}) {
        const auto wrapped = unwrapped_.find(forecast_detail::unwrapped_name(spelled));
        if (wrapped == unwrapped_.end() || wrapped->second.size() < 2) {
            continue;
        }
        const std::vector<Place>& places = wrapped->second;
        throw Error(ErrorCode::missing_tensor, lacks + " by this name, but " + std::to_string(places.size()) +
                                                   " of their names mean it, such as " +
                                                   io::in_quotes(places.front().info.name, io::longest_quote) +
                                                   " and " + io::in_quotes(places.back().info.name, io::longest_quote) +
                                                   "; leave out all but the one that is meant.");
    }
    // Each part was saved by itself, perhaps with a prefix of its own.
    std::vector<std::string> missing{name};
    std::copy_if(others.begin(), others.end(), std::back_inserter(missing), [&](const std::string& other) {
        return parts_.empty() || rules_.part_of == nullptr || rules_.part_of(other) == rules_.part_of(name);
    });
    if (const auto prefix = forecast_detail::name_prefix(missing, unread, rules_.other_name); prefix.is_there()) {
        throw Error(ErrorCode::missing_tensor, lacks + forecast_detail::prefix_sentence(prefix, missing.size()));
    }
    if (const auto adapter = first_of_adapter(unknown); adapter != unknown.end()) {
        throw Error(ErrorCode::missing_tensor,
                    lacks + ", and " + forecast_detail::adapter_sentence(adapter->info.name));
    }
    throw Error(ErrorCode::missing_tensor,
                lacks + "; check that " + (is_one ? "the file is a" : "the files are a") +
                    (rules_.family.empty() ? "" : " ") + std::string(rules_.family) +
                    " checkpoint and that the configuration that was compiled is the checkpoint's." +
                    forecast_detail::names_sentence(others, "One more is missing", " more are missing") +
                    forecast_detail::names_sentence(unread, "One is there that the model does not read",
                                                    " are there that the model does not read"));
}

TOTOGRAPH_INLINE void CheckpointSource::refuse_unknown(const std::vector<Place>& unknown) const {
    if (const auto adapter = first_of_adapter(unknown); adapter != unknown.end()) {
        throw Error(ErrorCode::unexpected_tensor, "In " + quoted(adapter->file.path()) + ", " +
                                                      forecast_detail::adapter_sentence(adapter->info.name));
    }
    const Place& place = unknown.front();
    std::vector<std::string> others;
    std::transform(unknown.begin() + 1, unknown.end(), std::back_inserter(others),
                   [](const Place& one) { return one.info.name; });
    const std::string_view advice = rules_.advice == nullptr ? std::string_view{} : rules_.advice(place.info.name);
    throw Error(ErrorCode::unexpected_tensor,
                quoted(place.file.path()) + " holds a tensor " + io::in_quotes(place.info.name, io::longest_quote) +
                    " that this architecture does not have; " +
                    (advice.empty() ? "check that the configuration that was compiled is the checkpoint's."
                                    : std::string(advice)) +
                    forecast_detail::names_sentence(others, "So is one more", " more are like it"));
}

TOTOGRAPH_INLINE void CheckpointSource::check_other_name(const Place& place, const NamedShape& tensor) const {
    const std::string other_name = rules_.other_name == nullptr ? tensor.name : rules_.other_name(tensor.name);
    const bool may_be_there = rules_.is_ignored != nullptr && rules_.is_ignored(other_name);
    const std::optional<Place> other = may_be_there ? find_spelled(other_name) : std::nullopt;
    if (!other || &other->info == &place.info) {
        return;
    }
    check_dtype(*other);
    check_shape(*other, tensor.shape);
    const auto same = [](float one, float two) { return one == two || (std::isnan(one) && std::isnan(two)); };
    const auto size = static_cast<std::size_t>(tensor.shape.size());
    std::vector<float> values(std::min(size, std::size_t{1} << 16U));
    std::vector<float> others(values.size());
    for (std::size_t first = 0; first < size; first += values.size()) {
        const std::size_t count = std::min(values.size(), size - first);
        place.file.read_floats(place.info, first, std::span(values).first(count));
        other->file.read_floats(other->info, first, std::span(others).first(count));
        if (!std::equal(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count), others.begin(), same)) {
            throw Error(ErrorCode::tensor_mismatch,
                        quoted(place.file.path()) + ": the tensors " + io::in_quotes(place.info.name) + " and " +
                            io::in_quotes(other->info.name) +
                            " are one tensor under two names by the configuration, but their values differ; leave out "
                            "the one that is not meant, or correct the configuration.");
        }
    }
}

TOTOGRAPH_INLINE void CheckpointSource::check_shape(const Place& place, const Shape& expected) {
    const std::vector<Index>& found = place.info.shape;
    bool same = found.size() == static_cast<std::size_t>(expected.rank);
    for (std::size_t axis = 0; same && axis < found.size(); ++axis) {
        same = found[axis] == expected[static_cast<int>(axis)];
    }
    if (!same) {
        throw Error(ErrorCode::tensor_mismatch,
                    quoted(place.file.path()) + ": tensor " + io::in_quotes(place.info.name, io::longest_quote) +
                        " should have shape " + to_string(expected) + ", found " + io::to_string(found) +
                        "; use the configuration of this checkpoint.");
    }
}

TOTOGRAPH_INLINE void CheckpointSource::check_dtype(const Place& place) {
    if (!place.info.dtype || !io::converts_to_float(*place.info.dtype)) {
        // Integers and floats of eight bits and less stand for other numbers, by scales in tensors of their own.
        constexpr auto& types = io::detail::safetensors_types;
        const bool is_quantized = std::any_of(types.begin(), types.end(), [&](const io::detail::SafetensorsType& type) {
            return type.name == place.info.dtype_name && type.bits <= 8 && type.name != "BOOL";
        });
        throw Error(ErrorCode::tensor_mismatch,
                    quoted(place.file.path()) + ": tensor " + io::in_quotes(place.info.name, io::longest_quote) +
                        " has the dtype " + io::in_quotes(place.info.dtype_name) +
                        ", but F32, F64, BF16 or F16 was expected; " +
                        (is_quantized ? "use the checkpoint as it was before it was quantized."
                                      : "convert the checkpoint to one of these."));
    }
}

}  // namespace totograph
