#pragma once
// Conversions of elements.

#include "vexcl/detail/expression.hpp"
#include "vexcl/operations.hpp"

namespace vex {

/// Converts the elements to T. Floating-point numbers outside the range of an integer type saturate; NaN
/// becomes 0.
///
///     mean = sum(vex::cast<double>(counts)) / n;
template <class T, detail::operand A>
decltype(auto) cast(const A& a) {
    using D = detail::balm_element<T>;
    return detail::wrap(detail::assigned<D>(a), detail::queues_of(a));
}

#define VEX_CONVERSION(type)                                                                          \
    template <detail::operand A>                                                                      \
    decltype(auto) convert_##type(const A& a) {                                                       \
        return detail::combine(                                                                       \
            [](auto x) { return balm::convert<detail::balm_element<cl_##type>>(std::move(x)); }, a);  \
    }                                                                                                 \
    template <detail::operand A>                                                                      \
    decltype(auto) as_##type(const A& a) {                                                            \
        return detail::combine(                                                                       \
            [](auto x) { return balm::bit_cast<detail::balm_element<cl_##type>>(std::move(x)); }, a); \
    }
#define VEX_CONVERSIONS(name) \
    VEX_CONVERSION(name)      \
    VEX_CONVERSION(name##2)   \
    VEX_CONVERSION(name##4)   \
    VEX_CONVERSION(name##8)   \
    VEX_CONVERSION(name##16)
/// OpenCL C's convert_T(a), which converts values, and as_T(a), which reinterprets their bits.
VEX_CONVERSIONS(float)
VEX_CONVERSIONS(double)
VEX_CONVERSIONS(char)
VEX_CONVERSIONS(uchar)
VEX_CONVERSIONS(short)
VEX_CONVERSIONS(ushort)
VEX_CONVERSIONS(int)
VEX_CONVERSIONS(uint)
VEX_CONVERSIONS(long)
VEX_CONVERSIONS(ulong)
#undef VEX_CONVERSIONS
#undef VEX_CONVERSION

}  // namespace vex
