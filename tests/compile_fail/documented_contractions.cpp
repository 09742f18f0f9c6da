// expect nothing: the programs of docs/contractions.md, as they stand there.
#include <balm/balm.hpp>

using floats = balm::vector<float>;
using array_of_floats = balm::view<const float>;

void products(const floats& a, const floats& b, const floats& x, floats& y, floats& c, int m, int n, int k);
void products(const floats& a, const floats& b, const floats& x, floats& y, floats& c, int m, int n, int k) {
    const auto A = balm::view(a, {m, k}), B = balm::view(b, {n, k});
    c = balm::matmul(A, B.transpose());
    y = 2.0f * balm::matmul(A, x) + y;
}

void contractions(const array_of_floats& S, const array_of_floats& T, const array_of_floats& U,
                  const array_of_floats& A, const array_of_floats& B2, const floats& x, const floats& y,
                  floats& products, floats& pairs, floats& outer, floats& inner);
void contractions(const array_of_floats& S, const array_of_floats& T, const array_of_floats& U,
                  const array_of_floats& A, const array_of_floats& B2, const floats& x, const floats& y,
                  floats& products, floats& pairs, floats& outer, floats& inner) {
    products = balm::einsum("bik,bkj->bij", S, T);  // a matrix product for each b
    pairs = balm::einsum("ijk,kjl->il", S, U);      // over two axes
    outer = balm::einsum("i,j->ij", x, y) + 1.0f;   // sums nothing: fused into the expression
    inner = balm::einsum("ij,ij->", A, B2);         // one element
    pairs = balm::contract(S, {2, 1}, U, {0, 1});   // einsum("ijk,kjl->il", S, U)
}

void expressions(const array_of_floats& Q, const floats& K, float scale, floats& scores, int keys, int d);
void expressions(const array_of_floats& Q, const floats& K, float scale, floats& scores, int keys, int d) {
    scores = balm::einsum("qd,kd->qk", Q, balm::view(K * scale, {keys, d}));
}
