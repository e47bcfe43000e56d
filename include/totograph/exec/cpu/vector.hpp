// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/simd.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// A packet with the operators of a number, so that an elementwise operation is written once for `float` and for this.
/// Comparisons give 1 and 0 in each lane.
struct Vector {
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
    friend Vector sqrt(Vector a) { return Eigen::internal::psqrt(a.lanes); }

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
