// SPDX-License-Identifier: Apache-2.0
// Which steps run by rows in one kernel. No device is needed, and no CUDA.
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

using namespace totograph;
using namespace totograph::cuda;

namespace {

constexpr Index rows = 200;
constexpr Index width = 512;

enum class Ids {
    of_rows,    ///< One for each row.
    of_column,  ///< A column of several.
};

/// Rows of two tables, by ids, and their sum.
template <Ids ids, bool table_is_made>
struct Lookups {
    static constexpr void record(Recorder& r) {
        const Tensor table = r.state("table", {rows, width});
        const Tensor first = table_is_made ? table * 2.0 : table;
        const Tensor one = embedding(first, ids_of(r, "one"));
        const Tensor other = embedding(r.weight("other", {rows, width}), ids_of(r, "other_ids"));
        r.store(r.state("y", {rows, width}), reshape(one + other, {rows, width}));
    }

private:
    static constexpr Tensor ids_of(Recorder& r, const char* name) {
        if (ids == Ids::of_column) {
            return reshape(slice(r.state(name, {rows, 3}, DType::i32), 1, 1, 1), {rows});
        }
        return r.state(name, {rows}, DType::i32);
    }
};

/// Rows of quantiles, sorted, and written with the levels ahead of the rows: alike are the series alone.
template <Index series>
struct Levels {
    static constexpr void record(Recorder& r) {
        const Tensor sorted = sort(r.state("x", {series, 96, 9}));
        r.store(r.state("y", {series, 9, 96}), permute(sorted, {0, 2, 1}) * 2.0);
    }
};

/// The largest numbers of rows, and what they do to them.
struct Largest {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {rows, width});
        r.store(r.state("y", {rows, width}), exp(x - amax(x)));
    }
};

/// Steps of the launch that begins with the first one, and how it runs them.
template <class Model>
constexpr Launch first_launch() {
    return Lowering<Program<Model>, true>::at(0);
}

}  // namespace

TEST_CASE("embeddings run by rows with what adds them up: a row needs its own ids, and any row of a table") {
    constexpr Launch of_rows = first_launch<Lookups<Ids::of_rows, false>>();
    CHECK(of_rows.kind == LaunchKind::rows);
    CHECK(of_rows.rows == rows);
    CHECK(of_rows.count >= 3);
    constexpr Launch of_column = first_launch<Lookups<Ids::of_column, false>>();
    CHECK(of_column.kind == LaunchKind::rows);
    CHECK(of_column.rows == rows);
}

TEST_CASE("an embedding does not run by rows with what makes its table") {
    constexpr Launch first = first_launch<Lookups<Ids::of_rows, true>>();
    CHECK(first.count == 1);
}

TEST_CASE("steps run by the rows of their first axis where they have no others in common") {
    constexpr Launch of_series = first_launch<Levels<128>>();
    CHECK(of_series.kind == LaunchKind::rows);
    CHECK(of_series.rows == 128);
    CHECK(of_series.count == 2);
    constexpr Launch of_few = first_launch<Levels<40>>();
    CHECK(of_few.count == 1);
}

TEST_CASE("the largest number of a row is found in one kernel with what reads it") {
    constexpr Launch launch = first_launch<Largest>();
    CHECK(launch.kind == LaunchKind::rows);
    CHECK(launch.count == 2);
}
