#pragma once
// Short ways to run a kernel on a device and to say what its results should be.

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

using scalar_types = testing::Types<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                    std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

/// Work-items of kernels that run with any number of them.
inline constexpr std::size_t some_items = 1000, vector_items = 64;

template <class T>
in_buffer<T> in(const device& on, const host_array<T>& values) {
    auto memory = on.in_buffer<T>(values.size());
    memory.write(std::span<const T>(values));
    return memory;
}

template <class T>
mixed_buffer<T> mixed(const device& on, const host_array<T>& values) {
    auto memory = on.mixed_buffer<T>(values.size());
    memory.write(std::span<const T>(values));
    return memory;
}

/// The results of n work-items, each of which writes one element (or `each` elements) of the last parameter.
template <class T, class Kernel, class... A>
host_array<T> run(const device& on, const Kernel& kernel, std::size_t n, const A&... arguments) {
    auto out = on.out_buffer<T>(n);
    on.execute(kernel(arguments..., out), {n});
    return out.read();
}

/// Equal, or both NaN.
template <class T>
bool is_same(T a, T b) {
    if constexpr (std::floating_point<T>)
        return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
    else
        return a == b;
}

/// got[i] is expected(i) for every i; the first that is not fails the test.
template <class T, class Expected>
void expect_each(const host_array<T>& got, Expected&& expected) {
    for (std::size_t i = 0; i < got.size(); ++i) {
        const T wanted = static_cast<T>(expected(i));
        if (is_same(got[i], wanted)) continue;
        ADD_FAILURE() << "element " << i << " is " << +got[i] << ", not " << +wanted;
        return;
    }
}

}  // namespace balm::test
