// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>

#include "../common/model_sizes.hpp"
#include "compiled_model.hpp"
#include "session.hpp"

// The programs' models behind plain functions. Each model with its buckets is compiled once, in a source file of its
// own beside this header, and every program links that: programs that change often then compile in a second or two.
namespace examples {

/// A forecaster of some bucket of some model. One thread at a time may use it.
using AnyForecaster = totograph::serve::BucketForecaster;

/// A model with its weights opened. Any number of threads may make forecasters of it.
class AnyModel {
public:
    AnyModel() = default;
    AnyModel(const AnyModel&) = delete;
    AnyModel& operator=(const AnyModel&) = delete;
    virtual ~AnyModel() = default;

    /// Steps that the model takes at a time. Of Toto 1.0, a forecast of up to so many costs one pass.
    [[nodiscard]] virtual totograph::Index patch_size() const = 0;

    /// The most that one request may hold.
    [[nodiscard]] virtual ModelSizes most() const = 0;

    /// The levels of the quantiles that it forecasts; empty for a model that samples.
    [[nodiscard]] virtual std::span<const double> levels() const = 0;

    /// A forecaster for the cheapest bucket that serves such a request (only its sizes count); others it takes in parts
    /// where they are larger. It computes with so many threads (0: one a core). Throws `Error(no_bucket)`.
    [[nodiscard]] virtual std::unique_ptr<AnyForecaster> forecaster(const totograph::Series& series,
                                                                    const totograph::ForecastOptions& options,
                                                                    int threads) const = 0;

    /// What makes sessions of it, that of the smallest ones first; none for a model whose context cannot grow.
    [[nodiscard]] virtual std::span<const SessionMaker> sessions() const { return {}; }
};

/// A checkpoint's model: one of those that the programs are compiled for, or of a package, which is loaded then.
struct CheckpointModel {
    std::filesystem::path checkpoint;
    std::string title;                        ///< As a person reads it.
    ModelSizes most;                          ///< That one request may hold.
    totograph::Index variates_at_once = 1;    ///< Unrelated series are best forecast so many at once.
    std::span<const double> levels{};         ///< Of the quantiles that it forecasts; empty for a model that samples.
    const CompiledModel* compiled = nullptr;  ///< Null for a model of a package.
    void (*add_cuda_backends)(totograph::serve::BackendRegistry& registry,
                              const std::filesystem::path& checkpoint) = nullptr;  ///< Null where there are none.
    std::shared_ptr<const totograph::serve::Backend> packaged{};  ///< Of a model of a package: what runs it.
    std::shared_ptr<const totograph::serve::Backend> device{};    ///< Where a device is to run it (`on_backend`).
};

/// Which model a checkpoint is, by its `config.json`; Toto Open Base 1.0 where it has none. Throws
/// `Error(config_mismatch)` for one that is no known model, or that this build leaves out, and says which it has.
///
/// @param package   a package to take in place of what the program is compiled for, or a folder of some; empty: none.
///                  Throws `Error` as `totograph::find_package`, `totograph::Package` and `totograph::load` do.
/// @param backend   whose kind of devices a package of a folder has to be for; empty: what TOTOGRAPH_BACKEND names, or
///                  the processor.
CheckpointModel model_of(const std::filesystem::path& checkpoint, const std::filesystem::path& package = {},
                         std::string_view backend = {});

/// The same model, run by a backend of this program: `cpu`, or one of a device, which is opened then. Empty: what
/// TOTOGRAPH_BACKEND names, or the CPU. A model of a package has its own. Throws `Error`: `invalid_argument` for a
/// backend that this program does not have, `device_failure` for one that this machine cannot run, and as
/// `totograph::load` does.
CheckpointModel on_backend(CheckpointModel model, std::string_view backend);

/// What a bucket holds, as the most of a model.
inline ModelSizes sizes_of(const totograph::Bucket& largest) {
    return {.context = largest.context,
            .horizon = largest.horizon,
            .variates = largest.variates,
            .known = largest.exogenous};
}

/// The same model, run by a backend of a device, which may be compiled for less: of its buckets that of the most
/// variates, and of these of the longest context, says how much.
inline CheckpointModel with_device(CheckpointModel model, std::shared_ptr<const totograph::serve::Backend> device) {
    const std::vector<totograph::Bucket> buckets = device->buckets();
    const totograph::Bucket& largest =
        *std::max_element(buckets.begin(), buckets.end(), [](const auto& a, const auto& b) {
            return std::pair(a.variates, a.context) < std::pair(b.variates, b.context);
        });
    model.most = sizes_of(largest);
    model.variates_at_once = std::min(model.variates_at_once, largest.variates);
    model.device = std::move(device);
    return model;
}

/// What the user of `--threads` should read where a device forecasts; empty where threads do.
inline std::string threads_note(const CheckpointModel& model, int threads) {
    return model.device == nullptr || threads == 0 ? ""
                                                   : "A device forecasts, one request after the other; --threads " +
                                                         std::to_string(threads) + " changes nothing.";
}

/// The largest batch of those buckets that are of one variate and hold a series like this one; 1 where none is.
inline totograph::Index largest_batch(std::span<const totograph::Bucket> buckets, const totograph::Bucket& one) {
    totograph::Index largest = 1;
    for (const totograph::Bucket& bucket : buckets) {
        if (bucket.variates == 1 && bucket.holds(one)) {
            largest = std::max(largest, bucket.batch);
        }
    }
    return largest;
}

/// How many series like this one, which do not see each other, are best forecast as a batch, each by itself: as many as
/// a bucket of a device holds; 1 where they are best put side by side as variates, as on the CPU.
inline totograph::Index batch_at_once(const CheckpointModel& model, const totograph::Bucket& one) {
    return model.device == nullptr ? 1 : largest_batch(model.device->buckets(), one);
}

/// The model that a program has compiled in. Throws `Error(invalid_argument)` for one of a package, which `option`
/// cannot explain.
const CompiledModel& compiled_in(const CheckpointModel& model, std::string_view option);

/// The folder of the small model that comes with the library: what TOTOGRAPH_DEMO_MODEL names, else where it was
/// installed beside the running program, else where it lies in the sources. Throws `Error(file_not_found)`.
std::filesystem::path demo_checkpoint();

/// The folder to read weights from: the one given, or that of the demo model.
inline std::filesystem::path checkpoint_or_demo(const std::filesystem::path& checkpoint) {
    return checkpoint.empty() ? demo_checkpoint() : checkpoint;
}

/// Opens a checkpoint and adds what runs its buckets: the backend `cpu`, and in builds with CUDA `cuda`,
/// `cuda-regional` and others; of a package, what it is for alone, which is open already. Throws `Error` as
/// `totograph::load` does.
void add_backends(totograph::serve::BackendRegistry& registry, const CheckpointModel& model);

/// Opens a checkpoint; that of a package is open already. Throws `Error` as `totograph::load` does.
std::unique_ptr<AnyModel> open_model(const CheckpointModel& model);

}  // namespace examples
