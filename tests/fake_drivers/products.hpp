#pragma once
// Matrix products on the host, for the fake libraries.

#include <cstddef>

namespace balm::test {

/// One operand of a batch, whose element types have their address.
template <class T>
struct fake_matrices {
    T* first;
    std::size_t row, column, next;  ///< strides, in elements

    T& at(std::size_t r, std::size_t c, std::size_t matrix) const {
        return first[r * row + c * column + matrix * next];
    }
};

template <class T>
void multiply(std::size_t rows, std::size_t columns, std::size_t inner, std::size_t count,
              const fake_matrices<T>& a, const fake_matrices<T>& b, const fake_matrices<T>& c) {
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column) {
                T sum{};
                for (std::size_t i = 0; i < inner; ++i) sum += a.at(row, i, k) * b.at(i, column, k);
                c.at(row, column, k) = sum;
            }
}

}  // namespace balm::test
