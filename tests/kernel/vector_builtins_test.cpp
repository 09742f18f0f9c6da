// Every row of builtins.def on vectors, for every element type that it takes, against the same row on scalars
// on the same device: bit for bit the same in each lane, whatever stands in the lanes beside it. The scalar
// rows are compared with the host by backend/builtins_test.cpp and `balm selftest`. Kernels are traced
// through balm/trace.hpp: one a type and number of lanes, not one a row.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "balm/balm.hpp"
#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "oracle.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using balm::detail::rule;

constexpr scalar all_scalars[] = {scalar::boolean, scalar::i8,  scalar::u8,  scalar::i16,
                                  scalar::u16,     scalar::i32, scalar::u32, scalar::i64,
                                  scalar::u64,     scalar::f32, scalar::f64};
constexpr int lane_counts[] = {2, 3, 4, 8, 16};
constexpr std::size_t scalar_count = 2048;  ///< a multiple of 16: whole vectors of any length

constexpr std::size_t stride_of(int lanes) { return lanes == 3 ? 4 : static_cast<std::size_t>(lanes); }

/// Bit patterns of one type: all pairs of special values come up in a and b, the rest is random.
struct columns {
    scalar type;
    std::vector<std::uint64_t> a, b, c, exponents;

    columns(scalar t, std::mt19937_64& random) : type(t) {
        const std::vector<std::uint64_t> special = special_bits();
        const auto one = [&] {
            return random() % 2 ? special[random() % special.size()] : random_bits(random);
        };
        for (std::size_t k = 0; k < scalar_count; ++k) {
            const bool paired = k < special.size() * special.size();
            a.push_back(paired ? special[k / special.size()] : one());
            b.push_back(paired ? special[k % special.size()] : one());
            c.push_back(one());
            constexpr std::int32_t known[] = {0,  1,  -1, 2,  -2,  3,    5,    10,
                                              31, 33, 63, 65, 127, -149, 1023, -1074};
            exponents.push_back(static_cast<std::uint32_t>(
                random() % 2 ? known[random() % 16] : static_cast<std::int32_t>(random() % 64) - 32));
        }
    }

private:
    template <class T>
    static std::uint64_t bits(T x) {
        std::uint64_t result = 0;
        std::memcpy(&result, &x, sizeof x);
        return result;
    }
    template <class T>
    static std::vector<std::uint64_t> special_floats() {
        using limits = std::numeric_limits<T>;
        std::vector<std::uint64_t> list{bits(limits::quiet_NaN())};
        for (T x : {T(0), limits::denorm_min(), limits::min(), T(1e-20), T(0.25), T(0.5), T(1), T(1.5), T(2),
                    T(2.5), T(3), T(10), T(100), T(127.5), T(1000003), T(1e9), T(1e22), limits::max(),
                    limits::infinity()}) {
            list.push_back(bits(x));
            list.push_back(bits(-x));
        }
        return list;
    }
    std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - 8 * size_of(type)); }
    std::vector<std::uint64_t> special_bits() const {
        if (type == scalar::boolean) return {0, 1};
        if (type == scalar::f32) return special_floats<float>();
        if (type == scalar::f64) return special_floats<double>();
        const std::uint64_t top = std::uint64_t{1} << (8 * size_of(type) - 1);
        std::vector<std::uint64_t> list;
        for (std::uint64_t x :
             {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{7},
              std::uint64_t{31}, std::uint64_t{33}, top, top - 1, top + 1, top / 2}) {
            list.push_back(x & mask());
            list.push_back((0 - x) & mask());
        }
        return list;
    }
    std::uint64_t random_bits(std::mt19937_64& random) const {
        if (type == scalar::boolean) return random() % 2;
        if (!is_floating(type))
            return (random() & mask()) >> (random() % 2 ? random() % (8 * size_of(type)) : 0);
        const double near = std::uniform_real_distribution<double>(-1, 1)(random) *
                            std::exp2(static_cast<double>(random() % 20));
        if (type == scalar::f32) {
            const auto any = static_cast<std::uint32_t>(random());
            return random() % 4                            ? bits(static_cast<float>(near))
                   : std::isnan(std::bit_cast<float>(any)) ? 0
                                                           : std::uint64_t{any};
        }
        const std::uint64_t any = random();
        return random() % 4 ? bits(near) : std::isnan(std::bit_cast<double>(any)) ? 0 : any;
    }
};

bool takes_exponents(builtin what) { return ir::info(what).takes == rule::scale; }
scalar second_type(builtin what, scalar type) {
    return takes_exponents(what)                    ? scalar::i32
           : ir::info(what).takes == rule::upsample ? balm::detail::unsigned_of(type)
                                                    : type;
}

/// What the row gives for vectors of this type; `nothing` where it does not take them.
scalar result_of_lanes(builtin what, scalar type) {
    const scalar operands[] = {type, ir::info(what).arity == 2 ? second_type(what, type) : type, type};
    return balm::detail::resolve_lanes(what, operands, ir::info(what).arity).result;
}

/// A kernel of rows: on scalars (lanes 1) or vectors, over the same memory.
class rows_kernel {
public:
    rows_kernel(const device& on, int lanes)
        : device_(on),
          lanes_(static_cast<std::uint8_t>(lanes)),
          items_(scalar_count / stride_of(lanes)),
          recording_(fmt::format("rows_of_{}", lanes), 1, {}),
          index_(trace::query(trace::place::global_id, 0, {})) {}

    trace::node operand(scalar type, const std::vector<std::uint64_t>& bits) {
        const std::size_t size = size_of(type);
        auto memory = device_.in_buffer<std::byte>(bits.size() * size);
        std::vector<std::byte> bytes(bits.size() * size);
        for (std::size_t k = 0; k < bits.size(); ++k) std::memcpy(bytes.data() + k * size, &bits[k], size);
        memory.write(std::move(bytes));
        bound_argument argument;
        argument.what = bound_argument::kind::memory;
        argument.memory = memory.storage();
        arguments_.push_back(std::move(argument));
        return trace::load(recording_.parameter(trace::type(type, lanes_), trace::access::in), index_, {});
    }
    void result(trace::node value) {
        const scalar type = value.type.element;
        if (!outputs_.count(type)) {
            outputs_[type] = {recording_.parameter(trace::type(type, lanes_), trace::access::out),
                              arguments_.size(), 0};
            arguments_.emplace_back().what = bound_argument::kind::memory;
        }
        output& to = outputs_[type];
        const trace::node terms[] = {index_, trace::constant(scalar::i64, to.columns++ * items_)};
        trace::store(to.pointer, trace::apply(builtin::add, terms, 2), value, {});
        results_.push_back(type);
    }
    /// The bits of each result, of each scalar in the memory (between vectors of three lanes: anything).
    std::vector<std::vector<std::uint64_t>> run() {
        std::map<scalar, out_buffer<std::byte>> memory;
        for (auto& [type, to] : outputs_) {
            memory.emplace(type, device_.out_buffer<std::byte>(to.columns * scalar_count * size_of(type)));
            arguments_[to.argument].memory = memory.at(type).storage();
        }
        bound_kernel<1> call;
        call.function = recording_.finish(nullptr);
        call.arguments = std::move(arguments_);
        device_.execute(call, {items_}).wait();
        std::map<scalar, host_array<std::byte>> read;
        for (auto& [type, each] : memory) read.emplace(type, each.read());
        std::map<scalar, std::size_t> next;
        std::vector<std::vector<std::uint64_t>> results;
        for (scalar type : results_) {
            const std::byte* from = read.at(type).data() + next[type]++ * scalar_count * size_of(type);
            auto& column = results.emplace_back(scalar_count);
            for (std::size_t k = 0; k < scalar_count; ++k)
                std::memcpy(&column[k], from + k * size_of(type), size_of(type));
        }
        return results;
    }

private:
    struct output {
        trace::node pointer;
        std::size_t argument = 0, columns = 0;
    };
    const device& device_;
    std::uint8_t lanes_;
    std::size_t items_;
    trace::recording recording_;
    trace::node index_;
    std::vector<bound_argument> arguments_;
    std::map<scalar, output> outputs_;
    std::vector<scalar> results_;
};

std::vector<std::vector<std::uint64_t>> run_rows(const device& on, const columns& given, int lanes,
                                                 const std::vector<builtin>& rows) {
    rows_kernel kernel(on, lanes);
    const trace::node a = kernel.operand(given.type, given.a), b = kernel.operand(given.type, given.b),
                      c = kernel.operand(given.type, given.c),
                      n = kernel.operand(scalar::i32, given.exponents);
    for (builtin what : rows) {
        trace::node second = takes_exponents(what) ? n : b;
        const scalar type = second_type(what, given.type);
        if (!takes_exponents(what)) second = trace::convert(second, type);
        if (lanes == 1 && ir::info(what).takes == rule::shift) {
            // Operators on scalars compute in i32; lanes keep their width, and take counts modulo that.
            const trace::node operands[] = {second, trace::constant(type, 8 * size_of(type) - 1)};
            second = trace::convert(trace::apply(builtin::bit_and, operands, 2), type);
        }
        const trace::node operands[] = {a, second, c};
        const trace::node value = trace::apply(what, operands, ir::info(what).arity);
        kernel.result(trace::convert(value, result_of_lanes(what, given.type)));
    }
    return kernel.run();
}

bool is_same_number(scalar type, std::uint64_t x, std::uint64_t y) {
    if (x == y) return true;
    if (type == scalar::f32)
        return std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(x))) &&
               std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(y)));
    return type == scalar::f64 && std::isnan(std::bit_cast<double>(x)) &&
           std::isnan(std::bit_cast<double>(y));
}

/// Rows of one type on vectors of so many lanes, compared with what the scalar rows gave.
void expect_rows(const device& on, const columns& given, int lanes, const std::vector<builtin>& rows,
                 const std::map<builtin, std::vector<std::uint64_t>>& wanted) {
    const auto got = run_rows(on, given, lanes, rows);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const builtin what = rows[r];
        const scalar result = result_of_lanes(what, given.type);
        std::size_t compared = 0, wrong = 0;
        std::string first;
        for (std::size_t k = 0; k < scalar_count; ++k) {
            if (static_cast<int>(k % stride_of(lanes)) >= lanes) continue;
            const std::uint64_t operands[] = {
                given.a[k], takes_exponents(what) ? given.exponents[k] : given.b[k], given.c[k]};
            if (!oracle::is_specified(what, given.type, {operands, ir::info(what).arity})) continue;
            ++compared;
            const std::uint64_t expected = wanted.at(what)[k];
            if (is_same_number(result, got[r][k], expected)) continue;
            if (wrong++ == 0)
                first = fmt::format("lane {} of ({:#x}, {:#x}, {:#x}) is {:#x}, of a scalar {:#x}",
                                    k % stride_of(lanes), operands[0], operands[1], operands[2], got[r][k],
                                    expected);
        }
        EXPECT_GT(compared, scalar_count / 16) << ir::info(what).name << " is hardly tested";
        EXPECT_EQ(wrong, 0u) << ir::info(what).name << " of " << to_string(given.type) << "x" << lanes << ": "
                             << first;
    }
}

std::vector<builtin> rows_on_lanes(scalar type) {
    std::vector<builtin> rows;
    for (std::size_t k = 0; k < ir::builtin_count; ++k) {
        const auto what = static_cast<builtin>(k);
        if (result_of_lanes(what, type) != scalar::nothing) rows.push_back(what);
    }
    return rows;
}

class C10_vector_builtins : public testing::TestWithParam<scalar> {};

/// Each row is tried with two numbers of lanes, other ones from run to run.
TEST_P(C10_vector_builtins, give_in_each_lane_what_scalars_give) {
    const scalar type = GetParam();
    on_all_devices([&](const device& on) {
        if (!on.info().has_double) return;  // some rows of any type give f64
        auto random = seeded_random();
        const columns given(type, random);
        const std::vector<builtin> rows = rows_on_lanes(type);
        std::map<builtin, std::vector<std::uint64_t>> wanted;
        const auto of_scalars = run_rows(on, given, 1, rows);
        for (std::size_t r = 0; r < rows.size(); ++r) wanted[rows[r]] = of_scalars[r];
        std::map<int, std::vector<builtin>> by_lanes;
        const std::size_t shift = random() % 5;
        for (std::size_t r = 0; r < rows.size(); ++r)
            for (std::size_t k : {r + shift, r + shift + 1 + r / 5 % 4})
                by_lanes[lane_counts[k % 5]].push_back(rows[r]);
        for (const auto& each : by_lanes) expect_rows(on, given, each.first, each.second, wanted);
    });
}
INSTANTIATE_TEST_SUITE_P(all, C10_vector_builtins, testing::ValuesIn(all_scalars),
                         [](const auto& at) { return to_string(at.param); });

/// The rows that take vectors of a type are those that take its scalars and keep them as they are.
// Of numbers that are compared, and of those that are not: Intel's compiler for CPUs vectorises its own step
// so that it is 0 beside a NaN.
template <class T>
void expect_steps() {
    using namespace balm::dsl;
    const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    std::vector<T> edges, numbers;
    for (const T edge : {T(0), T(-0.0), T(1), nan, infinity, -infinity})
        for (const T x : {T(0), T(-0.0), T(0.5), T(1), T(2), nan, infinity, -infinity}) {
            edges.push_back(edge);
            numbers.push_back(x);
        }
    using four = vec<T, 4>;
    const auto steps = balm::kernel<1>("steps", [](In<T> edge, In<T> x, Out<T> out, Out<four> lanes) {
        const Index i = global_id(0);
        out[i] = step(edge[i], x[i]);
        lanes[i] = step(Var<four>(edge[i]), Var<four>(x[i]));
    });
    on_all_devices([&](const device& on) {
        const context ctx(std::vector<device>{on});
        const std::size_t n = edges.size();
        const vector<T> E(ctx, std::span<const T>(edges)), X(ctx, std::span<const T>(numbers));
        vector<T> out(ctx, n), of_arrays(ctx, n);
        vector<four> lanes(ctx, n);
        on.execute(steps(E, X, out, lanes), {n});
        of_arrays = balm::step(E, X);
        for (std::size_t k = 0; k < n; ++k) {
            const T expected = numbers[k] < edges[k] ? T(0) : T(1);
            EXPECT_EQ(T(out[k]), expected) << edges[k] << ", " << numbers[k];
            EXPECT_EQ(four(lanes[k]).w, expected) << edges[k] << ", " << numbers[k];
            EXPECT_EQ(T(of_arrays[k]), expected) << edges[k] << ", " << numbers[k];
        }
    });
}

TEST(C10_step, compares) {
    expect_steps<float>();
    expect_steps<double>();
}

TEST(C10_vector_rows, exist_for_what_scalars_exist_for) {
    for (scalar type : {scalar::i32, scalar::u32, scalar::i64, scalar::u64, scalar::f32, scalar::f64})
        for (std::size_t k = 0; k < ir::builtin_count; ++k) {
            const auto what = static_cast<builtin>(k);
            const scalar operands[] = {type, ir::info(what).arity == 2 ? second_type(what, type) : type,
                                       type};
            const auto of_scalars = balm::detail::resolve(what, operands, ir::info(what).arity);
            const bool keeps = of_scalars.result != scalar::nothing && of_scalars.first == type;
            EXPECT_EQ(result_of_lanes(what, type), keeps ? of_scalars.result : scalar::nothing)
                << ir::info(what).name << " of " << to_string(type);
        }
}

}  // namespace
}  // namespace balm::test
