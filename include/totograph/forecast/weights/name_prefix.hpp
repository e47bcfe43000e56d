// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace totograph::forecast_detail {

/// A tensor's name without the prefixes of what wraps a model, or parts of it, in training: `_orig_mod` of
/// torch.compile, `module` of data-parallel training, and those of FSDP and of activation checkpointing.
inline std::string unwrapped_name(std::string_view name) {
    constexpr std::string_view wrappers[] = {"_orig_mod.", "module.", "_fsdp_wrapped_module.",
                                             "_checkpoint_wrapped_module."};
    std::string unwrapped;
    while (!name.empty()) {
        const std::string_view part = name.substr(0, std::min(name.find('.'), name.size() - 1) + 1);
        if (std::find(std::begin(wrappers), std::end(wrappers), part) == std::end(wrappers)) {
            unwrapped += part;
        }
        name.remove_prefix(part.size());
    }
    return unwrapped;
}

/// How all names in a file differ from those that are wanted, where they do so alike: by the parts of a name that end
/// in a dot, such as that of a model inside of another one.
struct NamePrefix {
    std::string too_much;    ///< That stands before each name in the file.
    std::string too_little;  ///< That each name in the file lacks.

    [[nodiscard]] bool is_there() const noexcept { return !too_much.empty() || !too_little.empty(); }
};

/// The prefix by which every wanted name is found among those of a file; none where there is no such one.
/// @param wanted      at least one; one name alone shares nothing with others, so it has no prefix
/// @param other_name  under which a tensor may be there as well; null where there is none
inline NamePrefix name_prefix(const std::vector<std::string>& wanted, const std::vector<std::string>& found,
                              std::string (*other_name)(std::string name)) {
    if (wanted.size() < 2) {
        return {};
    }
    const std::set<std::string, std::less<>> names(found.begin(), found.end());
    const auto has_all = [&](const auto& renamed) {
        for (const std::string& name : wanted) {
            if (!names.contains(renamed(name)) &&
                (other_name == nullptr || !names.contains(renamed(other_name(name))))) {
                return false;
            }
        }
        return true;
    };
    const std::string& first = wanted.front();
    for (const std::string& name : found) {
        if (name.size() > first.size() && name.ends_with(first)) {
            const std::string prefix = name.substr(0, name.size() - first.size());
            if (prefix.ends_with('.') && has_all([&](const std::string& one) { return prefix + one; })) {
                return {prefix, {}};
            }
        }
        if (name.size() < first.size() && std::string_view(first).ends_with(name)) {
            const std::string prefix = first.substr(0, first.size() - name.size());
            if (prefix.ends_with('.') && has_all([&](const std::string& one) {
                    return one.starts_with(prefix) ? one.substr(prefix.size()) : std::string();
                })) {
                return {{}, prefix};
            }
        }
    }
    return {};
}

}  // namespace totograph::forecast_detail
