// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>

#include "models/toto1/series.hpp"
#include "models/toto1/shared_forecasters.hpp"
#include "support/sanitized.hpp"

// Nothing is allocated inside a forecast: this program counts every allocation that any of its threads makes, by
// putting itself in the place of the allocator.

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

#if defined(__GLIBC__) && !defined(TOTOGRAPH_TEST_HAS_SANITIZER)

// The C library's own allocator stays reachable under other names; operator new, in the C++ library, comes through here
// too. Sanitizers want this place for themselves.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
    ++allocations;
    return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
    ++allocations;
    return __libc_calloc(count, size);
}

void* realloc(void* memory, std::size_t size) {
    ++allocations;
    return __libc_realloc(memory, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
    ++allocations;
    return __libc_memalign(alignment, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
    ++allocations;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    ++allocations;
    *memory = __libc_memalign(alignment, size);
    return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"

constexpr bool counts_malloc = true;

#else

constexpr bool counts_malloc = false;

void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size == 0 ? 1 : size); memory != nullptr) {
        return memory;
    }
    throw std::bad_alloc();
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    ++allocations;
    void* memory = nullptr;
    if (posix_memalign(&memory, static_cast<std::size_t>(alignment), size == 0 ? 1 : size) == 0) {
        return memory;
    }
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

#endif

using namespace made_up;
using shared::mean_bucket;
using shared::sampled_bucket;

namespace {

/// Allocations while `action` runs, in all threads.
template <class Action>
std::size_t count_allocations(Action&& action) {
    const std::size_t before = allocations;
    action();
    return allocations - before;
}

const tg::Weights& weights() {
    static const tg::Weights loaded = shared::load();
    return loaded;
}

/// The forecasts of two requests, the first being the forecaster's very first.
void check_forecaster(shared::AnyForecaster& forecaster, const tg::Bucket& bucket) {
    Request request = waves(bucket.batch, bucket.variates, bucket.context);
    make_gaps(request);
    make_groups(request, 2);
    const Request smaller = waves(1, 1, bucket.context / 2);
    CHECK(count_allocations([&] { (void)forecaster.forecast(request.series(), {.samples = bucket.samples}); }) == 0);
    CHECK(count_allocations(
              [&] { (void)forecaster.forecast(smaller.series(), {.horizon = 3, .samples = bucket.samples}); }) == 0);
}

}  // namespace

TEST_CASE("the counter sees allocations") {
    CHECK(count_allocations([] { std::vector<float>(100).at(50) = 1; }) > 0);
    CHECK(count_allocations([] { const tg::Arena arena(100); }) > 0);
    void* volatile memory = nullptr;  // an unused allocation may be left out
    const std::size_t found = count_allocations([&] {
        memory = std::malloc(100);
        std::free(memory);
    });
    CHECK(found == (counts_malloc ? 1U : 0U));
    CHECK(count_allocations([] {}) == 0);
}

TEST_CASE("a mean forecast allocates nothing") {
    for (const int threads : {1, 2}) {
        CAPTURE(threads);
        check_forecaster(*shared::make_forecaster<mean_bucket>(weights(), threads), mean_bucket);
    }
}

TEST_CASE("a sampled forecast allocates nothing") {
    for (const int threads : {1, 2}) {
        CAPTURE(threads);
        check_forecaster(*shared::make_forecaster<sampled_bucket>(weights(), threads), sampled_bucket);
    }
}

TEST_CASE("a set of buckets allocates nothing") {
    const auto set = shared::make_bucket_set(weights(), 2);
    check_forecaster(*set, mean_bucket);
    check_forecaster(*set, sampled_bucket);
}
