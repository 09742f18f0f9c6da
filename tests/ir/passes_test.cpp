// The verifier, the simplifier, contraction, identity and lowering on functions traced for the purpose. No
// driver is started.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "balm/error.hpp"
#include "balm/kernel.hpp"
#include "ir/ir.hpp"
#include "ir/lower/lower.hpp"
#include "ir/text_body.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using ir::opcode;

/// How many instructions of the kind stand in the blocks of the function.
int count(const ir::function& f, opcode op) {
    int found = 0;
    for (const auto& block : f.blocks)
        for (const ir::value_id v : block) found += f.code[v].op == op;
    return found;
}
int count(const ir::function& f, builtin what) {
    int found = 0;
    for (const auto& block : f.blocks)
        for (const ir::value_id v : block)
            found += f.code[v].op == opcode::builtin && f.code[v].detail == static_cast<std::uint16_t>(what);
    return found;
}
template <class Body>
ir::function traced(Body body) {
    return *balm::kernel<1>("traced(n, a, b, out)", body).function();
}
using ints = In<std::int32_t>;
using out_ints = Out<std::int32_t>;

// ---- simplify ---------------------------------------------------------------------------------------

TEST(IR_simplify, folds_constants_through_variables_and_branches) {
    const ir::function f = traced([](Int, ints, ints, out_ints out) {
        Int x = 3, y = x * 4;
        IF (y == 12) {
            x = y + 1;
        }
        ELSE { x = 99; }
        for (Int k : range(5, 5)) x += k;
        out[0] = x << 2;
    });
    EXPECT_EQ(count(f, opcode::if_), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::cell), 1) << "the loop's, which runs no turn but is kept: " << ir::dump(f);
    EXPECT_EQ(count(f, builtin::mul), 0);
}

TEST(IR_simplify, shares_equal_values_and_loads) {
    const ir::function f = traced([](Int n, ints a, ints, out_ints out) {
        Int i = global_id(0), j = global_id(0);
        out[0] = (n + a[i]) * (n + a[j]);
    });
    EXPECT_EQ(count(f, opcode::load), 1) << ir::dump(f);
    EXPECT_EQ(count(f, builtin::add), 1);
    EXPECT_EQ(count(f, opcode::place), 1);
}

TEST(IR_simplify, drops_functions_that_nobody_calls_any_more) {
    const auto twice = balm::function("twice", [](Int x) { return x * 2; });
    const auto thrice = balm::function("thrice", [](Int x) { return x * 3; });
    const auto next = balm::function("next", [](Int x) { return x + 1; });
    const ir::function f = traced([&](Int n, ints, ints, out_ints out) {
        [[maybe_unused]] const Int nobody_needs_it = twice(n);
        IF (Int(3) < 2) {
            out[1] = next(n);
        }
        out[0] = thrice(n);
    });
    ASSERT_EQ(f.callees.size(), 1u) << ir::dump(f);
    EXPECT_EQ(f.callees[0]->name, "thrice");
    for (const ir::value_id v : f.blocks[0]) {
        if (f.code[v].op == opcode::evaluate) {
            EXPECT_EQ(f.code[v].bits, 0u);
        }
    }
}

TEST(IR_simplify, shares_calls_of_many_arguments) {
    const auto mix = balm::function(
        "mix", [](Int a, Int b, Int c, Int d, Int e) { return a * 3 + b * 5 + c * 7 + d * 11 + e; });
    const ir::function f = traced([&](Int n, ints a, ints, out_ints out) {
        Int x = a[n];
        out[0] = mix(x, n, x, n, 1) + mix(x, n, x, n, 1);
        out[1] = mix(x, n, x, n, 2);
    });
    EXPECT_EQ(count(f, opcode::evaluate), 2) << ir::dump(f);
}

TEST(IR_simplify, does_not_share_loads_across_stores_and_barriers) {
    const ir::function f = *balm::kernel<1>("stores", [](Mixed<std::int32_t> x, Mixed<std::int32_t> y) {
                                Int first = x[0];
                                y[0] = 5;
                                Int second = x[0];
                                barrier();
                                Int third = x[0];
                                y[1] = first + second + third;
                            }).function();
    EXPECT_EQ(count(f, opcode::load), 3) << ir::dump(f);
    const ir::function unsynchronised =
        *balm::kernel<1>("stores", [](Mixed<std::int32_t> x, Mixed<std::int32_t> y) {
             Int first = x[0];
             y[0] = 5;
             y[1] = first + x[0];
         }).function();
    EXPECT_EQ(count(ir::lower(unsynchronised, {}).kernel, opcode::load), 1);
    EXPECT_EQ(count(ir::lower(unsynchronised, {.distinct = false}).kernel, opcode::load), 2);
}

TEST(IR_simplify, forwards_variables_but_not_into_loops_that_write_them) {
    const ir::function f = traced([](Int n, ints, ints, out_ints out) {
        Int x = n;
        x += 1;
        out[0] = x;
        x += 2;
        out[1] = x;
    });
    EXPECT_EQ(count(f, opcode::cell), 0) << ir::dump(f);
    const ir::function loop = traced([](Int n, ints, ints, out_ints out) {
        Int x = n;
        WHILE (x < 100) {
            x *= 2;
        }
        out[0] = x;
    });
    EXPECT_EQ(count(loop, opcode::cell), 1) << ir::dump(loop);
    EXPECT_EQ(count(loop, opcode::read_cell), 3) << ir::dump(loop);
}

TEST(IR_simplify, drops_writes_that_the_next_one_overwrites) {
    const ir::function f = traced([](Int n, ints a, ints, out_ints out) {
        Int sum = 0;
        for (Int k : range(n))
            for (int turn = 0; turn < 4; ++turn) sum += a[k + turn];
        out[0] = sum;
    });
    EXPECT_EQ(count(f, opcode::write_cell), 1) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::load), 4);
}

TEST(IR_simplify, keeps_writes_that_a_way_out_needs) {
    const ir::function f = traced([](Int n, ints a, ints, out_ints out) {
        Int last = 0, kept = 0;
        for (Int k : range(n)) {
            last = a[k];
            IF (last > 3) {
                break_();
            }
            last = -1;
            kept = k;
            WHILE (kept < 10) {
                kept += 3;
            }
            kept = 0;
        }
        out[0] = last;
        out[1] = kept;
    });
    EXPECT_EQ(count(f, opcode::write_cell), 5) << ir::dump(f);
}

TEST(IR_simplify, drops_what_nobody_uses) {
    const ir::function f = traced([](Int n, ints a, ints b, out_ints out) {
        Int unused = a[0] + b[1], last = 0;
        for (Int k : range(n)) last = k;
        IF (n > 3) {
            unused = last;
        }
        out[0] = n;
    });
    EXPECT_EQ(count(f, opcode::load), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::for_), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::if_), 0) << ir::dump(f);
}

TEST(IR_simplify, drops_only_what_is_exact_for_every_floating_value) {
    const ir::function f = *balm::kernel<1>("floats", [](Float x, Out<float> out) {
                                out[0] = x + 0.f;  // -0.0 + 0.0 is 0.0
                                out[1] = x * 0.f;  // NaN, infinity
                                out[2] = x * 1.f;
                                out[3] = x - 0.f;
                                out[4] = x - x;
                            }).function();
    EXPECT_EQ(count(f, builtin::add), 1) << ir::dump(f);
    EXPECT_EQ(count(f, builtin::mul), 1);
    EXPECT_EQ(count(f, builtin::sub), 1);
}

TEST(IR_simplify, ends_blocks_at_jumps) {
    const ir::function f = traced([](Int n, ints, ints, out_ints out) {
        IF (n > 3) {
            return_();
            out[0] = 1;
        }
        out[1] = 2;
    });
    EXPECT_EQ(count(f, opcode::store), 1) << ir::dump(f);
}

TEST(IR_simplify, is_done_when_it_is_done) {
    ir::function f = traced([](Int n, ints a, ints b, out_ints out) {
        Int sum = 0;
        for (Int k : range(n)) {
            IF (a[k] > 0 && b[k] > 0) {
                sum += a[k] * b[k];
            }
            ELSE { sum -= 1; }
        }
        out[global_id(0)] = sum;
    });
    const auto before = ir::hash(f);
    const std::string words = ir::dump(f);
    ir::simplify(f);
    EXPECT_EQ(ir::hash(f), before) << words << "\nbecame\n" << ir::dump(f);
    EXPECT_NO_THROW(ir::verify(f));
}

TEST(IR_simplify, looks_again_where_a_branch_in_a_loop_is_gone) {
    // Each branch keeps the next one's variable from being known, until it is gone itself.
    const auto cascade = [](int links) {
        return traced([links](Int n, ints a, ints, out_ints out) {
            std::vector<Int> flag(static_cast<std::size_t>(links), Int(0));
            for (Int k : range(n)) {
                for (std::size_t link = flag.size() - 1; link > 0; --link)
                    IF (flag[link - 1] != 0) {
                        flag[link] = a[k];
                    }
                IF (flag.back() != 0) {
                    out[k] = 1;
                }
                out[k + n] = 2;
            }
        });
    };
    const ir::function f = cascade(6);
    EXPECT_EQ(count(f, opcode::if_), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::cell), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::store), 1) << ir::dump(f);
    EXPECT_NO_THROW(ir::verify(cascade(40))) << "longer than anybody's: not undone to its end, but right";
}

TEST(IR_simplify, drops_what_stands_behind_a_jump_out_of_a_branch_that_is_always_taken) {
    const ir::function f = traced([](Int n, ints a, ints, out_ints out) {
        Int last = n;
        for (Int k : range(n)) {
            IF (Int(3) > 2) {
                out[k] = last;
                break_();
            }
            last = a[k];
        }
    });
    EXPECT_EQ(count(f, opcode::load), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::cell), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::break_), 1) << ir::dump(f);
}

TEST(IR_simplify, knows_behind_a_block_what_it_knew_before_it) {
    const ir::function f = *balm::kernel<1>("around", [](In<std::int32_t> a, Mixed<std::int32_t> x) {
                                Index i = global_id(0);
                                Int kept = a[i], before = x[i], product = kept * before;
                                IF (kept > 3) {
                                    x[i + 1] = a[i + 1] * 2;
                                }
                                // a[i + 1] and the 2 fold are the branch's own; x may have changed.
                                x[i] = a[i] * before + product + x[i] + a[i + 1];
                            }).function();
    EXPECT_EQ(count(f, opcode::load), 6) << ir::dump(f);
    EXPECT_EQ(count(ir::lower(f, {}).kernel, opcode::load), 5) << "distinct memory: a[i] is read once";
    EXPECT_EQ(count(f, builtin::mul), 3) << ir::dump(f);
}

TEST(IR_simplify, takes_long_chains) {
    // Recursion along operands would overflow the stack.
    const int length = 200'000;
    const ir::function f = traced([&](Int n, ints, ints, out_ints out) {
        Int x = n;
        for (int k = 0; k < length; ++k) x = (x ^ n) + k;
        out[0] = x;
    });
    EXPECT_EQ(count(f, builtin::bit_xor), length);
    EXPECT_EQ(count(f, builtin::add), length - 1) << "but for + 0";
}

// ---- fold -------------------------------------------------------------------------------------------

TEST(IR_fold, defines_what_cpp_leaves_open) {
    const auto fold2 = [](builtin b, scalar s, std::uint64_t x, std::uint64_t y) {
        const std::uint64_t bits[] = {x, y};
        return ir::fold(b, s, bits);
    };
    const std::uint64_t lowest = 0x80000000u, minus_one = 0xffffffffu;
    EXPECT_EQ(fold2(builtin::div, scalar::i32, lowest, minus_one), lowest);
    EXPECT_EQ(fold2(builtin::rem, scalar::i32, lowest, minus_one), 0u);
    EXPECT_EQ(fold2(builtin::div, scalar::i32, 5, 0), 0u);
    EXPECT_EQ(fold2(builtin::rem, scalar::u64, 5, 0), 5u);
    EXPECT_EQ(fold2(builtin::shl, scalar::i32, 1, 33), 2u);
    EXPECT_EQ(fold2(builtin::shr, scalar::i32, lowest, 31), minus_one);
    EXPECT_EQ(fold2(builtin::shr, scalar::u32, lowest, 31), 1u);
    EXPECT_EQ(fold2(builtin::add, scalar::i32, 0x7fffffffu, 1), lowest);
    EXPECT_EQ(fold2(builtin::pow, scalar::f64, 0, 0), std::nullopt) << "no two devices agree on pow";
    const std::uint64_t nan = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
    EXPECT_EQ(fold2(builtin::equal, scalar::f32, nan, nan), 0u);
    EXPECT_EQ(fold2(builtin::not_equal, scalar::f32, nan, nan), 1u);
}

TEST(IR_fold, converts_as_devices_do) {
    const auto f64 = [](double x) { return std::bit_cast<std::uint64_t>(x); };
    EXPECT_EQ(ir::fold_conversion(scalar::f64, scalar::i32, f64(1e10)), 0x7fffffffu);
    EXPECT_EQ(ir::fold_conversion(scalar::f64, scalar::u8, f64(-3)), 0u);
    EXPECT_EQ(ir::fold_conversion(scalar::f64, scalar::i8, f64(std::nan(""))), 0u);
    EXPECT_EQ(ir::fold_conversion(scalar::f64, scalar::u64, f64(1e30)), ~std::uint64_t{0});
    EXPECT_EQ(ir::fold_conversion(scalar::i32, scalar::i64, 0xffffffffu), ~std::uint64_t{0});
    EXPECT_EQ(ir::fold_conversion(scalar::u32, scalar::i64, 0xffffffffu), 0xffffffffu);
    EXPECT_EQ(ir::fold_conversion(scalar::i64, scalar::boolean, 256), 1u);
    EXPECT_EQ(ir::fold_conversion(scalar::f64, scalar::boolean, f64(0.1)), 1u);
}

// ---- contract ---------------------------------------------------------------------------------------

TEST(IR_contract, fuses_a_product_with_the_one_sum_that_uses_it) {
    const ir::function f = *balm::kernel<1>("fuse", [](Float x, Float y, Float z, Out<float> out) {
                                out[0] = x * y + z;
                                out[1] = z - x * 3.f;
                                out[2] = y * z - x;
                                out[3] = x * x + y * y;
                            }).function();
    EXPECT_EQ(count(f, builtin::fma), 4) << ir::dump(f);
    EXPECT_EQ(count(f, builtin::add) + count(f, builtin::sub), 0);
    EXPECT_EQ(count(f, builtin::mul), 1);
}

TEST(IR_contract, leaves_shared_products_and_integers_alone) {
    const ir::function f = *balm::kernel<1>("apart", [](Float x, Float y, Int n, Out<float> out) {
                                Float product = x * y;
                                out[0] = product + 1.f;
                                out[1] = product;
                                out[2] = n * n + n;
                            }).function();
    EXPECT_EQ(count(f, builtin::fma), 0) << ir::dump(f);
}

// ---- identity ---------------------------------------------------------------------------------------

template <class Body>
runtime::digest identity(Body body) {
    return balm::kernel<1>("same", body).function()->identity;
}

TEST(IR_identity, is_that_of_the_trace) {
    const auto sum = [](Int n, ints a, out_ints out) { out[global_id(0)] = a[global_id(0)] + n; };
    const auto again = [](Int n, ints a, out_ints out) {
        Index i = global_id(0);
        Int value = a[i];
        [[maybe_unused]] Int unused = n * 7;
        out[i] = value + n;
    };
    const auto other = [](Int n, ints a, out_ints out) { out[global_id(0)] = a[global_id(0)] - n; };
    const auto by_one = [](Int n, ints a, out_ints out) { out[global_id(0)] = a[global_id(0)] + n + 1; };
    const auto by_two = [](Int n, ints a, out_ints out) { out[global_id(0)] = a[global_id(0)] + n + 2; };
    const auto wide = [](Long n, ints a, out_ints out) { out[global_id(0)] = a[global_id(0)] + n; };
    EXPECT_EQ(identity(sum), identity(sum));
    EXPECT_EQ(identity(sum), identity(again));
    EXPECT_NE(identity(sum), identity(other));
    EXPECT_NE(identity(by_one), identity(by_two));
    EXPECT_NE(identity(sum), identity(wide));
    EXPECT_NE(identity(sum), balm::kernel<1>("else", sum).function()->identity);
    EXPECT_NE(identity(sum), balm::kernel<2>("same", sum).function()->identity);
    EXPECT_NE(identity(sum), balm::kernel<1>("same(n, a, out)", sum).function()->identity);
}

// Two empty texts look like a parameter, did nobody count parameters and texts: all that is hashed of the one
// and of the other are zeros.
TEST(IR_identity, tells_parameters_from_texts) {
    const auto text = [](std::string name, std::string words) {
        return std::make_shared<const ir::named_text>(ir::named_text{std::move(name), std::move(words)});
    };
    const auto with = [&](std::vector<ir::parameter> parameters, ir::text_list texts) {
        ir::function f;
        f.name = "scale";
        f.dimensions = 1;
        f.blocks.resize(1);
        f.parameters = std::move(parameters);
        auto body = std::make_shared<ir::text_body>();
        body->texts = std::move(texts);
        f.text = body;
        return ir::hash(f);
    };
    ir::parameter zeros;
    zeros.what.element = balm::scalar{0};
    zeros.what.lanes = 0;
    zeros.use = balm::trace::access{0};
    ASSERT_EQ(ir::code(zeros.what), 0u);
    const auto body = text("scale.cl", "kernel void scale() {}");
    EXPECT_NE(with({zeros}, {body}), with({}, {text("", ""), text("", ""), body}));
}

TEST(IR_identity, counts_what_called_functions_do) {
    const auto with = [](int k) {
        const auto f = balm::function("shift", [k](Int x) { return x + k; });
        return identity([&](out_ints out) { out[0] = f(Int(1)); });
    };
    EXPECT_EQ(with(1), with(1));
    EXPECT_NE(with(1), with(2));
}

// ---- lanes ------------------------------------------------------------------------------------------

TEST(IR_simplify, lanes_of_lanes_are_lanes_of_the_vector) {
    const ir::function f =
        *balm::kernel<1>("lanes(in, s, out, whole)", [](In<float4> in, Float s, Out<float> out,
                                                        Out<float4> whole) {
             Float4 v = in[0];
             Float2 w = v.wy;
             out[0] = w.y;
             out[1] = Float4(v.xy, s, v.x).z;
             out[2] = Float4(s).w;
             whole[0] = v.xyzw;
             whole[1] = Float4(v.wzyx).wzyx;
         }).function();
    EXPECT_EQ(count(f, opcode::swizzle), 1) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::compose), 0) << ir::dump(f);
    EXPECT_EQ(count(f, opcode::broadcast), 0) << ir::dump(f);
    const auto lane = std::find_if(f.code.begin(), f.code.end(), [](const ir::instruction& i) {
        return i.op == opcode::swizzle && i.bits == 1;
    });
    EXPECT_NE(lane, f.code.end()) << ir::dump(f);
}

// ---- lower ------------------------------------------------------------------------------------------

TEST(IR_lower, shares_out_grid_range_by_device_kind) {
    const ir::function f = *balm::kernel<1>("walk(n, out)", [](Long n, Out<double> out) {
                                for (Index i : grid_range(n)) {
                                    Double x = i;
                                    WHILE (x > 3) {
                                        x /= 2;
                                    }
                                    out[i] = x;
                                }
                            }).function();
    EXPECT_EQ(count(f, opcode::grid_for), 1);
    for (const bool on_cpu : {false, true})
        for (const bool covers : {false, true}) {
            const ir::lowered l = ir::lower(f, {on_cpu, true, covers});
            EXPECT_NO_THROW(ir::verify(l.kernel));
            EXPECT_EQ(count(l.kernel, opcode::grid_for), 0);
            EXPECT_EQ(l.kernel.parameters.size(), f.parameters.size());
            if (!covers) {
                EXPECT_EQ(count(l.kernel, opcode::for_), 1) << ir::dump(l.kernel);
                EXPECT_EQ(count(l.kernel, builtin::div), on_cpu ? 2 : 1)
                    << "chunks on a CPU, strides on a GPU";
            }
        }
    const ir::lowered gpu = ir::lower(f, {.grid_covers_loop = true});
    EXPECT_EQ(count(gpu.kernel, opcode::for_), 0) << ir::dump(gpu.kernel);
    EXPECT_EQ(gpu.elements_per_item, 1u);
}

TEST(IR_lower, has_elements_gathered_one_by_one_on_a_cpu) {
    const auto is_scalar = [](auto&& body, bool on_cpu) {
        const ir::function f =
            *balm::kernel<1>("gather(n, x, at, out)", [&](Long n, In<double> x, ints at, Out<double> out) {
                 for (Index i : grid_range(n)) body(i, x, at, out);
             }).function();
        const ir::lowered l = ir::lower(f, {on_cpu, true, true});
        return std::any_of(l.kernel.code.begin(), l.kernel.code.end(), [](const ir::instruction& i) {
            return i.op == opcode::for_ && i.detail == ir::scalar_loop;
        });
    };
    const auto gather = [](Index i, auto x, auto at, auto out) { out[i] = 2 * x[at[i]] + 1; };
    EXPECT_TRUE(is_scalar(gather, true));
    EXPECT_FALSE(is_scalar(gather, false)) << "for a GPU there is no such loop";
    EXPECT_TRUE(is_scalar([](Index i, auto x, auto at, auto out) { out[at[i]] = x[i]; }, true));
    EXPECT_FALSE(is_scalar([](Index i, auto x, auto, auto out) { out[i] = x[3 * i]; }, true));
    EXPECT_FALSE(is_scalar([](Index i, auto x, auto at, auto out) { out[i] = x[i] + at[i]; }, true));
    EXPECT_FALSE(is_scalar([](Index i, auto x, auto at, auto out) { out[i] = 1 / x[at[i]]; }, true))
        << "worth a vector";
    const auto much = [](Index i, auto x, auto at, auto out) {
        const Double own = x[at[i]];
        out[i] = ((((own + 1) * own + 2) * own + 3) * own + 4) * own;
    };
    EXPECT_FALSE(is_scalar(much, true)) << "worth a vector";
}

TEST(IR_lower, promises_distinct_memory_only_where_it_is) {
    const ir::function f = traced([](Int n, ints a, ints b, out_ints out) { out[0] = a[n] + b[n]; });
    const ir::lowered apart = ir::lower(f, {}), same = ir::lower(f, {.distinct = false});
    for (std::size_t k = 1; k < 4; ++k) {
        EXPECT_TRUE(apart.kernel.parameters[k].is_restrict);
        EXPECT_FALSE(same.kernel.parameters[k].is_restrict);
    }
}

// ---- verify -----------------------------------------------------------------------------------------

TEST(IR_verify, refuses_a_use_before_its_definition) {
    ir::function f = traced([](Int n, ints a, ints, out_ints out) { out[0] = a[n] + n; });
    EXPECT_NO_THROW(ir::verify(f));
    std::reverse(f.blocks[0].begin(), f.blocks[0].end());
    EXPECT_THROW(ir::verify(f), trace_error);
}

void nested_ifs(int depth, const Int& n, Int& sum) {
    IF (n > depth) {
        sum += depth;
        if (depth > 1) nested_ifs(depth - 1, n, sum);
    }
}
void chained_elifs(int depth, const Int& n, Int& sum) {
    IF (n == depth) {
        sum += depth;
    }
    ELSE {
        if (depth > 1)
            chained_elifs(depth - 1, n, sum);
        else
            sum -= 1;
    }
}
Bool nested_guards(int depth, const Int& n, const ints& a) {
    if (depth == 0) return a[n] > 0;
    return a[n + depth] > depth && nested_guards(depth - 1, n, a);
}

TEST(IR_verify, takes_blocks_as_deep_as_it_says_and_no_deeper) {
    const auto ifs = [](int depth) {
        return traced([depth](Int n, ints, ints, out_ints out) {
            Int sum = 0;
            nested_ifs(depth, n, sum);
            out[0] = sum;
        });
    };
    const auto elifs = [](int depth) {
        return traced([depth](Int n, ints, ints, out_ints out) {
            Int sum = 0;
            chained_elifs(depth, n, sum);
            out[0] = sum;
        });
    };
    const auto guards = [](int depth) {
        return traced([depth](Int n, ints a, ints, out_ints out) { out[0] = nested_guards(depth, n, a); });
    };
    EXPECT_EQ(count(ifs(ir::max_nesting), opcode::if_), ir::max_nesting);
    EXPECT_EQ(count(elifs(ir::max_chain), opcode::if_), ir::max_chain);
    EXPECT_EQ(count(guards(ir::max_chain), opcode::logic_and), ir::max_chain);
    const auto refusal = [](const auto& trace, int depth) {
        try {
            trace(depth);
        } catch (const trace_error& fault) {
            return std::string(fault.what());
        }
        return std::string("accepted");
    };
    using testing::AllOf;
    using testing::HasSubstr;
    const auto names_limit = [](int limit) {
        return AllOf(HasSubstr("passes_test.cpp:"), HasSubstr("more than " + std::to_string(limit)),
                     HasSubstr("balm::function"));
    };
    EXPECT_THAT(refusal(ifs, ir::max_nesting + 1), names_limit(ir::max_nesting));
    EXPECT_THAT(refusal(ifs, 500), names_limit(ir::max_nesting));
    EXPECT_THAT(refusal(elifs, ir::max_chain + 1), names_limit(ir::max_chain));
    EXPECT_THAT(refusal(guards, ir::max_chain + 1), names_limit(ir::max_chain));
    EXPECT_NE(refusal(guards, 2000), "accepted") << "by this limit, or by that of the host's stack";
}

TEST(IR_verify, refuses_types_that_a_row_does_not_take) {
    ir::function f = traced([](Int n, ints a, ints, out_ints out) { out[0] = a[n] % n; });
    for (ir::instruction& i : f.code)
        if (i.op == opcode::load) i.result = scalar::f32;
    EXPECT_THROW(ir::verify(f), trace_error);
}

}  // namespace
}  // namespace balm::test
