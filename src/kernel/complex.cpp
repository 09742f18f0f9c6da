// The complex functions that need more than a line, in the kernel language. Each is traced once per
// precision, as a function on vectors of two lanes, and called where a kernel uses it.
//
// Sources: division: C99, Annex G.5.1 (example 2). tanh and the handling of large parts: W. Kahan, "Branch
// Cuts for Complex Elementary Functions", 1987. The logarithm near |z| = 1 sums exact products (T. J. Dekker,
// 1971).

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

/// log |z|, accurate if it is near 0, and if |z| overflows.
template <class T>
Var<T> log_of_distance(const Var<T>& real, const Var<T>& imaginary) {
    const Var<T> a = fabs(real), b = fabs(imaginary);
    const Var<T> x = fmax(a, b), y = fmin(a, b);
    Var<T> result = log(hypot(x, y));
    IF (x > limits<T>::max() / 4 && isfinite(x)) {
        result = log(hypot(x / T(4), y / T(4))) + T(2 * std::numbers::ln2);
    }
    ELIF (x >= T(0.5) && x <= T(1.5)) {
        // log1p(x² + y² - 1) / 2, with the squares and their sum in twice the precision
        const Var<T> x2 = x * x, x2_rest = fma(x, x, -x2), y2 = y * y, y2_rest = fma(y, y, -y2);
        const Var<T> difference = x2 - T(1), difference_rest = x2 - (difference + T(1));
        const Var<T> sum = difference + y2, part = sum - difference;
        const Var<T> sum_rest = (difference - (sum - part)) + (y2 - part);
        const Var<T> near = sum + (sum_rest + (difference_rest + (x2_rest + y2_rest)));
        IF (near < T(1.5)) {
            result = log1p(near) * T(0.5);
        }
    }
    return result;
}

template <class T>
Pair<T> logarithm(Pair<T> z) {
    return Pair<T>(log_of_distance<T>(z.x, z.y), atan2(z.y, z.x));
}

/// a * b, but 0 if b is 0 and a infinite: for the parts of functions of real numbers.
template <class T>
Var<T> product_with_zero(const Var<T>& a, const Var<T>& b) {
    return Var<T>(select(b == T(0), b, a * b));
}

template <class T>
Pair<T> exponential(Pair<T> z) {
    // In two factors, which overflow only if the result does.
    const Var<T> x = z.x, y = z.y, half = exp(x * T(0.5));
    const Var<T> real = Var<T>(select(y == T(0), T(1), cos(y))), imaginary = sin(y);
    Var<T> re = half * real * half, im = product_with_zero<T>(half, product_with_zero<T>(half, imaginary));
    IF (x == -limits<T>::infinity()) {  // whatever the angle
        re = copysign(Var<T>(T(0)), Var<T>(select(isfinite(y), real, T(0))));
        im = copysign(Var<T>(T(0)), Var<T>(select(isfinite(y), imaginary, T(0))));
    }
    ELIF (!isfinite(y) && isinf(x)) {
        re = limits<T>::infinity();
    }
    return Pair<T>(re, im);
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
    Var<T> real = Var<T>(select(z.x >= T(0), root, other)),
           imaginary = Var<T>(select(z.x >= T(0), other, root));
    IF (isinf(b)) {
        real = limits<T>::infinity();
        imaginary = limits<T>::infinity();
    }
    ELIF (isinf(a) && !isnan(b)) {
        real = Var<T>(select(z.x > T(0), a, T(0)));
        imaginary = Var<T>(select(z.x > T(0), T(0), a));
    }
    ELIF (isnan(a) || isnan(b)) {
        real = a + b;
        imaginary = a + b;
    }
    return Pair<T>(real, copysign(imaginary, z.y));
}

/// sinh x · s and cosh x · c, for finite products of possibly infinite sinh x and cosh x.
template <class T>
struct hyperbolic {
    Var<T> sine, cosine;
};
template <class T>
hyperbolic<T> scaled_hyperbolic(const Var<T>& x, const Var<T>& s, const Var<T>& c) {
    const Var<T> size = fabs(x), half = exp(size * T(0.5));
    const Bool large = size > T(limits<T>::digits);  // there sinh |x| = cosh x = exp |x| / 2
    const auto of = [&](const Var<T>& f) {
        return product_with_zero<T>(half, product_with_zero<T>(half * T(0.5), f));
    };
    return {Var<T>(select(large, copysign(Var<T>(T(1)), x) * of(s), product_with_zero<T>(sinh(x), s))),
            Var<T>(select(large, of(c), product_with_zero<T>(cosh(x), c)))};
}
template <class T>
Pair<T> hyperbolic_sine(Pair<T> z) {
    const Var<T> s = sin(z.y), c = Var<T>(select(z.y == T(0), T(1), cos(z.y)));
    return Pair<T>(scaled_hyperbolic<T>(z.x, c, s).sine, scaled_hyperbolic<T>(z.x, c, s).cosine);
}
template <class T>
Pair<T> hyperbolic_cosine(Pair<T> z) {
    const Var<T> s = sin(z.y), c = Var<T>(select(z.y == T(0), T(1), cos(z.y)));
    return Pair<T>(scaled_hyperbolic<T>(z.x, s, c).cosine, scaled_hyperbolic<T>(z.x, s, c).sine);
}

template <class T>
Pair<T> hyperbolic_tangent(Pair<T> z) {
    const Var<T> x = z.x, y = z.y, size = fabs(x);
    const Var<T> t = tan(y), s = sinh(x), b = t * t + T(1), r = sqrt(s * s + T(1));
    const Var<T> below = b * (s * s) + T(1);
    Var<T> real = b * r * s / below, imaginary = t / below;
    IF (size > T(limits<T>::digits) * T(0.5)) {
        const Var<T> half = exp(-size);  // the imaginary part becomes its square times 4 sin y cos y
        real = copysign(Var<T>(T(1)), x);
        imaginary = Var<T>(select(isinf(y), T(0), sin(y) * cos(y) * T(4) * half * half));
    }
    return Pair<T>(real, imaginary);
}

template <class T>
Pair<T> from_polar(Var<T> r, Var<T> angle) {
    return Pair<T>(r * Var<T>(select(angle == T(0), T(1), cos(angle))), product_with_zero<T>(r, sin(angle)));
}

template <class T>
Pair<T> power(Pair<T> z, Pair<T> w) {
    const Var<T> x = w.x, y = w.y;
    const Var<T> l = log_of_distance<T>(z.x, z.y), angle = atan2(z.y, z.x);
    // For a real exponent, pow of the distance is more accurate than exp(x · log |z|).
    const Var<T> turned = fma(x, angle, y * l);
    Var<T> distance = pow(hypot(z.x, z.y), x);
    IF (y != T(0)) {
        distance = exp(fma(x, l, -(y * angle)));
    }
    Pair<T> result = from_polar<T>(distance, turned);
    IF (z.x == T(0) && z.y == T(0)) {
        result = Pair<T>(Var<T>(select(x > T(0), T(0), limits<T>::quiet_NaN())), T(0));
    }
    IF (x == T(0) && y == T(0)) {
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
        default: return traced<&hyperbolic_tangent<T>, signature>("complex_tanh(z)");
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
