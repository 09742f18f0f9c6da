// A tour of views: rows, columns, blocks, strides, transposes, broadcasts, gather and scatter.

#include <balm/balm.hpp>
#include <iostream>

namespace {

void show(const char* what, const balm::host_array<int>& values) {
    std::cout << what << '\n';
    const std::size_t columns = values.shape().dimensions() > 1 ? values.shape()[1] : values.size();
    for (std::size_t i = 0; i < values.size(); ++i)
        std::cout << values[i] << ((i + 1) % columns == 0 ? "\n" : " ");
}

}  // namespace

int main() {
    balm::context ctx;
    const std::size_t rows = 4, columns = 6, n = rows * columns;
    balm::vector<int> x(ctx, n);
    x = balm::cast<int>(balm::element_index());
    auto M = balm::view(x, {rows, columns});

    show("a matrix", M.to_host());
    show("its column 2", M(balm::all, 2).to_host());
    show("its row 1, backwards", M(1, balm::reversed).to_host());
    show("every second column of the last two rows", M(balm::slice(2, 4), balm::slice(0, 6, 2)).to_host());
    show("its transpose", M.transpose().to_host());
    show("the same elements in three dimensions, the first plane",
         M.reshape({2, 2, 6})(0, balm::all, balm::all).to_host());

    // Views can be assigned to, like vectors.
    M(balm::slice(1, 3), balm::slice(1, 5)) = 0;
    M(balm::all, 0) += 100;
    show("a hole, and another first column", M.to_host());

    // A column broadcast to all columns, and a row to all rows: no loops, no copies.
    balm::vector<int> hundreds(ctx, rows), ones(ctx, columns);
    hundreds = 100 * balm::cast<int>(balm::element_index());
    ones = balm::cast<int>(balm::element_index());
    balm::vector<int> sums = balm::view(hundreds, {rows, std::size_t{1}}).broadcast({rows, columns}) +
                             balm::view(ones, {columns}).broadcast({rows, columns});
    show("a table of sums", balm::view(sums, {rows, columns}).to_host());

    // Any positions: gather and scatter. An assignment reads the old values.
    M = balm::view(sums, {rows, columns});
    M(balm::all, 0) = M(balm::all, 5);
    x[n - 1 - balm::element_index(0, n)] = x;
    show("turned round", M.to_host());
}
