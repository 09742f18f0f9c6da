// Plans of random functions compute what the functions compute, by a check that shares no code with the pass;
// and the check finds plans that are wrong. No driver is started.

#include "emit/folding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "balm/error.hpp"
#include "balm/kernel.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"
#include "support/folding_check.hpp"
#include "support/kernel_tree.hpp"
#include "support/random_program.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using emit::folding_plan;
using emit::form;
using ir::opcode;
using ir::value_id;

/// Case k has the seed BALM_TEST_SEED + k.
const std::size_t cases = case_count(150);
constexpr std::uint64_t inputs = 4;

/// The kernel as it is lowered for a launch that the seed draws, and the functions that it calls.
template <class Visit>
void visit_lowered(const ir::function& kernel, std::uint64_t seed, Visit&& visit) {
    ir::launch_facts facts;
    facts.on_cpu = (seed & 1) != 0;
    facts.distinct = (seed & 2) == 0;
    facts.grid_covers_loop = (seed & 4) != 0;
    device_info device;
    device.constant_memory = 65536;
    device.max_constant_arguments = 8;
    const auto language = (seed & 8) != 0 ? runtime::dialect::cuda_cpp : runtime::dialect::opencl_c;
    const ir::lowered made =
        ir::lower(kernels::written_out(kernel, emit::dialect_of(language).has, device), facts);
    for (const ir::function* f : ir::with_callees(made.kernel))
        if (!f->text) visit(*f);
}
template <class Visit>
void visit_random_functions(std::size_t count, Visit&& visit) {
    for (std::size_t k = 0; k < count && !testing::Test::HasFailure(); ++k) {
        const std::uint64_t case_seed = seed() + k;
        SCOPED_TRACE("BALM_TEST_CASES=1 BALM_TEST_SEED=" + std::to_string(case_seed));
        visit_lowered(*draw_program(case_seed).kernel.function(), case_seed, visit);
        visit_lowered(*record_kernel(tree::draw(case_seed)).kernel.function(), case_seed, visit);
    }
}

std::string first_fault(const ir::function& f, const folding_plan& plan) {
    for (std::uint64_t input = 0; input < inputs; ++input)
        if (std::string fault = meaning_fault(f, plan, input); !fault.empty()) return fault;
    return {};
}

TEST(EMIT_folding, computes_what_random_functions_compute) {
    visit_random_functions(cases, [&](const ir::function& f) {
        const folding_plan plan = emit::plan_folding(f);
        EXPECT_EQ(first_fault(f, plan), "") << ir::dump(f);
        EXPECT_EQ(line_fault(f, plan), "") << ir::dump(f);
    });
}

// ---- what the check finds

using change = std::vector<folding_plan> (*)(const ir::function&, const folding_plan&);

struct position {
    ir::block_id block;
    std::ptrdiff_t place;
};
template <class Visit>
void visit_statements(const folding_plan& plan, Visit&& visit) {
    for (ir::block_id b = 0; b < plan.statements.size(); ++b)
        for (std::size_t k = 0; k < plan.statements[b].size(); ++k)
            visit(position{b, static_cast<std::ptrdiff_t>(k)}, plan.statements[b][k]);
}
void erase(folding_plan& plan, position p) {
    plan.statements[p.block].erase(plan.statements[p.block].begin() + p.place);
}

/// Whether the text of the user, which is `user` itself or inlined in it, has v.
bool spells(const ir::function& f, const folding_plan& plan, value_id user, value_id v) {
    const auto operands = f.operands_of(user);
    return std::any_of(operands.begin(), operands.end(), [&](value_id o) {
        return o == v || (o != ir::none && plan.forms[o] == form::inlined && spells(f, plan, o, v));
    });
}

/// Plans in which one value is declared in the block of its first use, though another block uses it, too.
std::vector<folding_plan> declared_where_first_used(const ir::function& f, const folding_plan& plan) {
    std::vector<folding_plan> made;
    visit_statements(plan, [&](position p, value_id v) {
        if (ir::has_effect(f, v)) return;
        std::vector<ir::block_id> users;
        for (ir::block_id b = 0; b < f.blocks.size(); ++b)
            for (value_id user : plan.statements[b])
                if (spells(f, plan, user, v)) users.push_back(b);
        for (ir::block_id first : users) {
            if (first == p.block || std::count(users.begin(), users.end(), first) == std::ssize(users))
                continue;
            made.push_back(plan);
            erase(made.back(), p);
            ir::block& inner = made.back().statements[first];
            inner.insert(inner.begin(), v);
        }
    });
    return made;
}

/// Plans in which what the condition of one WHILE declares is declared ahead of the loop.
std::vector<folding_plan> conditions_computed_once(const ir::function& f, const folding_plan& plan) {
    std::vector<folding_plan> made;
    visit_statements(plan, [&](position p, value_id v) {
        if (f.code[v].op != opcode::while_ || plan.statements[f.code[v].blocks[0]].empty()) return;
        made.push_back(plan);
        ir::block& around = made.back().statements[p.block];
        ir::block& condition = made.back().statements[f.code[v].blocks[0]];
        around.insert(around.begin() + p.place, condition.begin(), condition.end());
        condition.clear();
    });
    return made;
}

bool writes_what_is_read(const ir::function& f, value_id writer, value_id reader) {
    const ir::instruction &w = f.code[writer], &r = f.code[reader];
    for (ir::block_id b : w.blocks)
        if (b != ir::none)
            for (value_id inner : f.blocks[b])
                if (writes_what_is_read(f, inner, reader)) return true;
    if (w.op == opcode::barrier)
        return r.op == opcode::load && f.code[f.operand(reader, 0)].result.where == space::local;
    const bool is_write = w.op == opcode::write_cell || w.op == opcode::store || w.op == opcode::atomic;
    return is_write && f.operand(writer, 0) == f.operand(reader, 0);
}

/// Plans in which one load or read that is used behind a write in its block is inlined there.
std::vector<folding_plan> loads_past_stores(const ir::function& f, const folding_plan& plan) {
    std::vector<folding_plan> made;
    visit_statements(plan, [&](position p, value_id v) {
        const ir::instruction& i = f.code[v];
        if ((i.op != opcode::load && i.op != opcode::read_cell) || is_volatile(i)) return;
        bool is_written = false, is_used_behind = false;
        for (value_id later :
             std::span(plan.statements[p.block]).subspan(static_cast<std::size_t>(p.place))) {
            is_used_behind = is_used_behind || (is_written && spells(f, plan, later, v));
            is_written = is_written || writes_what_is_read(f, later, v);
        }
        if (!is_used_behind) return;
        made.push_back(plan);
        erase(made.back(), p);
        made.back().forms[v] = form::inlined;
    });
    return made;
}

template <class Kernel>
void expect_found(const Kernel& kernel, change change_plan, const std::string& words) {
    const ir::function f = ir::lower(*kernel.function(), {}).kernel;
    const folding_plan plan = emit::plan_folding(f);
    EXPECT_EQ(first_fault(f, plan), "");
    const std::vector<folding_plan> wrong = change_plan(f, plan);
    EXPECT_FALSE(wrong.empty()) << ir::dump(f) << emit::print(f, runtime::dialect::opencl_c);
    for (const folding_plan& each : wrong) EXPECT_THAT(first_fault(f, each), testing::HasSubstr(words));
}

TEST(EMIT_folding_check, finds_a_declaration_in_the_block_of_the_first_use) {
    const auto kernel = balm::kernel<1>("kernel(in, out)", [](In<std::int32_t> in, Out<std::int32_t> out) {
        const Int twice = in[global_id(0)] * 2;
        IF (in[0] < 3) {
            out[0] = twice;
        }
        out[1] = twice;
    });
    expect_found(kernel, declared_where_first_used, "is used where it is not declared");
}

TEST(EMIT_folding_check, finds_a_long_condition_that_is_computed_once) {
    const auto kernel = balm::kernel<1>("kernel(in, out)", [](In<std::int32_t> in, Out<std::int32_t> out) {
        Int k = 0;
        WHILE (((((((((((((((k ^ 1) + 2) * 3) ^ 4) + 5) * 6) ^ 7) + 8) * 9) ^ 10) + 11) * 12) ^ 13) + 14) <
               in[0]) {
            k += 1;
        }
        out[0] = k;
    });
    expect_found(kernel, conditions_computed_once, "stands outside of its block");
}

TEST(EMIT_folding_check, finds_a_load_that_is_folded_past_a_store) {
    const auto stores = balm::kernel<1>("stores(memory)", [](Mixed<std::int32_t> memory) {
        const Int before = memory[0];
        memory[1] = 7;
        memory[2] = before;
    });
    expect_found(stores, loads_past_stores, "effect 1 ");
    const auto barriers =
        balm::kernel<1>("barriers(shared, out)", [](Local<std::int32_t> shared, Out<std::int32_t> out) {
            const Int before = shared[local_id(0)];
            barrier();
            out[global_id(0)] = before;
        });
    expect_found(barriers, loads_past_stores, "effect 1 ");
    const auto variables =
        balm::kernel<1>("variables(in, out)", [](In<std::int32_t> in, Out<std::int32_t> out) {
            Int x = in[0];
            WHILE (x < 100) {
                x += 7;
            }
            const Int before = x;
            IF (in[1] < 5) {
                x = 5;
            }
            out[0] = before;
            out[1] = x;
        });
    expect_found(variables, loads_past_stores, "effect ");
}

TEST(EMIT_folding_check, finds_what_is_wrong_with_plans_of_random_functions) {
    struct {
        change make;
        double made = 0, found = 0;
    } changes[] = {{declared_where_first_used}, {conditions_computed_once}, {loads_past_stores}};
    auto random = seeded_random();
    visit_random_functions((cases + 4) / 5, [&](const ir::function& f) {
        for (auto& each : changes) {
            std::vector<folding_plan> wrong = each.make(f, emit::plan_folding(f));
            std::shuffle(wrong.begin(), wrong.end(), random);
            wrong.resize(std::min<std::size_t>(wrong.size(), 2));
            for (const folding_plan& plan : wrong) each.found += first_fault(f, plan).empty() ? 0 : 1;
            each.made += static_cast<double>(wrong.size());
        }
    });
    // The rest is not executed on these inputs.
    for (std::size_t k = 0; k < std::size(changes); ++k) {
        EXPECT_GE(changes[k].found, changes[k].made / 2) << "change " << k << " of " << changes[k].made;
    }
}

}  // namespace

}  // namespace balm::test
