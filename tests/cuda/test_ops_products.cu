// SPDX-License-Identifier: Apache-2.0
// Products and attentions in every precision, on the device against the eager executor on the CPU.
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/ops_device.hpp"
#include "cuda/ops_products_models.hpp"

using namespace ops;

namespace {

constexpr const char* table[] = {
    "linear, one row",
    "linear, 7 rows",
    "linear, 16 rows",
    "linear, 300 rows",
    "linear, narrow",
    "linear of views, and what follows",
    "norm and pair, one row",
    "norm and pair, 13 rows",
    "norm and pair, 300 rows",
    "bias and residual, 5 rows",
    "bias and residual, 300 rows",
    "norms and residuals, 3 rows",
    "norms and residuals, 70 rows",
    "rotated into caches, 3 rows",
    "rotated into caches, 35 rows",
    "product and chain, 700 rows",
    "product, chain and operands, 701 rows",
    "product, chain and operands, 9 rows",
    "norm and pair, 527 rows",
    "norm and pair, 1100 rows",
    "product, chain and operands, 1101 rows",
    "rotated into caches, 1190 rows",
    "draws from products, shared mixtures",
    "draws from products, a mixture each",
    "causal attention",
    "causal attention, odd heads",
    "causal attention, large",
    "causal attention, few queries",
    "causal attention, a series without values",
    "cached attention, few queries",
    "cached attention, a series without a prefix",
    "variate attention, few queries",
    "cached attention, shared prefix",
    "cached attention, own prefix",
    "cached attention, shared, large",
    "cached attention, no suffix",
    "cached attention, own, large",
    "attention of the last position",
    "variate attention",
    "variate attention, large",
};
static_assert(std::size(table) == std::tuple_size_v<ProductModels>, "a row of the table for each model");

template <std::size_t place>
void check_place() {
    check_row(table[place], [] {
        using Model = std::tuple_element_t<place, ProductModels>;
        const std::vector<StateContent> expected = eager_states_of_products(place);
        check_on_device<Precision::f32, Model>(table[place], expected, bound_of(Precision::f32));
        check_on_device<Precision::tf32, Model>(table[place], expected, bound_of(Precision::tf32));
        check_on_device<Precision::bf16, Model>(table[place], expected, bound_of(Precision::bf16));
    });
}

}  // namespace

TEST_CASE("every product and attention") {
    []<std::size_t... place>(std::index_sequence<place...>) {
        (check_place<place>(), ...);
    }
    (std::make_index_sequence<std::size(table)>());
}
