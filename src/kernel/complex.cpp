// The complex functions that need more than a line, in the kernel language. Each is traced once per
// precision, as a function on vectors of two lanes, and called where a kernel uses it.
//
// Sources: division: C99, Annex G.5.1 (example 2). tanh and the handling of large parts: W. Kahan, "Branch
// Cuts for Complex Elementary Functions", 1987, as are the inverse functions, in a form that needs neither
// halves of subnormal numbers nor squares of large ones. The logarithm near |z| = 1 sums exact products (T.
// J. Dekker, 1971).

#include <limits>
#include <numbers>

#include "balm/dsl/complex.hpp"
#include "balm/kernel.hpp"

namespace balm::dsl::detail {

namespace {

template <class T>
using Pair = Var<vec<T, 2>>;
template <class T>
using limits = std::numeric_limits<T>;

template <class T>
Pair<T> quotient(Pair<T> z, Pair<T> w) {
    const Var<T> a = z.x, b = z.y, c = w.x, d = w.y;
    // Scales so that the larger part of the divisor is between 1 and 2, and the dividend is neither so large
    // that a product overflows nor so small that one loses digits.
    const Var<T> largest = fmax(fabs(c), fabs(d)), size = fmax(fabs(a), fabs(b));
    const Int down(select(isfinite(largest) & (largest > T(0)), -ilogb(largest), 0));
    const Int small(select(size < limits<T>::min() / limits<T>::epsilon(), 2 * limits<T>::digits, 0));
    const Int own(select(size > limits<T>::max() / T(8), -4, small));
    const Var<T> x = ldexp(c, down), y = ldexp(d, down), u = ldexp(a, own), v = ldexp(b, own);
    const Var<T> square = x * x + y * y;
    Var<T> real = ldexp((u * x + v * y) / square, down - own);
    Var<T> imaginary = ldexp((v * x - u * y) / square, down - own);
    IF (isnan(real) || isnan(imaginary)) {  // only one, if scaling made a part of the divisor 0
        const Var<T> infinity = limits<T>::infinity();
        // 1 for an infinity, else 0, with the sign
        const auto unit = [](const Var<T>& part) {
            return Var<T>(copysign(Var<T>(select(isinf(part), T(1), T(0))), part));
        };
        IF (square == T(0) && (!isnan(a) || !isnan(b))) {
            real = copysign(infinity, c) * a;
            imaginary = copysign(infinity, c) * b;
        }
        ELIF ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) {
            const Var<T> s = unit(a), t = unit(b);
            real = infinity * (s * c + t * d);
            imaginary = infinity * (t * c - s * d);
        }
        ELIF (isinf(largest) && isfinite(a) && isfinite(b)) {
            const Var<T> s = unit(c), t = unit(d);
            real = T(0) * (u * s + v * t);
            imaginary = T(0) * (v * s - u * t);
        }
    }
    return Pair<T>(real, imaginary);
}

/// A function of real numbers times a factor that is exactly 0 only if the product is: the first zero wins,
/// whatever the other operand. `sign` has the first operand's sign.
template <class T>
Var<T> zero_or_product(const Var<T>& sign, const Bool& is_zero, const Var<T>& factor, const Var<T>& product) {
    const Var<T> zero = copysign(Var<T>(T(0)), sign) * copysign(Var<T>(T(1)), factor);
    return Var<T>(select(is_zero | (factor == T(0)), zero, product));
}

/// a + b, and its rounding error (D. E. Knuth, 1969).
template <class T>
struct exact_sum_result {
    Var<T> sum, rest;
};
template <class T>
exact_sum_result<T> exact_sum(const Var<T>& a, const Var<T>& b) {
    const Var<T> sum = a + b, part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

/// log |z|, accurate if it is near 0, and whatever the size of z.
template <class T>
Var<T> log_of_distance(const Var<T>& real, const Var<T>& imaginary) {
    const Var<T> a = fabs(real), b = fabs(imaginary);
    const Var<T> x = fmax(a, b), y = fmin(a, b);
    constexpr int digits = limits<T>::digits;
    const Bool is_large = x > limits<T>::max() / 4, is_small = x < limits<T>::min() / limits<T>::epsilon();
    const Var<T> scale(select(is_large, T(0.25), Var<T>(select(is_small, T(1LL << digits), T(1)))));
    const Var<T> shift(select(is_large, T(2 * std::numbers::ln2),
                              Var<T>(select(is_small, T(-digits * std::numbers::ln2), T(0)))));
    Var<T> result = log(hypot(x * scale, y * scale)) + shift;
    IF (x >= T(0.5) && x <= T(1.5)) {
        // log1p(x² + y² - 1) / 2, with the squares and their sum in twice the precision
        const Var<T> x2 = x * x, x2_rest = fma(x, x, -x2), y2 = y * y, y2_rest = fma(y, y, -y2);
        const Var<T> difference = x2 - T(1), difference_rest = x2 - (difference + T(1));
        // What is left of exact sums, in the order in which they cancel.
        const auto [squares, squares_rest] = exact_sum<T>(difference, y2);
        const auto [rests, rests_rest] = exact_sum<T>(x2_rest, y2_rest);
        const auto [sum, sum_rest] = exact_sum<T>(squares, rests);
        const Var<T> near = sum + (sum_rest + (rests_rest + (squares_rest + difference_rest)));
        IF (near < T(1.5)) {
            result = log1p(near) * T(0.5);
        }
    }
    // fmax and fmin ignore NaN.
    const Var<T> both = a + b;
    return Var<T>(select(isnan(both) & (x < limits<T>::infinity()), both, result));
}

template <class T>
Pair<T> logarithm(Pair<T> z) {
    return Pair<T>(log_of_distance<T>(z.x, z.y), atan2(z.y, z.x));
}

/// The number of this distance and angle: 0 and infinity whatever the angle, as exp(log distance + i angle).
template <class T>
Pair<T> from_polar(Var<T> r, Var<T> angle) {
    const Var<T> c = cos(angle), s = sin(angle);
    const Bool is_zero = r == T(0);
    const Var<T> real = zero_or_product<T>(r, is_zero, c, r * c);
    return Pair<T>(Var<T>(select(isinf(r) & isnan(c), r, real)), zero_or_product<T>(r, is_zero, s, r * s));
}

/// e to the x times other numbers, in two or four factors where one is infinite or two are: a product
/// overflows only if the result does, also where the number is subnormal.
template <class T>
class exponential_factor {
public:
    /// The logarithm of the largest number is 0.693 max_exponent.
    explicit exponential_factor(const Var<T>& x)
        : is_large_(x > T(0.69 * limits<T>::max_exponent)),
          is_huge_(x > T(1.38 * limits<T>::max_exponent)),
          factor_(exp(x * Var<T>(select(is_huge_, T(0.25), Var<T>(select(is_large_, T(0.5), T(1))))))) {}
    /// scale · e^x · number, for a scale that is a power of two.
    Var<T> product(const Var<T>& number, T scale = 1) const {
        const Var<T> larger(select(is_huge_, factor_ * (factor_ * number), number));
        return factor_ * T(scale) * Var<T>(select(is_large_, factor_ * larger, larger));
    }

private:
    Bool is_large_, is_huge_;
    Var<T> factor_;
};
template <class T>
Pair<T> exponential(Pair<T> z) {
    const Var<T> x = z.x, c = cos(z.y), s = sin(z.y);
    const exponential_factor<T> e(x);
    const Bool is_zero = x == -limits<T>::infinity();  // whatever the angle
    const Var<T> real = zero_or_product<T>(T(1), is_zero, c, e.product(c));
    return Pair<T>(Var<T>(select(isinf(x) & isnan(real), limits<T>::infinity(), real)),
                   zero_or_product<T>(T(1), is_zero, s, e.product(s)));
}

template <class T>
Pair<T> square_root(Pair<T> z) {
    const Var<T> a = fabs(z.x), b = fabs(z.y), larger = fmax(a, b);
    // Scales by a power of 4 into a range where nothing overflows or loses digits.
    const Int up(select(larger < T(4) * limits<T>::min() / limits<T>::epsilon(), limits<T>::digits, 0));
    const Int scale(select(larger > limits<T>::max() / T(8), -1, up));
    const Var<T> x = ldexp(a, scale * 2), y = ldexp(b, scale * 2);
    const Var<T> root = ldexp(sqrt((x + hypot(x, y)) * T(0.5)), -scale);
    const Var<T> other = Var<T>(select(root == T(0), root, b / (root * T(2))));
    // For infinities: an infinite imaginary part makes both infinite; beside an infinite real part, the
    // smaller result is 0, or NaN for NaN.
    const Bool is_right = z.x >= T(0), is_infinite = isinf(b);
    const Var<T> larger_result(select(is_infinite | isinf(a), limits<T>::infinity(), root));
    const Var<T> smaller_result(
        select(is_infinite, limits<T>::infinity(), Var<T>(select(isinf(a), b * T(0), other))));
    return Pair<T>(Var<T>(select(is_right, larger_result, smaller_result)),
                   copysign(Var<T>(select(is_right, smaller_result, larger_result)), z.y));
}

/// sinh x · s and cosh x · c, for finite products of possibly infinite sinh x and cosh x.
template <class T>
struct hyperbolic {
    Var<T> sine, cosine;
};
template <class T>
hyperbolic<T> scaled_hyperbolic(const Var<T>& x, const Var<T>& s, const Var<T>& c) {
    const Var<T> size = fabs(x);
    const exponential_factor<T> e(size);
    const Bool large = size > T(limits<T>::digits);  // there sinh |x| = cosh x = exp |x| / 2
    const Var<T> sine(select(large, copysign(Var<T>(T(1)), x) * e.product(s, T(0.5)), sinh(x) * s));
    const Var<T> cosine(select(large, e.product(c, T(0.5)), cosh(x) * c));
    return {zero_or_product<T>(x, x == T(0), s, sine), zero_or_product<T>(T(1), Bool(false), c, cosine)};
}
template <class T>
Pair<T> hyperbolic_sine(Pair<T> z) {
    const Var<T> s = sin(z.y), c = cos(z.y);
    const hyperbolic<T> parts = scaled_hyperbolic<T>(z.x, c, s);
    return Pair<T>(Var<T>(select(isinf(z.x) & isnan(c), z.x, parts.sine)), parts.cosine);
}
template <class T>
Pair<T> hyperbolic_cosine(Pair<T> z) {
    const Var<T> s = sin(z.y), c = cos(z.y);
    const hyperbolic<T> parts = scaled_hyperbolic<T>(z.x, s, c);
    return Pair<T>(Var<T>(select(isinf(z.x) & isnan(c), limits<T>::infinity(), parts.cosine)), parts.sine);
}

template <class T>
Pair<T> hyperbolic_tangent(Pair<T> z) {
    const Var<T> x = z.x, y = z.y, size = fabs(x);
    const Var<T> t = tan(y), s = sinh(x), b = t * t + T(1), r = sqrt(s * s + T(1));
    const Var<T> below = b * (s * s) + T(1);
    Var<T> real = b * r * s / below, imaginary = t / below;
    IF (size > T(limits<T>::digits) * T(0.5)) {
        const Var<T> half = exp(-size);  // the imaginary part becomes its square times 4 sin y cos y
        const Var<T> turned = sin(y) * cos(y);
        const Bool is_undefined = isnan(turned) & (size < limits<T>::infinity());
        real = Var<T>(select(is_undefined, turned, copysign(Var<T>(T(1)), x)));
        imaginary = zero_or_product<T>(T(1), isinf(x), turned, turned * T(4) * half * half);
    }
    return Pair<T>(Var<T>(select(x == T(0), x, real)), Var<T>(select(y == T(0), y, imaginary)));
}

/// What arcsine and arccosine of x + i y have in common, for x, y >= 0 (Kahan's CASIN and CACOS): with
/// a = sqrt(1 - z) and b = sqrt(1 + z) the tangent of the angle is x / Re(a b), and the imaginary part
/// asinh(Im(conj(a) b)). Both are sums of products that have the same sign, so nothing cancels.
template <class T>
struct inverse_sine {
    Var<T> cosine;     ///< Re(a b): asin has the angle of (cosine, x), acos that of (x, cosine)
    Var<T> imaginary;  ///< of asin, up to its sign
};
template <class T>
inverse_sine<T> inverse_sine_of(const Var<T>& x, const Var<T>& y) {
    // There a b = -i z and |conj(a) b| = |z|, up to an epsilon; scaled, since |z| may be infinite.
    const Bool is_large = fmax(x, y) > T(1LL << limits<T>::digits);
    const Var<T> farther(select(is_large, x * T(0.25), x + T(1)));
    const Var<T> distance = hypot(farther, Var<T>(select(is_large, y * T(0.25), y)));
    const Var<T> nearer = fabs(T(1) - x);
    // The larger parts of a and b times sqrt(2); the smaller ones are y / p and y / q. The larger part of a
    // is the real one, and the imaginary one beyond x = 1.
    const Var<T> p = sqrt(nearer + hypot(nearer, y)), q = sqrt(farther + distance);
    const Bool is_branch_point = p == T(0), is_beyond = x > T(1);
    const Var<T> straight = (p * q + Var<T>(select(is_branch_point, T(0), (y / p) * (y / q)))) * T(0.5);
    const Var<T> crossed(select(is_branch_point, T(0), y * ((p / q + q / p) * T(0.5))));
    const Var<T> cosine(select(is_large, y, Var<T>(select(is_beyond, crossed, straight))));
    const Var<T> sine(select(is_large, distance, Var<T>(select(is_beyond, straight, crossed))));
    // asinh(|z| / 4) + log 4 is log(2 |z|) for large z.
    return {cosine, asinh(sine) + Var<T>(select(is_large, T(2 * std::numbers::ln2), T(0)))};
}
template <class T>
Pair<T> arcsine(Pair<T> z) {
    const Var<T> x = fabs(z.x);
    const inverse_sine<T> parts = inverse_sine_of<T>(x, fabs(z.y));
    const Var<T> angle(select(x == T(0), x, atan2(x, parts.cosine)));  // 0 beside NaN, too
    return Pair<T>(copysign(angle, z.x), copysign(parts.imaginary, z.y));
}
template <class T>
Pair<T> arccosine(Pair<T> z) {
    const inverse_sine<T> parts = inverse_sine_of<T>(fabs(z.x), fabs(z.y));
    const Var<T> angle(select(z.x == T(0), T(std::numbers::pi / 2), atan2(parts.cosine, z.x)));
    return Pair<T>(angle, copysign(parts.imaginary, -z.y));
}

/// Re atanh z = log1p(4 x / |1 - z|²) / 4, Im atanh z = arg((1 + z) (1 - conj z)) / 2 (Kahan's CATANH).
template <class T>
Pair<T> hyperbolic_arctangent(Pair<T> z) {
    const Var<T> x = fabs(z.x), y = fabs(z.y), nearer = T(1) - x, square = y * y;
    const Var<T> beside = log1p(x * T(4) / (nearer * nearer + square)) * T(0.25);
    // The square underflows before it is less than an epsilon of the other one, except at x = 1.
    const Bool is_branch_point = (x == T(1)) & (y < limits<T>::epsilon());
    const Var<T> finite(select(is_branch_point, (T(std::numbers::ln2) - log(y)) * T(0.5), beside));
    const Var<T> angle = atan2(y * T(2), nearer * (x + T(1)) - square) * T(0.5);
    // There Re atanh z = x / |z|² and Im atanh z = π / 2, up to an epsilon.
    const Bool is_large = fmax(x, y) > T(1LL << limits<T>::digits), is_infinite = isinf(x) | isinf(y);
    const Var<T> distance = hypot(x * T(0.25), y * T(0.25));
    const Var<T> inverse(select(is_infinite, T(0), x * T(0.25) / distance / distance * T(0.25)));
    const Bool is_undefined = isnan(y) | (isnan(x) & isfinite(y));
    const Var<T> right(select(is_undefined, x + y, T(std::numbers::pi / 2)));
    const Var<T> real(select(x == T(0), x, Var<T>(select(is_large, inverse, finite))));  // 0 beside NaN, too
    return Pair<T>(copysign(real, z.x), copysign(Var<T>(select(is_large, right, angle)), z.y));
}

template <class T>
Pair<T> power(Pair<T> z, Pair<T> w) {
    const Var<T> x = w.x, y = w.y, size = hypot(z.x, z.y);
    const Var<T> l = log_of_distance<T>(z.x, z.y), angle = atan2(z.y, z.x);
    const Bool is_real = y == T(0);
    const Var<T> turned = fma(x, angle, Var<T>(select(is_real, T(0), y * l)));
    // For a real exponent, pow of the distance is more accurate than exp(x · log |z|), unless the distance is
    // rounded to a number near 1, overflows, or has lost digits.
    const Bool is_on_axis = (z.x == T(0)) | (z.y == T(0)), is_far = fabs(l) >= T(1);
    const Bool is_in_range = (size >= limits<T>::min() / limits<T>::epsilon()) & (size <= limits<T>::max());
    Var<T> distance = pow(size, x);
    IF (!(is_real & is_in_range & (is_far | is_on_axis))) {
        distance = exp(fma(x, l, Var<T>(select(is_real, T(0), -(y * angle)))));
    }
    Pair<T> result = from_polar<T>(distance, turned);
    IF ((x == T(0)) & is_real) {
        result = Pair<T>(T(1), T(0));
    }
    return result;
}

/// The function, traced at the first call.
template <auto F, class Signature>
const std::shared_ptr<const ir::function>& traced(const char* words) {
    static const auto& f = *new auto(balm::function<Signature>(words, F));
    return f.function();
}

template <class T>
const std::shared_ptr<const ir::function>& unary(complex_function what) {
    using signature = Pair<T>(Pair<T>);
    switch (what) {
        case complex_function::log: return traced<&logarithm<T>, signature>("complex_log(z)");
        case complex_function::exp: return traced<&exponential<T>, signature>("complex_exp(z)");
        case complex_function::sqrt: return traced<&square_root<T>, signature>("complex_sqrt(z)");
        case complex_function::sinh: return traced<&hyperbolic_sine<T>, signature>("complex_sinh(z)");
        case complex_function::cosh: return traced<&hyperbolic_cosine<T>, signature>("complex_cosh(z)");
        case complex_function::tanh: return traced<&hyperbolic_tangent<T>, signature>("complex_tanh(z)");
        case complex_function::asin: return traced<&arcsine<T>, signature>("complex_asin(z)");
        case complex_function::acos: return traced<&arccosine<T>, signature>("complex_acos(z)");
        default: return traced<&hyperbolic_arctangent<T>, signature>("complex_atanh(z)");
    }
}
template <class T>
const std::shared_ptr<const ir::function>& binary(complex_function what) {
    using signature = Pair<T>(Pair<T>, Pair<T>);
    switch (what) {
        case complex_function::divide: return traced<&quotient<T>, signature>("complex_divide(z, w)");
        case complex_function::pow: return traced<&power<T>, signature>("complex_pow(z, w)");
        default: return traced<&from_polar<T>, Pair<T>(Var<T>, Var<T>)>("complex_polar(r, angle)");
    }
}

}  // namespace

node complex_call(complex_function what, node a) {
    const auto& f = a.type.element == scalar::f32 ? unary<float>(what) : unary<double>(what);
    return trace::call(f, &a, 1, {});
}
node complex_call(complex_function what, node a, node b) {
    const node operands[] = {a, b};
    const auto& f = a.type.element == scalar::f32 ? binary<float>(what) : binary<double>(what);
    return trace::call(f, operands, 2, {});
}

}  // namespace balm::dsl::detail
