// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>

namespace totograph::serve {

/// The backends of a program, in the order in which they were added. Executors that different compilers build meet
/// here: a file that nvcc compiles adds `cuda`, another one `cpu`. Copies are cheap and share the backends.
class BackendRegistry {
public:
    /// Adds a backend. Throws `Error` (`invalid_argument`) when it has no name, or one that is taken.
    void add(std::shared_ptr<const Backend> backend) {
        const std::string_view added = backend->name();
        if (added.empty() || find(added) != nullptr) {
            throw Error(ErrorCode::invalid_argument,
                        "A backend named " + io::in_quotes(added, 100) +
                            " cannot be added: a name is not empty and is taken once; the registry has: " +
                            list_text() + ". Choose another name.");
        }
        backends_.push_back(std::move(backend));
    }

    /// The backends' names, in order.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const auto& backend : backends_) {
            names.emplace_back(backend->name());
        }
        return names;
    }

    /// The backend of a name. Throws `Error` (`invalid_argument`) that lists the names when there is none.
    [[nodiscard]] std::shared_ptr<const Backend> get(std::string_view name) const {
        if (auto found = find(name)) {
            return found;
        }
        throw Error(ErrorCode::invalid_argument, "There is no backend " + io::in_quotes(name, 100) +
                                                     "; the registry has: " + list_text() +
                                                     ". Use one of these, or add it to the registry.");
    }

    [[nodiscard]] const std::vector<std::shared_ptr<const Backend>>& all() const noexcept { return backends_; }

private:
    [[nodiscard]] std::shared_ptr<const Backend> find(std::string_view name) const {
        for (const auto& backend : backends_) {
            if (backend->name() == name) {
                return backend;
            }
        }
        return nullptr;
    }

    [[nodiscard]] std::string list_text() const {
        std::string list;
        for (const auto& backend : backends_) {
            list += (list.empty() ? "" : ", ") + std::string(backend->name());
        }
        return list.empty() ? "none" : list;
    }

    std::vector<std::shared_ptr<const Backend>> backends_;
};

}  // namespace totograph::serve
