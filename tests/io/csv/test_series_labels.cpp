// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/csv/series_labels.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace totograph::io;
using Chosen = std::vector<std::size_t>;

namespace {

const std::vector<std::int64_t> times = {1, 1, 1, 1, 2, 2, 2, 2};
const LabelNumbers hosts = {0, 0, 1, 1, 0, 0, 1, 1};
const LabelNumbers metrics = {0, 1, 0, 1, 0, 1, 0, 1};
const LabelNumbers sensors = {0, 1, 2, 3, 0, 1, 2, 3};
const LabelNumbers remarks = {0, 1, 2, 3, 4, 5, 6, 7};
const LabelNumbers region(8, 0);

}  // namespace

TEST_CASE("series labels: those that tell the rows of a time apart, and no more") {
    CHECK(fewest_labels(times, {hosts, metrics}) == Chosen{0, 1});
    CHECK(fewest_labels(times, {region, metrics, hosts}) == Chosen{1, 2});
    CHECK(fewest_labels(times, {hosts, sensors, metrics}) == Chosen{1});
    CHECK(fewest_labels(times, {sensors, sensors}) == Chosen{0});
}

TEST_CASE("series labels: a column that says nothing twice names no series") {
    CHECK(fewest_labels(times, {remarks, hosts, metrics}) == Chosen{1, 2});
    CHECK(fewest_labels(times, {remarks, hosts}) == Chosen{0});  // unless no other does
}

TEST_CASE("series labels: rows that nothing tells apart do not matter") {
    CHECK(fewest_labels(times, {hosts}) == Chosen{0});
    CHECK(fewest_labels(times, {region}).empty());
    CHECK(fewest_labels({1, 2, 3}, {{0, 1, 0}}).empty());  // the times do
    CHECK(fewest_labels({}, {}).empty());
}

TEST_CASE("series labels: the given ones stay") {
    CHECK(fewest_labels(times, {hosts, metrics}, {0}) == Chosen{0, 1});
    CHECK(fewest_labels(times, {region, metrics, hosts}, {0}) == Chosen{0, 1, 2});
    CHECK(fewest_labels(times, {sensors, hosts}, {0}) == Chosen{0});
}

TEST_CASE("series labels: what names rows names no series") {
    CHECK(labels_of_series(times, {remarks, hosts, metrics}) == Chosen{1, 2});
    CHECK(labels_of_series(times, {remarks, hosts}) == Chosen{1});
    CHECK(labels_of_series(times, {remarks}).empty());
    CHECK(labels_of_series(times, {sensors, remarks}, {1}) == Chosen{1});  // what is given stays
    // One row of each on the average.
    CHECK(labels_of_series({1, 1, 2, 2}, {{0, 1, 0, 1}}) == Chosen{0});
    CHECK(labels_of_series({1, 1, 1, 1, 1, 2}, {{0, 0, 1, 1, 2, 2}, {0, 1, 0, 1, 2, 2}}).empty());
    CHECK(labels_of_series({}, {}).empty());
}
