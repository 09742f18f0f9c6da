// The sum of two vectors: the first program.

#include <balm/balm.hpp>
#include <iostream>
#include <vector>

int main() {
    balm::context ctx;  // the best device: a GPU, else a CPU
    const size_t n = 1 << 20;
    std::vector<double> a(n, 1), b(n, 2);
    balm::vector<double> A(ctx, a), B(ctx, b), C(ctx, n);
    C = A + B;
    std::cout << C.to_host()[42] << '\n';
}
