// SPDX-License-Identifier: Apache-2.0
//
// verify: says line by line whether this build, machine, checkpoint, folder for caches and environment are fit to
// serve, like a doctor. `totograph::serve::verify` is what a program of one's own would call.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/verify.hpp>
#include <totograph/diagnostics/verify/backends.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>

#include "common/exit_codes.hpp"
#include "common/output_files.hpp"
#include "common/run_program.hpp"
#include "models/device.hpp"
#include "models/model.hpp"
#include "verify/command_line.hpp"
#include "verify/options.hpp"

namespace {

using namespace examples;
namespace serve = totograph::serve;

constexpr int exit_not_fit = 7;

int run(const Options& options, Stage& stage) {
    stage = Stage::output;
    if (!options.json.empty()) {
        OutputFiles::check(options.json);
    }
    stage = Stage::forecast;
    serve::BackendRegistry registry;
    serve::VerifyOptions what;
    what.build = serve::build_identity();
    what.backend = options.backend;
    what.mode = options.mode;
    what.resources.threads = options.threads;
    try {
        what.checkpoint = checkpoint_or_demo(options.checkpoint);
    } catch (const totograph::Error& error) {
        const std::string reason = error.what();
        what.further.emplace_back([reason]() -> std::vector<serve::Check> {
            return {{"checkpoint", serve::CheckResult::failed, reason, "Name a checkpoint with --checkpoint."}};
        });
    }
    what.open_checkpoint = [&](const std::filesystem::path& checkpoint) {
        const CheckpointModel model = model_of(checkpoint, options.package, backend_to_serve(registry, what));
        add_backends(registry, model);
        if (model.compiled != nullptr) {
            model.compiled->check_weights(checkpoint);
        }
        return model.title;
    };
    // What a device has room for, check_devices tells.
    what.memory = [](const serve::Backend& backend) {
        return backend.name().starts_with("cuda") ? std::optional<std::size_t>() : serve::available_memory();
    };
    what.further.emplace_back([&options, &registry, &what] {
        const std::string serving = backend_to_serve(registry, what);
        const bool is_wanted = serving.starts_with("cuda");
        std::size_t wanted = 0;
        for (const auto& backend : registry.all()) {
            if (is_wanted && backend->name() == serving) {
                wanted = serve::memory_of_buckets(*backend, options.mode);
            }
        }
        std::vector<serve::Check> checks;
        if (is_wanted || serving.empty()) {
            checks = check_devices(0, wanted);
        }
        for (serve::Check& check : checks) {
            // Without a device the CPU serves, unless the device was asked for.
            if (serving.empty() && check.result == serve::CheckResult::failed) {
                check.result = serve::CheckResult::warning;
            }
        }
        return checks;
    });
    const serve::VerifyReport report = verify(registry, what);
    stage = Stage::output;
    OutputFiles files;
    if (!options.json.empty()) {
        files.add(options.json, json_text(report));
    }
    print(to_string(report));
    files.commit();
    return report.is_fit() ? exit_ok : exit_not_fit;
}

}  // namespace

int main(int argument_count, char** arguments) {
    return run_program(
        "verify", "a machine with more",
        [&](std::ostream& answer) { return parse_command_line(argument_count, arguments, answer); }, run);
}
