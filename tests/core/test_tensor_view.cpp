// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <numeric>
#include <type_traits>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/core/tensor_view.hpp>

using namespace totograph;

TEST_CASE("a view costs one pointer and can be copied byte by byte") {
    using View = TensorView<float, Extents<2, 3>>;
    static_assert(sizeof(View) == sizeof(float*) && std::is_trivially_copyable_v<View>);
    static_assert(View::shape == Shape{2, 3} && View::size == 6 && View::is_contiguous);
    static_assert(std::is_same_v<View::Element, float>);
    CHECK(View().data() == nullptr);
}

TEST_CASE("elements of contiguous, strided and reshaped views") {
    std::array<int, 12> numbers{};
    std::iota(numbers.begin(), numbers.end(), 0);
    const TensorView<int, Extents<2, 3, 2>> view(numbers.data());
    CHECK(view(0, 0, 0) == 0);
    CHECK(view(1, 2, 1) == 11);
    CHECK(view(1, 0, 1) == 7);
    view(0, 1, 0) = 50;
    CHECK(numbers[2] == 50);

    const TensorView<int, Extents<3, 2>, StridesOf<2, 6>> turned(numbers.data());
    static_assert(!turned.is_contiguous);
    CHECK(turned(2, 1) == 10);
    CHECK(turned(1, 0) == 50);

    const auto flat = view.reshape<12>();
    CHECK(flat(11) == 11);
    CHECK(std::accumulate(view.begin(), view.end(), 0) == 66 + 48);

    const TensorView<int, Extents<>> scalar(&numbers[3]);
    CHECK(scalar() == 3);
}
