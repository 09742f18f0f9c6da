#pragma once
// Multivectors: vectors of equal size that expressions combine component by component.

#include <array>
#include <cstddef>
#include <iomanip>
#include <memory>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include "vexcl/cast.hpp"
#include "vexcl/detail/builtins.hpp"
#include "vexcl/detail/multi_expression.hpp"
#include "vexcl/detail/tied_assignment.hpp"
#include "vexcl/temporary.hpp"
#include "vexcl/vector.hpp"

// Boost.odeint's header for VexCL defines abs() of multivectors by Boost.Proto; vex::abs accepts them
// already.
#ifndef BOOST_NUMERIC_ODEINT_EXTERNAL_VEXCL_VEXCL_ABS_HPP_DEFINED
#define BOOST_NUMERIC_ODEINT_EXTERNAL_VEXCL_VEXCL_ABS_HPP_DEFINED
#endif

namespace vex {

#define VEX_BINARY_OPERATOR(symbol)                                                                   \
    template <class L, class R>                                                                       \
    requires detail::multi_operands<L, R>                                                             \
    decltype(auto) operator symbol(const L& l, const R& r) {                                          \
        return detail::each_component([](const auto& a, const auto& b) { return a symbol b; }, l, r); \
    }
#define VEX_BINARY_OPERATOR_ROW(symbol, row) VEX_BINARY_OPERATOR(symbol)
BALM_BINARY_OPERATORS(VEX_BINARY_OPERATOR_ROW)
VEX_BINARY_OPERATOR(&&)
VEX_BINARY_OPERATOR(||)
#undef VEX_BINARY_OPERATOR_ROW
#undef VEX_BINARY_OPERATOR

#define VEX_UNARY_OPERATOR(symbol)                                                \
    template <detail::multi A>                                                    \
    decltype(auto) operator symbol(const A& a) {                                  \
        return detail::each_component([](const auto& x) { return symbol x; }, a); \
    }
VEX_UNARY_OPERATOR(-)
VEX_UNARY_OPERATOR(+)
VEX_UNARY_OPERATOR(~)
VEX_UNARY_OPERATOR(!)
#undef VEX_UNARY_OPERATOR

#define VEX_BUILTIN_1(name)                                                           \
    template <detail::multi A>                                                        \
    decltype(auto) name(const A& a) {                                                 \
        return detail::each_component([](const auto& x) { return vex::name(x); }, a); \
    }
#define VEX_BUILTIN_2(name)                                                                                \
    template <class A, class B>                                                                            \
    requires detail::multi_operands<A, B>                                                                  \
    decltype(auto) name(const A& a, const B& b) {                                                          \
        return detail::each_component([](const auto& x, const auto& y) { return vex::name(x, y); }, a, b); \
    }
#define VEX_BUILTIN_3(name)                                                                           \
    template <class A, class B, class C>                                                              \
    requires detail::multi_operands<A, B, C>                                                          \
    decltype(auto) name(const A& a, const B& b, const C& c) {                                         \
        return detail::each_component(                                                                \
            [](const auto& x, const auto& y, const auto& z) { return vex::name(x, y, z); }, a, b, c); \
    }
VEX_BUILTINS(VEX_BUILTIN_1, VEX_BUILTIN_2, VEX_BUILTIN_3)
VEX_GEOMETRIC_BUILTINS(VEX_BUILTIN_1, VEX_BUILTIN_2)
VEX_BUILTIN_3(if_else)
VEX_BUILTIN_3(select)
#undef VEX_BUILTIN_1
#undef VEX_BUILTIN_2
#undef VEX_BUILTIN_3

/// Converts the elements of each component to T.
template <class T, detail::multi A>
decltype(auto) cast(const A& a) {
    return detail::each_component([](const auto& x) { return vex::cast<T>(x); }, a);
}

/// Applies make_temp() to each component.
template <std::size_t Tag, detail::multi A>
decltype(auto) make_temp(const A& a) {
    return detail::each_component([](const auto& x) { return vex::make_temp<Tag>(x); }, a);
}
template <std::size_t Tag, class T, detail::multi A>
decltype(auto) make_temp(const A& a) {
    return detail::each_component([](const auto& x) { return vex::make_temp<Tag, T>(x); }, a);
}

/// N vectors of the same size on the same queues. Operators and functions apply component by component: a
/// std::array or std::tuple supplies one operand for each component; vectors and numbers are operands of
/// every component. An assignment is one kernel on each device; a reduction returns a std::array.
///
///     vex::multivector<double, 2> x(ctx, n), y(ctx, n);
///     x = sin(std::make_tuple(6, 7) * y + 1);
///     x = std::tie(x(0) * c - x(1) * s, x(0) * s + x(1) * c);
///     std::array<double, 2> element = x[17];
template <class T, std::size_t N>
class multivector : public multi_base {
    static_assert(N > 0, "vex::multivector: N must be at least 1");
    using queue_vector = std::vector<command_queue>;
    using call_site = balm::detail::call_site;

public:
    typedef vex::vector<T> subtype;
    typedef std::array<T, N> value_type;
    typedef T sub_value_type;
    typedef detail::vector_element<multivector> element;
    typedef detail::vector_element<const multivector> const_element;
    typedef detail::vector_iterator<multivector, element> iterator;
    typedef detail::vector_iterator<const multivector, const_element> const_iterator;
    static constexpr std::size_t NDIM = N;
    static constexpr std::size_t components = N;

    /// No elements and no queues.
    multivector() = default;
    multivector(const multivector&) = default;
    multivector(multivector&&) noexcept = default;
    ~multivector() = default;
    /// n elements in each component, copied from `host` if it is not null: all of component 0, then all of
    /// component 1, …
    multivector(const queue_vector& queues, std::size_t n, const T* host = nullptr,
                backend::mem_flags flags = backend::MEM_READ_WRITE, call_site from = call_site::here()) {
        for (std::size_t k = 0; k < N; ++k)
            each_[k].resize(queues, n, host != nullptr ? host + k * n : nullptr, flags, from);
    }
    /// Copies the elements of host memory, in the same order.
    multivector(const queue_vector& queues, const std::vector<T>& host,
                backend::mem_flags flags = backend::MEM_READ_WRITE, call_site from = call_site::here())
        : multivector(queues, host.size() / N, host.data(), flags, from) {
        precondition(
            host.size() % N == 0,
            "vex::multivector: the size of the host vector is not a multiple of the number of components");
    }
    /// On the queues of the current context.
    explicit multivector(std::size_t n, call_site from = call_site::here()) { resize(n, from); }

    void resize(const queue_vector& queues, std::size_t n, call_site from = call_site::here()) {
        for (subtype& each : each_) each.resize(queues, n, nullptr, backend::MEM_READ_WRITE, from);
    }
    void resize(std::size_t n, call_site from = call_site::here()) {
        resize(current_context().queue(), n, from);
    }
    /// Sets every element to zero.
    void clear() { *this = T(); }

    /// The number of elements of each component.
    std::size_t size() const { return each_[0].size(); }
    const subtype& operator()(std::size_t k) const { return each_[k]; }
    subtype& operator()(std::size_t k) { return each_[k]; }
    template <std::size_t K>
    const subtype& component() const {
        return each_[K];
    }
    const queue_vector& queue_list() const { return each_[0].queue_list(); }
    const detail::queue_list& queues() const { return each_[0].queues(); }

    // ---- single elements of all components; each access is one transfer per component ----

    element operator[](std::size_t i) { return element(*this, i); }
    const const_element operator[](std::size_t i) const { return const_element(*this, i); }
    value_type get(std::size_t i) const {
        value_type made;
        for (std::size_t k = 0; k < N; ++k) made[k] = each_[k].get(i);
        return made;
    }
    void set(std::size_t i, const value_type& values) {
        for (std::size_t k = 0; k < N; ++k) each_[k].set(i, values[k]);
    }
    iterator begin() { return iterator(*this, 0); }
    iterator end() { return iterator(*this, size()); }
    const_iterator begin() const { return const_iterator(*this, 0); }
    const_iterator end() const { return const_iterator(*this, size()); }

    // ---- assignment: one kernel on each device, unless the multivector is empty ----

    const multivector& operator=(const multivector& other) {  // NOLINT
        if (this != std::addressof(other)) assign(other);
        return *this;
    }
    template <detail::multi_operand A>
    const multivector& operator=(const A& values) {  // NOLINT
        assign(values);
        return *this;
    }
#define VEX_COMPOUND(symbol, operation)                   \
    template <detail::multi_operand A>                    \
    const multivector& operator symbol(const A& values) { \
        tied() symbol values;                             \
        return *this;                                     \
    }
    VEX_COMPOUND_ASSIGNMENTS(VEX_COMPOUND)
#undef VEX_COMPOUND

    /// Prints each element, `(component 0, component 1, …)`, after its index.
    friend std::ostream& operator<<(std::ostream& to, const multivector& x) {
        std::array<std::vector<T>, N> host;
        for (std::size_t k = 0; k < N; ++k) {
            host[k].resize(x.size());
            x(k).read_data(0, x.size(), host[k].data(), true);
        }
        to << '{';
        for (std::size_t i = 0; i < x.size(); ++i) {
            to << '\n' << std::setw(6) << i << ": (";
            for (std::size_t k = 0; k < N; ++k) {
                if (k > 0) to << ", ";
                detail::print_element(to, host[k][i]);
            }
            to << ')';
        }
        return to << "\n}\n";
    }

private:
    auto tied() const {
        return std::apply([](const auto&... each) { return vex::tie(each...); }, each_);
    }
    template <class A>
    void assign(const A& values) {
        if (size() > 0)
            tied() = values;
        else  // each component takes the size and queues of its value
            [&]<std::size_t... K>(std::index_sequence<K...>) {
                ((each_[K] = detail::component<K>(values)), ...);
            }
        (std::make_index_sequence<N>());
    }

    std::array<subtype, N> each_;
};

/// Component K.
template <std::size_t K, class T, std::size_t N>
const vector<T>& get(const multivector<T, N>& x) {
    static_assert(K < N, "the multivector has no such component");
    return x(K);
}
template <std::size_t K, class T, std::size_t N>
vector<T>& get(multivector<T, N>& x) {
    static_assert(K < N, "the multivector has no such component");
    return x(K);
}

/// Copies all elements between host and devices; on the host, the components are concatenated.
template <class T, std::size_t N, class Th>
void copy(const multivector<T, N>& from, std::vector<Th>& to, bool blocking = true) {
    for (std::size_t k = 0; k < N; ++k) copy(from(k), to.data() + k * from.size(), blocking);
}
template <class T, std::size_t N, class Th>
void copy(const std::vector<Th>& from, multivector<T, N>& to, bool blocking = true) {
    for (std::size_t k = 0; k < N; ++k) copy(from.data() + k * to.size(), to(k), blocking);
}

}  // namespace vex
