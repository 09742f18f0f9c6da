// A work-item that computes several elements leaves what one element a work-item leaves, whatever their
// types, where the vectors begin, and how many there are.

#include "ir/lower/coarsen.hpp"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstring>
#include <deque>
#include <random>

#include "balm/balm.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "support/c_serial/batch.hpp"
#include "support/c_serial/dialect.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

// ---- a random kernel: out[…] = sum of elements

constexpr std::array element_types{scalar::boolean, scalar::i8,  scalar::u8,  scalar::i16,
                                   scalar::u16,     scalar::i32, scalar::u32, scalar::i64,
                                   scalar::u64,     scalar::f16, scalar::f32, scalar::f64};
constexpr std::size_t most_elements = 70, most_rows = 3, padding = 8;
constexpr std::int64_t local_size = 4;

/// Element i of a row is accessed at i, i + a constant, i + an argument, i * an argument + i, or backwards.
enum class place_of { own, shifted, offset, spread, reversed };

struct operand {
    scalar type;
    place_of at;
    std::int64_t shift;

    std::int64_t index(std::int64_t i, std::int64_t n, std::int64_t offset) const {
        switch (at) {
            case place_of::own: return i;
            case place_of::shifted: return i + shift;
            case place_of::offset: return i + offset;
            case place_of::spread: return i * offset + i;
            default: return n - 1 - i;
        }
    }
    trace::node index(trace::node i, trace::node n, trace::node offset) const {
        const auto number = [](std::int64_t k) {
            return trace::constant(scalar::i64, static_cast<std::uint64_t>(k));
        };
        switch (at) {
            case place_of::own: return i;
            case place_of::shifted: return trace::apply(builtin::add, i, number(shift));
            case place_of::offset: return trace::apply(builtin::add, offset, i);
            case place_of::spread:
                return trace::apply(builtin::add, trace::apply(builtin::mul, i, offset), i);
            default: return trace::apply(builtin::sub, trace::apply(builtin::sub, n, number(1)), i);
        }
    }
};

struct drawn_kernel {
    explicit drawn_kernel(std::uint64_t from) : seed(from), random(from) {
        count = 1 + pick(most_elements);
        rows = pick(2) == 0 ? 1 : 1 + pick(most_rows);
        is_matrix = rows > 1 || pick(4) == 0;
        stride = static_cast<std::int64_t>(count + pick(padding));
        offset = static_cast<std::int64_t>(pick(padding));
        places = pick(2) == 0 ? place_of::own : place_of::offset;
        for (std::size_t k = 1 + pick(3); k-- > 0;) inputs.push_back(draw_operand(true));
        for (std::size_t k = 1 + pick(2); k-- > 0;) outputs.push_back(draw_operand(!is_matrix));
        reads_output = pick(2) == 0;
        facts.grid_covers_loop = true;
        facts.is_tight = pick(4) == 0;
        facts.distinct = pick(4) != 0;
    }
    std::size_t pick(std::size_t below) { return random() % below; }
    operand draw_operand(bool may_be_spread) {
        const auto type = element_types[pick(element_types.size())];
        const auto shift = static_cast<std::int64_t>(1 + pick(padding - 1));
        if (pick(3) != 0) return {type, places, shift};
        if (may_be_spread && pick(3) == 0) return {type, place_of::spread, shift};
        return {type, pick(2) == 0 ? place_of::shifted : place_of::reversed, shift};
    }

    std::shared_ptr<const ir::function> traced() const {
        trace::recording r("sums", is_matrix ? 2 : 1, {});
        const trace::node n = r.parameter(scalar::i64, trace::access::value, space::global, "n");
        const trace::node first = r.parameter(scalar::i64, trace::access::value, space::global, "first");
        const trace::node row_count = r.parameter(scalar::i64, trace::access::value, space::global, "rows");
        const trace::node row_stride =
            r.parameter(scalar::i64, trace::access::value, space::global, "stride");
        std::vector<trace::node> in, out;
        for (const operand& each : inputs) in.push_back(r.parameter(each.type, trace::access::in));
        for (const operand& each : outputs) out.push_back(r.parameter(each.type, trace::access::mixed));
        trace::node row_variable, variable, start = trace::constant(scalar::i64, 0);
        std::uint32_t outer = 0;
        if (is_matrix) {
            outer = trace::open_grid_for(row_count, row_variable, {}, 1);
            start = trace::apply(builtin::mul, trace::read(row_variable), row_stride);
        }
        const std::uint32_t loop = trace::open_grid_for(n, variable, {});
        const trace::node i = trace::read(variable);
        const auto place = [&](const operand& of) {
            const trace::node in_row = of.index(i, n, first);
            return is_matrix ? trace::apply(builtin::add, start, in_row) : in_row;
        };
        trace::node sum = i;
        const auto add = [&](trace::node memory, const operand& from) {
            const trace::node value = trace::load(memory, place(from), {});
            sum = trace::apply(builtin::add, sum, trace::convert(value, scalar::i64));
        };
        for (std::size_t k = 0; k < in.size(); ++k) add(in[k], inputs[k]);
        if (reads_output)
            for (std::size_t k = 0; k < out.size(); ++k) add(out[k], outputs[k]);
        const trace::node small = trace::apply(builtin::bit_and, sum, trace::constant(scalar::i64, 127));
        for (std::size_t k = 0; k < out.size(); ++k) {
            const scalar type = outputs[k].type == scalar::f16 ? scalar::f32 : outputs[k].type;
            trace::store(out[k], place(outputs[k]), trace::convert(small, type), {});
        }
        trace::close(loop);
        if (is_matrix) trace::close(outer);
        return r.finish(nullptr);
    }

    std::uint64_t seed;
    std::mt19937_64 random;
    std::size_t count, rows;
    bool is_matrix;       ///< the kernel has a loop over the rows
    std::int64_t stride;  ///< elements from row to row
    std::int64_t offset;
    place_of places;  ///< of most operands
    std::vector<operand> inputs, outputs;
    bool reads_output;
    runtime::launch_facts facts;
};

// ---- its memory, and what the host computes

std::int64_t read(scalar type, const std::byte* from) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, size_of(type));
    if (type == scalar::f16)
        return static_cast<std::int64_t>(float(std::bit_cast<half>(static_cast<std::uint16_t>(bits))));
    return static_cast<std::int64_t>(ir::fold_conversion(type, scalar::i64, bits));
}
void write(scalar type, std::int64_t value, std::byte* to) {
    std::uint64_t bits = ir::fold_conversion(scalar::i64, type == scalar::f16 ? scalar::f32 : type,
                                             static_cast<std::uint64_t>(value));
    if (type == scalar::f16)
        bits = std::bit_cast<std::uint16_t>(half(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    std::memcpy(to, &bits, size_of(type));
}

struct memory {
    memory(const operand& of, std::mt19937_64& random)
        : type(of.type), bytes((most_rows + padding) * (most_elements + padding) * size_of(of.type)) {
        for (std::size_t k = 0; k < bytes.size() / size_of(type); ++k)
            write(type, static_cast<std::int64_t>(random() % 100), at(static_cast<std::int64_t>(k)));
    }
    std::byte* at(std::int64_t k) { return bytes.data() + static_cast<std::size_t>(k) * size_of(type); }
    scalar type;
    std::vector<std::byte> bytes;
};

struct launch_data {
    explicit launch_data(const drawn_kernel& of) {
        std::mt19937_64 random(of.seed + 1);
        for (const operand& each : of.inputs) in.emplace_back(each, random);
        for (const operand& each : of.outputs) out.emplace_back(each, random);
    }
    void compute(const drawn_kernel& of) {
        const auto n = static_cast<std::int64_t>(of.count);
        for (std::int64_t row = 0; row < static_cast<std::int64_t>(of.rows); ++row)
            for (std::int64_t i = 0; i < n; ++i) {
                const auto at = [&](memory& m, const operand& o) {
                    return m.at(row * of.stride + o.index(i, n, of.offset));
                };
                std::int64_t sum = i;
                for (std::size_t k = 0; k < in.size(); ++k) sum += read(in[k].type, at(in[k], of.inputs[k]));
                for (std::size_t k = 0; of.reads_output && k < out.size(); ++k)
                    sum += read(out[k].type, at(out[k], of.outputs[k]));
                for (std::size_t k = 0; k < out.size(); ++k)
                    write(out[k].type, sum & 127, at(out[k], of.outputs[k]));
            }
    }
    std::vector<interpreter_argument> arguments(const drawn_kernel& of) {
        std::vector<interpreter_argument> all{
            value_of(static_cast<std::int64_t>(of.count)), value_of(of.offset),
            value_of(static_cast<std::int64_t>(of.rows)), value_of(of.stride)};
        for (memory& each : in) all.push_back(memory_of(each.bytes));
        for (memory& each : out) all.push_back(memory_of(each.bytes));
        return all;
    }
    std::deque<memory> in, out;
};

interpreter_grid grid_for(std::size_t count, const ir::lowered& fitted) {
    const runtime::launch_plan plan{{}, fitted.elements_per_item, fitted.most_peeled};
    const auto items = static_cast<std::int64_t>(plan.items_for(count));
    const std::int64_t whole = (items + local_size - 1) / local_size * local_size;
    return {{whole, 1, 1}, {local_size, 1, 1}};
}

}  // namespace

TEST(V1_coarsening, leaves_what_the_host_computes) {
    if (!has_serial_compiler()) GTEST_SKIP() << "The compiler that Balm was built with is not here";
    struct printed_kernel {
        drawn_kernel drawn;
        ir::lowered lowered;
        std::size_t number;
    };
    serial_batch batch;
    std::deque<printed_kernel> all;
    for (std::size_t k = 0; k < case_count(60); ++k) {
        drawn_kernel drawn(seed() + k);
        ir::lowered lowered = ir::lower(*drawn.traced(), drawn.facts);
        ASSERT_NO_THROW(ir::verify(lowered.kernel));
        const std::size_t number = batch.add(lowered.kernel);
        all.push_back({std::move(drawn), std::move(lowered), number});
    }
    batch.compile();
    std::size_t coarsened = 0;
    for (const printed_kernel& each : all) {
        launch_data expected(each.drawn), got(each.drawn);
        expected.compute(each.drawn);
        batch.run(each.number, grid_for(each.drawn.count, each.lowered), got.arguments(each.drawn));
        for (std::size_t k = 0; k < got.out.size(); ++k)
            EXPECT_TRUE(got.out[k].bytes == expected.out[k].bytes)
                << "BALM_TEST_CASES=1 BALM_TEST_SEED=" << each.drawn.seed << ", output " << k << " of "
                << each.drawn.count << " elements\n"
                << emit::print(each.lowered.kernel, c_serial());
        if (testing::Test::HasFailure()) break;
        coarsened += each.lowered.elements_per_item > 1 ? 1 : 0;
    }
    if (all.size() >= 20) {
        EXPECT_GT(coarsened, all.size() / 5);
    }
}

// ---- how many

namespace {

template <class T>
ir::coarsening of_sum(runtime::launch_facts facts = {.grid_covers_loop = true}) {
    const auto kernel = balm::kernel<1>("sum(n, x, y, z)", [](Long n, In<T> x, In<T> y, Out<T> z) {
        for (Index i : grid_range(n)) z[i] = x[i] + y[i];
    });
    const ir::function& f = *kernel.function();
    for (ir::value_id v = 0; v < f.code.size(); ++v)
        if (f.code[v].op == ir::opcode::grid_for) return ir::coarsening_for(f, v, facts);
    return {};
}

template <class Body>
std::size_t elements_per_item(Body&& body) {
    const auto kernel = balm::kernel<1>(
        "body(n, at, x, y, z)", [&](Long n, In<std::int32_t> at, In<float> x, Out<float> y, Out<float> z) {
            for (Index i : grid_range(n)) body(i, at, x, y, z);
        });
    return ir::lower(*kernel.function(), {.grid_covers_loop = true}).elements_per_item;
}

}  // namespace

TEST(V1_coarsening, loads_sixteen_bytes_of_each_operand) {
    EXPECT_EQ(of_sum<std::complex<double>>().elements(), 1u);
    EXPECT_EQ(of_sum<double>().width, 2u);
    EXPECT_EQ(of_sum<float>().width, 4u);
    EXPECT_EQ(of_sum<half>().width, 8u);
    EXPECT_EQ(of_sum<signed char>().width, 16u);
    EXPECT_TRUE(of_sum<float>().wide.has_value());
    EXPECT_FALSE(of_sum<float>().has_peel());
}

TEST(V1_coarsening, begins_where_the_first_vector_of_a_slice_does) {
    const auto kernel =
        balm::kernel<1>("slice(n, first, x, y)", [](Long n, Long first, In<float> x, Out<float> y) {
            for (Index i : grid_range(n)) y[i + first] = x[i + first] + x[i];
        });
    const ir::lowered fitted = ir::lower(*kernel.function(), {.grid_covers_loop = true});
    EXPECT_EQ(fitted.elements_per_item, 4u);
    EXPECT_EQ(fitted.most_peeled, 3u);
}

TEST(V1_coarsening, takes_elements_a_grid_apart_where_no_vector_can_be_stored) {
    runtime::launch_facts tight{.grid_covers_loop = true};
    tight.is_tight = true;
    EXPECT_EQ(of_sum<float>(tight).width, 1u);
    EXPECT_EQ(of_sum<float>(tight).runs, 4u);
    EXPECT_FALSE(of_sum<float>(tight).wide.has_value());
    EXPECT_EQ(of_sum<double>(tight).runs, 2u);
    EXPECT_EQ(elements_per_item([](Index i, auto at, auto x, auto y, auto) { y[at[i]] = x[i]; }), 4u);
}

TEST(V1_coarsening, keeps_to_straight_bodies) {
    EXPECT_EQ(elements_per_item([](Index i, auto at, auto x, auto y, auto) { y[i] = x[at[i]]; }), 4u);
    EXPECT_EQ(elements_per_item([](Index i, auto, auto x, auto y, auto z) {
                  y[i] = x[i];
                  z[i] = 2 * x[i];
              }),
              4u);
    EXPECT_EQ(elements_per_item([](Index i, auto, auto x, auto y, auto) {
                  IF (x[i] > 0) {
                      y[i] = x[i];
                  }
              }),
              1u)
        << "a branch";
    const auto read_after_write = [](Index i, auto, auto x, auto y, auto z) {
        y[i] = x[i];
        z[i] = y[i + 1];
    };
    const auto kernel =
        balm::kernel<1>("after(n, x, y, z)", [&](Long n, In<float> x, Mixed<float> y, Out<float> z) {
            for (Index i : grid_range(n)) read_after_write(i, 0, x, y, z);
        });
    EXPECT_EQ(ir::lower(*kernel.function(), {.grid_covers_loop = true}).elements_per_item, 1u)
        << "what the loop has written is read";
}

TEST(V1_coarsening, repeats_functions_that_read_memory_with_few_registers) {
    const auto at =
        balm::function("at(from, i)", [](In<float> from, Long i) { return from[i] + from[i + 1]; });
    const auto through =
        balm::function("through(from, i)", [&](In<float> from, Long i) { return at(from, i); });
    const auto again =
        balm::function("again(from, i)", [](Mixed<float> from, Long i) { return from[i + 1]; });
    const auto store = balm::function("store(to, i)", [](Out<float> to, Long i) { to[i] = 1; });
    const auto lowered = [](auto&& body) {
        const auto kernel =
            balm::kernel<1>("calls(n, x, y, z)", [&](Long n, In<float> x, Mixed<float> y, Out<float> z) {
                for (Index i : grid_range(n)) body(i, x, y, z);
            });
        return ir::lower(*kernel.function(), {.grid_covers_loop = true});
    };
    const ir::lowered calling = lowered([&](Index i, auto x, auto y, auto) { y[i] = through(x, i); });
    EXPECT_EQ(calling.elements_per_item, 4u);
    EXPECT_EQ(calling.max_registers, 32u);
    EXPECT_EQ(lowered([&](Index i, auto x, auto y, auto) { y[i] = x[i] + x[i + 1]; }).max_registers, 0u);
    EXPECT_EQ(lowered([&](Index i, auto, auto, auto z) { store(z, i); }).elements_per_item, 1u);
    const ir::lowered reading_again = lowered([&](Index i, auto x, auto y, auto z) {
        y[i] = x[i];
        z[i] = again(y, i);
    });
    EXPECT_EQ(reading_again.elements_per_item, 1u) << "what the loop has written may be read";
}

TEST(V1_coarsening, leaves_kernels_bound_by_arithmetic_alone) {
    EXPECT_EQ(elements_per_item([](Index i, auto, auto x, auto y, auto) {
                  Float sum = x[i];
                  for (int k = 0; k < 24; ++k) sum = sin(sum) + k;
                  y[i] = sum;
              }),
              1u);
    const auto halved = balm::function("halved", [](Float x) {
        Float left = x;
        WHILE (left > 1) {
            left /= 2;
        }
        return left;
    });
    const auto twice = balm::function("twice", [](Float x) { return 2 * x; });
    EXPECT_EQ(elements_per_item([&](Index i, auto, auto x, auto y, auto) { y[i] = halved(x[i]); }), 1u);
    EXPECT_EQ(elements_per_item([&](Index i, auto, auto x, auto y, auto) { y[i] = twice(x[i]); }), 4u);
}

}  // namespace balm::test
