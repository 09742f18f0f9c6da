#pragma once
// The formulas of transforms of real numbers as complex ones of half the size: two neighbours form one
// complex number (W. H. Press et al., Numerical Recipes, 12.3). Z is the transform of the pairs, X that of
// the 2 m real numbers, w = exp(-π i / m).

#include "balm/dsl/complex.hpp"
#include "balm/dsl/control.hpp"

namespace balm::array {

/// X[k] = (Z[k] + Z*[m - k]) / 2 - i w^k (Z[k] - Z*[m - k]) / 2 from Z[k], Z[m - k] and w^k.
template <class T>
dsl::Complex<T> spectrum_of_two(const dsl::Complex<T>& near, const dsl::Complex<T>& opposite,
                                const dsl::Complex<T>& root) {
    using dsl::Complex;
    const Complex<T> far = conj(opposite);
    const Complex<T> even = (near + far) * T(0.5), difference = (near - far) * T(0.5);
    const Complex<T> turned = root * difference;
    return even + Complex<T>(turned.imag(), -turned.real());
}

/// The inverse: 2 Z[k] from X[k], X[m - k] and w^k. X[0] and X[m] are treated as real.
template <class T>
dsl::Complex<T> pair_of_two(const dsl::Complex<T>& low, const dsl::Complex<T>& high,
                            const dsl::Complex<T>& root, const dsl::Long& k) {
    using namespace dsl;
    const Bool is_first = k == 0;
    const Complex<T> near(low.real(), select(is_first, Var<T>(T(0)), low.imag()));
    const Complex<T> far(high.real(), select(is_first, Var<T>(T(0)), -high.imag()));
    const Complex<T> turned = (near - far) * conj(root);
    return near + far + Complex<T>(-turned.imag(), turned.real());
}

}  // namespace balm::array
