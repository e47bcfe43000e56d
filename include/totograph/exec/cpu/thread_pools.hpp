// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include <totograph/exec/cpu/thread_pool.hpp>

namespace totograph::cpu {

/// Thread pools by their size, for executors of which only one runs at a time: those of one size share a pool, which
/// lives as long as any of them. One thread at a time may use this.
class ThreadPools {
public:
    /// The pool of so many threads. Throws as `ThreadPool` does.
    [[nodiscard]] std::shared_ptr<ThreadPool> get(int threads) {
        std::weak_ptr<ThreadPool>& known = pools_[threads];
        std::shared_ptr<ThreadPool> pool = known.lock();
        if (!pool) {
            pool = std::make_shared<ThreadPool>(threads);
            known = pool;
        }
        return pool;
    }

private:
    std::map<int, std::weak_ptr<ThreadPool>> pools_;
};

}  // namespace totograph::cpu
