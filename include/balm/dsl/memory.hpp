#pragma once
// Kernel parameters in memory: In, Out and InOut (global), and Local, with flat or multidimensional indices;
// and queries for the work-item's position in the grid.

#include <cstdint>
#include <type_traits>

#include "balm/dsl/fields.hpp"
#include "balm/dsl/lanes.hpp"
#include "balm/dsl/value.hpp"

namespace balm::dsl {

template <class T, space Where = space::global>
class Ptr;

namespace detail {

template <class T>
struct canonical_element {
    static_assert(
        always_false<T>,
        "Balm: elements of memory are scalars, half, short vectors (balm::float4 …), complex numbers "
        "(with <balm/dsl/complex.hpp>), or structures declared with BALM_STRUCT");
};
template <element_type T>
struct canonical_element<T> {
    using type = T;
};
template <scalar_type T>
struct canonical_element<T> {
    using type = canonical<T>;
};

/// The return type of the deleted begin() and end(): compilers report its name. Memory does not know its
/// size; write `for (Int k : range(n))` with a parameter n.
struct loop_over_range_of_a_number;

/// Memory of elements of T, with access `Use`.
template <class T, trace::access Use, space Where>
class memory {
public:
    using value_type = T;
    using element = Element<T, Use, Where>;
    static constexpr trace::access access = Use;

    explicit memory(trace::node pointer) : pointer_(pointer) {}
    const trace::node& node() const { return pointer_; }

    element operator[](located_index i) const { return element(memory_place(pointer_, i.value, i.where)); }
    loop_over_range_of_a_number begin() const = delete;
    loop_over_range_of_a_number end() const = delete;
    /// A pointer to the first element.
    Ptr<std::conditional_t<Use == trace::access::in, const T, T>, Where> data() const {
        static_assert(may_read<Use>, "Balm: Out<T> is write-only; use InOut<T> for pointers");
        return Ptr<std::conditional_t<Use == trace::access::in, const T, T>, Where>(pointer_);
    }

private:
    trace::node pointer_;
};
/// In read-only memory of numbers, `x[i]` is a value, not an Element.
template <class T, space Where>
requires(!structure_type<T>) class memory<T, trace::access::in, Where> {
public:
    using value_type = T;

    explicit memory(trace::node pointer) : pointer_(pointer) {}
    const trace::node& node() const { return pointer_; }

    Var<loaded_type<T>> operator[](located_index i) const {
        return Var<loaded_type<T>>(trace::load(pointer_, i.value, i.where));
    }
    loop_over_range_of_a_number begin() const = delete;
    loop_over_range_of_a_number end() const = delete;
    /// A pointer to the first element.
    Ptr<const T, Where> data() const { return Ptr<const T, Where>(pointer_); }

private:
    trace::node pointer_;
};

template <class T>
using memory_element = typename canonical_element<T>::type;

/// Global memory with N dimensions.
template <class T, trace::access Use, int N>
class global_memory : public memory<memory_element<T>, Use, space::global> {
    using flat = memory<memory_element<T>, Use, space::global>;

public:
    static constexpr trace::access use = Use;
    static constexpr int dimensions = N;
    using flat::flat;

    /// The element in a row and a column of the bound buffer: `a(row, column)` is
    /// `a[row * columns + column]`. C++23 also allows `a[row, column]`.
    auto operator()(located_index row, located_index column) const requires(N == 2) {
        return at<2>({row.value, column.value}, row.where);
    }
    /// The same for three dimensions.
    auto operator()(located_index plane, located_index row, located_index column) const requires(N == 3) {
        return at<3>({plane.value, row.value, column.value}, plane.where);
    }
    template <class... I>
    requires(N == 1 || N > 3 || sizeof...(I) != N) BALM_REFUSED(
        "Balm: memory takes one index per dimension: a[i] for In<float>, a(row, column) for In<float, 2>")
    typename flat::value_type operator()(I&&... positions) const;

    using flat::operator[];
#ifdef __cpp_multidimensional_subscript
    auto operator[](located_index row, located_index column) const requires(N == 2) {
        return at<2>({row.value, column.value}, row.where);
    }
    auto operator[](located_index plane, located_index row, located_index column) const requires(N == 3) {
        return at<3>({plane.value, row.value, column.value}, plane.where);
    }
#endif

private:
    template <std::size_t Count>
    auto at(const node (&positions)[Count], location where) const {
        const Index i(trace::flat_index(this->node(), positions, Count, where));
        return (*this)[located_index(i, where.file, where.line)];
    }
};

}  // namespace detail

/// Global memory that the kernel reads. N is the number of dimensions of the bound buffer: `a[i]` takes a
/// flat, row-major index, and `a(row, column)` uses the buffer's extents.
template <class T, int N = 1>
class In : public detail::global_memory<T, trace::access::in, N> {
public:
    using detail::global_memory<T, trace::access::in, N>::global_memory;
};

/// Global memory that the kernel writes.
template <class T, int N = 1>
class Out : public detail::global_memory<T, trace::access::out, N> {
public:
    using detail::global_memory<T, trace::access::out, N>::global_memory;
};

/// Global memory that the kernel reads and writes.
template <class T, int N = 1>
class InOut : public detail::global_memory<T, trace::access::mixed, N> {
public:
    using detail::global_memory<T, trace::access::mixed, N>::global_memory;
};
/// Another name of InOut.
template <class T, int N = 1>
using Mixed = InOut<T, N>;

/// Local memory, shared by the work-items of a group; the argument `balm::local<T>(n)` sets its size.
template <class T>
class Local : public detail::memory<detail::memory_element<T>, trace::access::mixed, space::local> {
public:
    static constexpr trace::access use = trace::access::local;
    static constexpr int dimensions = 1;
    using detail::memory<detail::memory_element<T>, trace::access::mixed, space::local>::memory;
};

#define BALM_PLACE(name)                                                         \
    inline Index name(int dimension, const char* file = __builtin_FILE(),        \
                      std::uint32_t line = __builtin_LINE()) {                   \
        return Index(trace::query(trace::place::name, dimension, {file, line})); \
    }
BALM_PLACE(global_id)
BALM_PLACE(local_id)
BALM_PLACE(group_id)
BALM_PLACE(global_size)
BALM_PLACE(local_size)
BALM_PLACE(group_count)
/// The first global_id of the grid: 0 unless the launch passes `balm::offset(…)`.
BALM_PLACE(global_offset)
#undef BALM_PLACE

/// The number of dimensions of the kernel's grid: a host value, so C++ code can branch on it.
inline int work_dimensions(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return trace::grid_dimensions({file, line});
}

/// An optional first parameter of a kernel: the same queries, with the dimension checked at compile time:
/// `g.global_id<1>()`.
template <int N>
struct Grid {
    static_assert(N >= 1 && N <= 3, "Balm: a grid has 1, 2 or 3 dimensions");
#define BALM_PLACE(name)                                                                       \
    template <int Dimension>                                                                   \
    Index name() const {                                                                       \
        static_assert(Dimension >= 0 && Dimension < N, "Balm: the grid lacks this dimension"); \
        return dsl::name(Dimension);                                                           \
    }
    BALM_PLACE(global_id)
    BALM_PLACE(local_id)
    BALM_PLACE(group_id)
    BALM_PLACE(global_size)
    BALM_PLACE(local_size)
    BALM_PLACE(group_count)
    BALM_PLACE(global_offset)
#undef BALM_PLACE
};

}  // namespace balm::dsl
