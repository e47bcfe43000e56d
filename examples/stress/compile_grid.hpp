// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <utility>

#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/backends/cpu_backend.hpp>

#include "grid_model.hpp"

namespace examples {

/// What all grids have: sizes, and their backend on the CPU.
template <class Grid>
constexpr GridModel compile_grid(std::string_view name) {
    return {.name = name,
            .one = Grid::buckets[0],
            .contexts = Grid::contexts,
            .batches = Grid::batches,
            .words = nullptr,
            .add_backend =
                [](totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
                    [&]<std::size_t... i>(std::index_sequence<i...>) {
                        totograph::serve::add_cpu_backend<typename Grid::Model, Grid::buckets[i]...>(
                            registry, Grid::weights(checkpoint));
                    }
                    (std::make_index_sequence<Grid::buckets.size()>());
                },
            .request = nullptr,
            .is_of = nullptr};
}

}  // namespace examples
