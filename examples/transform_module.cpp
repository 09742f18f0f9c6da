// A parallel transform as a module: kernel, function, constants and the host code around them, defined once
// and called like a host function.

#include <balm/balm.hpp>
#include <iostream>
#include <span>
#include <stdexcept>
#include <vector>

namespace {

using namespace balm::dsl;

/// f(a[i], b[i]) for every i. A static object: each device compiles it once, on first use.
const balm::module<balm::host_array<int>(int, int, std::span<const int>, std::span<const int>)> combine(
    [](balm::module_builder& m) {
        auto factors = m.constant<int>("factors", 2);
        auto f = m.function("f(x, y)", [=](Int x, Int y) { return factors[0] * x + factors[1] * y; });
        auto transform = m.kernel<1>("transform(a, b, result)", [=](In<int> a, In<int> b, Out<int> result) {
            Index i = global_id(0);
            result[i] = f(a[i], b[i]);
        });
        return m.entry(
            [=](balm::program& p, int of_a, int of_b, std::span<const int> a, std::span<const int> b) {
                if (a.size() != b.size()) throw std::invalid_argument("arrays of two sizes");
                auto left = p.device().in_buffer<int>(a.size()), right = p.device().in_buffer<int>(b.size());
                auto result = p.device().out_buffer<int>(a.size());
                left.write(a);
                right.write(b);
                p.set(factors, {of_a, of_b});
                p.execute(transform(left, right, result), {a.size()});
                return result.read();
            });
    });

}  // namespace

int main() {
    const size_t n = 100'000;
    std::vector<int> a(n), b(n);
    for (size_t i = 0; i < n; ++i) {
        a[i] = static_cast<int>(i);
        b[i] = static_cast<int>(3 * i);
    }
    balm::context ctx;
    const auto on_device = combine.on(ctx.device(0));
    const auto sums = on_device(1, 1, a, b), differences = on_device(1, -1, a, b);
    size_t wrong = 0;
    for (size_t i = 0; i < n; ++i) wrong += sums[i] != a[i] + b[i] || differences[i] != a[i] - b[i];
    std::cout << sums[n - 1] << ' ' << differences[n - 1] << ", " << wrong << " wrong\n";
    return wrong == 0 ? 0 : 1;
}
