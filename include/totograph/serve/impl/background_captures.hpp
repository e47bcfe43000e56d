// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/background_captures.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/log.hpp>
#include <totograph/serve/background_build.hpp>
#include <totograph/serve/builder.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/served_backend.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE BackgroundCaptures::BackgroundCaptures(std::vector<ServedBackend>& backends, Builder& builder,
                                                        int capture_after)
    : backends_(backends), builder_(builder), capture_after_(capture_after) {
    if (capture_after_ < 1) {
        throw Error(ErrorCode::invalid_argument, "ServiceOptions::capture_after is " + std::to_string(capture_after_) +
                                                     ", expected 1 or more: how many requests the stance "
                                                     "eager_then_capture serves in mode eager.");
    }
}

TOTOGRAPH_INLINE void BackgroundCaptures::request(std::size_t backend, std::size_t which, Mode mode) {
    ServedBackend& served = backends_[backend];
    int& requests = served.places[which].at(mode).served_eagerly;
    if (requests > capture_after_) {
        return;  // it has begun: what failed is not tried again before a release
    }
    requests = std::min(requests + 1, capture_after_);
    if (requests == capture_after_ && build_ == nullptr) {
        ++requests;
        try {
            build_ = std::make_unique<BackgroundBuild>(backend, which, mode, builder_.apart(served, which, mode));
        } catch (const std::system_error& error) {  // no thread is left: requests go on in mode eager
            log(LogTopic::capture, [&] {
                return "cannot build " + describe(served, which, mode) + " in the background: " + error.what();
            });
            return;
        }
        log(LogTopic::capture, [&] { return "builds " + describe(served, which, mode) + " in the background"; });
    }
}

TOTOGRAPH_INLINE bool BackgroundCaptures::take(bool waits) {
    if (!build_ || (!waits && !build_->is_done())) {
        return false;
    }
    const std::unique_ptr<BackgroundBuild> ended = std::move(build_);
    ServedBackend& served = backends_[ended->backend()];
    try {
        Built built = ended->take();
        if (!served.places[ended->which()].at(ended->mode()).forecaster) {
            builder_.install(served, ended->which(), ended->mode(), std::move(built));
            served.places[ended->which()].set_built();
            return true;
        }
    } catch (const std::exception& error) {
        // Its requests go on in mode eager: they have not failed.
        log(LogTopic::capture, [&] {
            return "building " + describe(served, ended->which(), ended->mode()) +
                   " in the background failed: " + error.what();
        });
    } catch (...) {
        log(LogTopic::capture, [&] {
            return "building " + describe(served, ended->which(), ended->mode()) +
                   " in the background failed with what is no std::exception";
        });
    }
    return false;
}

}  // namespace totograph::serve::detail
