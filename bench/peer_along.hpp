#pragma once
// The sums of a matrix along either dimension that one would write with OpenMP.

#include <cstddef>

namespace peer::openmp {

template <class T>
void sums_of_rows(const T* matrix, T* sums, std::size_t rows, std::size_t columns);
template <class T>
void sums_of_columns(const T* matrix, T* sums, std::size_t rows, std::size_t columns);

}  // namespace peer::openmp
