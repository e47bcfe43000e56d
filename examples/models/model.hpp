// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

#include "../common/model_sizes.hpp"

// The programs' models behind plain functions. Each model with its buckets is compiled once, in a source file of its
// own beside this header, and every program links that: programs that change often then compile in a second or two.
namespace examples {

/// A forecaster of some bucket of some model. One thread at a time may use it.
using AnyForecaster = totograph::serve::BucketForecaster;

/// The program of a bucket, as a table and as a Graphviz graph.
struct ProgramDescription {
    std::string table;
    std::string dot;
};

/// A model with its weights opened. Any number of threads may make forecasters of it.
class AnyModel {
public:
    AnyModel() = default;
    AnyModel(const AnyModel&) = delete;
    AnyModel& operator=(const AnyModel&) = delete;
    virtual ~AnyModel() = default;

    /// Steps that the model takes at a time: a forecast of up to so many costs one pass.
    [[nodiscard]] virtual totograph::Index patch_size() const = 0;

    /// The most that one request may hold.
    [[nodiscard]] virtual ModelSizes most() const = 0;

    /// A forecaster for the cheapest bucket that serves such a request (only its sizes count); others it takes in parts
    /// where they are larger. It computes with so many threads (0: one a core). Throws `Error(no_bucket)`.
    [[nodiscard]] virtual std::unique_ptr<AnyForecaster> forecaster(const totograph::Series& series,
                                                                    const totograph::ForecastOptions& options,
                                                                    int threads) const = 0;
};

/// The models that the programs are compiled for.
enum class ModelKind {
    demo,       ///< The small model that comes with the library.
    open_base,  ///< Toto Open Base 1.0.
};

/// Which of them a checkpoint is, by its `config.json`; Toto Open Base 1.0 where it has none.
ModelKind kind_of(const std::filesystem::path& checkpoint);

/// The most that one request of a model may hold.
ModelSizes most_of(ModelKind kind);
/// How many variates a smaller bucket holds: unrelated series, which need not see each other, are best forecast so many
/// at once.
totograph::Index variates_at_once(ModelKind kind);

/// What would run for such a request; needs no weights. Throws `Error(no_bucket)`.
ProgramDescription describe(ModelKind kind, const totograph::Series& series, const totograph::ForecastOptions& options);

/// The folder of the small model that comes with the library: what TOTOGRAPH_DEMO_MODEL names, else where it was
/// installed beside the running program, else where it lies in the sources. Throws `Error(file_not_found)`.
std::filesystem::path demo_checkpoint();

/// The folder to read weights from: the one given, or that of the demo model.
inline std::filesystem::path checkpoint_or_demo(const std::filesystem::path& checkpoint) {
    return checkpoint.empty() ? demo_checkpoint() : checkpoint;
}

/// Opens a checkpoint as the model that it is, and adds what runs its buckets: the backend `cpu`, and in builds with
/// CUDA `cuda`, `cuda-regional` and others. Throws `Error` as `totograph::load` does.
void add_backends(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint);

/// Reads all weights of a checkpoint. Throws `Error` for one that is not finite, and as `totograph::load` does.
void check_weights(const std::filesystem::path& checkpoint);

/// Opens a checkpoint as the model that it is. Throws `Error` as `totograph::load` does.
std::unique_ptr<AnyModel> open_model(const std::filesystem::path& checkpoint);

}  // namespace examples
