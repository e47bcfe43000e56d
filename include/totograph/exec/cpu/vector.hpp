// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include <totograph/exec/cpu/simd.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// A packet with the operators of a number, so that an elementwise operation is written once for `float` and for this.
/// Comparisons give 1 and 0 in each lane.
struct Vector {
    static constexpr float infinity = std::numeric_limits<float>::infinity();

    Packet lanes;

    Vector() : lanes(zero_packet()) {}
    Vector(Packet packet) : lanes(packet) {}                 // NOLINT(google-explicit-constructor)
    Vector(float value) : lanes(broadcast_packet(value)) {}  // NOLINT(google-explicit-constructor)

    friend Vector operator+(Vector a, Vector b) { return add(a.lanes, b.lanes); }
    friend Vector operator-(Vector a, Vector b) { return subtract(a.lanes, b.lanes); }
    friend Vector operator*(Vector a, Vector b) { return multiply(a.lanes, b.lanes); }
    friend Vector operator/(Vector a, Vector b) { return divide(a.lanes, b.lanes); }
    friend Vector operator-(Vector a) { return Eigen::internal::pnegate(a.lanes); }

    /// The larger of each pair of lanes; NaN where one of them is.
    friend Vector max(Vector a, Vector b) { return Eigen::internal::pmax<Eigen::PropagateNaN>(a.lanes, b.lanes); }
    /// The smaller of each pair of lanes; NaN where one of them is.
    friend Vector min(Vector a, Vector b) { return Eigen::internal::pmin<Eigen::PropagateNaN>(a.lanes, b.lanes); }
    friend Vector abs(Vector a) { return Eigen::internal::pabs(a.lanes); }
    friend Vector floor(Vector a) { return Eigen::internal::pfloor(a.lanes); }
    friend Vector exp(Vector a) { return Eigen::internal::pexp(a.lanes); }
    friend Vector log(Vector a) { return Eigen::internal::plog(a.lanes); }
    friend Vector log1p(Vector a) { return Eigen::internal::plog1p(a.lanes); }
    friend Vector sin(Vector a) { return Eigen::internal::psin(a.lanes); }
    friend Vector cos(Vector a) { return Eigen::internal::pcos(a.lanes); }
    friend Vector tanh(Vector a) { return Eigen::internal::ptanh(a.lanes); }
    friend Vector expm1(Vector a) { return Eigen::internal::pexpm1(a.lanes); }
    /// The powers of e of `a` and `-a` from `expm1`, which keeps the digits of small numbers; where the former would
    /// overflow, from the square of that of `a / 2`. Too long to be inlined: the chain around it is, then.
    [[gnu::noinline]] friend Vector sinh(Vector a) {
        const Vector size = abs(a);
        const Vector less_one = expm1(size);
        const Vector near = Vector(0.5F) * (less_one + less_one / (less_one + Vector(1.0F)));
        const Vector root = exp(Vector(0.5F) * size);
        return with_sign_of(a, where(less(size, Vector(80.0F)), near, Vector(0.5F) * root * root));
    }
    /// log(|a| + sqrt(a^2 + 1)), from `log1p`, which keeps the digits of small numbers; log(2 |a|) where the square
    /// would overflow, and the two are the same.
    friend Vector asinh(Vector a) {
        const Vector size = abs(a);
        const Vector square = size * size;
        const Vector near = log1p(size + square / (Vector(1.0F) + sqrt(square + Vector(1.0F))));
        const Vector far = log(size) + Vector(0.6931471805599453F);
        return with_sign_of(a, where(less(size, Vector(1e8F)), near, far));
    }
    /// a P(a^2) / Q(a^2), fitted by least squares up to where the function is 1 in f32: 4e-7 of the value apart.
    friend Vector erf(Vector a) {
        const Vector end(3.9192059F);
        const Vector x = max(min(a, end), -end);
        const Vector z = x * x;
        Vector p = Vector(2.05073401e-06F) * z + Vector(0.00028488926F);
        p = p * z + Vector(0.00376452262F);
        p = p * z + Vector(0.0527454818F);
        p = p * z + Vector(0.190376861F);
        p = p * z + Vector(1.12837915F);
        Vector q = Vector(3.80987276e-05F) * z + Vector(0.00116232734F);
        q = q * z + Vector(0.0149670114F);
        q = q * z + Vector(0.114097485F);
        q = q * z + Vector(0.502049843F);
        q = q * z + Vector(1.0F);
        return max(min(x * p / q, Vector(1.0F)), Vector(-1.0F));
    }
    /// Eigen's is made of an estimate of 1 / sqrt(a) on some targets, and there NaN for infinity.
    friend Vector sqrt(Vector a) {
        const Packet is_infinite = Eigen::internal::pcmp_eq(a.lanes, broadcast_packet(infinity));
        return Eigen::internal::pselect(is_infinite, a.lanes, Eigen::internal::psqrt(a.lanes));
    }

    /// 1 where a < b, else 0; NaN compares false.
    friend Vector less(Vector a, Vector b) {
        return Eigen::internal::pand(Eigen::internal::pcmp_lt(a.lanes, b.lanes), broadcast_packet(1.0F));
    }
    /// 1 where a == b, else 0.
    friend Vector equal(Vector a, Vector b) {
        return Eigen::internal::pand(Eigen::internal::pcmp_eq(a.lanes, b.lanes), broadcast_packet(1.0F));
    }
    /// `yes` where `condition` is not 0, else `no`.
    friend Vector where(Vector condition, Vector yes, Vector no) {
        return Eigen::internal::pselect(Eigen::internal::pcmp_eq(condition.lanes, zero_packet()), no.lanes, yes.lanes);
    }
    /// The numbers of `size`, which are not negative, with the signs of `a`.
    friend Vector with_sign_of(Vector a, Vector size) {
        const Packet sign = Eigen::internal::pand(a.lanes, broadcast_packet(-0.0F));
        return Eigen::internal::por(size.lanes, sign);
    }
    /// (x0, x1) becomes (-x1, x0) in each pair of lanes.
    friend Vector rotate_pairs(Vector a) {
        alignas(sizeof(Packet)) float in[packet_size];
        alignas(sizeof(Packet)) float out[packet_size];
        store_aligned(in, a.lanes);
        for (Index lane = 0; lane + 1 < packet_size; lane += 2) {
            out[lane] = -in[lane + 1];
            out[lane + 1] = in[lane];
        }
        return load_aligned(out);
    }
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
