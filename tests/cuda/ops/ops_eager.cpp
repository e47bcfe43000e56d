// SPDX-License-Identifier: Apache-2.0
#include "cuda/ops/ops_eager.hpp"

#include <cstddef>
#include <vector>

#include "cuda/ops/ops_models.hpp"

namespace ops {

std::vector<StateContent> eager_states(std::size_t row) {
    return run_eager_row<Rows>(row);
}

}  // namespace ops
