// What the policies promise: the same bits from run to run, and the documented order, computed anew on the
// host.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "algorithm/reduce_ways.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "null_driver/device.hpp"
#include "runtime/device/device_state.hpp"
#include "support/interpreter.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

/// The order of docs/reductions.md. `enter(lane, i)` combines a lane's value with element i.
template <class T>
struct documented_order {
    std::size_t n;
    T identity;
    std::function<T(T, std::size_t)> enter;
    std::function<T(T, T)> join;

    T halved(std::vector<T> values) const {
        for (std::size_t w = std::bit_ceil(values.size()) / 2; w > 0; w /= 2)
            for (std::size_t k = 0; k < w && k + w < values.size(); ++k)
                values[k] = join(values[k], values[k + w]);
        return values[0];
    }
    T lane(std::size_t k, std::size_t begin, std::size_t end) const {
        T total = identity;
        for (std::size_t block = begin; block < end; block += 32 * 1024) {
            T of_block = identity;
            for (std::size_t run = block; run < std::min(block + 32 * 1024, end); run += 1024) {
                T of_run = identity;
                for (std::size_t i = run + k; i < std::min(run + 1024, end); i += 32)
                    of_run = enter(of_run, i);
                of_block = join(of_block, of_run);
            }
            total = join(total, of_block);
        }
        return total;
    }
    T result() const {
        const std::size_t piece = 1024 * ((n - 1) / (1024 * 4096) + 1);
        std::vector<T> pieces;
        for (std::size_t begin = 0; begin < n; begin += piece) {
            std::vector<T> lanes;
            for (std::size_t k = 0; k < 32; ++k) lanes.push_back(lane(k, begin, std::min(begin + piece, n)));
            pieces.push_back(halved(lanes));
        }
        std::vector<T> lanes(std::bit_ceil(std::min<std::size_t>(pieces.size(), 256)), identity);
        for (std::size_t k = 0; k < pieces.size(); ++k)
            lanes[k % lanes.size()] = join(lanes[k % lanes.size()], pieces[k]);
        return halved(lanes);
    }
};

template <class T>
class B7_portable_reductions : public testing::Test {};
using floating_types = testing::Types<float, double>;
TYPED_TEST_SUITE(B7_portable_reductions, floating_types);

TYPED_TEST(B7_portable_reductions, have_the_documented_order) {
    using T = TypeParam;
    auto random = seeded_random();
    for (const std::size_t n :
         {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33}, std::size_t{1023},
          std::size_t{1024}, std::size_t{1025}, std::size_t{98309}, 2 * 4096 * 1024 + random() % 5000}) {
        const auto x = random_values<T>(random, n, T(-1), T(2)), y = random_values<T>(random, n, T(-1), T(1));
        const auto add = [](T a, T b) { return a + b; };
        const T total =
            documented_order<T>{n, 0, [&](T sum, std::size_t i) { return sum + x[i]; }, add}.result();
        // A product that is added is fused.
        const T dot =
            documented_order<T>{n, 0, [&](T sum, std::size_t i) { return std::fma(x[i], y[i], sum); }, add}
                .result();
        const auto multiply = [](T a, T b) { return a * b; };
        const T product_of_all =
            documented_order<T>{n, 1, [&](T made, std::size_t i) { return made * (1 + x[i] / 4096); },
                                multiply}
                .result();
        on_all_contexts([&](const context& ctx) {
            const vector<T> X(ctx, std::span<const T>(x)), Y(ctx, std::span<const T>(y));
            for (const bool as_on_gpus : {false, true}) {
                const shapes_of_gpus chosen(as_on_gpus);
                EXPECT_EQ(sum(X, policy::portable), total) << n << as_on_gpus;
                EXPECT_EQ(sum(X * Y, policy::portable), dot) << n << as_on_gpus;
                EXPECT_EQ(product(1 + X / 4096, policy::portable), product_of_all) << n << as_on_gpus;
                vector<T> one(ctx, 1);
                sum_into(one, X, policy::portable);
                EXPECT_EQ(one[0], total) << n << as_on_gpus;
            }
        });
    }
}

TEST(B7_portable_reductions_of_many, have_the_documented_order) {
    // More than 32 runs a piece; positions need no memory.
    const std::size_t n = std::size_t{4096} * 33 * 1024 - 5;
    const auto value = [](std::size_t i) { return static_cast<float>(i % 1021); };
    const float total = documented_order<float>{
        n, 0, [&](float sum, std::size_t i) { return sum + value(i); },
        [](float a, float b) {
            return a + b;
        }}.result();
    for (const bool as_on_gpus : {false, true}) {
        const shapes_of_gpus chosen(as_on_gpus);
        EXPECT_EQ(sum(cast<float>(element_index(0, n) % 1021), policy::portable), total) << as_on_gpus;
    }
}

TEST(B7_portable_reductions_of_functions, have_the_documented_order) {
    auto random = seeded_random();
    const std::size_t n = 77777;
    const auto x = random_values<float>(random, n, -1.f, 1.f);
    const auto f = balm::function("twice_and_one", [](dsl::Float v) { return v * 2.f + 1.f; });
    const auto add = [](float a, float b) { return a + b; };
    const float expected =
        documented_order<float>{n, 0,
                                [&](float sum, std::size_t i) { return sum + std::fma(x[i], 2.f, 1.f); }, add}
            .result();
    const auto plus = balm::function("plus", [](dsl::Float a, dsl::Float b) { return a + b; });
    const float folded =
        documented_order<float>{n, 0, [&](float sum, std::size_t i) { return sum + x[i]; }, add}.result();
    on_all_contexts([&](const context& ctx) {
        const vector<float> X(ctx, std::span<const float>(x));
        for (const bool as_on_gpus : {false, true}) {
            const shapes_of_gpus chosen(as_on_gpus);
            EXPECT_EQ(sum(f(X), policy::portable), expected) << as_on_gpus;
            EXPECT_EQ(fold(X, 0.f, plus, policy::portable), folded) << as_on_gpus;
        }
    });
}

/// What kernels of a device with sub-groups give, in the interpreter: they combine work-items by shuffles.
class interpreted_portable_sum {
public:
    explicit interpreted_portable_sum(std::span<const float> x) : n_(x.size()), x_(x.begin(), x.end()) {
        kernels::observe_compilations(
            [this](const ir::function& f, const ir::launch_facts&) { kernels_.push_back(f); });
        const context where(
            {device(runtime::device_state::make(null::make_null_device(runtime::dialect::cuda_cpp)))});
        X_ = vector<float>(where, x);
    }
    ~interpreted_portable_sum() { compile_kernels_with_nvrtc_again(); }

    float sum(policy how) {
        kernels_.clear();
        static_cast<void>(balm::sum(X_, how));
        std::vector<std::uint64_t> slots(1 + 4096);
        for (const ir::function& each : kernels_) {
            also_compile_with_nvrtc(each);
            run(each, slots);
        }
        return std::bit_cast<float>(static_cast<std::uint32_t>(slots[0]));
    }
    std::size_t kernels_with_shuffles() const {
        return static_cast<std::size_t>(
            std::count_if(kernels_.begin(), kernels_.end(), [](const ir::function& f) {
                return std::any_of(f.code.begin(), f.code.end(),
                                   [](const auto& i) { return i.op == ir::opcode::sub_group; });
            }));
    }

private:
    static constexpr std::size_t group = 256, groups = 7;

    /// Partial results of pieces as the device cuts them, or of seven groups.
    void run(const ir::function& kernel, std::vector<std::uint64_t>& slots) {
        const bool is_finish = kernel.name.starts_with("finish");
        const bool has_pieces = std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                                            [](const ir::parameter& p) { return p.name == "piece"; });
        const std::size_t piece = 1024, pieces = (n_ - 1) / piece + 1;
        if (!is_finish) partials_ = has_pieces ? pieces : groups;
        std::vector<interpreter_argument> arguments;
        for (const ir::parameter& p : kernel.parameters) {
            if (p.name == "n")
                arguments.push_back(value_of(std::uint64_t{n_}));
            else if (p.name == "piece")
                arguments.push_back(value_of(std::uint64_t{piece}));
            else if (p.name == "partial_count")
                arguments.push_back(value_of(std::uint64_t{partials_}));
            else if (p.name == "lanes")
                arguments.push_back(
                    value_of(std::uint64_t{std::bit_ceil(std::min<std::size_t>(partials_, 256))}));
            else if (p.name == "slots")
                arguments.push_back(memory_of(slots));
            else
                arguments.push_back(memory_of(x_));
        }
        const std::size_t count = is_finish ? 1 : has_pieces ? (pieces - 1) / (group / 32) + 1 : groups;
        interpret(kernel, {{static_cast<std::int64_t>(count * group), 1, 1}, {group, 1, 1}}, arguments);
    }

    std::size_t n_, partials_ = 0;
    std::vector<float> x_;
    vector<float> X_;
    std::vector<ir::function> kernels_;
};

TEST(B7_reductions_by_shuffles, have_the_same_bits) {
    auto random = seeded_random();
    for (const std::size_t n : {std::size_t{5000}, 20000 + random() % 5000}) {
        const auto x = random_values<float>(random, n, -1.f, 2.f);
        interpreted_portable_sum reduction(x);
        const auto add = [](float a, float b) { return a + b; };
        EXPECT_EQ(reduction.sum(policy::portable),
                  documented_order<float>({n, 0, [&](float sum, std::size_t i) { return sum + x[i]; }, add})
                      .result());
        EXPECT_EQ(reduction.kernels_with_shuffles(), 1u);
    }
    std::vector<float> whole(30001);
    for (float& each : whole) each = static_cast<float>(random() % 100);
    interpreted_portable_sum reduction(whole);
    EXPECT_EQ(reduction.sum(policy::run_to_run), std::accumulate(whole.begin(), whole.end(), 0.f));
    EXPECT_EQ(reduction.kernels_with_shuffles(), 1u);
}

TEST(B7_reductions, give_the_same_bits_in_every_run) {
    auto random = seeded_random();
    const std::size_t n = 1000003;
    const auto x = random_values<float>(random, n, -1.f, 1.f);
    in_all_ways([&](const context& ctx, policy how) {
        const vector<float> X(ctx, std::span<const float>(x));
        const float first = sum(sin(X), how), product_first = product(1 + X / 1000, how);
        for (int run = 0; run < 10; ++run) {
            EXPECT_EQ(sum(sin(X), how), first);
            EXPECT_EQ(product(1 + X / 1000, how), product_first);
        }
    });
}

}  // namespace
}  // namespace balm::test
