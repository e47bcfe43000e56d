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
