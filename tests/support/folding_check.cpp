#include "support/folding_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ir/passes/aggregate.hpp"

namespace balm::test {

namespace {

using emit::folding_plan;
using emit::form;
using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;
using digest = std::uint64_t;

constexpr int most_turns = 3;        // of each loop
constexpr int most_operations = 14;  // in one expression
constexpr std::uint64_t most_steps = 200'000;

/// splitmix64's finaliser
digest mix(digest a, digest b) {
    digest z = (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6))) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 30)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

template <class... Parts>
[[noreturn]] void fail(fmt::format_string<Parts...> words, Parts&&... parts) {
    throw std::runtime_error(fmt::format(words, std::forward<Parts>(parts)...));
}

/// Ends an execution that takes too long, which then proves nothing.
struct too_long {};

/// A pointer is the number of a region in its low bits, and a digest of the way there.
constexpr digest region_mask = 0xffff;

/// Memory. What is not known to be distinct is one region at random.
class memory {
public:
    memory(const ir::function& f, digest seed) : f_(f), of_parameter_(f.parameters.size()) {
        for (std::size_t where = 0; where < by_space_.size(); ++where) by_space_[where].push_back(add());
        for (std::size_t k = 0; k < f.parameters.size(); ++k) parameter(k, mix(seed, k));
        of_value_.resize(f.code.size());
        for (value_id v = 0; v < f.code.size(); ++v)
            if (const instruction& i = f.code[v]; i.op == opcode::object || i.op == opcode::constant_array) {
                of_value_[v] = add();
                if (i.op == opcode::object)
                    by_space_[static_cast<std::size_t>(i.result.where)].push_back(of_value_[v]);
            }
        for (std::size_t r = 0; r < content_.size(); ++r) content_[r] = mix(seed, 1000 + r);
    }

    digest of_parameter(std::uint64_t k) const { return of_parameter_[k]; }
    digest of_value(value_id v) const { return of_value_[v]; }
    /// A digest as a pointer to anywhere in a space.
    digest pointer(digest d, space where) const {
        const auto& regions = by_space_[static_cast<std::size_t>(where)];
        return (d & ~region_mask) | regions[(d >> 8) % regions.size()];
    }
    digest& at(digest pointer) { return content_[pointer & region_mask]; }
    /// What others write at a barrier, or a function that is called.
    void disturb(digest how, bool everything) {
        for (std::size_t where = 0; where < by_space_.size(); ++where) {
            const auto in = static_cast<space>(where);
            if (in == space::constant || (!everything && in == space::private_)) continue;
            for (digest region : by_space_[where]) content_[region] = mix(content_[region], how);
        }
    }
    digest all() const {
        digest sum = 0;
        for (digest each : content_) sum = mix(sum, each);
        return sum;
    }

private:
    digest add() {
        content_.push_back(0);
        return content_.size() - 1;
    }
    bool is_never_written(std::size_t k) const {
        const ir::parameter& p = f_.parameters[k];
        return p.what.where == space::constant || (p.use == ir::access::in && p.is_restrict);
    }
    void parameter(std::size_t k, digest roll) {
        const ir::parameter& p = f_.parameters[k];
        of_parameter_[k] = add();
        if (!p.what.is_pointer() || is_never_written(k)) return;
        if (p.use != ir::access::local) {
            const std::size_t other = roll % (k + 1);
            const ir::parameter& o = f_.parameters[other];
            const bool may_overlap = o.what.is_pointer() && o.what.where == p.what.where &&
                                     o.use != ir::access::local && !is_never_written(other);
            if (may_overlap && !p.is_restrict) of_parameter_[k] = of_parameter_[other];
        }
        by_space_[static_cast<std::size_t>(p.what.where)].push_back(of_parameter_[k]);
    }

    const ir::function& f_;
    std::vector<digest> content_;
    std::array<std::vector<digest>, 5> by_space_;  ///< what pointers to anywhere may point to
    std::vector<digest> of_parameter_, of_value_;
};

enum class flow : std::uint8_t { on, leaves_loop, next_turn, returns };

/// What both executions share: what instructions mean, and the log of all effects.
class machine {
public:
    machine(const ir::function& f, digest seed)
        : f_(f), seed_(seed), memory_(f, seed), cells_(f.code.size()), counts_(f.code.size()) {}
    virtual ~machine() = default;

    std::vector<std::pair<value_id, digest>> log;
    const std::vector<int>& counts() const { return counts_; }

protected:
    virtual digest value(value_id) = 0;
    /// Executes a block, then `behind` in its scope.
    virtual flow block(block_id, const std::function<flow()>& behind = {}) = 0;
    /// A turn of a counted loop, whose bounds were these ahead of it.
    virtual flow turn(value_id loop, digest variable, std::span<const digest> bounds) = 0;

    const instruction& at(value_id v) const { return f_.code[v]; }
    digest operand(value_id v, std::size_t k) { return value(f_.operand(v, k)); }
    static bool holds(digest d) { return d >> 17 & 1; }

    /// The digest of an instruction and its operands from `first` on.
    digest of_operands(value_id v, std::size_t first = 0) {
        const instruction& i = at(v);
        digest d = mix(mix(static_cast<digest>(i.op) << 32 | i.detail, i.bits), ir::code(i.result));
        for (std::size_t k = first; k < i.operand_count; ++k)
            if (f_.operand(v, k) != ir::none) d = mix(d, operand(v, k));
        return d;
    }
    digest effect(value_id v, digest what) {
        log.emplace_back(v, what);
        return mix(what, log.size());
    }

    /// A value without blocks, or an effect.
    digest compute(value_id v) {
        step(v);
        const instruction& i = at(v);
        switch (i.op) {
            case opcode::parameter:
                return i.result.is_pointer() ? memory_.of_parameter(i.bits) : mix(seed_, i.bits);
            case opcode::place: return mix(seed_, of_operands(v));
            case opcode::cell: return cells_[v] = operand(v, 0);
            case opcode::read_cell: return cells_[f_.operand(v, 0)];
            case opcode::write_cell: {
                const digest written = operand(v, 1);
                return effect(v, cells_[f_.operand(v, 0)] = written);
            }
            case opcode::object: {
                const digest pointer = memory_.of_value(v);
                memory_.at(pointer) = of_operands(v);
                return pointer;
            }
            case opcode::constant_array: return memory_.of_value(v);
            case opcode::offset:
            case opcode::member:
            case opcode::reinterpret: {
                const digest pointer = operand(v, 0);
                return (mix(pointer, of_operands(v, 1)) & ~region_mask) | (pointer & region_mask);
            }
            case opcode::load: {
                const digest pointer = operand(v, 0);
                const digest d = mix(mix(of_operands(v, 1), pointer), memory_.at(pointer));
                return typed(i, is_volatile(i) ? effect(v, d) : d);
            }
            case opcode::store: {
                const digest pointer = operand(v, 0), d = mix(of_operands(v, 1), pointer);
                memory_.at(pointer) = mix(memory_.at(pointer), d);
                return effect(v, d);
            }
            case opcode::atomic: {
                const digest pointer = operand(v, 0);
                const digest d = mix(mix(of_operands(v, 1), pointer), memory_.at(pointer));
                memory_.at(pointer) = mix(memory_.at(pointer), d);
                return typed(i, effect(v, d));
            }
            case opcode::barrier:
            case opcode::fence:
            case opcode::sub_group:
            case opcode::call: {
                const digest done = effect(v, mix(of_operands(v), memory_.all()));
                memory_.disturb(done, i.op == opcode::call);
                return typed(i, done);
            }
            case opcode::prefetch:
            case opcode::write_image: return effect(v, of_operands(v));
            case opcode::return_: return effect(v, of_operands(v));
            default: return typed(i, of_operands(v));
        }
    }
    flow control(value_id v) {
        step(v);
        const instruction& i = at(v);
        switch (i.op) {
            case opcode::if_: return block(i.blocks[holds(operand(v, 0)) ? 0 : 1]);
            case opcode::while_: {
                int turns = 0;
                const auto body = [&] {
                    const bool goes_on = holds(operand(v, 0)) && turns++ < most_turns;
                    return goes_on ? block(i.blocks[1]) : flow::leaves_loop;
                };
                for (;;)
                    if (const flow f = block(i.blocks[0], body); ends_loop(f)) return behind_loop(f);
            }
            case opcode::for_:
            case opcode::grid_for: {
                std::vector<digest> bounds;
                for (std::size_t k = 0; k < i.operand_count; ++k) bounds.push_back(operand(v, k));
                digest all = v;
                for (digest each : bounds) all = mix(all, each);
                for (digest k = 0; k < all % (most_turns + 1); ++k)
                    if (const flow f = turn(v, mix(all, k), bounds); ends_loop(f)) return behind_loop(f);
                return flow::on;
            }
            case opcode::break_: return flow::leaves_loop;
            case opcode::continue_: return flow::next_turn;
            default: compute(v); return i.op == opcode::return_ ? flow::returns : flow::on;
        }
    }
    static bool ends_loop(flow f) { return f == flow::returns || f == flow::leaves_loop; }
    static flow behind_loop(flow f) { return f == flow::returns ? f : flow::on; }
    bool is_guard(value_id v) const { return at(v).op == opcode::logic_and || at(v).op == opcode::logic_or; }
    digest guard(value_id v) {
        step(v);
        bool result = holds(operand(v, 0));
        const auto right = [&] {
            result = holds(operand(v, 1));
            return flow::on;
        };
        if (result == (at(v).op == opcode::logic_and)) block(at(v).blocks[0], right);
        return digest{result} << 17;
    }
    void step(value_id v) {
        ++counts_[v];
        if (++steps_ > most_steps) throw too_long{};
    }

    const ir::function& f_;

private:
    digest typed(const instruction& i, digest d) const {
        return i.result.is_pointer() ? memory_.pointer(d, i.result.where) : d;
    }

    digest seed_;
    memory memory_;
    std::vector<digest> cells_;
    std::vector<int> counts_;  ///< how often each instruction was executed
    std::uint64_t steps_ = 0;
};

bool is_control(opcode op) {
    return op == opcode::if_ || op == opcode::while_ || op == opcode::for_ || op == opcode::grid_for ||
           op == opcode::break_ || op == opcode::continue_ || op == opcode::return_;
}

/// In program order: each instruction where it was recorded.
class in_program_order final : public machine {
public:
    in_program_order(const ir::function& f, digest seed) : machine(f, seed), values_(f.code.size()) {
        block(0);
    }

private:
    digest value(value_id v) override { return values_[v]; }
    flow turn(value_id loop, digest variable, std::span<const digest>) override {
        values_[loop] = variable;
        return block(at(loop).blocks[0]);
    }
    flow block(block_id b, const std::function<flow()>& behind = {}) override {
        for (value_id v : f_.blocks[b]) {
            if (is_guard(v))
                values_[v] = guard(v);
            else if (!is_control(at(v).op))
                values_[v] = compute(v);
            else if (const flow f = control(v); f != flow::on)
                return f;
        }
        return behind ? behind() : flow::on;
    }

    std::vector<digest> values_;
};

/// Addresses and reads of variables may be computed anew at each use.
bool is_repeated_freely(const instruction& i) {
    const bool is_lane = i.op == opcode::swizzle && i.result.is_scalar();
    return i.op == opcode::constant || i.op == opcode::parameter || i.op == opcode::read_cell ||
           i.op == opcode::constant_array || i.op == opcode::offset || i.op == opcode::member || is_lane;
}

/// Statement by statement: an inlined value is computed at each of its uses, a declared one at its statement.
class as_planned final : public machine {
public:
    as_planned(const ir::function& f, const folding_plan& plan, digest seed)
        : machine(f, seed),
          plan_(plan),
          home_(f.code.size(), ir::none),
          line_(f.code.size(), 0),
          last_line_(f.blocks.size(), 0),
          values_(f.code.size()),
          in_scope_(f.code.size(), false) {
        number_lines(0);
        for (block_id b = 0; b < f.blocks.size(); ++b)
            for (value_id v : f.blocks[b]) home_[v] = b;
        for (value_id v = 0; v < f.code.size(); ++v)
            if (at(v).op == opcode::parameter) declare(v, compute(v));
        block(0);
    }

private:
    void number_lines(block_id b) {
        for (value_id v : plan_.statements[b]) {
            line_[v] = ++lines_;
            for (block_id inner : at(v).blocks)
                if (inner != ir::none) number_lines(inner);
        }
        last_line_[b] = ++lines_;
    }
    digest value(value_id v) override {
        switch (plan_.forms[v]) {
            case form::declared:
                if (in_scope_[v]) return values_[v];
                if (line_[v] < now_ || !is_repeated_freely(at(v)))
                    fail("%{} is used where it is not declared", v);
                return compute(v);  // ahead of its declaration
            case form::inlined:
                if (is_guard(v) && !plan_.statements[at(v).blocks[0]].empty())
                    fail("%{} is inlined, and has statements", v);
                return is_guard(v) ? guard(v) : compute(v);
            default: fail("%{} is used and has no form", v);
        }
    }
    /// The bounds are evaluated at every turn.
    flow turn(value_id loop, digest variable, std::span<const digest> bounds) override {
        now_ = line_[loop];
        for (std::size_t k = 1; k < bounds.size(); ++k)
            if (operand(loop, k) != bounds[k]) fail("a bound of %{} changes in the loop", loop);
        const std::size_t outside = scope_.size();
        declare(loop, variable);
        const flow went = block(at(loop).blocks[0]);
        leave_to(outside);
        return went;
    }
    flow block(block_id b, const std::function<flow()>& behind = {}) override {
        const std::size_t outside = scope_.size();
        around_.push_back(b);
        flow went = flow::on;
        for (value_id v : plan_.statements[b])
            if (went = statement(v); went != flow::on) break;
        if (last_line_[b] != 0) now_ = last_line_[b];  // else it is within an expression
        if (went == flow::on && behind) went = behind();
        leave_to(outside);
        around_.pop_back();
        return went;
    }
    flow statement(value_id v) {
        bool is_inside = false;
        for (block_id b : around_) is_inside = is_inside || b == home_[v];
        if (!is_inside || (ir::has_effect(at(v)) && home_[v] != around_.back()))
            fail("%{} stands outside of its block", v);
        if (in_scope_[v]) fail("%{} is declared twice", v);
        now_ = line_[v];
        if (is_control(at(v).op)) return control(v);
        const digest d = is_guard(v) ? guard(v) : compute(v);
        if (plan_.forms[v] == form::declared) declare(v, d);
        return flow::on;
    }
    void declare(value_id v, digest d) {
        values_[v] = d;
        in_scope_[v] = true;
        scope_.push_back(v);
    }
    void leave_to(std::size_t size) {
        for (; scope_.size() > size; scope_.pop_back()) in_scope_[scope_.back()] = false;
    }

    const folding_plan& plan_;
    std::vector<block_id> home_;
    std::uint32_t lines_ = 0;
    std::vector<std::uint32_t> line_;       ///< by value: of its statement in the text; 0: it has none
    std::vector<std::uint32_t> last_line_;  ///< by block
    std::uint32_t now_ = 0;                 ///< the line that is executed
    std::vector<digest> values_;
    std::vector<bool> in_scope_;
    std::vector<value_id> scope_;
    std::vector<block_id> around_;
};

/// What holds of every line of text, wherever control goes.
class line_check {
public:
    line_check(const ir::function& f, const folding_plan& plan)
        : f_(f), plan_(plan), uses_(f.code.size(), 0), result_(f.blocks.size(), ir::none) {
        for (const ir::block& b : f.blocks)
            for (value_id v : b) {
                for (value_id o : f.operands_of(v))
                    if (o != ir::none) ++uses_[o];
                if (is_guard(v)) result_[at(v).blocks[0]] = f.operand(v, 1);
                if (at(v).op == opcode::while_) result_[at(v).blocks[0]] = f.operand(v, 0);
            }
    }

    void run() {
        for (block_id b = 0; b < f_.blocks.size(); ++b) {
            for (value_id v : plan_.statements[b]) statement(v);
            const bool is_expression = result_[b] != ir::none && plan_.statements[b].empty();
            for (value_id v : f_.blocks[b]) {
                if (plan_.forms[v] != form::inlined) continue;
                if (!is_repeated_freely(at(v)) && uses_[v] != 1)
                    fail("%{} is inlined at {} uses", v, uses_[v]);
                if (!is_expression && !is_lane(v) && operations(v) > most_operations)
                    fail("%{} is too long for a line", v);
            }
            if (is_expression && distinct_operations(b) > most_operations)
                fail("block {} is too long for a line", b);
        }
    }

private:
    const instruction& at(value_id v) const { return f_.code[v]; }
    bool is_guard(value_id v) const { return at(v).op == opcode::logic_and || at(v).op == opcode::logic_or; }
    bool is_lane(value_id v) const {
        return at(v).op == opcode::member && !ir::is_structure(pointee(at(f_.operand(v, 0)).result));
    }
    void statement(value_id v) {
        if (is_lane(v)) fail("%{} is a lane, and declared", v);
        if (!ir::has_effect(f_, v) && (uses_[v] == 0 || plan_.forms[v] != form::declared))
            fail("%{} is declared for no use", v);
    }
    int own_operations(value_id v) const {
        const opcode op = at(v).op;
        return op == opcode::constant || op == opcode::read_cell || op == opcode::constant_array ? 0 : 1;
    }
    /// The operations of a value's text, without the right operands of && and ||.
    int operations(value_id v) const {
        if (plan_.forms[v] != form::inlined) return 0;
        int sum = own_operations(v);
        for (value_id o : in_line(v)) sum += operations(o);
        return sum;
    }
    std::span<const value_id> in_line(value_id v) const {
        return f_.operands_of(v).subspan(0, is_guard(v) ? 1 : at(v).operand_count);
    }
    /// The operations of a region that is one expression: of its values, those in the text of its result.
    int distinct_operations(block_id region) const {
        const ir::block& values = f_.blocks[region];
        std::set<value_id> printed{result_[region]};
        int sum = 0;
        for (auto v = values.rbegin(); v != values.rend(); ++v)  // users first
            if (plan_.forms[*v] == form::inlined && printed.contains(*v)) {
                sum += own_operations(*v);
                const auto operands = in_line(*v);
                printed.insert(operands.begin(), operands.end());
            }
        return sum;
    }

    const ir::function& f_;
    const folding_plan& plan_;
    std::vector<int> uses_;
    std::vector<value_id> result_;  ///< by block: the right operand of && or ||, or the condition of WHILE
};

}  // namespace

std::string line_fault(const ir::function& f, const folding_plan& plan) {
    try {
        line_check(f, plan).run();
    } catch (const std::runtime_error& fault) {
        return fault.what();
    }
    return {};
}

std::string meaning_fault(const ir::function& f, const folding_plan& plan, std::uint64_t seed) {
    try {
        const in_program_order expected(f, seed);
        const as_planned got(f, plan, seed);
        const std::size_t both = std::min(expected.log.size(), got.log.size());
        for (std::size_t k = 0; k < both; ++k)
            if (got.log[k] != expected.log[k])
                fail("effect {} is %{} {:x}, not %{} {:x}", k, got.log[k].first, got.log[k].second,
                     expected.log[k].first, expected.log[k].second);
        if (got.log.size() != expected.log.size())
            fail("{} effects, not {}", got.log.size(), expected.log.size());
        for (value_id v = 0; v < f.code.size(); ++v)
            if (!is_repeated_freely(f.code[v]) && got.counts()[v] > expected.counts()[v])
                fail("%{} is computed {} times, not {}", v, got.counts()[v], expected.counts()[v]);
    } catch (const too_long&) {
    } catch (const std::runtime_error& fault) {
        return fault.what();
    }
    return {};
}

}  // namespace balm::test
