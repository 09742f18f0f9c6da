#pragma once
// Bins of equal width of floating-point numbers. Edges are exact: an approximate position decides, unless it
// is so near an edge that rounding could matter.

#include <cstdint>
#include <type_traits>

#include "array/parameters.hpp"
#include "balm/dsl/value.hpp"
#include "balm/histogram.hpp"

namespace balm::array {

/// What bins of numbers of type T take, as parameters of a kernel.
template <class T>
struct even_bins {
    /// Throws usage_error unless low < high and both are finite.
    explicit even_bins(const binning&);

    template <class List>
    void declare_parameters(List& to) const;

    T low, high;
    T factor;              ///< a power of two, with which high - low is about 1: no product overflows
    T start;               ///< low * factor
    T range, range_error;  ///< (high - low) * factor, exactly, as a sum
    T scale;               ///< bins / range
    T tolerance;           ///< how far from an edge an approximate position decides
    std::int64_t bins;
};

/// A position among the bins, without branches.
struct approximate_bin {
    dsl::UInt bin;         ///< out of range for numbers outside all bins
    dsl::Bool is_certain;  ///< else the bin is unknown: exact_bin decides
};
template <class T>
approximate_bin bin_near(const parameter_list&, const dsl::Var<T>& x);

/// The bin of x; -1 outside.
template <class T>
dsl::Int exact_bin(const parameter_list&, const dsl::Var<T>& x);

/// Calls f with the std::type_identity of float or double; not for `nothing`.
template <class F>
void with_floating(scalar s, F&& f) {
    if (s == scalar::f32) f(std::type_identity<float>{});
    if (s == scalar::f64) f(std::type_identity<double>{});
}

}  // namespace balm::array
