// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <totograph/version.hpp>

namespace totograph::serve {

/// What a source file was compiled with, as far as results and speed depend on it.
struct BuildIdentity {
    std::string library{version};  ///< The library's version.
    std::string compiler;          ///< `gcc 12.2.0`.
    std::string vectors;           ///< The widest vectors that the compiler may emit: `avx512`, `avx2`, `sse`, ...
    bool is_optimized = false;     ///< Compiled with `-O1` or more.
    bool has_assertions = false;   ///< `NDEBUG` is not defined.
    bool is_sanitized = false;     ///< Compiled for AddressSanitizer or ThreadSanitizer.
};

// Internal linkage: files of one program may be compiled with different flags, and each is to tell its own.

/// What the source file that calls this was compiled with.
[[maybe_unused]] static BuildIdentity build_identity() {
    BuildIdentity build;
#if defined(__clang__)
    build.compiler = "clang " __clang_version__;
    build.compiler = build.compiler.substr(0, build.compiler.find(' ', sizeof "clang"));
#else
    build.compiler = "gcc " __VERSION__;
#endif
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    build.vectors = "avx512";
#elif defined(__AVX2__) && defined(__FMA__)
    build.vectors = "avx2";
#elif defined(__AVX__)
    build.vectors = "avx";
#elif defined(__SSE2__)
    build.vectors = "sse";
#elif defined(__ARM_NEON)
    build.vectors = "neon";
#endif
#if defined(__OPTIMIZE__)
    build.is_optimized = true;
#endif
#if !defined(NDEBUG)
    build.has_assertions = true;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    build.is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    build.is_sanitized = true;
#endif
#endif
    return build;
}

/// The widest vectors of `BuildIdentity::vectors` that this machine's processor has; empty where that is not known.
inline std::string_view processor_vectors() {
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        return "avx512";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return "avx2";
    }
    return __builtin_cpu_supports("avx") ? "avx" : "sse";
#elif defined(__aarch64__)
    return "neon";
#else
    return "";
#endif
}

/// Floats that a vector of this name holds; 0 for a name that is not known.
constexpr int floats_of_vectors(std::string_view vectors) {
    return vectors == "avx512"                     ? 16
           : vectors == "avx2" || vectors == "avx" ? 8
           : vectors == "sse" || vectors == "neon" ? 4
                                                   : 0;
}

/// The build in a line, such as `totograph 0.1.0, gcc 12.2.0, avx512`.
inline std::string to_string(const BuildIdentity& build) {
    return "totograph " + build.library + ", " + build.compiler + ", " +
           (build.vectors.empty() ? "no vectors" : build.vectors) + (build.is_optimized ? "" : ", not optimized") +
           (build.is_sanitized ? ", sanitized" : "");
}

}  // namespace totograph::serve
