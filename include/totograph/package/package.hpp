// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <totograph/package/loaded_functions.hpp>
#include <totograph/package/package_backend.hpp>
#include <totograph/package/package_header.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

namespace totograph {

/// A package: a shared library of models that were compiled ahead (`totograph_add_package`). Copies share it; it stays
/// loaded until the process ends. Any number of threads may use it.
///
///     const tg::Package package("demo.so");
///     tg::serve::BackendRegistry backends;
///     package.add_backend(backends, "checkpoint/");
///     tg::serve::ForecastService service(backends);
class Package {
public:
    /// Reads the header, checks it (`check_package_header`), and only then loads the library. What it loads runs with
    /// all rights of this process: load what you trust. Throws `Error`.
    explicit Package(const std::filesystem::path& path) : header_(read_package_header(path)) {
        check_package_header(header_);
        functions_ = std::make_shared<const package::LoadedFunctions>(header_);
    }

    [[nodiscard]] const PackageHeader& header() const noexcept { return header_; }

    /// Opens a checkpoint as the model of the package that it is of, and adds the executors of the package's buckets.
    /// Services treat them as those that are compiled in. Throws `Error`: as `totograph::load` does, and
    /// `invalid_argument` when the name is taken.
    ///
    /// @param name   of the backend; empty: the kind of the package's devices, `cpu` or `cuda`.
    void add_backend(serve::BackendRegistry& registry, const std::filesystem::path& checkpoint,
                     std::string name = {}) const {
        name = name.empty() ? header_.device : name;
        auto model = std::make_shared<const package::LoadedModel>(functions_, checkpoint);
        // Another build of the same model takes another time.
        std::string runs_on = header_.device == "cpu" ? "the processor, by the package " + header_.hash : "";
        registry.add(std::make_shared<const package::PackageBackend>(std::move(name), header_.device == "cuda",
                                                                     std::move(model), std::move(runs_on)));
    }

private:
    PackageHeader header_;
    std::shared_ptr<const package::LoadedFunctions> functions_;
};

}  // namespace totograph
