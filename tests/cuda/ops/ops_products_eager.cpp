// SPDX-License-Identifier: Apache-2.0
#include "cuda/ops/ops_eager.hpp"

#include <cstddef>
#include <vector>

#include "cuda/ops/ops_products_models.hpp"

namespace ops {

std::vector<StateContent> eager_states_of_products(std::size_t row) {
    return run_eager_row<ProductRows>(row);
}

}  // namespace ops
