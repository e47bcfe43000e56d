// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/forecast/cpu/resources.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/models/toto2/session/options.hpp>

#include "../common/format.hpp"
#include "../common/require_finite.hpp"
#include "../intake/column_groups.hpp"
#include "../models/session.hpp"
#include "context_ring.hpp"
#include "expectation.hpp"
#include "stream_window.hpp"

namespace examples {

/// Why a forecast read its whole context, of those that may go on from one.
enum class WholeContext : std::uint8_t { first, full, changed, apart, few_observations, no_memory };

/// The reasons in a few words, as a summary counts them.
inline constexpr std::array<std::string_view, 6> whole_context_names = {"at a start",
                                                                        "as the context was full",
                                                                        "as a variate came or values went far away",
                                                                        "as forecasts lay far apart",
                                                                        "as a variate has few observations",
                                                                        "for want of memory"};

/// Contexts that grow with a stream, and go on from what a model has computed of them.
///
/// A model cuts a context into patches, of which the newest step ends one. So those that end at step 64 and at step 96
/// have their patches in common, and those at 64 and 65 have none. There is a context for each place of the newest step
/// within a patch at which forecasts are made: one where forecasts are whole patches apart, as many as a patch has
/// steps where each line is forecast from.
class GrowingContexts {
public:
    struct Settings {
        totograph::Index patch_size = 0;
        std::int64_t context = 0;  ///< Steps that a forecast reads at most.
        std::int64_t horizon = 0;
        std::int64_t every = 0;     ///< Steps between forecasts.
        std::int64_t variates = 1;  ///< That one session forecasts.
        bool independent = false;
        int threads = 0;
    };

    /// Why there can be none, as a part of a sentence; empty when there can.
    [[nodiscard]] static std::string refusal(std::span<const SessionMaker> makers, const Settings& settings) {
        const totograph::Index horizon = makers.back().most.horizon;
        if (settings.horizon > horizon) {
            return "a context that goes on is forecast at most " + count_text(horizon) + " steps ahead, and not " +
                   count_text(settings.horizon);
        }
        if (settings.context < least_patches * settings.patch_size) {
            return "only a context of at least " + count_text(least_patches * settings.patch_size) +
                   " observations can go on, and --context is " + count_text(settings.context);
        }
        if (const std::int64_t patches = patches_at_once(settings); costs_more(patches, horizon, settings)) {
            return "with --every " + count_text(settings.every) + " a context takes " + count_text(patches) +
                   " new patches at a time, which is more work than reading " + count_text(settings.context) +
                   " observations";
        }
        return "";
    }

    /// Of settings for which there can be some.
    GrowingContexts(std::span<const SessionMaker> makers, const Settings& settings, std::vector<ColumnGroup> columns)
        : maker_(smallest(makers, settings)),
          settings_(settings),
          columns_(std::move(columns)),
          room_(std::min<std::int64_t>(settings.context, maker_.most.context) / settings.patch_size),
          kept_(std::max<std::int64_t>(2, room_ * 3 / 4)),
          pool_(std::make_shared<totograph::cpu::ThreadPool>(totograph::thread_count(settings.threads))) {
        contexts_.push_back(make());
        std::size_t bytes = 0;
        for (const auto& session : contexts_.front().sessions) {
            bytes += session->memory_bytes();
        }
        most_ = std::clamp<std::size_t>(most_bytes / bytes, 1, static_cast<std::size_t>(settings.patch_size));
        const std::int64_t wanted = settings.patch_size / std::gcd<std::int64_t>(settings.every, settings.patch_size);
        if (const auto most = static_cast<std::int64_t>(most_); wanted > most) {
            notes_.push_back("Of each " + std::to_string(wanted) + " forecasts " + std::to_string(most) +
                             (most == 1 ? " goes" : " go") +
                             " on from what was computed before, and the others read the whole context: " +
                             (most == 1 ? "one" : "those") + " take" + (most == 1 ? "s " : " ") +
                             std::to_string((most_ * bytes) >> 20U) + " MiB of memory.");
        }
    }

    /// A forecast: whether any variate has an observation in its context, and which.
    struct Grown {
        const std::vector<bool>* is_known = nullptr;  ///< Null where none has, so that nothing is forecast.
        bool is_whole = false;                        ///< Whether the model read all of the context.
    };

    /// Forecasts what follows the newest observation, the `row`th one. Nothing comes back where there is no context
    /// for it; whoever asks has to read the whole one.
    std::optional<Grown> forecast(const ContextRing& ring, std::uint64_t row, Expectations& expected) {
        Context* const context = find(row);
        if (context == nullptr) {
            count(WholeContext::no_memory);
            return std::nullopt;
        }
        using totograph::toto2::Recomputation;
        const totograph::Index for_few = recomputations(*context, Recomputation::few_observations);
        const totograph::Index for_many = recomputations(*context, Recomputation::many_patches);
        std::optional<WholeContext> reason = advance(*context, ring, row);
        if (context->steps == 0) {
            return Grown{};
        }
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const totograph::Forecast forecast =
                context->sessions[i]->forecast(static_cast<totograph::Index>(settings_.horizon));
            require_finite(forecast);
            expected.add(forecast, context->window.levels(columns_[i]));
        }
        if (recomputations(*context, Recomputation::few_observations) > for_few) {
            reason = WholeContext::few_observations;
        } else if (recomputations(*context, Recomputation::many_patches) > for_many) {
            reason = WholeContext::apart;
        }
        if (reason) {
            count(*reason);
        }
        return Grown{&context->window.is_known(), reason.has_value()};
    }

    /// How many forecasts read their whole context for a reason.
    [[nodiscard]] std::int64_t whole(WholeContext reason) const { return whole_[static_cast<std::size_t>(reason)]; }

    /// Sentences that the user should read, since the last call.
    [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

private:
    static constexpr std::int64_t least_patches = 4;  // with fewer, every other forecast would find no room
    static constexpr std::size_t most_bytes = std::size_t{512} << 20U;

    /// Patches that each context takes before it is asked again.
    [[nodiscard]] static std::int64_t patches_at_once(const Settings& settings) {
        return std::lcm<std::int64_t>(settings.every, settings.patch_size) / settings.patch_size;
    }

    /// Whether going on by so many patches, each a pass over it, the one before and those ahead, is more work than a
    /// pass over everything.
    [[nodiscard]] static bool costs_more(std::int64_t patches, std::int64_t horizon, const Settings& settings) {
        // On two cores reading the weights, once a pass, takes as long as 12 rows do in the 4m model and 14 in the 22m
        // model (docs/performance.md, a context that grows).
        constexpr std::int64_t pass = 12;
        const std::int64_t ahead = (horizon + settings.patch_size - 1) / settings.patch_size;
        const std::int64_t mean_context = settings.context / settings.patch_size * 7 / 8;
        return patches * (settings.variates * (1 + ahead) + pass) > settings.variates * (mean_context + ahead) + pass;
    }

    struct Context {
        StreamWindow window;
        std::vector<std::unique_ptr<AnySession>> sessions;  // of each group of columns
        std::uint64_t row = 0;                              // of the newest step
        std::size_t steps = 0;                              // 0: it has not begun
    };

    /// What makes the smallest sessions that hold so much; else the largest.
    [[nodiscard]] static const SessionMaker& smallest(std::span<const SessionMaker> makers, const Settings& settings) {
        const auto found = std::find_if(makers.begin(), makers.end(), [&](const SessionMaker& maker) {
            return maker.most.context >= settings.context && maker.most.horizon >= settings.horizon;
        });
        return found == makers.end() ? makers.back() : *found;
    }

    [[nodiscard]] Context make() const {
        std::size_t variates = 0;
        std::vector<std::unique_ptr<AnySession>> sessions;
        for (const ColumnGroup& columns : columns_) {
            variates += columns.count;
            sessions.push_back(maker_.make({.pool = pool_}));
        }
        return {StreamWindow(variates, settings_.independent), std::move(sessions)};
    }

    /// The context whose patches end where a row does.
    [[nodiscard]] Context* find(std::uint64_t row) {
        const auto patch = static_cast<std::uint64_t>(settings_.patch_size);
        for (Context& context : contexts_) {
            if (context.steps > 0 && (row - context.row) % patch == 0) {
                return &context;
            }
        }
        // After a pause forecasts may fall on other places: who was not asked in its turn will not be any more.
        const auto turn = static_cast<std::uint64_t>(std::lcm<std::int64_t>(settings_.every, settings_.patch_size));
        for (Context& context : contexts_) {
            if (context.steps == 0 || row - context.row > turn) {
                context.steps = 0;
                return &context;
            }
        }
        if (contexts_.size() < most_) {
            contexts_.push_back(make());
            return &contexts_.back();
        }
        return nullptr;
    }

    [[nodiscard]] std::int64_t patches(std::uint64_t steps) const {
        return (static_cast<std::int64_t>(steps) + settings_.patch_size - 1) / settings_.patch_size;
    }

    /// Takes the rows that came since. Tells why when it begins anew.
    [[nodiscard]] std::optional<WholeContext> advance(Context& context, const ContextRing& ring,
                                                      std::uint64_t row) const {
        if (context.steps == 0) {
            start(context, ring, row, ring.steps());
            return WholeContext::first;
        }
        const std::uint64_t fresh = row - context.row;
        if (fresh > ring.steps()) {
            start(context, ring, row, ring.steps());
            return WholeContext::apart;
        }
        const std::size_t steps = context.steps + static_cast<std::size_t>(fresh);
        if (patches(steps) > room_) {
            start(context, ring, row, ring.steps());
            return WholeContext::full;
        }
        if (fresh > 0 && !context.window.read_next(ring, static_cast<std::size_t>(fresh))) {
            start(context, ring, row, steps);
            return WholeContext::changed;
        }
        for (std::size_t i = 0; i < columns_.size() && fresh > 0; ++i) {
            context.sessions[i]->append(context.window.series(columns_[i]));
        }
        context.row = row;
        context.steps = steps;
        return std::nullopt;
    }

    /// Begins with the newest steps; with fewer where these would leave no room to grow.
    void start(Context& context, const ContextRing& ring, std::uint64_t row, std::size_t steps) const {
        if (patches(steps) >= room_) {
            steps = static_cast<std::size_t>(kept_ * settings_.patch_size);
        }
        context.row = row;
        context.steps = context.window.read(ring, steps) ? steps : 0;
        for (std::size_t i = 0; i < columns_.size() && context.steps > 0; ++i) {
            context.sessions[i]->start(context.window.series(columns_[i]));
        }
    }

    [[nodiscard]] static totograph::Index recomputations(const Context& context,
                                                         totograph::toto2::Recomputation reason) {
        totograph::Index sum = 0;
        for (const auto& session : context.sessions) {
            sum += session->recomputations(reason);
        }
        return sum;
    }

    void count(WholeContext reason) {
        if (whole_[static_cast<std::size_t>(reason)]++ == 0 && reason == WholeContext::full) {
            notes_.push_back("The context is full: its newest " + count_text(kept_ * settings_.patch_size) +
                             " observations are kept and read again, and it goes on from there to " +
                             count_text(room_ * settings_.patch_size) + ". Further times are only counted.");
        }
    }

    SessionMaker maker_;
    Settings settings_;
    std::vector<ColumnGroup> columns_;
    std::int64_t room_;  // patches
    std::int64_t kept_;  // patches
    std::shared_ptr<totograph::cpu::ThreadPool> pool_;
    std::vector<Context> contexts_;
    std::size_t most_ = 1;
    std::array<std::int64_t, whole_context_names.size()> whole_{};
    std::vector<std::string> notes_;
};

}  // namespace examples
