#pragma once
// Compile-time constants of kernels, and mathematical constants.

#if __has_include(<boost/math/constants/constants.hpp>)
#include <boost/math/constants/constants.hpp>  // VexCL's programs count on it
#endif

#include "vexcl/detail/expression.hpp"
#include "vexcl/operations.hpp"

/// Declares a constant: in an expression, `name()` is a literal in the kernel, so the device's compiler knows
/// its value. A plain number is a kernel argument instead.
///
///     VEX_CONSTANT(gravity, 9.81);
///     v = v - gravity() * dt;
#define VEX_CONSTANT(name, value)                                            \
    struct constant_##name {                                                 \
        typedef decltype(value) value_type;                                  \
        decltype(auto) operator()() const {                                  \
            return vex::detail::wrap(balm::constant(value_type(value)), {}); \
        }                                                                    \
        operator value_type() const { return value; }                        \
    };                                                                       \
    const constant_##name name = {}

namespace vex {

/// Mathematical constants with the names of Boost.Math.
///
///     y = sin(vex::constants::two_pi() * x);
namespace constants {

VEX_CONSTANT(half, 0.5000000000000000000000000);
VEX_CONSTANT(third, 0.3333333333333333333333333);
VEX_CONSTANT(twothirds, 0.6666666666666666666666667);
VEX_CONSTANT(two_thirds, 0.6666666666666666666666667);
VEX_CONSTANT(three_quarters, 0.7500000000000000000000000);
VEX_CONSTANT(root_two, 1.414213562373095048801689);
VEX_CONSTANT(root_three, 1.732050807568877293527446);
VEX_CONSTANT(half_root_two, 0.7071067811865475244008444);
VEX_CONSTANT(one_div_root_two, 0.7071067811865475244008444);
VEX_CONSTANT(ln_two, 0.6931471805599453094172321);
VEX_CONSTANT(ln_ten, 2.302585092994045684017991);
VEX_CONSTANT(ln_ln_two, -0.3665129205816643270124392);
VEX_CONSTANT(root_ln_four, 1.177410022515474691011569);
VEX_CONSTANT(pi, 3.141592653589793238462643);
VEX_CONSTANT(half_pi, 1.570796326794896619231322);
VEX_CONSTANT(third_pi, 1.047197551196597746154214);
VEX_CONSTANT(sixth_pi, 0.5235987755982988730771072);
VEX_CONSTANT(two_pi, 6.283185307179586476925287);
VEX_CONSTANT(two_thirds_pi, 2.094395102393195492308429);
VEX_CONSTANT(three_quarters_pi, 2.356194490192344928846983);
VEX_CONSTANT(four_thirds_pi, 4.188790204786390984616858);
VEX_CONSTANT(one_div_two_pi, 0.1591549430918953357688838);
VEX_CONSTANT(one_div_root_two_pi, 0.3989422804014326779399461);
VEX_CONSTANT(root_pi, 1.772453850905516027298167);
VEX_CONSTANT(root_half_pi, 1.253314137315500251207883);
VEX_CONSTANT(root_two_pi, 2.506628274631000502415765);
VEX_CONSTANT(one_div_root_pi, 0.5641895835477562869480795);
VEX_CONSTANT(root_two_div_pi, 0.7978845608028653558798921);
VEX_CONSTANT(two_div_pi, 0.6366197723675813430755351);
VEX_CONSTANT(pi_minus_three, 0.1415926535897932384626434);
VEX_CONSTANT(four_minus_pi, 0.8584073464102067615373566);
VEX_CONSTANT(pi_pow_e, 22.45915771836104547342715);
VEX_CONSTANT(pi_sqr, 9.869604401089358618834491);
VEX_CONSTANT(pi_sqr_div_six, 1.644934066848226436472415);
VEX_CONSTANT(pi_cubed, 31.00627668029982017547632);
VEX_CONSTANT(cbrt_pi, 1.464591887561523263020143);
VEX_CONSTANT(one_div_cbrt_pi, 0.6827840632552956814670208);
VEX_CONSTANT(e, 2.718281828459045235360287);
VEX_CONSTANT(exp_minus_half, 0.6065306597126334236037995);
VEX_CONSTANT(e_pow_pi, 23.14069263277926900572909);
VEX_CONSTANT(root_e, 1.648721270700128146848651);
VEX_CONSTANT(log10_e, 0.4342944819032518276511289);
VEX_CONSTANT(one_div_log10_e, 2.302585092994045684017991);
VEX_CONSTANT(degree, 0.01745329251994329576923691);
VEX_CONSTANT(radian, 57.29577951308232087679815);
VEX_CONSTANT(sin_one, 0.8414709848078965066525023);
VEX_CONSTANT(cos_one, 0.5403023058681397174009366);
VEX_CONSTANT(sinh_one, 1.175201193643801456882382);
VEX_CONSTANT(cosh_one, 1.543080634815243778477906);
VEX_CONSTANT(phi, 1.618033988749894848204587);
VEX_CONSTANT(ln_phi, 0.4812118250596034474977589);
VEX_CONSTANT(one_div_ln_phi, 2.078086921235027537601323);
VEX_CONSTANT(euler, 0.5772156649015328606065121);
VEX_CONSTANT(one_div_euler, 1.732454714600633473583025);
VEX_CONSTANT(euler_sqr, 0.3331779238077186743183761);
VEX_CONSTANT(zeta_two, 1.644934066848226436472415);
VEX_CONSTANT(zeta_three, 1.202056903159594285399738);
VEX_CONSTANT(catalan, 0.9159655941772190150546035);
VEX_CONSTANT(glaisher, 1.282427129100622636875343);
VEX_CONSTANT(khinchin, 2.685452001065306445309715);
VEX_CONSTANT(extreme_value_skewness, 1.139547099404648657492793);
VEX_CONSTANT(rayleigh_skewness, 0.6311106578189371381918994);
VEX_CONSTANT(rayleigh_kurtosis_excess, 0.2450893006876380628486604);
VEX_CONSTANT(rayleigh_kurtosis, 3.245089300687638062848660);

}  // namespace constants
}  // namespace vex
