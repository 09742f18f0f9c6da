#pragma once
// The built-in functions of OpenCL C that expressions and symbolic numbers support, by number of operands.

/// Applies the macros to the names of the functions with one, two and three operands.
#define VEX_BUILTINS(one, two, three)                                                                        \
    one(acos) one(acosh) one(acospi) one(asin) one(asinh) one(asinpi) one(atan) one(atanh) one(atanpi)       \
        one(cbrt) one(ceil) one(clz) one(cos) one(cosh) one(cospi) one(degrees) one(erf) one(erfc) one(exp)  \
            one(exp10) one(exp2) one(expm1) one(fabs) one(floor) one(ilogb) one(isfinite) one(isinf)         \
                one(isnan) one(isnormal) one(lgamma) one(log) one(log10) one(log1p) one(log2) one(logb)      \
                    one(popcount) one(radians) one(rint) one(round) one(rsqrt) one(sign) one(signbit)        \
                        one(sin) one(sinh) one(sinpi) one(sqrt) one(tan) one(tanh) one(tanpi) one(tgamma)    \
                            one(trunc) one(abs) one(nan) two(abs_diff) two(add_sat) two(atan2) two(atan2pi)  \
                                two(copysign) two(cross) two(fdim) two(fmax) two(fmin) two(fmod) two(hadd)   \
                                    two(hypot) two(isequal) two(isgreater) two(isgreaterequal) two(isless)   \
                                        two(islessequal) two(islessgreater) two(isnotequal) two(isordered)   \
                                            two(isunordered) two(ldexp) two(max) two(maxmag) two(min)        \
                                                two(minmag) two(mul24) two(mul_hi) two(nextafter) two(pow)   \
                                                    two(pown) two(powr) two(remainder) two(rhadd) two(rootn) \
                                                        two(rotate) two(step) two(sub_sat) two(upsample)     \
                                                            three(bitselect) three(clamp) three(fma)         \
                                                                three(mad) three(mad24) three(mad_hi)        \
                                                                    three(mad_sat) three(mix)                \
                                                                        three(smoothstep)

/// The same of the geometric functions, which accept scalars too.
#define VEX_GEOMETRIC_BUILTINS(one, two) \
    one(length) one(normalize) one(fast_length) one(fast_normalize) two(distance) two(dot) two(fast_distance)
