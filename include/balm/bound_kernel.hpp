#pragma once
// A kernel bound to its arguments, ready to launch: `mat_mult(2, a, b, r)` returns it, execute() takes it.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <type_traits>
#include <vector>

#include "balm/refused.hpp"
#include "balm/sampler.hpp"

namespace balm::ir {
struct function;
}
namespace balm::runtime {
class storage;
}

#define BALM_KERNEL_PRINTED                                                                                 \
    "Balm: a kernel cannot be printed: run it with device.execute(kernel(x, y), {n}), then read and print " \
    "its results; BALM_SHOW_KERNELS=1 prints each program as it is made"
#define BALM_WITHOUT_GRID "Balm: a launch needs the number of work-items: device.execute(kernel(x, y), {n})"

namespace balm {

template <int N, class... P>
class typed_kernel;

/// One argument, bound to the parameter at the same position.
struct bound_argument {
    enum class kind : std::uint8_t { value, memory, local, image };
    kind what = kind::value;
    std::uint8_t dimensions = 1;                    ///< of memory
    std::uint32_t size = 0;                         ///< bytes of the value, or of local memory
    std::uint32_t alignment = 1;                    ///< of local memory
    alignas(16) std::array<std::byte, 16> bytes{};  ///< the value
    std::shared_ptr<runtime::storage> memory;       ///< of memory and images
    balm::sampler sampler;                          ///< of a sampled image
    std::size_t offset = 0;                         ///< of memory: where the argument begins in it, in bytes
    std::size_t extent = 0;                         ///< of memory: the size of the argument, in bytes
    std::array<std::int64_t, 2> inner_extents{};    ///< of memory: extents of the second and third dimension
    std::shared_ptr<const std::vector<std::byte>> long_value;  ///< a value that does not fit into `bytes`
};

/// A kernel of any number of dimensions with its arguments.
struct bound_call {
    std::shared_ptr<const ir::function> function;
    std::vector<bound_argument> arguments;
};

/// A kernel of N dimensions with its arguments.
template <int N>
struct [[nodiscard(
    "Balm: calling a kernel only binds its arguments; launch it with device.execute(kernel(x, y), "
    "{n})")]] bound_kernel : bound_call{};
template <int N>
BALM_REFUSED(BALM_KERNEL_PRINTED)
std::ostream& operator<<(std::ostream& to, const bound_kernel<N>& k);

namespace detail {
/// count * size. Throws usage_error for negative numbers, a size of 0, and more work-items than an index can
/// number.
std::size_t work_items(std::size_t count, std::size_t size);

/// Refuses a grid or an offset whose number of dimensions is not the kernel's.
template <int N, int Given>
constexpr void check_dimensions() {
    static_assert(N == Given, "Balm: the launch and the kernel have different numbers of dimensions");
}
}  // namespace detail

/// The type of a size: an integer, or a type that converts to one.
template <class T>
concept extent_size = std::convertible_to<T, std::size_t> && !std::floating_point<T>;

/// A size for each of N dimensions, the fastest-varying first: `{width, height}`. Constructed from N
/// integers, or from an array of them. A launch refuses negative sizes.
template <int N>
class extent : public std::array<std::size_t, static_cast<std::size_t>(N)> {
    using base = std::array<std::size_t, static_cast<std::size_t>(N)>;

public:
    /// Zeros. Explicit, so that a launch over `{}` does not compile.
    explicit extent() : base{} {}
    template <extent_size... Sizes>
    requires(sizeof...(Sizes) > 0) extent(Sizes... sizes)  // NOLINT(google-explicit-constructor)
        : base{} {
        check<sizeof...(Sizes)>();
        if constexpr (sizeof...(Sizes) == N) base::operator=(base{static_cast<std::size_t>(sizes)...});
    }
    extent(const base& sizes) : base(sizes) {}  // NOLINT(google-explicit-constructor)
    template <extent_size T, std::size_t M>
    extent(const std::array<T, M>& sizes) : base{} {  // NOLINT(google-explicit-constructor)
        check<M>();
        for (std::size_t d = 0; d < M && d < N; ++d) (*this)[d] = static_cast<std::size_t>(sizes[d]);
    }

private:
    template <std::size_t Given>
    static constexpr void check() {
        static_assert(Given == N,
                      "Balm: a grid or work-group needs one size per dimension of the kernel: {n} for "
                      "kernel<1>, {width, height} for kernel<2>");
    }
};

/// The size of a launch. N is deduced from the kernel alone, so that braces and arrays convert.
template <int N>
using launch_size = std::type_identity_t<extent<N>>;

/// The first index of a grid of N dimensions. Only `balm::offset(…)` makes one: braces are sizes.
template <int N>
struct grid_offset {
    grid_offset() {}  // NOLINT(modernize-use-equals-default): = default would allow braces
    std::array<std::int64_t, static_cast<std::size_t>(N)> start{};
};
/// Starts a grid at an offset: global_id counts from it, group_id and local_id from 0.
///
///     device.execute(kernel(a), {64, 64}, balm::offset(8, 0), written);
template <std::integral... Starts>
grid_offset<static_cast<int>(sizeof...(Starts))> offset(Starts... start) {
    grid_offset<static_cast<int>(sizeof...(Starts))> made;
    made.start = {static_cast<std::int64_t>(start)...};
    return made;
}

/// A grid of N dimensions, specified as work-groups; made by `balm::groups(…)`.
template <int N>
struct group_grid {
    explicit group_grid(const extent<N>& how_many, const extent<N>& of_size)
        : count(how_many), size(of_size) {}
    extent<N> count;  ///< work-groups (CUDA's grid)
    extent<N> size;   ///< work-items of each (CUDA's block)

    /// Work-items in each dimension. Throws usage_error for groups of size 0 and for too many work-items.
    extent<N> global() const {
        extent<N> sizes;
        for (std::size_t d = 0; d < sizes.size(); ++d) sizes[d] = detail::work_items(count[d], size[d]);
        return sizes;
    }
};
/// Launch parameters as grid and block: `count` work-groups of `size` work-items each. Local memory that is
/// sized at the launch is a kernel argument, `balm::local<T>(count)`.
///
///     device.execute(kernel(a, balm::local<float>(256)), balm::groups(120, 256));
///     device.execute(kernel(m), balm::groups({4, 4}, {16, 16}), written);  // 64 x 64 work-items
inline group_grid<1> groups(std::size_t count, std::size_t size) { return group_grid<1>({count}, {size}); }
template <std::size_t N>
group_grid<static_cast<int>(N)> groups(const std::size_t (&count)[N], const std::size_t (&size)[N]) {
    static_assert(N <= 3, "Balm: a grid has 1, 2 or 3 dimensions");
    return group_grid<static_cast<int>(N)>(std::to_array(count), std::to_array(size));
}

}  // namespace balm
