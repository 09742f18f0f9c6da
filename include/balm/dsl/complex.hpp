#pragma once
// Complex numbers on the device: Complex<float> and Complex<double>, or CFloat and CDouble. Memory of them
// binds to buffers and vectors of std::complex<T>; this header does not include <complex>.
//
//     balm::kernel<1>("julia(c, z, steps)", [](CFloat c, InOut<std::complex<float>> z, Out<int> steps) {
//         Index i = global_id(0);
//         CFloat w = z[i];
//         Int k = 0;
//         WHILE (norm(w) < 4 && k < 100) {
//             w = w * w + c;
//             ++k;
//         }
//         z[i] = w;
//         steps[i] = k;
//     });
//
// They combine with real and complex numbers of the same precision, and with host scalars. Products are
// (a c - b d, a d + b c), where each of the four products is rounded: unlike other arithmetic they are not
// contracted, so the imaginary part of z * conj(z) is 0, and z * w equals w * z. Infinite operands may give
// NaN. Quotients, and functions other than norm, are scaled so that no intermediate result overflows or
// underflows, and have the values of C99's Annex G for zeros, infinities and NaN.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "balm/complex_value.hpp"
#include "balm/dsl/array.hpp"
#include "balm/kernel.hpp"

namespace balm::dsl {

/// A complex number on the device.
template <std::floating_point T>
using Complex = Var<complex_value<T>>;
using CFloat = Complex<float>;
using CDouble = Complex<double>;

namespace detail {

/// The functions of src/kernel/complex.cpp, each a device function on vectors of two lanes.
enum class complex_function : std::uint8_t {
    divide,
    log,
    exp,
    sqrt,
    pow,
    sinh,
    cosh,
    tanh,
    asin,
    acos,
    atanh,
    polar
};
node complex_call(complex_function what, node a);
node complex_call(complex_function what, node a, node b);

template <class A>
inline constexpr bool is_complex_device = false;
template <class T>
inline constexpr bool is_complex_device<Var<complex_value<T>>> = true;
template <class T, trace::access Use, space Where>
inline constexpr bool is_complex_device<Element<complex_value<T>, Use, Where>> = true;

/// A complex number on the device: a variable, or an element of memory.
template <class A>
concept complex_operand = is_complex_device<std::remove_cvref_t<A>>;
/// The same, or a complex number of the host.
template <class A>
concept any_complex = complex_operand<A> || complex_type<std::remove_cvref_t<A>>;
/// An operand beside a complex number: another one, or a scalar.
template <class A>
concept complex_or_scalar = any_complex<A> || scalar_operand<A>;
template <class A, class B>
concept complex_pair = complex_or_scalar<A> && complex_or_scalar<B> &&
    (complex_operand<A> || complex_operand<B>);

template <class A>
struct complex_part {};
template <complex_operand A>
struct complex_part<A> {
    using type = typename std::remove_cvref_t<A>::value_type::value_type;
};
/// The precision of an operation: that of its complex numbers on the device.
template <class A, class B = A>
struct complex_precision : complex_part<A> {};
template <class A, complex_operand B>
requires(!complex_operand<A>) struct complex_precision<A, B> : complex_part<B> {
};
template <class A, class B = A>
using precision_of = typename complex_precision<A, B>::type;

/// A scalar operand among complex numbers of precision T.
template <std::floating_point T, scalar_operand A>
Var<T> real_operand(A&& a) {
    if constexpr (device_value<A>)
        static_assert(
            !is_floating(strong_scalar<A>()) || size_of(strong_scalar<A>()) <= sizeof(T),
            "Balm: combining a Double with a Complex<float> would lose precision; write cast<float>(x)");
    return Var<T>(static_cast<A&&>(a));
}

/// A complex number of precision T as a vector of two lanes.
template <std::floating_point T, class A>
node complex_node(A&& a) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (complex_operand<A>) {
        static_assert(
            std::same_as<precision_of<A>, T>,
            "Balm: complex numbers of different precision cannot be combined; write complex_cast<double>(z)");
        if constexpr (requires { a.balm_place(); })
            return a.load();
        else
            return trace::read(a.node());
    } else {
        node parts[2];
        if constexpr (complex_type<plain>) {
            static_assert(sizeof(typename plain::value_type) <= sizeof(T),
                          "Balm: combining a host value of double precision with a Complex<float> would lose "
                          "precision; use a float");
            parts[0] = constant_of<T>(static_cast<T>(a.real()));
            parts[1] = constant_of<T>(static_cast<T>(a.imag()));
        } else {
            parts[0] = trace::read(real_operand<T>(static_cast<A&&>(a)).node());
            parts[1] = trace::constant(scalar_of<T>, 0);
        }
        return trace::compose(trace::type(scalar_of<T>, 2), parts, 2);
    }
}

}  // namespace detail

/// A complex variable or value.
template <std::floating_point T>
class [[maybe_unused]] Var<complex_value<T>> {
public:
    using value_type = complex_value<T>;

    Var() : Var(T(0), T(0)) {}
    Var(const Var& other) : node_(trace::read(other.node_)) {}
    /// From the two parts.
    template <detail::scalar_operand R, detail::scalar_operand I>
    Var(R&& real, I&& imaginary) {
        const Var<T> x(detail::real_operand<T>(static_cast<R&&>(real)));
        const Var<T> y(detail::real_operand<T>(static_cast<I&&>(imaginary)));
        const trace::node parts[] = {trace::read(x.node()), trace::read(y.node())};
        node_ = trace::compose(trace::type(scalar_of<T>, 2), parts, 2);
    }
    template <detail::complex_or_scalar A>
    requires(!std::same_as<std::remove_cvref_t<A>, Var>) Var(A&& a)  // NOLINT(google-explicit-constructor)
        : node_(detail::complex_node<T>(static_cast<A&&>(a))) {}
    explicit Var(trace::node result) : node_(result) {}

    Var& operator=(const Var& other) & {
        trace::write(node_, trace::read(other.node_));
        return *this;
    }
    template <detail::complex_or_scalar A>
    requires(!std::same_as<std::remove_cvref_t<A>, Var>) Var& operator=(A&& a) & {
        trace::write(node_, detail::complex_node<T>(static_cast<A&&>(a)));
        return *this;
    }
#define BALM_COMPOUND(symbol)                                 \
    template <detail::complex_or_scalar A>                    \
    Var& operator symbol##=(A&& a)& {                         \
        return *this = Var(*this symbol static_cast<A&&>(a)); \
    }
    BALM_COMPOUND(+)
    BALM_COMPOUND(-)
    BALM_COMPOUND(*)
    BALM_COMPOUND(/)
#undef BALM_COMPOUND

    /// The parts, with their values at this point of the program.
    Var<T> real() const { return Var<T>(trace::swizzle(trace::read(node_), 0, 1)); }
    Var<T> imag() const { return Var<T>(trace::swizzle(trace::read(node_), 1, 1)); }
    const trace::node& node() const { return node_; }

private:
    trace::node node_;
};

/// A complex element of memory.
template <std::floating_point T, trace::access Use, space Where>
class Element<complex_value<T>, Use, Where> {
public:
    using element_type = complex_value<T>;
    using value_type = complex_value<T>;

    explicit Element(const detail::memory_place& place) : place_(place) {}
    Element(const Element&) = delete;
    void operator=(Element&& other) && { store(other.load()); }
    template <detail::complex_or_scalar A>
    void operator=(A&& a) && {
        store(detail::complex_node<T>(static_cast<A&&>(a)));
    }
    template <class A>
    requires(!detail::complex_or_scalar<A>) BALM_REFUSED(BALM_NO_ELEMENT)
    void operator=(const A& a) &&;
#define BALM_COMPOUND(symbol)                                                       \
    template <detail::complex_or_scalar A>                                          \
    void operator symbol##=(A&& a)&& {                                              \
        store(trace::read((Complex<T>(load()) symbol static_cast<A&&>(a)).node())); \
    }
    BALM_COMPOUND(+)
    BALM_COMPOUND(-)
    BALM_COMPOUND(*)
    BALM_COMPOUND(/)
#undef BALM_COMPOUND
    trace::node load() const {
        static_assert(detail::may_read<Use>, "Balm: Out<T> is write-only; use InOut<T> to read and write");
        return place_.load();
    }
    const detail::memory_place& balm_place() const { return place_; }

private:
    void store(trace::node stored) const {
        static_assert(detail::may_write<Use>, "Balm: this memory is read-only");
        place_.store(stored);
    }
    detail::memory_place place_;
};

namespace detail {

/// std::complex<T> in memory is complex_value<T>.
template <complex_type C>
requires(!element_type<C>) struct canonical_element<C> {
    using type = complex_value<typename C::value_type>;
};

template <complex_operand A>
Complex<precision_of<A>> complex_held(A&& a) {
    return Complex<precision_of<A>>(complex_node<precision_of<A>>(static_cast<A&&>(a)));
}
/// Applies a row to vectors of two lanes, lane by lane.
template <std::floating_point T>
Complex<T> in_lanes(builtin what, node a, node b) {
    return Complex<T>(trace::apply(what, a, b));
}
/// Multiplies lane by lane, (a c, b d) and (a d, b c), since products that are lanes are not contracted: fma
/// would round one of two products only, and leave its error in place of the 0 of a * b - b * a.
template <std::floating_point T>
Complex<T> complex_product(const Complex<T>& z, const Complex<T>& w) {
    const node left = trace::read(z.node()), right = trace::read(w.node());
    const Complex<T> straight = in_lanes<T>(builtin::mul, left, right);
    const Complex<T> crossed = in_lanes<T>(builtin::mul, left, trace::swizzle(right, 0x01, 2));
    return Complex<T>(straight.real() - straight.imag(), crossed.real() + crossed.imag());
}
template <std::floating_point T>
Complex<T> complex_called(complex_function what, const Complex<T>& z) {
    return Complex<T>(complex_call(what, trace::read(z.node())));
}

}  // namespace detail

template <class A, class B>
requires detail::complex_pair<A, B>
auto operator+(A&& a, B&& b) {
    using T = detail::precision_of<A, B>;
    const trace::node left = detail::complex_node<T>(static_cast<A&&>(a));
    return detail::in_lanes<T>(builtin::add, left, detail::complex_node<T>(static_cast<B&&>(b)));
}
template <class A, class B>
requires detail::complex_pair<A, B>
auto operator-(A&& a, B&& b) {
    using T = detail::precision_of<A, B>;
    const trace::node left = detail::complex_node<T>(static_cast<A&&>(a));
    return detail::in_lanes<T>(builtin::sub, left, detail::complex_node<T>(static_cast<B&&>(b)));
}
template <class A, class B>
requires detail::complex_pair<A, B>
auto operator*(A&& a, B&& b) {
    using T = detail::precision_of<A, B>;
    if constexpr (detail::scalar_operand<A>) {
        const Var<T> factor = detail::real_operand<T>(static_cast<A&&>(a));
        return detail::in_lanes<T>(builtin::mul, trace::read(factor.node()),
                                   detail::complex_node<T>(static_cast<B&&>(b)));
    } else if constexpr (detail::scalar_operand<B>) {
        const trace::node left = detail::complex_node<T>(static_cast<A&&>(a));
        const Var<T> factor = detail::real_operand<T>(static_cast<B&&>(b));
        return detail::in_lanes<T>(builtin::mul, left, trace::read(factor.node()));
    } else {
        const Complex<T> left(static_cast<A&&>(a));
        return detail::complex_product<T>(left, Complex<T>(static_cast<B&&>(b)));
    }
}
/// Uses the method of C99, Annex G.5.1: the divisor is scaled by a power of two, and quotients of infinities
/// and zeros are as specified there.
template <class A, class B>
requires detail::complex_pair<A, B>
auto operator/(A&& a, B&& b) {
    using T = detail::precision_of<A, B>;
    const trace::node left = detail::complex_node<T>(static_cast<A&&>(a));
    if constexpr (detail::scalar_operand<B>) {
        const Var<T> divisor = detail::real_operand<T>(static_cast<B&&>(b));
        return detail::in_lanes<T>(builtin::div, left, trace::read(divisor.node()));
    } else {
        return Complex<T>(detail::complex_call(detail::complex_function::divide, left,
                                               detail::complex_node<T>(static_cast<B&&>(b))));
    }
}
template <detail::complex_operand A>
auto operator-(A&& a) {
    using T = detail::precision_of<A>;
    const trace::node operand = detail::complex_node<T>(static_cast<A&&>(a));
    return Complex<T>(trace::apply(builtin::neg, &operand, 1));
}
template <detail::complex_operand A>
auto operator+(A&& a) {
    return detail::complex_held(static_cast<A&&>(a));
}
/// Whether both parts are equal.
template <class A, class B>
requires detail::complex_pair<A, B> Bool operator==(A&& a, B&& b) {
    using T = detail::precision_of<A, B>;
    const Complex<T> z(static_cast<A&&>(a)), w(static_cast<B&&>(b));
    return (z.real() == w.real()) & (z.imag() == w.imag());
}
template <class A, class B>
requires detail::complex_pair<A, B> Bool operator!=(A&& a, B&& b) {
    return !(static_cast<A&&>(a) == static_cast<B&&>(b));
}

/// The real and the imaginary part.
template <detail::complex_operand A>
auto real(A&& a) {
    return detail::complex_held(static_cast<A&&>(a)).real();
}
template <detail::complex_operand A>
auto imag(A&& a) {
    return detail::complex_held(static_cast<A&&>(a)).imag();
}
/// The distance from 0: hypot(real, imag), which overflows only if the result does.
template <detail::complex_operand A>
auto abs(A&& a) {
    const auto z = detail::complex_held(static_cast<A&&>(a));
    return hypot(z.real(), z.imag());
}
/// The angle, from -π to π: atan2(imag, real).
template <detail::complex_operand A>
auto arg(A&& a) {
    const auto z = detail::complex_held(static_cast<A&&>(a));
    return atan2(z.imag(), z.real());
}
/// The square of abs(z).
template <detail::complex_operand A>
auto norm(A&& a) {
    const auto z = detail::complex_held(static_cast<A&&>(a));
    return fma(z.real(), z.real(), z.imag() * z.imag());
}
template <detail::complex_operand A>
auto conj(A&& a) {
    const auto z = detail::complex_held(static_cast<A&&>(a));
    return std::remove_cvref_t<decltype(z)>(z.real(), -z.imag());
}
/// The number on the Riemann sphere, where there is one infinity: (∞, ±0) if a part is infinite, whatever the
/// other, else the number.
template <detail::complex_operand A>
auto proj(A&& a) {
    using T = detail::precision_of<A>;
    const auto z = detail::complex_held(static_cast<A&&>(a));
    const Complex<T> infinity(std::numeric_limits<T>::infinity(), copysign(Var<T>(T(0)), z.imag()));
    return select(isinf(z.real()) | isinf(z.imag()), infinity, z);
}
/// The complex number with this distance from 0 and this angle.
template <class R, class Angle>
requires device_operands<R, Angle> && detail::scalar_operand<R> && detail::scalar_operand<Angle>
auto polar(R&& distance, Angle&& angle) {
    using T = std::conditional_t<detail::strong_of<R, Angle>() == scalar::f32, float, double>;
    const Var<T> r = detail::real_operand<T>(static_cast<R&&>(distance));
    const Var<T> a = detail::real_operand<T>(static_cast<Angle&&>(angle));
    return Complex<T>(
        detail::complex_call(detail::complex_function::polar, trace::read(r.node()), trace::read(a.node())));
}

#define BALM_COMPLEX_FUNCTION(id)                                                 \
    template <detail::complex_operand A>                                          \
    auto id(A&& a) {                                                              \
        return detail::complex_called(detail::complex_function::id,               \
                                      detail::complex_held(static_cast<A&&>(a))); \
    }
/// e to the z.
BALM_COMPLEX_FUNCTION(exp)
/// The natural logarithm, with a branch cut along the negative real axis.
BALM_COMPLEX_FUNCTION(log)
/// The logarithm to base 10, with the same branch cut.
template <detail::complex_operand A>
auto log10(A&& a) {
    using T = detail::precision_of<A>;
    return log(static_cast<A&&>(a)) * Var<T>(T(0.43429448190325182765L));
}
/// The square root whose real part is not negative.
BALM_COMPLEX_FUNCTION(sqrt)
BALM_COMPLEX_FUNCTION(sinh)
BALM_COMPLEX_FUNCTION(cosh)
BALM_COMPLEX_FUNCTION(tanh)
/// The inverse functions, with the branch cuts of C and C++: along the real axis beyond -1 and 1 those of
/// asin, acos and atanh, along the imaginary axis beyond -i and i those of asinh and atan, and along the real
/// axis below 1 that of acosh, whose real part is not negative. On a cut the sign of the zero decides.
BALM_COMPLEX_FUNCTION(asin)
BALM_COMPLEX_FUNCTION(acos)
BALM_COMPLEX_FUNCTION(atanh)
#undef BALM_COMPLEX_FUNCTION
template <detail::complex_operand A>
auto acosh(A&& a) {
    const auto z = detail::complex_held(static_cast<A&&>(a));
    using C = std::remove_cvref_t<decltype(z)>;
    const C turned = acos(z);
    return C(fabs(turned.imag()), copysign(turned.real(), z.imag()));
}

/// sin z = -i sinh(i z), and so on.
#define BALM_TURNED(id, of)                                       \
    template <detail::complex_operand A>                          \
    auto id(A&& a) {                                              \
        const auto z = detail::complex_held(static_cast<A&&>(a)); \
        using C = std::remove_cvref_t<decltype(z)>;               \
        const C turned = of(C(-z.imag(), z.real()));              \
        return C(turned.imag(), -turned.real());                  \
    }
BALM_TURNED(sin, sinh)
BALM_TURNED(tan, tanh)
BALM_TURNED(asinh, asin)
BALM_TURNED(atan, atanh)
#undef BALM_TURNED
template <detail::complex_operand A>
auto cos(A&& a) {
    const auto z = detail::complex_held(static_cast<A&&>(a));
    using C = std::remove_cvref_t<decltype(z)>;
    return cosh(C(-z.imag(), z.real()));
}
/// z to the power w: exp(w log z); 1 if w is 0. A power of 0 is 0 if the real part of w is positive, infinite
/// if it is negative, and NaN if it is 0.
template <class A, class B>
requires detail::complex_pair<A, B>
auto pow(A&& a, B&& b) {
    using T = detail::precision_of<A, B>;
    const trace::node base = detail::complex_node<T>(static_cast<A&&>(a));
    return Complex<T>(detail::complex_call(detail::complex_function::pow, base,
                                           detail::complex_node<T>(static_cast<B&&>(b))));
}

/// The same number in another precision.
template <std::floating_point T, detail::complex_operand A>
Complex<T> complex_cast(A&& a) {
    const trace::node given = detail::complex_node<detail::precision_of<A>>(static_cast<A&&>(a));
    return Complex<T>(trace::convert(given, scalar_of<T>));
}

/// `condition ? if_true : if_false`; both are computed.
template <operand C, class A, class B>
requires detail::complex_pair<A, B>
auto select(C&& condition, A&& if_true, B&& if_false) {
    using T = detail::precision_of<A, B>;
    const trace::node test = detail::condition_of(static_cast<C&&>(condition));
    const trace::node yes = detail::complex_node<T>(static_cast<A&&>(if_true));
    return Complex<T>(trace::select(test, yes, detail::complex_node<T>(static_cast<B&&>(if_false))));
}

}  // namespace balm::dsl

namespace balm::detail {

template <complex_type A, complex_type B>
inline constexpr bool is_same_element<A, B> = sizeof(A) == sizeof(B);

template <std::floating_point T>
struct parameter<dsl::Var<complex_value<T>>> {
    static trace::type element() { return trace::type(scalar_of<T>, 2); }
    static constexpr trace::access use = trace::access::value;

    template <class A>
    static bound_argument bind(const A& value) {
        static_assert(complex_type<A> || scalar_type<A>,
                      "Balm: this parameter is a complex number; pass a std::complex or a real number");
        complex_value<T> given;
        if constexpr (complex_type<A>) {
            static_assert(sizeof(A) <= sizeof given,
                          "Balm: this host value would narrow to the parameter's type; cast it");
            given = {static_cast<T>(value.real()), static_cast<T>(value.imag())};
        } else {
            given = {static_cast<T>(value), T(0)};
        }
        return bind_value(&given, sizeof given);
    }
};

}  // namespace balm::detail
