#pragma once
// Runs kernels that use block primitives, in groups of all sizes, on every device and in the interpreter of
// the IR, which has sub-groups where no device has them; and compares with the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "algorithm/block/group.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/interpreter.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

/// Elements of 12 and of 16 bytes.
struct triple {
    std::uint32_t a, b;
    float c;
};
BALM_STRUCT(triple, a, b, c)
/// A 2 x 2 matrix modulo 2^32.
struct matrix {
    std::uint32_t m[4];
};
BALM_STRUCT(matrix, m)
/// A byte ahead of eight.
struct ragged {
    std::uint16_t key;
    std::uint16_t more[3];
    std::int64_t value;
};
BALM_STRUCT(ragged, key, more, value)

template <class T>
trace::node node_of(const dsl::Var<T>& value) {
    if constexpr (structure_type<T>)
        return value.balm_place().load();
    else
        return trace::read(value.node());
}

/// Any bytes, but for floats, which are whole numbers: their sums do not depend on an order.
template <class T>
T random_element(std::mt19937_64& random) {
    if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(static_cast<int>(random() % 2001) - 1000);
    } else if constexpr (std::is_same_v<T, bool>) {
        return random() % 2 == 0;
    } else if constexpr (std::is_same_v<T, triple>) {
        return {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()),
                random_element<float>(random)};
    } else {
        T made;
        auto* bytes = reinterpret_cast<unsigned char*>(&made);
        for (std::size_t k = 0; k < sizeof made; ++k) bytes[k] = static_cast<unsigned char>(random() >> 8);
        return made;
    }
}
template <class T>
std::vector<T> random_elements(std::mt19937_64& random, std::size_t count) {
    std::vector<T> made;
    for (std::size_t k = 0; k < count; ++k) made.push_back(random_element<T>(random));
    return made;
}

template <class T>
void expect_equal(const T* got, const std::vector<T>& wanted) {
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (std::memcmp(got + k, &wanted[k], sizeof(T)) == 0) continue;
        ADD_FAILURE() << "element " << k << " of " << wanted.size() << " is "
                      << testing::PrintToString(got[k]) << ", not " << testing::PrintToString(wanted[k]);
        return;
    }
}

inline constexpr std::size_t all_group_sizes[] = {1, 2, 3, 32, 33, 64, 100, 128, 256, 1024};

inline std::string words(const block::group_shape& shape, std::size_t size) {
    return "groups of " + std::to_string(size) + (shape.is_exact ? ", exactly" : " at most ") +
           (shape.is_exact ? "" : std::to_string(shape.most)) +
           (shape.is_power_of_two ? ", a power of two" : "") +
           (shape.has_sub_groups ? ", with sub-groups" : ", through local memory");
}

/// Kernels (In<T>, Out<R>) whose groups take `each` elements for each work-item. `make(shape)` makes one, and
/// `expected(elements of a group)` says what the group writes.
template <class T, class R>
class block_case {
public:
    using elements_of_group = std::span<const T>;
    using expectation = std::function<std::vector<R>(elements_of_group)>;

    block_case(std::size_t each, expectation expected) : each_(each), expected_(std::move(expected)) {}

    /// From now on groups are of powers of two, and kernels are told so.
    block_case& of_powers_of_two() {
        is_power_of_two_ = true;
        return *this;
    }
    template <class Make>
    void run(const Make& make, std::size_t most) {
        for (const bool shuffles : {false, true}) run(make, most, shuffles);
    }
    /// The form with sub-groups, or the other.
    template <class Make>
    void run(const Make& make, std::size_t most, bool shuffles) {
        interpret_all(make, most, shuffles);
        on_all_devices([&](const device& on) {
            if (shuffles && on.info().sub_group_size == 0) return;
            const std::size_t admitted = std::min(most, on.info().max_work_group_size);
            launch_dynamic(on, make, {admitted, false, shuffles, is_power_of_two_});
            for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{128}}) {
                const bool is_slow = size > 1 && on.info().type == device_type::cpu;  // to compile
                if (size > admitted || is_slow || !takes(size)) continue;
                const block::group_shape shape{size, true, shuffles, is_power_of_two_};
                launch(on, make(shape), shape, size);
            }
        });
    }

private:
    static constexpr std::size_t groups = 3;

    bool takes(std::size_t size) const {
        return !is_power_of_two_ || (std::has_single_bit(size) && size >= block::lanes);
    }

    template <class Make>
    void interpret_all(const Make& make, std::size_t most, bool shuffles) {
        for (const bool is_exact : {false, true})
            for (const std::size_t size : all_group_sizes) {
                if (size > most || !takes(size)) continue;
                const block::group_shape shape{is_exact ? size : most, is_exact, shuffles, is_power_of_two_};
                const auto kernel = make(shape);
                if (shuffles && is_exact && size % 64 == 0) also_compile_with_nvrtc(*kernel.function());
                check(shape, size, [&](std::vector<T>& in, std::vector<R>& out) {
                    const auto items = static_cast<std::int64_t>(size);
                    const interpreter_argument arguments[] = {memory_of(in), memory_of(out)};
                    interpret(*kernel.function(), {{items * std::int64_t{groups}, 1, 1}, {items, 1, 1}},
                              arguments);
                });
            }
    }
    template <class Make>
    void launch_dynamic(const device& on, const Make& make, const block::group_shape& shape) {
        const auto kernel = make(shape);
        for (const std::size_t size : all_group_sizes)
            if (size <= shape.most && takes(size)) launch(on, kernel, shape, size);
    }
    template <class Kernel>
    void launch(const device& on, const Kernel& kernel, const block::group_shape& shape, std::size_t size) {
        check(shape, size, [&](std::vector<T>& in, std::vector<R>& out) {
            auto source = on.in_buffer<T>(in.size());
            source.write(std::span<const T>(in));
            auto target = on.mixed_buffer<R>(out.size());
            on.execute(kernel(source, target), {size * groups}, {size});
            const auto got = target.read();
            std::copy(got.begin(), got.end(), out.begin());
        });
    }
    template <class Run>
    void check(const block::group_shape& shape, std::size_t size, Run&& run) {
        SCOPED_TRACE(words(shape, size) + ", each of " + std::to_string(each_));
        std::vector<T> in = random_elements<T>(random_, size * each_ * groups);
        std::vector<R> wanted;
        for (std::size_t g = 0; g < groups; ++g)
            for (const R& each : expected_(std::span(in).subspan(g * size * each_, size * each_)))
                wanted.push_back(each);
        std::vector<R> out(wanted.size());
        run(in, out);
        expect_equal(out.data(), wanted);
    }

    std::size_t each_;
    expectation expected_;
    bool is_power_of_two_ = false;
    std::mt19937_64 random_ = seeded_random();
};

}  // namespace balm::test
