// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <numeric>

#include <totograph/core/array.hpp>

namespace {

using totograph::Array;

constexpr Array<int, 4> squares() {
    Array<int, 4> result{};
    for (int i = 0; i < 4; ++i) {
        result.items[i] = i * i;
    }
    result[1] += 10;
    return result;
}
static_assert(squares() == Array<int, 4>{0, 11, 4, 9});
static_assert(squares() != Array<int, 4>{0, 11, 4, 8} && squares() != Array<int, 4>{1, 11, 4, 9});
static_assert(Array<int, 4>{7} == Array<int, 4>{7, 0, 0, 0});
static_assert(squares().size() == 4);

}  // namespace

TEST_CASE("an array gives its elements by subscripts, pointers and iterators") {
    Array<int, 4> array = squares();
    const Array<int, 4> copy = array;
    CHECK(std::accumulate(array.begin(), array.end(), 0) == 24);
    CHECK(std::accumulate(copy.begin(), copy.end(), 0) == 24);
    *(array.end() - 1) = 1;
    array.data()[0] = 5;
    CHECK(array == Array<int, 4>{5, 11, 4, 1});
    CHECK(copy[3] == 9);
    CHECK(copy.data()[1] == 11);
}
