// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/serve/backends/backend.hpp>

namespace totograph::serve {

/// The backends of a program, in the order in which they were added. Executors that different compilers build meet
/// here: a file that nvcc compiles adds `cuda`, another one `cpu`. Copies are cheap and share the backends.
class BackendRegistry {
public:
    /// Adds a backend. Throws `Error` (`invalid_argument`) when it has no name, or one that is taken, or is null.
    void add(std::shared_ptr<const Backend> backend);

    /// The backends' names, in order.
    [[nodiscard]] std::vector<std::string> names() const;

    /// The backend of a name. Throws `Error` (`invalid_argument`) that lists the names when there is none.
    [[nodiscard]] std::shared_ptr<const Backend> get(std::string_view name) const;

    [[nodiscard]] const std::vector<std::shared_ptr<const Backend>>& all() const noexcept { return backends_; }

private:
    [[nodiscard]] std::shared_ptr<const Backend> find(std::string_view name) const;

    [[nodiscard]] std::string list_text() const;

    std::vector<std::shared_ptr<const Backend>> backends_;
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/backends/impl/backend_registry.hpp>
#endif
