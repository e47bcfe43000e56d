// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>

// Neighbouring elements, or two fours of them, on their way between memory and registers.

namespace totograph::cuda {

/// The words in which a pack travels.
template <std::size_t bytes>
struct WordsOf;
template <>
struct WordsOf<4> {
    using type = std::uint32_t;
};
template <>
struct WordsOf<8> {
    using type = uint2;
};
template <>
struct WordsOf<16> {
    using type = uint4;
};

/// `lanes` elements from memory, `stride` apart; in one access where they are neighbours and aligned. What is known to
/// be `aligned` is not tested: behind a branch, loads do not overlap.
template <Index stride, int lanes, bool aligned, class T>
__device__ __forceinline__ Pack<T, lanes> load_pack(const T* from) {
    constexpr std::size_t bytes = sizeof(T) * static_cast<std::size_t>(lanes);
    if constexpr (stride == 1 && (bytes == 4 || bytes == 8 || bytes == 16) && lanes > 1) {
        if (aligned || reinterpret_cast<std::uintptr_t>(from) % bytes == 0) {
            const auto words = *reinterpret_cast<const typename WordsOf<bytes>::type*>(from);
            Pack<T, lanes> pack;
            memcpy(&pack, &words, bytes);
            return pack;
        }
    }
    Pack<T, lanes> pack;
    if constexpr (stride == 1 && bytes > 16 && bytes % 16 == 0) {
        constexpr int part = 16 / static_cast<int>(sizeof(T));
#pragma unroll
        for (int first = 0; first < lanes; first += part) {
            const auto some = load_pack<1, part, aligned>(from + first);
#pragma unroll
            for (int lane = 0; lane < part; ++lane) {
                pack.lane[first + lane] = some.lane[lane];
            }
        }
    } else {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            pack.lane[lane] = from[lane * static_cast<int>(stride)];
        }
    }
    return pack;
}

template <Index stride, bool aligned, int lanes, class T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, lanes>& pack) {
    constexpr std::size_t bytes = sizeof(T) * static_cast<std::size_t>(lanes);
    if constexpr (stride == 1 && (bytes == 4 || bytes == 8 || bytes == 16) && lanes > 1) {
        if (aligned || reinterpret_cast<std::uintptr_t>(to) % bytes == 0) {
            typename WordsOf<bytes>::type words;
            memcpy(&words, &pack, bytes);
            *reinterpret_cast<typename WordsOf<bytes>::type*>(to) = words;
            return;
        }
    }
    if constexpr (stride == 1 && bytes > 16 && bytes % 16 == 0) {
        constexpr int part = 16 / static_cast<int>(sizeof(T));
#pragma unroll
        for (int first = 0; first < lanes; first += part) {
            Pack<T, part> some;
#pragma unroll
            for (int lane = 0; lane < part; ++lane) {
                some.lane[lane] = pack.lane[first + lane];
            }
            store_pack<1, aligned>(to + first, some);
        }
    } else {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            to[lane * static_cast<int>(stride)] = pack.lane[lane];
        }
    }
}

/// How far apart the two fours of a lane's eight elements begin: 4 where all are neighbours.
using Neighbours = std::integral_constant<int, 4>;

/// Eight elements, the last four of which begin `apart` behind the first: an `int`, or a constant.
template <Index stride, bool aligned, class T, class Apart>
__device__ __forceinline__ Pack<T, 8> load_fours(const T* from, Apart apart) {
    if constexpr (std::is_same_v<Apart, Neighbours>) {
        return load_pack<stride, 8, aligned>(from);
    } else {
        const auto first = load_pack<stride, 4, aligned>(from);
        const auto last = load_pack<stride, 4, aligned>(from + apart * static_cast<int>(stride));
        Pack<T, 8> pack;
#pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            pack.lane[lane] = first.lane[lane];
            pack.lane[lane + 4] = last.lane[lane];
        }
        return pack;
    }
}
template <bool aligned, class T, class Apart>
__device__ __forceinline__ void store_fours(T* to, const Pack<T, 8>& pack, Apart apart) {
    if constexpr (std::is_same_v<Apart, Neighbours>) {
        store_pack<1, aligned>(to, pack);
    } else {
        Pack<T, 4> first;
        Pack<T, 4> last;
#pragma unroll
        for (int lane = 0; lane < 4; ++lane) {
            first.lane[lane] = pack.lane[lane];
            last.lane[lane] = pack.lane[lane + 4];
        }
        store_pack<1, aligned>(to, first);
        store_pack<1, aligned>(to + apart, last);
    }
}

/// A pack as it lies in memory, for loads that are long on their way: a bf16 in a register of its own would waste half.
template <class T, int lanes>
struct StoredPack {
    Pack<T, lanes> pack;

    __device__ __forceinline__ Pack<float, lanes> floats() const { return pack; }
};
template <int lanes>
struct StoredPack<BFloat16, lanes> {
    std::uint32_t pair[lanes / 2];

    __device__ __forceinline__ Pack<float, lanes> floats() const {
        Pack<float, lanes> result;
#pragma unroll
        for (int i = 0; i < lanes / 2; ++i) {
            result.lane[i * 2] = __uint_as_float(pair[i] << 16U);
            result.lane[i * 2 + 1] = __uint_as_float(pair[i] & 0xffff0000U);
        }
        return result;
    }
};

template <int lanes, bool aligned, class T>
__device__ __forceinline__ StoredPack<T, lanes> load_stored(const T* from) {
    StoredPack<T, lanes> result;
    if constexpr (std::is_same_v<T, BFloat16> && aligned) {
        using Words = typename WordsOf<sizeof(T) * static_cast<std::size_t>(lanes)>::type;
        const auto words = *reinterpret_cast<const Words*>(from);
        memcpy(&result, &words, sizeof words);
    } else {
        const auto pack = load_pack<1, lanes, aligned>(from);
        memcpy(&result, &pack, sizeof pack);
    }
    return result;
}

/// A pack in another type.
template <class To, int lanes, class From>
__device__ __forceinline__ Pack<To, lanes> stored_as(const Pack<From, lanes>& pack) {
    Pack<To, lanes> result;
#pragma unroll
    for (int lane = 0; lane < lanes; ++lane) {
        result.lane[lane] = stored_as<To>(pack.lane[lane]);
    }
    return result;
}

/// Keeps the compiler from moving what computes a pack behind the next branch, if it is whole words.
template <class T, int lanes>
__device__ __forceinline__ void compute_now(Pack<T, lanes>& pack) {
    if constexpr (sizeof(pack) % sizeof(std::uint32_t) == 0) {
        std::uint32_t words[sizeof(pack) / sizeof(std::uint32_t)];
        memcpy(words, &pack, sizeof pack);
#pragma unroll
        for (std::uint32_t& word : words) {
            asm volatile("" : "+r"(word));
        }
        memcpy(&pack, words, sizeof pack);
    }
}

/// A pack as numbers to compute with.
template <int lanes, class From>
__device__ __forceinline__ Pack<float, lanes> as_floats(const Pack<From, lanes>& pack) {
    Pack<float, lanes> result;
#pragma unroll
    for (int lane = 0; lane < lanes; ++lane) {
        result.lane[lane] = static_cast<float>(pack.lane[lane]);
    }
    return result;
}

}  // namespace totograph::cuda
