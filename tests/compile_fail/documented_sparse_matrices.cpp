// expect nothing: the programs of docs/sparse-matrices.md, as they stand there.
#include <balm/balm.hpp>
#include <iostream>
#include <vector>

void overview(const balm::context& ctx, const balm::vector<double>& x, const balm::vector<double>& f,
              const balm::vector<double>& z, balm::vector<double>& y, balm::vector<double>& r);
void overview(const balm::context& ctx, const balm::vector<double>& x, const balm::vector<double>& f,
              const balm::vector<double>& z, balm::vector<double>& y, balm::vector<double>& r) {
    const std::vector<int> row_pointers{0, 2, 4}, column_indices{0, 1, 1, 2};
    const std::vector<double> values{4, -1, 4, -1};
    balm::sparse_matrix<double> A(ctx, 2, 3, row_pointers, column_indices, values);

    y = A * x;
    r = f - A * x;
    y += 2 * (A * (x * x)) - sin(z);
    double energy = balm::sum(y * (A * x));

    std::cout << balm::describe(A) << '\n';
    balm::sparse_matrix<double> B(ctx, 2, 3, row_pointers, column_indices, values, balm::storage::rows);
    std::cout << energy << B.size_bytes();
}

void from_the_host(const balm::context& ctx);
void from_the_host(const balm::context& ctx) {
    const std::vector<int> rows{1, 0, 1, 0}, columns{2, 0, 1, 1};
    const std::vector<double> entries{-1, 4, 4, -1};
    auto C = balm::sparse_matrix<double>::from_triplets(ctx, 2, 3, rows, columns, entries);
    std::cout << C.nonzeros();
}

void on_the_device(std::int64_t n, const balm::vector<double>& stiffness,
                   const balm::sparse_matrix<double>& R, const balm::sparse_matrix<double>& A,
                   const balm::sparse_matrix<double>& P);
void on_the_device(std::int64_t n, const balm::vector<double>& stiffness,
                   const balm::sparse_matrix<double>& R, const balm::sparse_matrix<double>& A,
                   const balm::sparse_matrix<double>& P) {
    auto k = balm::element_index(0, 2 * n);
    auto D = balm::sparse_matrix<double>::from_triplets(n, n + 1, k / 2, k / 2 + k % 2, stiffness[k / 2]);
    std::cout << D.nonzeros();

    balm::sparse_matrix<double> Ac = R * A * P;
    auto AP = balm::multiply(A, P, balm::storage::rows);
    balm::sparse_matrix<double> AA = R * AP;
    std::cout << Ac.nonzeros() << AA.nonzeros();
}

void back(const balm::context& ctx, const balm::sparse_matrix<double>& A, const balm::vector<double>& x,
          balm::vector<double>& g);
void back(const balm::context& ctx, const balm::sparse_matrix<double>& A, const balm::vector<double>& x,
          balm::vector<double>& g) {
    balm::csr_matrix<double> host = balm::to_csr(A);
    balm::sparse_matrix<double> copy(ctx, host);
    balm::sparse_matrix<double> At = balm::transpose(A);
    g = At * (A * x);

    auto M = balm::read_matrix_market<double>(ctx, "bcsstk01.mtx");
    balm::write_matrix_market("copy.mtx", M);
}

void blocks(const balm::context& ctx, const balm::vector<double>& f, balm::vector<double>& u);
void blocks(const balm::context& ctx, const balm::vector<double>& f, balm::vector<double>& u) {
    const std::vector<int> first_blocks{0, 1, 3}, columns_of_blocks{0, 0, 1};
    const std::vector<double> of_blocks(27, 1.0);
    auto K = balm::sparse_matrix<double>::from_blocks(ctx, 2, 2, {3, 3}, first_blocks, columns_of_blocks,
                                                      of_blocks);
    u = K * f;
    std::cout << K.block()[0];
}

void factors(const balm::sparse_matrix<double>& A, const balm::vector<double>& x,
             const balm::vector<double>& x4, balm::vector<double>& y4, balm::vector<double>& g);
void factors(const balm::sparse_matrix<double>& A, const balm::vector<double>& x,
             const balm::vector<double>& x4, balm::vector<double>& y4, balm::vector<double>& g) {
    const std::size_t columns = 4;
    auto X = balm::view(x4, {A.columns(), columns});
    y4 = A * X;
    balm::view(y4, {A.rows(), columns}) -= 0.5 * (A * X);

    g = balm::transposed(A) * (A * x);
    std::cout << balm::describe(balm::transposed(A));
}
