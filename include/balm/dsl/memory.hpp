#pragma once
// Kernel parameters in memory: In, Out, Mixed (global) and Local, with flat indices; and the work-item's
// place in the grid.

#include <cstdint>

#include "balm/dsl/value.hpp"

namespace balm::dsl {

namespace detail {

template <scalar_type T>
class pointer_parameter {
public:
    using value_type = T;
    static_assert(std::same_as<T, canonical<T>>, "Balm: write the fixed-width type (std::int64_t, not long)");
    explicit pointer_parameter(trace::node pointer) : pointer_(pointer) {}
    const trace::node& node() const { return pointer_; }

private:
    trace::node pointer_;
};

}  // namespace detail

/// Global memory that the kernel reads. N is the number of dimensions of the buffer bound to it; the index
/// is flat, row by row.
template <class T, int N = 1>
class In : public detail::pointer_parameter<canonical<T>> {
public:
    using base = detail::pointer_parameter<canonical<T>>;
    static constexpr trace::access use = trace::access::in;
    static constexpr int dimensions = N;
    using base::base;
    Var<canonical<T>> operator[](located_index i) const {
        return Var<canonical<T>>(trace::load(this->node(), i.value, i.where));
    }
};

/// Global memory that the kernel writes.
template <class T, int N = 1>
class Out : public detail::pointer_parameter<canonical<T>> {
public:
    using base = detail::pointer_parameter<canonical<T>>;
    static constexpr trace::access use = trace::access::out;
    static constexpr int dimensions = N;
    using base::base;
    Element<canonical<T>, false> operator[](located_index i) const { return {this->node(), i}; }
};

/// Global memory that the kernel reads and writes.
template <class T, int N = 1>
class Mixed : public detail::pointer_parameter<canonical<T>> {
public:
    using base = detail::pointer_parameter<canonical<T>>;
    static constexpr trace::access use = trace::access::mixed;
    static constexpr int dimensions = N;
    using base::base;
    Element<canonical<T>, true> operator[](located_index i) const { return {this->node(), i}; }
};

/// Local memory, shared by the work-items of a group; its size is given with `balm::local<T>(n)`.
template <class T>
class Local : public detail::pointer_parameter<canonical<T>> {
public:
    using base = detail::pointer_parameter<canonical<T>>;
    static constexpr trace::access use = trace::access::local;
    static constexpr int dimensions = 1;
    using base::base;
    Element<canonical<T>, true> operator[](located_index i) const { return {this->node(), i}; }
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
/// Where the grid begins: global_id runs from here. 0 unless the launch says `balm::offset(…)`.
BALM_PLACE(global_offset)
#undef BALM_PLACE

/// How many dimensions the kernel's grid has: a host number, so that C++ can decide with it.
inline int work_dimensions(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return trace::grid_dimensions({file, line});
}

/// An optional first parameter of a kernel: the same queries, with the dimension checked by the compiler:
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

/// Waits until all work-items of the group are here, and makes their writes to local and global memory
/// visible to each other. Every work-item of the group must arrive.
inline void barrier(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::barrier(3, {file, line});
}
/// The same for local memory only.
inline void local_barrier(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::barrier(1, {file, line});
}
/// The same for global memory only.
inline void global_barrier(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::barrier(2, {file, line});
}

}  // namespace balm::dsl
