// The product of two matrices three times: by a simple kernel, by one with tiles in local memory, and by
// loops on the host. `matrix_product [size]`; the size is a multiple of 16.

#include <algorithm>
#include <balm/balm.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <random>

namespace {

using namespace balm::dsl;
using matrix = balm::host_array<float>;

constexpr int tile = 16;  // work-groups of the second kernel are tile x tile

// A work-item computes one element of the result; it reads a row of a and a column of b from global memory.
const auto simple = balm::kernel<2>(
    "simple(n, a, b, result)", [](Int n, In<float, 2> a, In<float, 2> b, Out<float, 2> result) {
        Index col = named("col", global_id(0)), row = named("row", global_id(1));
        Float value = named("value", 0.f);
        for (Int k : range(n)) value += a[row * n + k] * b[k * n + col];
        result[row * n + col] = value;
    });

// A group computes tile x tile elements. Each number that they need is loaded into local memory once, and
// used there tile times.
const auto tiled = balm::kernel<2>(
    "tiled(n, a, b, result)", [](Int n, In<float, 2> a, In<float, 2> b, Out<float, 2> result) {
        LocalArray<float, tile, tile> part_of_a, part_of_b;
        Int x = named("x", cast<int>(local_id(0))), y = named("y", cast<int>(local_id(1)));
        Int col = named("col", cast<int>(group_id(0)) * tile + x);
        Int row = named("row", cast<int>(group_id(1)) * tile + y);
        Float value = named("value", 0.f);
        for (Int begin : named("begin", range(0, n, tile))) {
            part_of_a[y][x] = a[row * n + begin + x];
            part_of_b[y][x] = b[(begin + y) * n + col];
            local_barrier();  // the tiles are loaded
            // A C++ loop: tracing unrolls it, so the kernel has no loop here.
            for (int k = 0; k < tile; ++k) value += part_of_a[y][k] * part_of_b[k][x];
            local_barrier();  // the tiles may be overwritten
        }
        result[row * n + col] = value;
    });

matrix on_host(const matrix& a, const matrix& b) {
    const size_t n = a.shape()[0];
    matrix result{balm::shape(n, n)};
    std::fill(result.begin(), result.end(), 0.f);
    for (size_t row = 0; row < n; ++row)
        for (size_t k = 0; k < n; ++k)
            for (size_t col = 0; col < n; ++col) result(row, col) += a(row, k) * b(k, col);
    return result;
}

// Elements are sums of n products, each sum rounded; the numbers are below 1.
bool agree(const matrix& x, const matrix& y) {
    const float bound = 1e-6f * static_cast<float>(x.shape()[0]);
    return std::equal(x.begin(), x.end(), y.begin(),
                      [&](float p, float q) { return std::abs(p - q) < bound; });
}

}  // namespace

int main(int argc, char** argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 256;
    if (n <= 0 || n % tile != 0) {
        std::cerr << "the size must be a multiple of " << tile << '\n';
        return 1;
    }
    std::mt19937 random(2026);
    std::uniform_real_distribution<float> numbers(-1, 1);
    matrix a{balm::shape(n, n)}, b{balm::shape(n, n)};
    for (float& x : a) x = numbers(random);
    for (float& x : b) x = numbers(random);

    balm::context ctx;
    balm::device dev = ctx.device(0);
    auto first = dev.in_buffer<float>(n, n), second = dev.in_buffer<float>(n, n);
    auto product = dev.out_buffer<float>(n, n);
    first.write(a);
    second.write(b);

    const auto size = static_cast<size_t>(n);
    const auto run = [&](const auto& kernel, const char* name) {
        dev.execute(kernel(n, first, second, product), {size, size}, {tile, tile});  // compiles
        balm::event done = dev.execute(kernel(n, first, second, product), {size, size}, {tile, tile});
        std::cerr << name << ": " << static_cast<double>(done.profile().duration()) * 1e-6 << " ms\n";
        return product.read(done);
    };
    const matrix by_simple = run(simple, "simple kernel, device"),
                 by_tiled = run(tiled, "tiled kernel, device");
    const auto start = std::chrono::steady_clock::now();
    const matrix expected = on_host(a, b);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    std::cerr << "loops, host: " << taken.count() << " ms\n";

    std::cout << "simple kernel: " << (agree(by_simple, expected) ? "right" : "wrong") << '\n'
              << "tiled kernel: " << (agree(by_tiled, expected) ? "right" : "wrong") << '\n';
    return agree(by_simple, expected) && agree(by_tiled, expected) ? 0 : 1;
}
