// A kernel in plain C++: the product of two matrices, one work-item an element of the result.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    using namespace balm::dsl;

    auto mat_mult = balm::kernel<2>(
        "mat_mult(n, a, b, result)", [](Int n, In<float, 2> a, In<float, 2> b, Out<float, 2> result) {
            Index col = named("col", global_id(0)), row = named("row", global_id(1));
            Float value = named("value", 0.f);
            for (Int k : range(n)) value += a[row * n + k] * b[k * n + col];
            result[row * n + col] = value;
        });

    balm::context ctx;
    balm::device dev = ctx.device(0);
    auto a = dev.in_buffer<float>(2, 2), b = dev.in_buffer<float>(2, 2);
    auto r = dev.out_buffer<float>(2, 2);
    balm::event a_written = a.write({1, 2, 3, 4}), b_written = b.write({1, 2, 3, 4});
    balm::event done = dev.execute(mat_mult(2, a, b, r), {2, 2}, a_written, b_written);
    const auto product = r.read(done);  // waits; a host array of 2 x 2
    std::cout << product(0, 0) << ' ' << product(0, 1) << '\n'
              << product(1, 0) << ' ' << product(1, 1) << '\n';
}
