// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/grid/measure_grid.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/mode.hpp>

// What stands beside eager in the tables of contexts and batches.
namespace examples::detail {

/// A backend of a name. Throws `Error` where it cannot be used here.
inline std::shared_ptr<const totograph::serve::Backend> usable_backend(
    const totograph::serve::BackendRegistry& registry, const std::string& name,
    const totograph::serve::BackendResources& resources) {
    auto backend = registry.get(name);
    if (const std::string reason = backend->unavailable(resources); !reason.empty()) {
        throw totograph::Error(totograph::ErrorCode::device_failure, reason);
    }
    return backend;
}

/// What is measured.
struct TestedBackend {
    std::string backend;   ///< Empty: the processor.
    std::string baseline;  ///< Backend of the first column; empty: the same.
    totograph::serve::Mode mode = totograph::serve::Mode::max_autotune;
};

/// Whether a backend in a mode has to give what the baseline gives in mode `eager`: both compute in f32, or both are
/// of one device and precision and the mode launches eager's kernels.
inline bool same_arithmetic(const totograph::serve::Backend& baseline, const totograph::serve::Backend& tested,
                            totograph::serve::Mode mode) {
    using totograph::serve::Mode;
    const bool tunes = mode == Mode::max_autotune || mode == Mode::max_autotune_no_cudagraphs;
    const bool on_device = baseline.name().starts_with("cuda") && tested.name().starts_with("cuda");
    const bool same_precision = baseline.precision() == tested.precision();
    return same_precision && (tested.precision() == "f32" || (on_device && !tunes));
}

/// Eager first; the planned program; the mode under test, where it is another; and where that captures graphs, the same
/// captured layer by layer.
inline std::vector<totograph::serve::GridColumn> grid_columns(const totograph::serve::BackendRegistry& registry,
                                                              const TestedBackend& chosen,
                                                              const totograph::serve::BackendResources& resources) {
    using totograph::serve::Mode;
    const auto tested = usable_backend(registry, chosen.backend.empty() ? "cpu" : chosen.backend, resources);
    const auto baseline = chosen.baseline.empty() ? tested : usable_backend(registry, chosen.baseline, resources);
    const Mode mode = totograph::serve::effective_mode(chosen.mode);
    std::vector<totograph::serve::GridColumn> columns{{baseline, Mode::eager}};
    if (mode != Mode::eager) {
        columns.push_back({tested, Mode::standard, same_arithmetic(*baseline, *tested, Mode::standard)});
    }
    if (mode != Mode::eager && mode != Mode::standard) {
        columns.push_back({tested, mode, same_arithmetic(*baseline, *tested, mode)});
    }
    const std::string regional = std::string(tested->name()) + "-regional";
    const bool captures = mode == Mode::reduce_overhead || mode == Mode::max_autotune;
    for (const auto& backend : registry.all()) {
        if (captures && backend->name() == regional) {
            columns.push_back({backend, mode, same_arithmetic(*baseline, *backend, mode)});
        }
    }
    return columns;
}

}  // namespace examples::detail
