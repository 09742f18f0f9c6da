#pragma once
// Host memory that keeps its shape: what reads give and zero-copy writes take.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace balm {

/// The sizes of an array of one to eight dimensions, row by row: the last one varies fastest in memory.
/// Buffers and images have three at most.
///
///     balm::shape(rows, columns).count();  // rows * columns
class shape {
public:
    static constexpr int max_dimensions = 8;

    constexpr shape() = default;
    template <std::integral First, std::integral... Rest>
    constexpr shape(First first, Rest... rest)
        : sizes_{static_cast<std::size_t>(first), static_cast<std::size_t>(rest)...},
          dimensions_(1 + static_cast<int>(sizeof...(Rest))) {
        static_assert(sizeof...(Rest) < max_dimensions, "Balm: arrays have one to eight dimensions");
    }
    /// Throws usage_error for more than eight.
    explicit shape(std::span<const std::size_t> sizes);

    constexpr int dimensions() const { return dimensions_; }
    /// The size of one dimension; 1 beyond the last.
    constexpr std::size_t operator[](int dimension) const {
        return dimension < dimensions_ ? sizes_[static_cast<std::size_t>(dimension)] : 1;
    }
    /// The number of elements.
    constexpr std::size_t count() const {
        std::size_t product = sizes_[0];
        for (int d = 1; d < dimensions_; ++d) product *= sizes_[static_cast<std::size_t>(d)];
        return product;
    }

    friend constexpr bool operator==(const shape&, const shape&) = default;

private:
    std::array<std::size_t, max_dimensions> sizes_{};
    int dimensions_ = 1;
};

/// "3 x 4", for messages.
std::string to_string(const shape&);

/// A contiguous host array that keeps its shape. Elements are as in memory, bool too: a byte each, never
/// the packed bits of std::vector<bool>. It converts to std::span, and is compared element by element.
///
///     balm::host_array<float> got = buffer.read();
///     float last = got(rows - 1, columns - 1), first = got[0];
///     std::span<const float> all = got;
template <class T>
class host_array {
    static_assert(std::is_trivially_copyable_v<T>, "Balm: elements are copied byte by byte to devices");

public:
    using value_type = T;
    using size_type = std::size_t;
    using iterator = T*;
    using const_iterator = const T*;

    host_array() = default;
    /// Elements of class type are default-constructed, others not set.
    explicit host_array(const shape& extents) : shape_(extents), elements_(new T[shape_.count()]) {}
    host_array(std::initializer_list<T> elements) : host_array(balm::shape(elements.size())) {
        std::copy(elements.begin(), elements.end(), begin());
    }
    explicit host_array(std::span<const T> elements) : host_array(balm::shape(elements.size())) {
        std::copy(elements.begin(), elements.end(), begin());
    }

    host_array(const host_array& other) : host_array(other.shape_) {
        std::copy(other.begin(), other.end(), begin());
    }
    host_array(host_array&& other) noexcept
        : shape_(std::exchange(other.shape_, balm::shape{})), elements_(std::move(other.elements_)) {}
    host_array& operator=(host_array other) noexcept {
        std::swap(shape_, other.shape_);
        std::swap(elements_, other.elements_);
        return *this;
    }
    ~host_array() = default;

    T* data() { return elements_.get(); }
    const T* data() const { return elements_.get(); }
    std::size_t size() const { return shape_.count(); }
    bool empty() const { return size() == 0; }
    /// Its dimensions, slowest first.
    const balm::shape& shape() const { return shape_; }

    T* begin() { return data(); }
    T* end() { return data() + size(); }
    const T* begin() const { return data(); }
    const T* end() const { return data() + size(); }

    /// The element at a flat index.
    T& operator[](std::size_t i) { return elements_[i]; }
    const T& operator[](std::size_t i) const { return elements_[i]; }
    /// The element at (row, column), (plane, row, column) and so on: an index for each dimension.
    template <std::integral... I>
    requires(sizeof...(I) > 1) T& operator()(I... at) { return elements_[flat(at...)]; }
    template <std::integral... I>
    requires(sizeof...(I) > 1) const T& operator()(I... at) const { return elements_[flat(at...)]; }

    /// Equal shapes and elements.
    friend bool operator==(const host_array& a, const host_array& b) {
        return a.shape_ == b.shape_ && std::equal(a.begin(), a.end(), b.begin());
    }
    /// Equal elements, whatever the shape.
    friend bool operator==(const host_array& a, std::span<const T> b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
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
