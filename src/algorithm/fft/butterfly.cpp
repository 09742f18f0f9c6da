#include "algorithm/fft/butterfly.hpp"

#include <bit>
#include <cstddef>

namespace balm::array {

namespace {

using trace::node;

node add(const node& a, const node& b) { return trace::apply(builtin::add, a, b); }
node subtract(const node& a, const node& b) { return trace::apply(builtin::sub, a, b); }
node multiply(const node& a, const node& b) { return trace::apply(builtin::mul, a, b); }
node negated(const node& a) { return trace::apply(builtin::neg, &a, 1); }
node number(const node& like, long double value) {
    const scalar element = like.type.element;
    return element == scalar::f32
               ? trace::constant(element, std::bit_cast<std::uint32_t>(static_cast<float>(value)))
               : trace::constant(element, std::bit_cast<std::uint64_t>(static_cast<double>(value)));
}

/// x exp(-2 π i k / n), with fewer operations if the root is on an axis or a diagonal.
complex_parts turned(const complex_parts& x, int k, int n) {
    k %= n;
    if (k == 0) return x;
    if (2 * k == n) return {negated(x.re), negated(x.im)};
    if (4 * k == n) return {x.im, negated(x.re)};
    if (4 * k == 3 * n) return {negated(x.im), x.re};
    const wide_complex root = root_of_unity(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n));
    if (8 * k == n) {
        const node half = number(x.re, root.re);
        return {multiply(add(x.re, x.im), half), multiply(subtract(x.im, x.re), half)};
    }
    if (8 * k == 3 * n) {
        const node half = number(x.re, root.re);
        return {multiply(subtract(x.re, x.im), half), multiply(add(x.re, x.im), half)};
    }
    return x * complex_parts{number(x.re, root.re), number(x.re, root.im)};
}

complex_list of_two(const complex_list& x) { return {x[0] + x[1], x[0] - x[1]}; }

complex_list of_odd_prime(const complex_list& x) {
    const std::size_t n = x.size(), half = n / 2;
    complex_list sums, differences;
    for (std::size_t m = 1; m <= half; ++m) {
        sums.push_back(x[m] + x[n - m]);
        differences.push_back(x[m] - x[n - m]);
    }
    complex_list made(n, x[0]);
    for (const complex_parts& each : sums) made[0] = made[0] + each;
    for (std::size_t k = 1; k <= half; ++k) {
        complex_parts even = x[0], odd{};
        for (std::size_t m = 1; m <= half; ++m) {
            const wide_complex root = root_of_unity(k * m, n);
            const node cosine = number(x[0].re, root.re), sine = number(x[0].re, -root.im);
            const complex_parts& sum = sums[m - 1];
            const complex_parts& difference = differences[m - 1];
            even = {add(even.re, multiply(sum.re, cosine)), add(even.im, multiply(sum.im, cosine))};
            const complex_parts more{multiply(difference.re, sine), multiply(difference.im, sine)};
            odd = m == 1 ? more : odd + more;
        }
        made[k] = {add(even.re, odd.im), subtract(even.im, odd.re)};
        made[n - k] = {subtract(even.re, odd.im), add(even.im, odd.re)};
    }
    return made;
}

/// A factor of n: 4 if possible, so that most roots are on an axis, else the smallest prime.
std::size_t first_factor(std::size_t n) {
    if (n % 4 == 0) return 4;
    for (std::size_t p = 2; p * p <= n; ++p)
        if (n % p == 0) return p;
    return n;
}

/// n = a b: b-point transforms of every a-th number, times twiddle factors, then a-point transforms across
/// them.
complex_list split(const complex_list& x, std::size_t a, std::size_t b) {
    const std::size_t n = a * b;
    std::vector<complex_list> rows;
    for (std::size_t i = 0; i < a; ++i) {
        complex_list row;
        for (std::size_t j = 0; j < b; ++j) row.push_back(x[a * j + i]);
        row = transformed(row);
        for (std::size_t k = 0; k < b; ++k)
            row[k] = turned(row[k], static_cast<int>(i * k), static_cast<int>(n));
        rows.push_back(row);
    }
    complex_list made(n, x[0]);
    for (std::size_t k = 0; k < b; ++k) {
        complex_list column;
        for (std::size_t i = 0; i < a; ++i) column.push_back(rows[i][k]);
        column = transformed(column);
        for (std::size_t j = 0; j < a; ++j) made[k + b * j] = column[j];
    }
    return made;
}

}  // namespace

complex_parts operator+(const complex_parts& a, const complex_parts& b) {
    return {add(a.re, b.re), add(a.im, b.im)};
}
complex_parts operator-(const complex_parts& a, const complex_parts& b) {
    return {subtract(a.re, b.re), subtract(a.im, b.im)};
}
complex_parts operator*(const complex_parts& a, const complex_parts& b) {
    return {subtract(multiply(a.re, b.re), multiply(a.im, b.im)),
            add(multiply(a.re, b.im), multiply(a.im, b.re))};
}
complex_parts swapped(const complex_parts& a) { return {a.im, a.re}; }
complex_parts scaled(const complex_parts& a, trace::node factor) {
    return {multiply(a.re, factor), multiply(a.im, factor)};
}

complex_list transformed(const complex_list& x) {
    const std::size_t n = x.size();
    if (n == 1) return x;
    if (n == 2) return of_two(x);
    if (n == 4) return split(x, 2, 2);
    const std::size_t a = first_factor(n);
    return a == n ? of_odd_prime(x) : split(x, a, n / a);
}

}  // namespace balm::array
