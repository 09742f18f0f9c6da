#pragma once
// The sums and scans of a matrix along either dimension that one would write with OpenMP.

#include <cstddef>

namespace peer::openmp {

template <class T>
void sums_of_rows(const T* matrix, T* sums, std::size_t rows, std::size_t columns);
template <class T>
void sums_of_columns(const T* matrix, T* sums, std::size_t rows, std::size_t columns);

/// Of few long rows, and of few columns, each thread has a part, whose total it finds first.
template <class T>
void scans_of_rows(const T* matrix, T* scans, std::size_t rows, std::size_t columns);
template <class T>
void scans_of_columns(const T* matrix, T* scans, std::size_t rows, std::size_t columns);

}  // namespace peer::openmp
