#pragma once
// Sums and scans of a matrix along either dimension, hand-written with OpenMP.

#include <cstddef>

namespace peer::openmp {

template <class T>
void sums_of_rows(const T* matrix, T* sums, std::size_t rows, std::size_t columns);
template <class T>
void sums_of_columns(const T* matrix, T* sums, std::size_t rows, std::size_t columns);

/// If rows are few and long, or columns few, each thread has a part, whose total it computes first.
template <class T>
void scans_of_rows(const T* matrix, T* scans, std::size_t rows, std::size_t columns);
template <class T>
void scans_of_columns(const T* matrix, T* scans, std::size_t rows, std::size_t columns);

}  // namespace peer::openmp
