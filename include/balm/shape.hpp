#pragma once
// The extents of arrays. Sizes come from users: their products and sums are checked here, once, so that all
// arithmetic on positions and strides within a shape is exact.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>

namespace balm {

namespace detail {

/// a * b; nullopt if it overflows.
template <std::integral T>
constexpr std::optional<T> checked_product(T a, T b) {
    T product{};
    if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
    return product;
}
/// a + b; nullopt if it overflows.
template <std::integral T>
constexpr std::optional<T> checked_sum(T a, T b) {
    T sum{};
    if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
    return sum;
}

}  // namespace detail

/// The extents of an array of one to eight dimensions, in row-major order: the last dimension varies fastest
/// in memory. Buffers and images have at most three.
///
///     balm::shape(rows, columns).count();  // rows * columns
class shape {
public:
    static constexpr int max_dimensions = 8;
    /// More than any memory holds; twice as many positions still fit into an std::int64_t.
    static constexpr std::size_t max_elements = std::size_t{1} << 62;

    constexpr shape() = default;
    /// Throws usage_error if a size is negative, or if the product of the sizes that are not 0 exceeds
    /// max_elements.
    template <std::integral First, std::integral... Rest>
    constexpr shape(First first, Rest... rest)
        : sizes_{static_cast<std::size_t>(first), static_cast<std::size_t>(rest)...},
          dimensions_(1 + static_cast<int>(sizeof...(Rest))) {
        static_assert(sizeof...(Rest) < max_dimensions, "Balm: arrays have one to eight dimensions");
        check();
    }
    /// The same; also throws usage_error for no sizes, and for more than eight.
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
    /// Skips sizes of 0, so that the product of any of the sizes fits.
    constexpr void check() const {
        std::size_t product = 1;
        for (int d = 0; d < dimensions_; ++d) {
            const std::size_t size = sizes_[static_cast<std::size_t>(d)];
            if (size != 0 && (__builtin_mul_overflow(product, size, &product) || product > max_elements))
                refuse();
        }
    }
    [[noreturn]] void refuse() const;

    std::array<std::size_t, max_dimensions> sizes_{};
    int dimensions_ = 1;
};

/// The distance between neighbouring elements along each dimension: `balm::strides(columns, 1)` for rows of
/// `columns` elements. Counted in elements; a negative stride goes backwards, 0 repeats.
class strides {
public:
    template <std::integral First, std::integral... Rest>
    constexpr strides(First first, Rest... rest)
        : each_{static_cast<std::int64_t>(first), static_cast<std::int64_t>(rest)...},
          dimensions_(1 + static_cast<int>(sizeof...(Rest))) {
        static_assert(sizeof...(Rest) < shape::max_dimensions, "Balm: arrays have one to eight dimensions");
    }
    /// The same; throws usage_error for none, and for more than eight.
    explicit strides(std::span<const std::int64_t> each);

    constexpr int dimensions() const { return dimensions_; }
    /// The stride of one dimension; 0 beyond the last.
    constexpr std::int64_t operator[](int dimension) const {
        return dimension < dimensions_ ? each_[static_cast<std::size_t>(dimension)] : 0;
    }

    friend constexpr bool operator==(const strides&, const strides&) = default;

private:
    std::array<std::int64_t, shape::max_dimensions> each_{};
    int dimensions_ = 1;
};

/// "3 x 4", for messages.
std::string to_string(const shape&);
/// The same.
std::ostream& operator<<(std::ostream&, const shape&);

namespace detail {
/// The bytes of an array of elements of that size. Throws usage_error if they exceed half the range of
/// std::size_t, which leaves room to round up to blocks, and for offsets.
std::size_t bytes_of(const shape&, std::size_t element_size);
}  // namespace detail

}  // namespace balm
