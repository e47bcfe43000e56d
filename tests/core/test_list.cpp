// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include <totograph/core/list.hpp>

namespace {

using totograph::List;

/// The same with a number, which needs no constructor, and with what has one.
template <class T>
constexpr bool grows_and_shrinks(const T& first, const T& second, const T& third) {
    List<T> list;
    bool good = list.empty();
    for (int i = 0; i < 20; ++i) {
        list.push_back(i == 0 ? first : list[0]);  // an element of its own, also where it moves
    }
    good = good && list.size() == 20 && list.back() == first;
    list.insert(list.begin() + 1, second);
    good = good && list.size() == 21 && list[0] == first && list[1] == second && list[2] == first;
    list.resize(2);
    list.resize(3);
    good = good && list[1] == second && list[2] == T();
    list.pop_back();
    list.insert(list.begin() + 2, third);
    good = good && list == List<T>{first, second, third} && list != List<T>{first, second};
    List<T> copy = list;
    copy.front() = third;
    good = good && list.front() == first && copy.front() == third && copy.size() == 3;
    List<T> moved = static_cast<List<T>&&>(copy);
    list = moved;
    good = good && list.front() == third;
    const List<T>& same = list;
    list = same;
    good = good && list.size() == 3;
    moved.assign(list.begin() + 1, list.end());
    good = good && moved == List<T>{second, third};
    moved.assign(2, first);
    good = good && moved == List<T>(2, first);
    moved.clear();
    return good && moved.empty() && List<T>(2) == List<T>{T(), T()};
}

/// As long as any it lives in is alive.
struct Counted {
    int* alive;
    constexpr explicit Counted(int* counter) : alive(counter) { ++*alive; }
    constexpr Counted(const Counted& other) : alive(other.alive) { ++*alive; }
    constexpr Counted& operator=(const Counted&) = default;
    constexpr ~Counted() { --*alive; }
};

constexpr bool destroys_all() {
    int alive = 0;
    bool good = true;
    {
        List<Counted> list(3, Counted(&alive));
        list.push_back(list[0]);
        List<Counted> other = list;
        good = alive == 8;
        list.pop_back();
        other = static_cast<List<Counted>&&>(list);
        good = good && other.size() == 3 && alive == 7;
        list.clear();
        good = good && alive == 3;
        for (int i = 0; i < 9; ++i) {
            list.push_back(other[0]);  // into the memory that it was given in exchange, and then into more
        }
        good = good && list.size() == 9 && alive == 12;
    }
    return good && alive == 0;
}

}  // namespace

// Constants: a compiler refuses them where memory is left, or read before it is written.
static_assert(grows_and_shrinks<int>(3, 4, 5));
static_assert(grows_and_shrinks<List<int>>({3}, {4, 4}, {5}));
static_assert(destroys_all());

TEST_CASE("a list is what a vector is") {
    CHECK(grows_and_shrinks<int>(3, 4, 5));
    CHECK(grows_and_shrinks<std::string>(std::string(40, 'a'), "b", std::string(50, 'c')));
    CHECK(destroys_all());
}
