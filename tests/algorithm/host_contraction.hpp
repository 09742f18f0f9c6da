#pragma once
// Contractions by nested loops on the host, in whole numbers: sums are exact in any order.
// What all products are held to, whatever multiplies.

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "balm/contract.hpp"
#include "balm/vector.hpp"
#include "support/vectors.hpp"

namespace balm::test {

/// The sums of products by nested loops over all letters, as einsum defines them.
template <class R, class A, class B>
std::vector<R> looped(const std::string& of_a, const shape& box_a, const A& a, const std::string& of_b,
                      const shape& box_b, const B& b, const std::string& output) {
    std::map<char, std::size_t> extents, at;
    for (std::size_t d = 0; d < of_a.size(); ++d) extents[of_a[d]] = box_a[static_cast<int>(d)];
    for (std::size_t d = 0; d < of_b.size(); ++d) extents[of_b[d]] = box_b[static_cast<int>(d)];
    std::size_t total = 1, results = 1;
    for (const auto& [letter, extent] : extents) total *= extent;
    for (const char c : output) results *= extents[c];
    std::vector<R> made(results);
    const auto place = [&](const std::string& letters) {
        std::size_t flat = 0;
        for (const char c : letters) flat = flat * extents[c] + at[c];
        return flat;
    };
    for (std::size_t k = 0; k < total; ++k) {
        std::size_t rest = k;
        for (const auto& [letter, extent] : extents) {
            at[letter] = rest % extent;
            rest /= extent;
        }
        made[place(output)] += static_cast<R>(a[place(of_a)]) * static_cast<R>(b[place(of_b)]);
    }
    return made;
}

/// Products in expressions, of expressions, into views and into their own operands.
inline void expect_products_in_expressions(const context& ctx, std::mt19937_64& random, multiply_by by) {
    const std::size_t n = 24;
    const shape box(n, n);
    const auto a = small_numbers<double>(random, n * n), b = small_numbers<double>(random, n * n),
               c = small_numbers<double>(random, n * n);
    const auto product = looped<double>("ik", box, a, "kj", box, b, "ij");
    const auto each = [&](auto&& f) {
        std::vector<double> made;
        for (std::size_t k = 0; k < n * n; ++k) made.push_back(f(k));
        return made;
    };
    vector<double> x(ctx, a), y(ctx, b), z(ctx, c);
    const auto A = balm::view(x, box), B = balm::view(y, box);
    z += 2 * matmul(A, B, by);
    EXPECT_EQ(values_of<double>(z), each([&](std::size_t k) { return c[k] + 2 * product[k]; }));
    // Into a view, of expressions, and beside a transpose of itself.
    balm::view(z, box).transpose() = matmul(A + 0.0, 1.0 * B, by) + matmul(A, B, by).tape().size * 0.0;
    EXPECT_EQ(values_of<double>(z), each([&](std::size_t k) { return product[k % n * n + k / n]; }));
    // The target among the operands.
    x = matmul(A, B, by);
    EXPECT_EQ(values_of<double>(x), product);
    y = matmul(B.transpose(), B, by);
    EXPECT_EQ(values_of<double>(y), looped<double>("ki", box, b, "kj", box, b, "ij"));
}

}  // namespace balm::test
