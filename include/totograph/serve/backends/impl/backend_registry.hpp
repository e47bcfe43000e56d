// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/backends/backend_registry.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE void BackendRegistry::add(std::shared_ptr<const Backend> backend) {
    if (!backend) {
        throw Error(ErrorCode::invalid_argument, "There is no backend to add, but a null pointer. Pass one.");
    }
    const std::string_view added = backend->name();
    if (added.empty() || find(added) != nullptr) {
        throw Error(ErrorCode::invalid_argument,
                    "A backend named " + io::in_quotes(added, 100) +
                        " cannot be added: a name is not empty and is taken once; the registry has: " + list_text() +
                        ". Choose another name.");
    }
    backends_.push_back(std::move(backend));
}

TOTOGRAPH_INLINE std::vector<std::string> BackendRegistry::names() const {
    std::vector<std::string> names;
    for (const auto& backend : backends_) {
        names.emplace_back(backend->name());
    }
    return names;
}

TOTOGRAPH_INLINE std::shared_ptr<const Backend> BackendRegistry::get(std::string_view name) const {
    if (auto found = find(name)) {
        return found;
    }
    throw Error(ErrorCode::invalid_argument, "There is no backend " + io::in_quotes(name, 100) +
                                                 "; the registry has: " + list_text() +
                                                 ". Use one of these, or add it to the registry.");
}

TOTOGRAPH_INLINE std::shared_ptr<const Backend> BackendRegistry::find(std::string_view name) const {
    for (const auto& backend : backends_) {
        if (backend->name() == name) {
            return backend;
        }
    }
    return nullptr;
}

TOTOGRAPH_INLINE std::string BackendRegistry::list_text() const {
    std::string list;
    for (const auto& backend : backends_) {
        list += (list.empty() ? "" : ", ") + std::string(backend->name());
    }
    return list.empty() ? "none" : list;
}

}  // namespace totograph::serve
