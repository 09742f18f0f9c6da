// A work-item that computes a tile of a stencil leaves what one element a work-item leaves, whatever the
// types, the shifts, the rows' strides and where the rows begin; and it loads what neighbours share once.

#include "ir/lower/tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>

#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "support/c_serial/batch.hpp"
#include "support/c_serial/dialect.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

constexpr std::array stencil_types{scalar::i8,  scalar::u8,  scalar::i16, scalar::u16,
                                   scalar::i32, scalar::u32, scalar::i64, scalar::u64};
constexpr std::int64_t most_reach = 6, most_row_elements = 70, most_plane_rows = 9, most_planes = 3;
constexpr std::int64_t group_width = 4;

trace::node number(std::int64_t k) { return trace::constant(scalar::i64, static_cast<std::uint64_t>(k)); }

/// out[position] = i + sum of weight * in[position + shift], of the elements inside a box of up to three
/// dimensions.
struct drawn_stencil {
    struct point {
        std::size_t input;
        std::array<std::int64_t, 3> shift;  ///< elements, rows, planes
    };
    explicit drawn_stencil(std::uint64_t from) : seed(from), random(from) {
        dimensions = 1 + pick(3);
        inner = {1 + pick(most_row_elements), dimensions > 1 ? 1 + pick(most_plane_rows) : 1,
                 dimensions > 2 ? 1 + pick(most_planes) : 1};
        is_in_fours = pick(2) == 0;
        stride = inner[0] + 2 * most_reach + pick(4);
        if (is_in_fours) stride = (stride + 3) / 4 * 4;
        begin = pick(4);
        out_type = stencil_types[pick_index(stencil_types.size())];
        for (std::int64_t k = 1 + pick(2); k-- > 0;)
            in_types.push_back(pick(2) == 0 ? out_type : stencil_types[pick_index(stencil_types.size())]);
        for (std::int64_t k = 2 + pick(12); k-- > 0;) {
            point p{pick_index(in_types.size()), {}};
            p.shift[0] = pick(2 * most_reach + 1) - most_reach;
            for (std::size_t d = 1; d < 3; ++d)
                if (dimensions > static_cast<std::int64_t>(d)) p.shift[d] = pick(3) - 1;
            points.push_back(p);
        }
        facts.grid_covers_loop = true;
        facts.is_tight = pick(5) == 0;
    }
    std::int64_t pick(std::int64_t below) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
    }
    std::size_t pick_index(std::size_t below) { return random() % below; }

    std::int64_t rows() const { return inner[1] + 2; }
    std::int64_t elements() const { return (inner[2] + 2) * rows() * stride + begin; }
    /// Of the first element that is computed.
    std::int64_t first() const { return begin + rows() * stride + stride + most_reach; }
    std::int64_t at(std::int64_t plane, std::int64_t row, std::int64_t i) const {
        return first() + (plane * rows() + row) * stride + i;
    }

    std::shared_ptr<const ir::function> traced() const {
        trace::recording r("stencil", static_cast<int>(dimensions), {});
        std::vector<trace::node> counts, variables;
        for (const char* name : {"n", "rows", "planes"})
            counts.push_back(r.parameter(scalar::i64, trace::access::value, space::global, name));
        const trace::node given_first =
                              r.parameter(scalar::i64, trace::access::value, space::global, "first"),
                          given_stride =
                              r.parameter(scalar::i64, trace::access::value, space::global, "stride"),
                          row_count =
                              r.parameter(scalar::i64, trace::access::value, space::global, "of_plane");
        std::vector<trace::node> in;
        for (const scalar type : in_types) in.push_back(r.parameter(type, trace::access::in));
        const trace::node out = r.parameter(out_type, trace::access::out);
        const auto unit = [&](trace::node n) {
            return is_in_fours ? trace::apply(builtin::mul, n, number(4)) : n;
        };
        std::vector<std::uint32_t> open;
        for (std::int64_t d = dimensions; d-- > 0;) {
            trace::node variable;
            open.push_back(
                trace::open_grid_for(counts[static_cast<std::size_t>(d)], variable, {}, static_cast<int>(d)));
            variables.insert(variables.begin(), trace::read(variable));
        }
        const auto times = [&](trace::node a, trace::node b) { return trace::apply(builtin::mul, a, b); };
        const auto plus = [&](trace::node a, trace::node b) { return trace::apply(builtin::add, a, b); };
        trace::node position = variables[0];
        if (dimensions > 1) position = plus(position, unit(times(variables[1], given_stride)));
        if (dimensions > 2)
            position = plus(position, unit(times(times(variables[2], row_count), given_stride)));
        position = plus(position, unit(given_first));
        if (is_in_fours) position = plus(position, number(first() % 4));
        trace::node sum = variables[0];
        for (std::size_t k = 0; k < points.size(); ++k) {
            const point& p = points[k];
            trace::node there = position;
            if (p.shift[1] != 0) there = plus(there, unit(times(given_stride, number(p.shift[1]))));
            if (p.shift[2] != 0)
                there = plus(there, unit(times(times(row_count, given_stride), number(p.shift[2]))));
            if (p.shift[0] != 0) there = plus(there, number(p.shift[0]));
            const trace::node value = trace::convert(trace::load(in[p.input], there, {}), scalar::i64);
            sum = plus(sum, times(value, number(static_cast<std::int64_t>(k) + 1)));
        }
        const trace::node small = trace::apply(builtin::bit_and, sum, number(127));
        trace::store(out, position, trace::convert(small, out_type), {});
        for (; !open.empty(); open.pop_back()) trace::close(open.back());
        return r.finish(nullptr);
    }

    std::uint64_t seed;
    std::mt19937_64 random;
    std::int64_t dimensions;
    std::array<std::int64_t, 3> inner;  ///< elements that are computed: of a row, rows, planes
    bool is_in_fours;                   ///< strides and offset are given as quarters
    std::int64_t stride, begin;
    scalar out_type;
    std::vector<scalar> in_types;
    std::vector<point> points;
    runtime::launch_facts facts;
};

struct stencil_memory {
    stencil_memory(scalar of, std::int64_t elements, std::mt19937_64& random)
        : type(of), bytes((static_cast<std::size_t>(elements) * size_of(of) + 15) / 16 * 16) {
        for (std::byte& each : bytes) each = static_cast<std::byte>(random() % 100);
    }
    std::byte* at(std::int64_t k) { return bytes.data() + static_cast<std::size_t>(k) * size_of(type); }
    std::int64_t read(std::int64_t k) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at(k), size_of(type));
        return static_cast<std::int64_t>(ir::fold_conversion(type, scalar::i64, bits));
    }
    void write(std::int64_t k, std::int64_t value) {
        const std::uint64_t bits = ir::fold_conversion(scalar::i64, type, static_cast<std::uint64_t>(value));
        std::memcpy(at(k), &bits, size_of(type));
    }
    scalar type;
    std::vector<std::byte> bytes;
};

struct stencil_data {
    explicit stencil_data(const drawn_stencil& of) {
        std::mt19937_64 random(of.seed + 1);
        for (const scalar type : of.in_types) in.emplace_back(type, of.elements(), random);
        out.emplace_back(of.out_type, of.elements(), random);
    }
    void compute(const drawn_stencil& of) {
        for (std::int64_t plane = 0; plane < of.inner[2]; ++plane)
            for (std::int64_t row = 0; row < of.inner[1]; ++row)
                for (std::int64_t i = 0; i < of.inner[0]; ++i) {
                    auto sum = static_cast<std::uint64_t>(i);
                    for (std::size_t k = 0; k < of.points.size(); ++k) {
                        const auto& [input, shift] = of.points[k];
                        const std::int64_t from = of.at(plane + shift[2], row + shift[1], i + shift[0]);
                        sum += static_cast<std::uint64_t>(in[input].read(from)) * (k + 1);
                    }
                    out[0].write(of.at(plane, row, i), static_cast<std::int64_t>(sum & 127));
                }
    }
    std::vector<interpreter_argument> arguments(const drawn_stencil& of) {
        const std::int64_t unit = of.is_in_fours ? 4 : 1;
        std::vector<interpreter_argument> all;
        for (const std::int64_t count : of.inner) all.push_back(value_of(count));
        all.push_back(value_of(of.first() / unit));
        all.push_back(value_of(of.stride / unit));
        all.push_back(value_of(of.rows()));
        for (stencil_memory& each : in) all.push_back(memory_of(each.bytes));
        all.push_back(memory_of(out[0].bytes));
        return all;
    }
    std::deque<stencil_memory> in, out;
};

interpreter_grid grid_for(const drawn_stencil& of, const ir::lowered& fitted) {
    const runtime::launch_plan plan{{}, fitted.elements_per_item, fitted.most_peeled};
    const auto items = static_cast<std::int64_t>(plan.items_for(static_cast<std::size_t>(of.inner[0])));
    const std::int64_t whole = (items + group_width - 1) / group_width * group_width;
    return {{whole, of.inner[1] > 4 ? 2 : of.inner[1], of.inner[2]}, {group_width, 1, 1}};
}

/// Of 32-bit elements of a matrix at these rows and columns from the own one.
ir::lowered lowered_stencil(const std::vector<std::array<std::int64_t, 2>>& at, bool is_tight = false) {
    drawn_stencil stencil(1);
    stencil.dimensions = 2;
    stencil.is_in_fours = true;
    stencil.out_type = scalar::u32;
    stencil.in_types = {scalar::u32};
    stencil.points.clear();
    for (const auto& [row, column] : at) stencil.points.push_back({0, {column, row, 0}});
    stencil.facts.is_tight = is_tight;
    return ir::lower(*stencil.traced(), stencil.facts);
}

std::size_t loads_of(const ir::function& f) {
    return static_cast<std::size_t>(std::count_if(
        f.code.begin(), f.code.end(), [](const ir::instruction& i) { return i.op == ir::opcode::load; }));
}

}  // namespace

TEST(B13_tiles, leave_what_the_host_computes) {
    if (!has_serial_compiler()) GTEST_SKIP() << "The compiler that Balm was built with is not here";
    struct printed_kernel {
        drawn_stencil drawn;
        ir::lowered lowered;
        std::size_t number;
    };
    serial_batch batch;
    std::deque<printed_kernel> all;
    for (std::size_t k = 0; k < case_count(60); ++k) {
        drawn_stencil drawn(seed() + k);
        ir::lowered lowered = ir::lower(*drawn.traced(), drawn.facts);
        ASSERT_NO_THROW(ir::verify(lowered.kernel));
        const std::size_t number = batch.add(lowered.kernel);
        all.push_back({std::move(drawn), std::move(lowered), number});
    }
    batch.compile();
    std::size_t tiled = 0, of_rows = 0;
    for (const printed_kernel& each : all) {
        stencil_data expected(each.drawn), got(each.drawn);
        expected.compute(each.drawn);
        batch.run(each.number, grid_for(each.drawn, each.lowered), got.arguments(each.drawn));
        EXPECT_TRUE(got.out[0].bytes == expected.out[0].bytes)
            << "BALM_TEST_CASES=1 BALM_TEST_SEED=" << each.drawn.seed << "\n"
            << emit::print(each.lowered.kernel, c_serial());
        if (testing::Test::HasFailure()) break;
        tiled += each.lowered.elements_per_item > 1 ? 1 : 0;
        of_rows += each.lowered.rows_per_item[0] > 1 ? 1 : 0;
    }
    if (all.size() >= 20) {
        EXPECT_GT(tiled, all.size() / 4);
        EXPECT_GT(of_rows, all.size() / 8);
    }
}

TEST(B13_tiles, load_neighbours_in_vectors) {
    const ir::lowered five = lowered_stencil({{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}});
    EXPECT_EQ(five.elements_per_item, 4u);
    EXPECT_EQ(five.rows_per_item[0], 1u);
    EXPECT_EQ(loads_of(five.kernel), 5u + 5u)
        << "three vectors and two scalars; and those of the last elements";
}

TEST(B13_tiles, take_rows_where_a_window_has_many) {
    std::vector<std::array<std::int64_t, 2>> square;
    for (std::int64_t row = -2; row <= 2; ++row)
        for (std::int64_t column = -2; column <= 2; ++column) square.push_back({row, column});
    const ir::lowered fitted = lowered_stencil(square);
    EXPECT_EQ(fitted.elements_per_item, 4u);
    EXPECT_EQ(fitted.rows_per_item[0], 4u);
    EXPECT_EQ(loads_of(fitted.kernel), 8u * 5u + 25u);
    const ir::lowered scalars = lowered_stencil(square, true);
    EXPECT_EQ(scalars.elements_per_item, 1u);
    EXPECT_EQ(scalars.rows_per_item[0], 4u);
}

TEST(B13_tiles, leave_what_shares_nothing) {
    const ir::lowered fitted = lowered_stencil({{0, 0}});
    EXPECT_EQ(fitted.elements_per_item, 4u);
    EXPECT_EQ(fitted.rows_per_item[0], 1u);
}

}  // namespace balm::test
