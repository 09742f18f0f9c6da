#pragma once
// The functions of cosine and sine transforms: one makes pairs of elements at the first load of a complex
// transform of half the size, the other is applied to its results. With θ = π / n, for n elements along a
// dimension:
//
//     II   even elements, then the odd ones backwards, are v: y[k] = 2 Re(exp(-i θ k / 2) V[k])
//          (J. Makhoul, A fast cosine transform in one and two dimensions, IEEE Trans. ASSP 28, 1980)
//     III  the inverse: V[k] = exp(i θ k / 2) (x[k] - i x[n - k])
//     IV   for even n, z[j] = x[2 j] + i x[n - 1 - 2 j], times exp(-i θ (j + 1/8)) before and after;
//          for odd n the real transform of x in another order (S. C. Chan and K. L. Ho, Direct methods for
//          computing discrete sinusoidal transforms, IEE Proc. F 137, 1990)
//     I    the real transform of x and its mirror image
//
// A sine transform is a cosine transform whose elements and results are in reverse order or have alternating
// signs.

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "algorithm/fft/fft_dimensions.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/control.hpp"
#include "balm/vector.hpp"

namespace balm::array::trigonometry {

using namespace balm::dsl;

/// Decides how an element's coordinates are computed from its position: each function has a variant for each
/// form.
struct line_form {
    bool has_rows = false;   ///< there is more than one line
    bool has_inner = false;  ///< lines are across rows
    bool is_wide = false;    ///< positions need more than 31 bits
    static constexpr std::size_t count = 8;

    explicit line_form(std::size_t bits)
        : has_rows((bits & 1) != 0), has_inner((bits & 2) != 0), is_wide((bits & 4) != 0) {}
    std::size_t bits() const { return (has_rows ? 1u : 0u) + (has_inner ? 2u : 0u) + (is_wide ? 4u : 0u); }
};
inline line_form form_of(const fft_lines& lines) {
    constexpr std::size_t most_narrow = std::size_t{1} << 30;
    line_form made(0);
    made.has_rows = lines.outer > 1;
    made.has_inner = lines.inner > 1;
    made.is_wide = lines.size() > most_narrow;
    return made;
}

/// The line of element `at`, and its number along the line, for lines of `length` elements.
struct line_element {
    Long row = 0, k, column = 0;
    Long inner;

    line_element(const line_form& form, const Long& at, const Long& length, const Long& all_inner)
        : inner(all_inner) {
        k = at;
        if (form.has_rows) {
            row = quotient(form, at, form.has_inner ? Long(length * inner) : length);
            k -= row * (form.has_inner ? Long(length * inner) : length);
        }
        if (form.has_inner) {
            const Long rest = k;
            k = quotient(form, rest, inner);
            column = rest - k * inner;
        }
        has_rows = form.has_rows;
        has_inner = form.has_inner;
    }
    /// The position of element `of` of the same line, in lines of another length.
    Long place(const Long& of, const Long& length) const {
        const Long in_rows = has_rows ? Long(row * length + of) : of;
        return has_inner ? Long(in_rows * inner + column) : in_rows;
    }

private:
    static Long quotient(const line_form& form, const Long& a, const Long& b) {
        if (form.is_wide) return a / b;
        return cast<std::int64_t>(Int(cast<int>(a) / cast<int>(b)));
    }
    bool has_rows = false, has_inner = false;
};

/// The function's variants for all forms.
template <class Make>
auto in_all_forms(Make&& make) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) { return std::array{make(line_form(K))...}; }
    (std::make_index_sequence<line_form::count>{});
}

template <class T>
using reals = In<T>;
template <class T>
using complexes = In<complex_value<T>>;

template <class T>
Var<T> with_sign(const Bool& is_negative, const Var<T>& value) {
    return select(is_negative, Var<T>(-value), value);
}

// NOLINTBEGIN(performance-unnecessary-value-param): a function's parameters are values

/// In the arguments, `n` is the number of real elements of a line, and `sine` is not 0 for sine transforms.
template <class T>
struct trigonometric_functions {
    using complex_vector = balm::vector<std::complex<T>>;
    using real_vector = balm::vector<T>;

    // -- II

    /// Element i of v.
    static Var<T> folded(const reals<T>& x, const line_element& of, const Long& n, const Long& sine,
                         const Long& i) {
        const Bool is_odd = 2 * i >= n;
        const Long from = select(is_odd, 2 * n - 1 - 2 * i, 2 * i);
        return with_sign<T>(is_odd && sine != 0, x[of.place(from, n)]);
    }
    static const auto& two_in_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_2_pairs(x, n, inner, sine, at)", [=](reals<T> x, Long n, Long inner,
                                                                         Long sine, Long at) {
                const line_element of(form, at, n / 2, inner);
                return Complex<T>(folded(x, of, n, sine, 2 * of.k), folded(x, of, n, sine, 2 * of.k + 1));
            });
        }));
        return made;
    }
    static const auto& two_of_odd() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_2_numbers(x, n, inner, sine, at)",
                            [=](reals<T> x, Long n, Long inner, Long sine, Long at) {
                                const line_element of(form, at, n, inner);
                                return folded(x, of, n, sine, of.k);
                            });
        }));
        return made;
    }
    /// X[k] of a real transform, times 2, for k up to m, from the transform of pairs.
    static Complex<T> from_pairs(const complexes<T>& z, const complexes<T>& roots, const line_element& of,
                                 const Long& m, const Long& k) {
        const Complex<T> near = z[of.place(select(k == m, Long(0), k), m)];
        const Complex<T> far = conj(Complex<T>(z[of.place(select(k == 0, Long(0), m - k), m)]));
        const Complex<T> turned = Complex<T>(roots[k]) * (near - far);
        return near + far + Complex<T>(turned.imag(), -turned.real());
    }
    static const auto& two_from_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_2(z, roots, turns, n, inner, sine, scale, at)",
                            [=](complexes<T> z, complexes<T> roots, complexes<T> turns, Long n, Long inner,
                                Long sine, Var<T> scale, Long at) {
                                const line_element of(form, at, n, inner);
                                const Long own = select(sine != 0, n - 1 - of.k, of.k);
                                const Bool is_far = 2 * own > n;
                                const Complex<T> near =
                                    from_pairs(z, roots, of, n / 2, select(is_far, n - own, own));
                                const Complex<T> turn = turns[own];
                                const Var<T> imaginary = with_sign<T>(is_far, near.imag());
                                return Var<T>((near.real() * turn.real() - imaginary * turn.imag()) * scale);
                            });
        }));
        return made;
    }
    static const auto& two_from_odd() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function(
                "cosine_2_of_odd(z, turns, n, inner, sine, scale, at)",
                [=](complexes<T> z, complexes<T> turns, Long n, Long inner, Long sine, Var<T> scale,
                    Long at) {
                    const line_element of(form, at, n, inner);
                    const Long own = select(sine != 0, n - 1 - of.k, of.k);
                    const Complex<T> value = z[of.place(own, n)], turn = turns[own];
                    return Var<T>(2 * (value.real() * turn.real() - value.imag() * turn.imag()) * scale);
                });
        }));
        return made;
    }

    // -- III

    /// V[k] = conj(turn[k]) (x[k] - i x[n - k]), where x[n] is 0.
    static Complex<T> unfolded(const reals<T>& x, const complexes<T>& turns, const line_element& of,
                               const Long& n, const Long& sine, const Long& k) {
        const auto element = [&](const Long& i) -> Var<T> {
            return x[of.place(select(sine != 0, n - 1 - i, i), n)];
        };
        const Bool is_first = k == 0;
        const Var<T> low = element(k), high = element(select(is_first, Long(0), n - k));
        return Complex<T>(low, select(is_first, Var<T>(T(0)), Var<T>(-high))) * conj(Complex<T>(turns[k]));
    }
    static const auto& three_in_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_3_pairs(x, roots, turns, n, inner, sine, at)",
                            [=](reals<T> x, complexes<T> roots, complexes<T> turns, Long n, Long inner,
                                Long sine, Long at) {
                                const Long m = n / 2;
                                const line_element of(form, at, m, inner);
                                const Complex<T> low = unfolded(x, turns, of, n, sine, of.k),
                                                 high = conj(unfolded(x, turns, of, n, sine, m - of.k));
                                const Complex<T> turned = (low - high) * conj(Complex<T>(roots[of.k]));
                                return Complex<T>(low + high + Complex<T>(-turned.imag(), turned.real()));
                            });
        }));
        return made;
    }
    static const auto& three_of_odd() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_3_numbers(x, turns, n, inner, sine, at)",
                            [=](reals<T> x, complexes<T> turns, Long n, Long inner, Long sine, Long at) {
                                const line_element of(form, at, n, inner);
                                return unfolded(x, turns, of, n, sine, of.k);
                            });
        }));
        return made;
    }
    /// The position in v of element k of the result.
    static Long unfolded_place(const Long& n, const Long& k) {
        return select(k % 2 == 0, k / 2, (2 * n - 1 - k) / 2);
    }
    static const auto& three_from_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_3(z, n, inner, sine, scale, at)",
                            [=](complexes<T> z, Long n, Long inner, Long sine, Var<T> scale, Long at) {
                                const line_element of(form, at, n, inner);
                                const Long from = unfolded_place(n, of.k);
                                const Complex<T> both = z[of.place(from / 2, n / 2)];
                                const Var<T> value = select(from % 2 == 0, both.real(), both.imag());
                                return Var<T>(with_sign<T>(sine != 0 && of.k % 2 == 1, value) * scale);
                            });
        }));
        return made;
    }
    static const auto& three_from_odd() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_3_of_odd(z, n, inner, sine, scale, at)",
                            [=](complexes<T> z, Long n, Long inner, Long sine, Var<T> scale, Long at) {
                                const line_element of(form, at, n, inner);
                                const Complex<T> value = z[of.place(unfolded_place(n, of.k), n)];
                                return Var<T>(with_sign<T>(sine != 0 && of.k % 2 == 1, value.real()) * scale);
                            });
        }));
        return made;
    }

    // -- IV

    static const auto& four_in_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_4_pairs(x, turns, n, inner, sine, at)",
                            [=](reals<T> x, complexes<T> turns, Long n, Long inner, Long sine, Long at) {
                                const line_element of(form, at, n / 2, inner);
                                const Long low = 2 * of.k, high = n - 1 - low;
                                const Var<T> a = x[of.place(select(sine != 0, high, low), n)],
                                             b = x[of.place(select(sine != 0, low, high), n)];
                                return Complex<T>(Complex<T>(a, b) * Complex<T>(turns[of.k]));
                            });
        }));
        return made;
    }
    static const auto& four_from_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_4(z, turns, n, inner, sine, scale, at)",
                            [=](complexes<T> z, complexes<T> turns, Long n, Long inner, Long sine,
                                Var<T> scale, Long at) {
                                const line_element of(form, at, n, inner);
                                const Bool is_odd = of.k % 2 == 1;
                                const Long from = select(is_odd, (n - 1 - of.k) / 2, of.k / 2);
                                const Complex<T> value =
                                    Complex<T>(z[of.place(from, n / 2)]) * Complex<T>(turns[from]);
                                // A sine transform alternates signs: -(-Im).
                                const Var<T> odd = with_sign<T>(sine == 0, value.imag());
                                return Var<T>(2 * select(is_odd, odd, value.real()) * scale);
                            });
        }));
        return made;
    }
    static const auto& four_of_odd() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_4_numbers(x, n, inner, sine, at)",
                            [=](reals<T> x, Long n, Long inner, Long sine, Long at) {
                                const line_element of(form, at, n, inner);
                                // Element (n - 1) / 2 + 4 k of x, mirrored at its ends, with the other sign
                                // at the far one.
                                const Long far = n / 2 + 4 * of.k;
                                const Long in_turn = select(far >= 4 * n, far - 4 * n, far);
                                const Bool is_negative = in_turn >= n && in_turn < 3 * n;
                                const Long half = select(in_turn >= 2 * n, in_turn - 2 * n, in_turn);
                                const Long inside = select(half < n, half, 2 * n - 1 - half);
                                const Long from = select(sine != 0, n - 1 - inside, inside);
                                return with_sign<T>(is_negative, x[of.place(from, n)]);
                            });
        }));
        return made;
    }
    static const auto& four_from_odd() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_4_of_odd(z, n, inner, sine, scale, at)",
                            [=](complexes<T> z, Long n, Long inner, Long sine, Var<T> scale, Long at) {
                                const line_element of(form, at, n, inner);
                                const Long angle = 2 * of.k + 1;
                                const Complex<T> value = z[of.place(select(angle < n, angle, angle - n), n)];
                                // 2 Re(exp(-i π angle / 4) value)
                                const Var<T> sum = with_sign<T>(((angle + 2) & 4) != 0, value.real()) +
                                                   with_sign<T>((angle & 4) != 0, value.imag());
                                return Var<T>(with_sign<T>(sine != 0 && of.k % 2 == 1, sum) *
                                              (T(1.41421356237309504880L) * scale));
                            });
        }));
        return made;
    }

    // -- I

    /// Element i of 2 m: x and its mirror image; for sines, which are 0 at 0 and m, the negative of that
    /// image.
    static Var<T> mirrored_element(const reals<T>& x, const line_element& of, const Long& n, const Long& m,
                                   const Long& sine, const Long& i) {
        const Bool is_sine = sine != 0, is_far = i > m;
        const Long near = select(is_far, 2 * m - i, i);
        const Bool is_node = is_sine && (near == 0 || near == m);
        const Long from = select(is_sine, min(max(near - 1, Long(0)), n - 1), near);
        const Var<T> value = with_sign<T>(is_sine && is_far, x[of.place(from, n)]);
        return select(is_node, Var<T>(T(0)), value);
    }
    static const auto& one_in_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function("cosine_1_pairs(x, n, inner, sine, at)",
                            [=](reals<T> x, Long n, Long inner, Long sine, Long at) {
                                const Long m = select(sine != 0, n + 1, n - 1);
                                const line_element of(form, at, m, inner);
                                return Complex<T>(mirrored_element(x, of, n, m, sine, 2 * of.k),
                                                  mirrored_element(x, of, n, m, sine, 2 * of.k + 1));
                            });
        }));
        return made;
    }
    static const auto& one_from_pairs() {
        static const auto& made = *new auto(in_all_forms([](const line_form& form) {
            return function(
                "cosine_1(z, roots, n, inner, sine, scale, at)",
                [=](complexes<T> z, complexes<T> roots, Long n, Long inner, Long sine, Var<T> scale,
                    Long at) {
                    const Bool is_sine = sine != 0;
                    const Long m = select(is_sine, n + 1, n - 1);
                    const line_element of(form, at, n, inner);
                    const Complex<T> value = from_pairs(z, roots, of, m, select(is_sine, of.k + 1, of.k));
                    return Var<T>(select(is_sine, Var<T>(-value.imag()), value.real()) * (T(0.5) * scale));
                });
        }));
        return made;
    }
};

// NOLINTEND(performance-unnecessary-value-param)

}  // namespace balm::array::trigonometry
