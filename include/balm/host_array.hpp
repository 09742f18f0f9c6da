#pragma once
// Host memory with a shape: the result of reads, and the source of zero-copy writes.

#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

#include "balm/shape.hpp"

namespace balm {

namespace detail {
/// An element by value. Class types are const, so that `x[i] = …`, `x[i] += …` and `x[i].member = …`, which
/// would change the copy, do not compile. (For scalars they never compile.) Compilers report this name.
template <class T>
using copy_of_an_element = std::conditional_t<std::is_class_v<T>, const T, T>;

/// Throws usage_error if an array of this shape does not match the extents of an mdspan, `sizes`, of which
/// SIZE_MAX matches any.
void check_mdspan(const shape&, std::span<const std::size_t> sizes);
template <class Mdspan, class T>
Mdspan mdspan_over(T* elements, const shape& extents) {
    using box = typename Mdspan::extents_type;
    constexpr std::size_t rank = box::rank();
    static_assert(rank >= 1 && rank <= shape::max_dimensions,
                  "Balm: host arrays have one to eight dimensions");
    std::array<std::size_t, rank> wanted{};
    for (std::size_t d = 0; d < rank; ++d) wanted[d] = static_cast<std::size_t>(box::static_extent(d));
    check_mdspan(extents, wanted);
    return [&]<std::size_t... D>(std::index_sequence<D...>) {
        return Mdspan(elements, static_cast<typename box::index_type>(extents[static_cast<int>(D)])...);
    }
    (std::make_index_sequence<rank>{});
}
}  // namespace detail

/// A contiguous host array with a shape. Each bool takes a byte, unlike the packed bits of
/// std::vector<bool>. It converts to std::span, and compares element by element.
///
///     balm::host_array<float> got = buffer.read();
///     float last = got(rows - 1, columns - 1), first = got[0];
///     std::span<const float> all = got;
template <class T>
class host_array {
    static_assert(std::is_trivially_copyable_v<T>,
                  "Balm: elements are copied to devices byte by byte and must be trivially copyable");

public:
    using value_type = T;
    using size_type = std::size_t;
    using iterator = T*;
    using const_iterator = const T*;

    host_array() = default;
    /// Elements of class type are default-constructed, others are uninitialised. Throws std::bad_alloc if the
    /// host lacks the memory, and usage_error for 2^63 bytes or more.
    explicit host_array(const balm::shape& extents)
        : shape_(extents), elements_((detail::bytes_of(extents, sizeof(T)), new T[extents.count()])) {}
    host_array(std::initializer_list<T> elements) : host_array(balm::shape(elements.size())) {
        copy(elements.begin(), elements.size());
    }
    explicit host_array(std::span<const T> elements) : host_array(balm::shape(elements.size())) {
        copy(elements.begin(), elements.size());
    }

    host_array(const host_array& other) : host_array(other.shape_) { copy(other.begin(), other.size()); }
    host_array(host_array&& other) noexcept
        : shape_(std::exchange(other.shape_, balm::shape{})), elements_(std::move(other.elements_)) {}
    host_array& operator=(const host_array& other) { return *this = host_array(other); }
    host_array& operator=(host_array&& other) noexcept {
        std::swap(shape_, other.shape_);
        std::swap(elements_, other.elements_);
        return *this;
    }
    ~host_array() = default;

    T* data() { return elements_.get(); }
    const T* data() const { return elements_.get(); }
    std::size_t size() const { return shape_.count(); }
    bool empty() const { return size() == 0; }
    /// The extents, slowest dimension first.
    const balm::shape& shape() const { return shape_; }

    T* begin() { return data(); }
    T* end() { return data() + size(); }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size(); }

    /// The element at a flat index; a copy if the array is a temporary, as in `x.to_host()[i]`.
    T& operator[](std::size_t i) & { return elements_[i]; }
    const T& operator[](std::size_t i) const& { return elements_[i]; }
    detail::copy_of_an_element<T> operator[](std::size_t i) && { return elements_[i]; }
    /// The element at (row, column), (plane, row, column) and so on: one index for each dimension.
    template <std::integral... I>
    requires(sizeof...(I) > 1) T& operator()(I... at) & { return elements_[flat(at...)]; }
    template <std::integral... I>
    requires(sizeof...(I) > 1) const T& operator()(I... at) const& { return elements_[flat(at...)]; }
    template <std::integral... I>
    requires(sizeof...(I) > 1) detail::copy_of_an_element<T>
    operator()(I... at) && { return elements_[flat(at...)]; }

    /// The elements as a row-major std::mdspan, or a compatible type (Kokkos's, CUDA's): `Mdspan` is
    /// constructed from the pointer and the extents. It refers to the array, and is valid as long as that is.
    /// Throws usage_error if the number of dimensions or a static extent of Mdspan differs from the array's.
    ///
    ///     auto m = field.to_mdspan<std::mdspan<float, std::dextents<std::size_t, 2>>>();
    template <class Mdspan>
    Mdspan to_mdspan() & {
        return detail::mdspan_over<Mdspan>(data(), shape_);
    }
    template <class Mdspan>
    Mdspan to_mdspan() const& {
        return detail::mdspan_over<Mdspan>(data(), shape_);
    }
    template <class Mdspan>
    Mdspan to_mdspan() && = delete;  // Balm: it would refer to a destroyed array
#if defined(__cpp_lib_mdspan)
    /// The same for a number of dimensions, if the standard library has std::mdspan: `field.to_mdspan<2>()`.
    template <std::size_t Dimensions>
    auto to_mdspan() & {
        return to_mdspan<std::mdspan<T, std::dextents<std::size_t, Dimensions>>>();
    }
    template <std::size_t Dimensions>
    auto to_mdspan() const& {
        return to_mdspan<std::mdspan<const T, std::dextents<std::size_t, Dimensions>>>();
    }
#endif

    /// A copy of the elements.
    ///
    ///     std::vector<float> y = x.to_host();
    operator std::vector<T>() const {
        return std::vector<T>(begin(), end());
    }  // NOLINT(google-explicit-constructor)

    /// Equal shapes and elements.
    friend bool operator==(const host_array& a, const host_array& b) {
        return a.shape_ == b.shape_ && a == std::span<const T>(b.begin(), b.size());
    }
    /// Equal elements, whatever the shape.
    friend bool operator==(const host_array& a, std::span<const T> b) {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i < b.size(); ++i)
            if (!(a.begin()[i] == b[i])) return false;
        return true;
    }

private:
    template <class It>
    void copy(It from, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) elements_[i] = from[static_cast<std::ptrdiff_t>(i)];
    }
    template <class... I>
    std::size_t flat(I... at) const {
        std::size_t index = 0;
        int d = 0;
        ((index = index * shape_[d++] + static_cast<std::size_t>(at)), ...);
        return index;
    }

    balm::shape shape_;
    std::unique_ptr<T[]> elements_;
};

}  // namespace balm
