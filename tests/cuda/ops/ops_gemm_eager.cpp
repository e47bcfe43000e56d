// SPDX-License-Identifier: Apache-2.0
#include "cuda/ops/ops_eager.hpp"

#include <string_view>
#include <tuple>
#include <vector>

#include "cuda/ops/ops_gemm_rows.hpp"

namespace ops {

namespace {

using States = std::vector<StateContent>;

/// Runs the row of this name, if the table has it.
template <class... Tested>
bool run_if_in(const std::tuple<Tested...>*, std::string_view name, States& states) {
    return ((name == Tested::name && (states = run_eager<typename Tested::Model>(), true)) || ...);
}

template <class... Tested>
constexpr int count_in(const std::tuple<Tested...>*, std::string_view name) {
    return (... + (name == Tested::name ? 1 : 0));
}
template <class... Tables>
constexpr int count_of(std::string_view name) {
    return (... + count_in(static_cast<const Tables*>(nullptr), name));
}
template <class... Tables, class... Tested>
constexpr bool are_names_unique_in(const std::tuple<Tested...>*) {
    return ((count_of<Tables...>(Tested::name) == 1) && ...);
}

template <class... Tables>
States run_in(std::string_view name) {
    static_assert((are_names_unique_in<Tables...>(static_cast<const Tables*>(nullptr)) && ...),
                  "Two rows have one name: rows are found by their names.");
    States states;
    (void)(run_if_in(static_cast<const Tables*>(nullptr), name, states) || ...);
    return states;
}

}  // namespace

States eager_states_of_gemms(std::string_view name) {
    return run_in<FewRows, TiledRows, CublasLtRows, Sm90SmallRows, Sm90WaveRows, Sm90Rows, Sm90ClusterRows,
                  AttentionRows, FewPositionRows, CachedAttentionRows, AttentionOptionRows, FilledCacheRows>(name);
}

}  // namespace ops
