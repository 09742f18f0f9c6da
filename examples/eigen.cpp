// Eigen and Balm: an Eigen matrix is copied to a device, computed with there, and copied back; and Eigen
// solves a system in the memory of a vector, through an Eigen::Map while the vector is mapped.

#include <Eigen/Dense>
#include <balm/balm.hpp>
#include <cstddef>
#include <iostream>

int main() {
    const balm::context ctx;
    // Balm's matrices are row-major. A column-major one, Eigen's default, appears transposed.
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const std::size_t n = 4;
    matrix a = matrix::Identity(n, n) * 4;
    a(0, 1) = a(1, 2) = a(2, 3) = 1;

    balm::vector<float> x(ctx, a.reshaped<Eigen::RowMajor>());  // any contiguous range
    auto m = balm::view(x, {n, n});
    m += m.transpose();

    const balm::host_array<float> host = m.to_host();
    const Eigen::Map<const matrix> sum(host.data(), n, n);  // refers to host
    std::cout << "A + A^T:\n" << sum << '\n';

    balm::vector<float> right(ctx, n, 9.f);
    {
        auto elements = right.map();  // in place on a CPU; copied back to other devices at the end
        Eigen::Map<Eigen::VectorXf> b(elements.data(), n);
        b = sum.llt().solve(b.eval());
    }
    balm::vector<float> check(ctx, n);
    check = balm::sum(m * balm::view(right, {1, n}).broadcast({n, n}), balm::along(1));
    const auto got = check.to_host();
    const Eigen::Map<const Eigen::VectorXf> back(got.data(), n);
    const bool is_solved = (back.array() - 9).abs().maxCoeff() < 1e-4f;
    std::cout << "Eigen's solution, multiplied by Balm, is the right side: " << (is_solved ? "yes" : "no")
              << '\n';
    return is_solved ? 0 : 1;
}
