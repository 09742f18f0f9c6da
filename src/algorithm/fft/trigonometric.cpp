// Cosine and sine transforms: a function of pairs of elements at the first load of a complex transform of
// half the size, and a function of its results. Of n elements along a dimension, with θ = π / n:
//
//     II   even elements, then the odd ones backwards, are v: y[k] = 2 Re(exp(-i θ k / 2) V[k])
//          (J. Makhoul, A fast cosine transform in one and two dimensions, IEEE Trans. ASSP 28, 1980)
//     III  the same backwards: V[k] = exp(i θ k / 2) (x[k] - i x[n - k])
//     IV   of even n, z[j] = x[2 j] + i x[n - 1 - 2 j], turned by exp(-i θ (j + 1/8)) before and after; of
//     odd
//          n the real transform of x in another order (S. C. Chan and K. L. Ho, Direct methods for computing
//          discrete sinusoidal transforms, IEE Proc. F 137, 1990)
//     I    the real transform of x and its mirror image
//
// A sine transform is a cosine transform of elements in reverse order or with alternating signs, whose
// results are so.

#include <fmt/format.h>

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "algorithm/fft/fft_dimensions.hpp"
#include "algorithm/fft/spread_fft.hpp"
#include "algorithm/fft/transform_producer.hpp"
#include "array/spread/parts.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/control.hpp"
#include "balm/error.hpp"
#include "balm/spectral.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using vector_handle = std::shared_ptr<vector_state>;

// ---- where elements lie

/// What of its position an element's coordinates are computed from: variants of each function.
struct line_form {
    bool has_rows = false;   ///< there is more than one line
    bool has_inner = false;  ///< lines are across rows
    bool is_wide = false;    ///< positions need more than 31 bits
    static constexpr std::size_t count = 8;

    explicit line_form(std::size_t bits)
        : has_rows((bits & 1) != 0), has_inner((bits & 2) != 0), is_wide((bits & 4) != 0) {}
    std::size_t bits() const { return (has_rows ? 1u : 0u) + (has_inner ? 2u : 0u) + (is_wide ? 4u : 0u); }
};
line_form form_of(const fft_lines& lines) {
    constexpr std::size_t most_narrow = std::size_t{1} << 30;
    line_form made(0);
    made.has_rows = lines.outer > 1;
    made.has_inner = lines.inner > 1;
    made.is_wide = lines.size() > most_narrow;
    return made;
}

/// The line and the number along it of the element `at` of lines of `length`.
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
    /// Where element number `of` of the same line is, in lines of another length.
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

// ---- the functions

// NOLINTBEGIN(performance-unnecessary-value-param): a function's parameters are values

/// Of the arguments `n` is the number of real elements of a line, and `sine` is not 0 for sine transforms.
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
    /// Where element k of the result is among v.
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
                                // Element (n - 1) / 2 + 4 k of x, mirrored at its ends: odd at the far one.
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

    /// Element i of 2 m: x and its mirror image; of sines, which are 0 at 0 and m, the negative of that.
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

// ---- along one dimension

template <class T>
class trigonometric_computation {
    using functions = trigonometric_functions<T>;
    using complex_vector = typename functions::complex_vector;

public:
    trigonometric_computation(trigonometric kind, int type, const fft_lines& lines, long double scale,
                              vector_state& into)
        : type_(type),
          lines_(lines),
          form_(form_of(lines)),
          n_(static_cast<std::int64_t>(lines.count)),
          inner_(static_cast<std::int64_t>(lines.inner)),
          sine_(kind == trigonometric::sine ? 1 : 0),
          scale_(static_cast<T>(scale)),
          into_(into),
          is_even_(lines.count % 2 == 0) {}

    /// From a vector, which may be the target.
    void run(const vector_handle& from) const {
        const typename functions::real_vector x(from);
        switch (type_) {
            case 1: return of_type_1(x);
            case 2: return is_even_ ? of_type_2(x) : of_odd_type_2(x);
            case 3: return is_even_ ? of_type_3(x) : of_odd_type_3(x);
            default: return is_even_ ? of_type_4(x) : of_odd_type_4(x);
        }
    }

private:
    template <class Functions>
    const auto& of_form(const Functions& all) const {
        return all[form_.bits()];
    }
    expr<std::int64_t> positions(std::size_t length) const {
        return element_index(0, lines_.outer * length * lines_.inner);
    }
    expr<std::int64_t> positions() const { return positions(lines_.count); }
    complex_vector table(const root_list& of) const {
        return complex_vector(root_table(into_.device(), scalar_of<T>, of));
    }
    /// exp(-π i k / length), and exp(-π i k / (2 n)).
    complex_vector roots(std::size_t length) const { return table({2 * length, length + 1}); }
    complex_vector turns() const { return table({4 * lines_.count, lines_.count}); }
    /// exp(-π i (k + 1/8) / n)
    complex_vector turns_of_type_4() const { return table({16 * lines_.count, lines_.count / 2, 8, 1}); }
    complex_vector transformed(const tape& p, std::size_t length, bool is_inverse = false) const {
        const fft_lines lines{lines_.outer, length, lines_.inner};
        check_sizes(lines);
        const auto z =
            std::make_shared<vector_state>(into_.device_handle(), trace::type(scalar_of<T>, 2), lines.size());
        transform_lines(p, lines, {is_inverse, is_inverse, 1}, *z);
        return complex_vector(z);
    }
    void give(const expr<T>& results) const { assign(into_, tape(results.tape())); }

    void of_type_1(const typename functions::real_vector& x) const {
        const std::size_t m = sine_ != 0 ? lines_.count + 1 : lines_.count - 1;
        const complex_vector z =
            transformed(of_form(functions::one_in_pairs())(x, n_, inner_, sine_, positions(m)).tape(), m);
        give(of_form(functions::one_from_pairs())(z, roots(m), n_, inner_, sine_, scale_, positions()));
    }
    void of_type_2(const typename functions::real_vector& x) const {
        const std::size_t m = lines_.count / 2;
        const complex_vector z =
            transformed(of_form(functions::two_in_pairs())(x, n_, inner_, sine_, positions(m)).tape(), m);
        give(of_form(functions::two_from_pairs())(z, roots(m), turns(), n_, inner_, sine_, scale_,
                                                  positions()));
    }
    void of_odd_type_2(const typename functions::real_vector& x) const {
        const complex_vector z = transformed(
            of_form(functions::two_of_odd())(x, n_, inner_, sine_, positions()).tape(), lines_.count);
        give(of_form(functions::two_from_odd())(z, turns(), n_, inner_, sine_, scale_, positions()));
    }
    void of_type_3(const typename functions::real_vector& x) const {
        const std::size_t m = lines_.count / 2;
        const complex_vector z = transformed(
            of_form(functions::three_in_pairs())(x, roots(m), turns(), n_, inner_, sine_, positions(m))
                .tape(),
            m, true);
        give(of_form(functions::three_from_pairs())(z, n_, inner_, sine_, scale_, positions()));
    }
    void of_odd_type_3(const typename functions::real_vector& x) const {
        const complex_vector z =
            transformed(of_form(functions::three_of_odd())(x, turns(), n_, inner_, sine_, positions()).tape(),
                        lines_.count, true);
        give(of_form(functions::three_from_odd())(z, n_, inner_, sine_, scale_, positions()));
    }
    void of_type_4(const typename functions::real_vector& x) const {
        const std::size_t m = lines_.count / 2;
        const complex_vector z = transformed(
            of_form(functions::four_in_pairs())(x, turns_of_type_4(), n_, inner_, sine_, positions(m)).tape(),
            m);
        give(of_form(functions::four_from_pairs())(z, turns_of_type_4(), n_, inner_, sine_, scale_,
                                                   positions()));
    }
    void of_odd_type_4(const typename functions::real_vector& x) const {
        const complex_vector z = transformed(
            of_form(functions::four_of_odd())(x, n_, inner_, sine_, positions()).tape(), lines_.count);
        give(of_form(functions::four_from_odd())(z, n_, inner_, sine_, scale_, positions()));
    }

    int type_;
    fft_lines lines_;
    line_form form_;
    std::int64_t n_, inner_, sine_;
    T scale_;
    vector_state& into_;
    bool is_even_;
};

/// What a transform is, whatever it runs along.
struct trigonometric_manner {
    scalar precision;
    trigonometric kind;
    int type;
    long double scale;

    /// Along one dimension, from a vector, which may be the target.
    void transform(const vector_handle& from, const fft_lines& lines, bool is_scaled,
                   vector_state& into) const {
        const long double factor = is_scaled ? scale : 1;
        if (precision == scalar::f32)
            trigonometric_computation<float>(kind, type, lines, factor, into).run(from);
        else
            trigonometric_computation<double>(kind, type, lines, factor, into).run(from);
    }
};

class trigonometric_producer : public transform_producer {
public:
    /// Along dimensions, the fastest first, of so many arrays.
    trigonometric_producer(tape&& of, std::shared_ptr<vector_state> near, const shape& extents,
                           const trigonometric_manner& how, std::vector<fft_lines> dimensions,
                           std::size_t arrays)
        : transform_producer({std::move(of)}, extents, how.precision, std::move(near), arrays),
          how_(how),
          dimensions_(std::move(dimensions)) {}

private:
    // What reads the elements writes a temporary.
    bool may_overwrite(std::span<const tape>, vector_state&) const override { return true; }
    void write(std::span<const tape> operands, std::size_t arrays, vector_state& into) const override {
        refuse_writing(operands[0]);
        vector_handle from = as_vector(operands[0], type(), into.size(), into);
        for (std::size_t k = 0; k < dimensions_.size(); ++k) {
            how_.transform(from, lines_of(dimensions_[k], arrays), k + 1 == dimensions_.size(), into);
            from = borrowed(into);
        }
    }

    bool has_exchange(std::size_t /*devices*/) const override { return dimensions_.back().inner > 1; }
    void write_exchanged(std::span<const tape> operands, const vector_state& model,
                         vector_state& into) const override {
        refuse_writing(operands[0]);
        const fft_lines& slowest = dimensions_.back();
        tape rows = operands[0];
        if (dimensions_.size() > 1) {
            trigonometric_manner unscaled = how_;
            unscaled.scale = 1;
            const trigonometric_producer of_rows(std::move(rows), near(), extents(), unscaled,
                                                 {dimensions_.begin(), dimensions_.end() - 1},
                                                 slowest.outer * slowest.count);
            rows = of_vector(of_rows.compute());
        }
        transform_columns(rows, type(), slowest, model, into, [&](const auto& block, const fft_lines& lines) {
            how_.transform(block, lines, true, *block);
            return block;
        });
    }

    trigonometric_manner how_;
    std::vector<fft_lines> dimensions_;
};

const char* word_of(trigonometric kind) { return kind == trigonometric::cosine ? "cosine" : "sine"; }

}  // namespace

tape trigonometrically_transformed(tape&& elements, scalar precision, trigonometric kind, int type,
                                   bool is_inverse, const dimension_list& over) {
    if (type < 1 || type > 4)
        throw usage_error(
            fmt::format("there is no {} transform of type {}; there are types 1 to 4", word_of(kind), type));
    const shape box = box_of(elements);
    const std::vector<fft_lines> dimensions = named_lines(box, over);
    long double scale = 1;
    for (const fft_lines& each : dimensions) {
        if (kind == trigonometric::cosine && type == 1 && each.count < 2)
            throw usage_error(fmt::format(
                "a cosine transform of type 1 of {} runs along a dimension of fewer than 2 elements",
                to_string(box)));
        const auto n = static_cast<long double>(each.count);
        if (is_inverse) scale /= 2 * (type > 1 ? n : kind == trigonometric::cosine ? n - 1 : n + 1);
    }
    // The inverses of types 2 and 3 are each other.
    const int computed = is_inverse && (type == 2 || type == 3) ? 5 - type : type;
    std::shared_ptr<vector_state> near = vector_near(elements, precision);
    tape p;
    p.push_produced(std::make_shared<trigonometric_producer>(
        std::move(elements), std::move(near), box, trigonometric_manner{precision, kind, computed, scale},
        dimensions, dimensions.empty() ? 1 : dimensions.back().outer));
    return p;
}

}  // namespace balm::array
