// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/package/packaged_model.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

#include "session.hpp"

namespace examples {

/// The program of a bucket, as a table and as a Graphviz graph.
struct ProgramDescription {
    std::string table;
    std::string dot;
};

/// A model compiled for some buckets, behind plain functions. `compile_model.hpp` makes one of a model's type; each has
/// a source file of its own beside this header.
struct CompiledModel {
    /// What a package has of it, too. Its name is as TOTOGRAPH_PROGRAM_MODELS spells it; of its buckets, the last holds
    /// the most.
    totograph::package::PackagedModel model;
    /// How many variates a smaller bucket holds: unrelated series, which need not see each other, are best forecast so
    /// many at once.
    totograph::Index variates_at_once = 1;
    /// Reads all weights of a checkpoint. Throws `Error` for one that is not finite, and as `totograph::load` does.
    void (*check_weights)(const std::filesystem::path& checkpoint) = nullptr;
    /// What would run for such a request; needs no weights. Throws `Error(no_bucket)`.
    ProgramDescription (*describe)(const totograph::Series& series,
                                   const totograph::ForecastOptions& options) = nullptr;
    /// A page (HTML) about the same, with measured times. Throws `Error(no_bucket)`, and as `totograph::load` does.
    std::string (*page)(const std::filesystem::path& checkpoint, const totograph::Series& series,
                        const totograph::ForecastOptions& options, int threads) = nullptr;
    /// Does what `model.add_backend` does, and gives what makes sessions with the same weights, that of the smallest
    /// ones first; null for a model whose context cannot grow.
    std::vector<SessionMaker> (*add_backend_and_sessions)(totograph::serve::BackendRegistry& registry,
                                                          const std::filesystem::path& checkpoint) = nullptr;
};

/// A model that TOTOGRAPH_PROGRAM_MODELS names, with what adds its backends on a CUDA device: null where there are
/// none.
struct ListedModel {
    const CompiledModel* model = nullptr;
    void (*add_cuda_backends)(totograph::serve::BackendRegistry& registry,
                              const std::filesystem::path& checkpoint) = nullptr;
};

/// Those that were compiled in, in the order of TOTOGRAPH_PROGRAM_MODELS. ../CMakeLists.txt writes the list.
std::span<const ListedModel> listed_models();

}  // namespace examples
