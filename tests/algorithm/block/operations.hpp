#pragma once
// Operations for reductions and scans, on devices and on the host; most of them do not commute.

#include "algorithm/block/operation.hpp"
#include "algorithm/block/run.hpp"

namespace balm::test {

template <class T>
block::operation sums() {
    return {[](const block::values& a, const block::values& b) {
                const trace::node sum = trace::apply(builtin::add, a[0], b[0]);
                return block::values{trace::convert(sum, a[0].type.element)};
            },
            [] { return block::values{node_of(dsl::Var<T>(T(0)))}; }};
}

inline matrix product(const matrix& x, const matrix& y) {
    return {{x.m[0] * y.m[0] + x.m[1] * y.m[2], x.m[0] * y.m[1] + x.m[1] * y.m[3],
             x.m[2] * y.m[0] + x.m[3] * y.m[2], x.m[2] * y.m[1] + x.m[3] * y.m[3]}};
}
inline block::operation products() {
    using dsl::Var;
    return {[](const block::values& a, const block::values& b) {
                const Var<matrix> x(a[0]), y(b[0]);
                Var<matrix> z;
                z.m[0] = x.m[0] * y.m[0] + x.m[1] * y.m[2];
                z.m[1] = x.m[0] * y.m[1] + x.m[1] * y.m[3];
                z.m[2] = x.m[2] * y.m[0] + x.m[3] * y.m[2];
                z.m[3] = x.m[2] * y.m[1] + x.m[3] * y.m[3];
                return block::values{node_of(z)};
            },
            [] {
                Var<matrix> one;
                one.m[0] = 1u;
                one.m[3] = 1u;
                return block::values{node_of(one)};
            }};
}

/// x -> scale x + shift modulo 2^32, as two values; the first of two is applied first.
struct affine {
    std::uint32_t scale, shift;
};
BALM_STRUCT(affine, scale, shift)
inline affine composed(const affine& f, const affine& g) {
    return {g.scale * f.scale, g.scale * f.shift + g.shift};
}
inline block::operation compositions() {
    using dsl::UInt;
    return {[](const block::values& f, const block::values& g) {
                const UInt f_scale(f[0]), f_shift(f[1]), g_scale(g[0]), g_shift(g[1]);
                return block::values{node_of(g_scale * f_scale), node_of(g_scale * f_shift + g_shift)};
            },
            [] {
                return block::values{node_of(UInt(1u)), node_of(UInt(0u))};
            }};
}
inline block::values parts_of(const dsl::Var<affine>& f) {
    return {node_of(dsl::UInt(f.scale)), node_of(dsl::UInt(f.shift))};
}
inline dsl::Var<affine> affine_of(const block::values& parts) {
    dsl::Var<affine> made;
    made.scale = dsl::UInt(parts[0]);
    made.shift = dsl::UInt(parts[1]);
    return dsl::Var<affine>(made);
}

/// The smaller of two numbers with its position, as two values.
struct least {
    std::int32_t value, position;
};
BALM_STRUCT(least, value, position)

}  // namespace balm::test
