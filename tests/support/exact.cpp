#include "support/exact.hpp"

#include <mpfr.h>

#include <map>
#include <string_view>

#include "ir/ir.hpp"

namespace balm::test {

namespace {

/// A number of 200 bits.
class number {
public:
    number() { mpfr_init2(value_, 200); }
    explicit number(long double value) : number() { mpfr_set_ld(value_, value, MPFR_RNDN); }
    number(const number&) = delete;
    number& operator=(const number&) = delete;
    ~number() { mpfr_clear(value_); }

    operator mpfr_ptr() { return value_; }  // NOLINT(google-explicit-constructor)

private:
    mpfr_t value_;
};

long as_integer(mpfr_ptr x) { return mpfr_get_si(x, MPFR_RNDN); }

using function = void (*)(mpfr_ptr to, mpfr_ptr a, mpfr_ptr b);

void to_degrees(mpfr_ptr to, mpfr_ptr a, mpfr_ptr) {
    number pi;
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul_ui(to, a, 180, MPFR_RNDN);
    mpfr_div(to, to, pi, MPFR_RNDN);
}
void to_radians(mpfr_ptr to, mpfr_ptr a, mpfr_ptr) {
    number pi;
    mpfr_const_pi(pi, MPFR_RNDN);
    mpfr_mul(to, a, pi, MPFR_RNDN);
    mpfr_div_ui(to, to, 180, MPFR_RNDN);
}

#define BALM_UNARY(row, name)                                                          \
    {                                                                                  \
#row, [](mpfr_ptr to, mpfr_ptr a, mpfr_ptr) { mpfr_##name(to, a, MPFR_RNDN); } \
    }
#define BALM_BINARY(row, name)                                                              \
    {                                                                                       \
#row, [](mpfr_ptr to, mpfr_ptr a, mpfr_ptr b) { mpfr_##name(to, a, b, MPFR_RNDN); } \
    }

const std::map<std::string_view, function>& functions() {
    static const std::map<std::string_view, function> table = {
        BALM_UNARY(acos, acos),
        BALM_UNARY(acosh, acosh),
        BALM_UNARY(acospi, acospi),
        BALM_UNARY(asin, asin),
        BALM_UNARY(asinh, asinh),
        BALM_UNARY(asinpi, asinpi),
        BALM_UNARY(atan, atan),
        BALM_UNARY(atanh, atanh),
        BALM_UNARY(atanpi, atanpi),
        BALM_UNARY(cbrt, cbrt),
        BALM_UNARY(cos, cos),
        BALM_UNARY(cosh, cosh),
        BALM_UNARY(cospi, cospi),
        BALM_UNARY(erf, erf),
        BALM_UNARY(erfc, erfc),
        BALM_UNARY(exp, exp),
        BALM_UNARY(exp10, exp10),
        BALM_UNARY(exp2, exp2),
        BALM_UNARY(expm1, expm1),
        BALM_UNARY(log, log),
        BALM_UNARY(log10, log10),
        BALM_UNARY(log1p, log1p),
        BALM_UNARY(log2, log2),
        BALM_UNARY(rsqrt, rec_sqrt),
        BALM_UNARY(sin, sin),
        BALM_UNARY(sinh, sinh),
        BALM_UNARY(sinpi, sinpi),
        BALM_UNARY(sqrt, sqrt),
        BALM_UNARY(tan, tan),
        BALM_UNARY(tanh, tanh),
        BALM_UNARY(tanpi, tanpi),
        BALM_UNARY(tgamma, gamma),
        BALM_BINARY(atan2, atan2),
        BALM_BINARY(atan2pi, atan2pi),
        BALM_BINARY(divide, div),
        BALM_BINARY(hypot, hypot),
        BALM_BINARY(pow, pow),
        BALM_BINARY(powr, pow),
        {"lgamma",
         [](mpfr_ptr to, mpfr_ptr a, mpfr_ptr) {
             int sign = 0;
             mpfr_lgamma(to, &sign, a, MPFR_RNDN);
         }},
        {"pown", [](mpfr_ptr to, mpfr_ptr a, mpfr_ptr b) { mpfr_pow_si(to, a, as_integer(b), MPFR_RNDN); }},
        {"rootn",
         [](mpfr_ptr to, mpfr_ptr a, mpfr_ptr b) { mpfr_rootn_si(to, a, as_integer(b), MPFR_RNDN); }},
        {"recip", [](mpfr_ptr to, mpfr_ptr a, mpfr_ptr) { mpfr_ui_div(to, 1, a, MPFR_RNDN); }},
        {"degrees", to_degrees},
        {"radians", to_radians},
    };
    return table;
}

#undef BALM_UNARY
#undef BALM_BINARY

}  // namespace

std::optional<long double> exact(builtin what, std::span<const long double> operands) {
    std::string_view name = ir::info(what).name;
    for (const std::string_view less_precise : {"half_", "native_"})
        if (name.starts_with(less_precise)) name.remove_prefix(less_precise.size());
    const auto found = functions().find(name);
    if (found == functions().end()) return std::nullopt;
    number a(operands[0]), b(operands.size() > 1 ? operands[1] : 0), result;
    found->second(result, a, b);
    return mpfr_get_ld(result, MPFR_RNDN);
}

}  // namespace balm::test
