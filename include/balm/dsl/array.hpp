#pragma once
// Arrays in kernels: Array (private, one per work-item, zero-initialised), LocalArray (local, one per
// work-group, uninitialised), and constant_array, which is part of the program.
//
//     Array<float, 3, 3> m;
//     m[1][2] = 1.f;
//     LocalArray<float, 16, 17> tile;
//     tile[y][x] = in[i];

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balm/dsl/pointer.hpp"

namespace balm {

namespace detail {

std::shared_ptr<const ir::constant_data> make_constant_data(std::string_view name, scalar element,
                                                            std::vector<std::uint64_t> bits);

}  // namespace detail

/// Read-only numbers that kernels share: printed into the program, in constant memory. At most 64 KiB.
///
///     balm::constant_array<float> weights("weights", {0.25f, 0.5f, 0.25f});
///     … [=](In<float> in, Out<float> out) { … weights[k] * in[i + k] … }
template <scalar_type T>
class constant_array {
public:
    constant_array(std::string_view name, std::span<const T> values)
        : data_(detail::make_constant_data(name, scalar_of<T>, bits_of(values))), size_(values.size()) {}
    constant_array(std::string_view name, std::initializer_list<T> values)
        : constant_array(name, std::span<const T>(values.begin(), values.size())) {}

    std::size_t size() const { return size_; }
    dsl::Var<canonical<T>> operator[](dsl::located_index i) const {
        trace::check_index(i.value, size_, i.where);
        return dsl::Var<canonical<T>>(trace::load(trace::constant_array(data_), i.value, i.where));
    }
    /// A pointer to the first element.
    dsl::Ptr<const canonical<T>, space::constant> data() const {
        return dsl::Ptr<const canonical<T>, space::constant>(trace::constant_array(data_));
    }

private:
    static std::vector<std::uint64_t> bits_of(std::span<const T> values) {
        std::vector<std::uint64_t> bits;
        for (T v : values) bits.push_back(dsl::detail::bits_of(static_cast<canonical<T>>(v)));
        return bits;
    }
    std::shared_ptr<const ir::constant_data> data_;
    std::size_t size_;
};

namespace dsl {

namespace detail {

/// The type T[N][M]… of an array's rows.
template <class T, std::size_t... N>
struct rows {
    using type = T;
};
template <class T, std::size_t First, std::size_t... Rest>
struct rows<T, First, Rest...> {
    using type = typename rows<T, Rest...>::type[First];
};

template <class T>
struct array_element {
    using type = memory_element<T>;
};
template <class T, space Where>
struct array_element<Ptr<T, Where>> {
    using type = Ptr<T, Where>;
};

template <class T, space Where, std::size_t First, std::size_t... Rest>
class array_in : public Field<typename rows<T, First, Rest...>::type, trace::access::mixed, Where> {
    using base = Field<typename rows<T, First, Rest...>::type, trace::access::mixed, Where>;

public:
    explicit array_in(const node& pointer)
        : base(pointer, trace::constant(scalar::i32, 0)), pointer_(pointer) {}
    /// A pointer to the first element.
    Ptr<T, Where> data() const { return Ptr<T, Where>(pointer_); }

private:
    node pointer_;
};

}  // namespace detail

/// A private array of one to three dimensions, zero-initialised.
template <class T, std::size_t... N>
class Array : public detail::array_in<typename detail::array_element<T>::type, space::private_, N...> {
    static_assert(sizeof...(N) >= 1 && sizeof...(N) <= 3, "Balm: an array has one to three dimensions");
    using element = typename detail::array_element<T>::type;

public:
    explicit Array(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE())
        : detail::array_in<element, space::private_, N...>(
              trace::object(detail::pointed_type<element>(), (std::uint64_t{N} * ...), space::private_, true,
                            {file, line})) {}
};

/// An uninitialised local array of one to three dimensions, shared by the work-items of a group. It must be
/// declared before IF, WHILE and loops.
template <class T, std::size_t... N>
class LocalArray : public detail::array_in<typename detail::array_element<T>::type, space::local, N...> {
    static_assert(sizeof...(N) >= 1 && sizeof...(N) <= 3, "Balm: an array has one to three dimensions");
    using element = typename detail::array_element<T>::type;

public:
    explicit LocalArray(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE())
        : detail::array_in<element, space::local, N...>(trace::object(
              detail::pointed_type<element>(), (std::uint64_t{N} * ...), space::local, false, {file, line})) {
    }
};

}  // namespace dsl
}  // namespace balm
