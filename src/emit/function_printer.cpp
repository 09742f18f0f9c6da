// The one walker over the IR. A value that is used once is folded into the expression of its use where
// nothing in between can change it; the others are declared where they were recorded. Values waiting to be
// folded are "pending"; an effect that would change what a pending one reads makes it be declared first.

#include "emit/function_printer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "emit/atomic_spelling.hpp"
#include "emit/builtin_spelling.hpp"
#include "emit/elementary_functions.hpp"
#include "emit/image_spelling.hpp"
#include "emit/lanes.hpp"
#include "emit/literal.hpp"
#include "emit/spelling.hpp"
#include "emit/sync_spelling.hpp"
#include "emit/text.hpp"
#include "ir/aggregate.hpp"
#include "ir/widen.hpp"

namespace balm::emit {

namespace {

using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;

/// A value made of more operations than this gets a name even if it is used once: lines stay readable.
constexpr int max_operations_in_line = 14;

class function_printer {
public:
    function_printer(const ir::function& f, const std::string& printed_name, program_parts& parts)
        : f_(f),
          printed_name_(printed_name),
          parts_(parts),
          words_(spelling_of(parts.language)),
          uses_(f.code.size(), 0),
          operations_(f.code.size(), 0),
          name_(f.code.size()),
          is_pending_(f.code.size(), false) {}

    std::string run() {
        count_uses(0);
        for (const auto& callee : f_.callees)
            names_.unique(parts_.functions.at(callee.get()));  // not to be hidden
        std::string head = signature();
        depth_ = 1;
        if (words_.local_memory_by_offset) place_local_memory();
        place_shifted_memory();
        declare_local_objects();
        block_(0);
        return head + " {\n" + out_ + "}\n";
    }

private:
    /// A pointer that the kernel makes of the memory that it is bound to and of where it begins there.
    struct shifted_pointer {
        const ir::parameter* parameter;
        std::string name;
        std::string memory;
        std::string offset;
    };

    // ---- names and types

    const instruction& at(value_id v) const { return f_.code[v]; }
    std::string type_of(ir::type t) { return type_name(parts_, t); }
    bool is_opencl() const { return parts_.language == runtime::dialect::opencl_c; }
    /// Type and name of a declaration of what is not written to again.
    std::string constant_declaration(ir::type t, const std::string& name) {
        return t.is_pointer() ? fmt::format("{} const {}", type_of(t), name)
                              : fmt::format("const {} {}", type_of(t), name);
    }

    std::string word_for(value_id v) const {
        const instruction& i = at(v);
        if (i.name != ir::none) return f_.names[i.name];
        switch (i.op) {
            case opcode::place: {
                constexpr const char* words[] = {"gid",    "lid",    "group", "global_size", "local_size",
                                                 "groups", "offset", "item",  "items",       "sub_group"};
                const bool has_axis = static_cast<ir::place>(i.detail) < ir::place::local_linear_id;
                return std::string(words[i.detail]) +
                       (f_.dimensions > 1 && has_axis ? std::string(1, "xyz"[i.bits]) : "");
            }
            case opcode::for_: return "k";
            case opcode::grid_for: return "i";
            case opcode::load: {
                const std::string& memory = name_[f_.operand(v, 0)];
                return memory.empty() ? "t" : memory + "_i";
            }
            case opcode::atomic: return "old";
            case opcode::read_image: return "texel";
            case opcode::image_size: return i.bits == 0 ? "width" : i.bits == 1 ? "height" : "depth";
            case opcode::sub_group: return i.result.element == scalar::u32 ? "lanes" : "other";
            case opcode::logic_and:
            case opcode::logic_or: return "holds";
            case opcode::builtin: {
                const auto takes = ir::info(static_cast<builtin>(i.detail)).takes;
                return takes == detail::rule::compare || takes == detail::rule::predicate ? "is" : "t";
            }
            case opcode::object: return i.detail == ir::one_element ? "v" : "values";
            case opcode::constant_array: return f_.constants[i.bits]->name;
            default: return i.op == opcode::cell ? "v" : i.result.is_pointer() ? "p" : "t";
        }
    }
    std::string parameter_word(const ir::parameter& p) const {
        if (!p.name.empty()) return p.name;
        switch (p.use) {
            case ir::access::in: return "in";
            case ir::access::out: return "out";
            case ir::access::mixed: return "mixed";
            case ir::access::local: return "shared";
            case ir::access::in_image:
            case ir::access::sampled_image:
            case ir::access::out_image: return "image";
            default: return is_floating(p.what.element) ? "s" : "n";
        }
    }

    std::string global_pointer(const ir::parameter& p, const std::string& type) const {
        if (p.what.where == space::constant && is_opencl()) return fmt::format("constant {}* ", type);
        return fmt::format("{}{}{}* {}", words_.global_memory, p.use == ir::access::in ? "const " : "", type,
                           p.is_restrict ? words_.restrict_pointer : "");
    }
    /// Pointers that begin within their allocation, which OpenCL does not bind so.
    void place_shifted_memory() {
        for (const shifted_pointer& each : shifted_) {
            const ir::parameter& p = *each.parameter;
            const std::string type = type_of(in_memory(pointee(p.what)));
            const std::string to =
                fmt::format("{}{}", words_.global_memory, p.use == ir::access::in ? "const " : "");
            line(fmt::format("{}{} = ({}{}*)(({}{}*){} + {});", global_pointer(p, type), each.name, to, type,
                             to, type_of(ir::type(scalar::u8)), each.memory, each.offset));
        }
    }

    std::string signature() {
        std::vector<std::string> list;
        for (const ir::parameter& p : f_.parameters) {
            const std::string name = names_.unique(parameter_word(p));
            parameter_names_.push_back(name);
            if (p.what.is_image()) {
                list.push_back(image_parameter(parts_, p, name));
                if (has_own_sampler(parts_, p)) {
                    samplers_[parameter_names_.size() - 1] = names_.unique(name + "_sampler");
                    list.push_back("sampler_t " + samplers_[parameter_names_.size() - 1]);
                }
                continue;
            }
            if (!p.what.is_pointer() || p.use == ir::access::value) {
                // OpenCL C allows no bool as a kernel's parameter; a byte that is 0 or 1 serves as one.
                list.push_back(
                    fmt::format("{} {}", type_of(f_.dimensions > 0 ? in_memory(p.what) : p.what), name));
                continue;
            }
            const std::string type = type_of(in_memory(pointee(p.what)));
            if (p.use == ir::access::local) {
                if (words_.local_memory_by_offset && f_.dimensions > 0)
                    list.push_back("unsigned int " + name + "_offset");
                else
                    list.push_back(fmt::format("{}{}* {}", words_.local_memory, type, name));
            } else {
                if (!p.is_shifted) {
                    list.push_back(global_pointer(p, type) + name);
                    continue;
                }
                const shifted_pointer shifted{&p, name, names_.unique(name + "_memory"),
                                              names_.unique(name + "_offset")};
                list.push_back(global_pointer(p, type) + shifted.memory);
                list.push_back(type_of(ir::type(scalar::i64)) + " " + shifted.offset);
                shifted_.push_back(shifted);
            }
        }
        for (value_id v = 0; v < f_.code.size(); ++v)
            if (at(v).op == opcode::parameter) name_[v] = parameter_names_[at(v).bits];
        std::string head(f_.dimensions > 0 ? words_.kernel
                         : is_of_numbers() ? words_.number_function
                                           : words_.device_function);
        if (const ir::group_size& g = f_.only_for; g[0] != 0)
            head += fmt::format(fmt::runtime(words_.only_for), g[0], g[1], g[2], g[0] * g[1] * g[2]);
        head += f_.dimensions == 0 ? type_of(f_.result) + " " : "void ";
        head += printed_name_ + "(";
        std::string one_line = head + fmt::format("{})", fmt::join(list, ", "));
        if (one_line.size() <= 108) return one_line;
        return head + "\n        " + fmt::format("{})", fmt::join(list, ",\n        "));
    }

    bool is_of_numbers() const {
        const auto is_number = [](ir::type t) {
            return !t.is_pointer() && !t.is_image() && t.aggregate == 0;
        };
        return is_number(f_.result) && std::all_of(f_.parameters.begin(), f_.parameters.end(),
                                                   [&](const auto& p) { return is_number(p.what); });
    }

    void place_local_memory() {
        bool declared = f_.dimensions == 0;
        for (std::size_t k = 0; k < f_.parameters.size(); ++k) {
            const ir::parameter& p = f_.parameters[k];
            if (p.use != ir::access::local || f_.dimensions == 0) continue;
            if (!std::exchange(declared, true))
                line("extern __shared__ __align__(128) unsigned char balm_local[];");
            const std::string type = type_of(in_memory(pointee(p.what)));
            line(fmt::format("{0}* {1} = ({0}*)(balm_local + {1}_offset);", type, parameter_names_[k]));
        }
    }

    /// Local arrays stand at the kernel's top, as OpenCL C wants it.
    void declare_local_objects() {
        for (value_id v : f_.blocks[0]) {
            if (at(v).op != opcode::object || at(v).result.where != space::local) continue;
            name_[v] = names_.unique(word_for(v));
            line(fmt::format("{}{} {}[{}];", words_.local_array, type_of(in_memory(pointee(at(v).result))),
                             name_[v], at(v).bits));
        }
    }

    // ---- uses

    void count_uses(block_id b) {
        for (value_id v : f_.blocks[b]) {
            for (value_id o : f_.operands_of(v))
                if (o != ir::none) ++uses_[o];
            for (block_id inner : at(v).blocks)
                if (inner != ir::none) count_uses(inner);
        }
    }
    /// Nothing is gained by giving it a name.
    bool is_trivial(value_id v) const {
        const opcode op = at(v).op;
        return op == opcode::constant || op == opcode::parameter || op == opcode::read_cell ||
               !name_[v].empty();
    }
    /// Every value that v is made of while it is pending, down to those that have a name.
    template <class Visit>
    void visit_pending(value_id v, Visit&& visit) const {
        if (!name_[v].empty()) return;
        visit(v);
        for (value_id o : f_.operands_of(v))
            if (o != ir::none) visit_pending(o, visit);
        for (block_id inner : at(v).blocks)
            if (inner != ir::none)
                for (value_id w : f_.blocks[inner]) visit_pending(w, visit);
    }
    bool is_changed_by(const ir::effects& e, value_id v) const {
        bool changed = false;
        visit_pending(v, [&](value_id part) { changed = changed || clobbers(f_, e, part); });
        return changed;
    }

    /// Declares what waits and would be changed by the effect.
    void settle_before(const ir::effects& e) {
        const std::vector<value_id> waiting = pending_;  // declaring one may make others wait
        for (value_id v : waiting)
            if (is_pending_[v] && uses_[v] > 0 && is_changed_by(e, v)) declare(v);
        std::erase_if(pending_, [&](value_id v) { return !is_pending_[v] || uses_[v] <= 0; });
    }
    /// Declares what waits and is used inside the blocks of a loop: it is computed once, ahead of it.
    void settle_for_loop(value_id loop) {
        std::vector<bool> used(f_.code.size(), false);
        for (block_id b : at(loop).blocks)
            if (b != ir::none) mark_used(b, used);
        const std::vector<value_id> waiting = pending_;
        for (value_id v : waiting)
            if (is_pending_[v] && used[v] && !is_trivial(v)) declare(v);
    }
    void mark_used(block_id b, std::vector<bool>& used) const {
        for (value_id v : f_.blocks[b]) {
            for (value_id o : f_.operands_of(v))
                if (o != ir::none) used[o] = true;
            for (block_id inner : at(v).blocks)
                if (inner != ir::none) mark_used(inner, used);
        }
    }

    /// Whether a region (of && or a loop's condition) can be printed as one expression.
    bool is_expression(block_id b) const {
        return std::all_of(f_.blocks[b].begin(), f_.blocks[b].end(), [&](value_id v) {
            const instruction& i = at(v);
            if (ir::has_effect(i)) return false;
            if ((i.op == opcode::logic_and || i.op == opcode::logic_or) && !is_expression(i.blocks[0]))
                return false;
            return uses_[v] <= 1 || is_trivial(v);
        });
    }

    // ---- statements

    void line(const std::string& words) {
        out_.append(static_cast<std::size_t>(depth_) * 4, ' ');
        out_ += words;
        out_ += '\n';
    }
    void inner_block(block_id b) {
        ++depth_;
        const std::vector<value_id> outside = pending_;
        block_(b);
        pending_ = outside;
        --depth_;
    }
    void block_(block_id b) {
        for (value_id v : f_.blocks[b]) statement(v);
    }

    void declare(value_id v) {
        const std::string words = expression(v).words;
        is_pending_[v] = false;
        const std::string name = names_.unique(word_for(v));
        line(fmt::format("{} = {};", constant_declaration(at(v).result, name), words));
        name_[v] = name;
    }
    void declare_object(value_id v) {
        if (!name_[v].empty()) return;
        const instruction& i = at(v);
        const std::string type = type_of(in_memory(pointee(i.result)));
        const bool begins_as_zeros = i.detail != ir::array && f_.operand(v, 0) == ir::none;
        const std::string start = begins_as_zeros               ? std::string(words_.zeroed)
                                  : i.detail == ir::one_element ? " = " + stored(v, 0)
                                                                : "";
        name_[v] = names_.unique(word_for(v));
        const std::string count = i.detail == ir::one_element ? "" : fmt::format("[{}]", i.bits);
        line(fmt::format("{} {}{}{};", type, name_[v], count, start));
    }

    void statement(value_id v) {
        switch (at(v).op) {
            case opcode::constant:
            case opcode::parameter: return;
            case opcode::cell: {
                const std::string start = operand(v, 0, 0);
                name_[v] = names_.unique(word_for(v));
                return line(fmt::format("{} {} = {};", type_of(at(v).result), name_[v], start));
            }
            case opcode::object: return declare_object(v);
            case opcode::write_image: return effect_statement(v, write_image_words(v));
            case opcode::write_cell: return write_lanes(v) ? void() : write(v, name_[f_.operand(v, 0)], 1);
            case opcode::store: return store(v);
            case opcode::load: return is_volatile(v) ? volatile_load(v) : value(v);
            case opcode::call: return effect_statement(v, call_words(v));
            case opcode::atomic: return effect_statement(v, atomic_words(v));
            case opcode::if_: return if_statement(v);
            case opcode::while_: return while_statement(v);
            case opcode::for_: return for_statement(v);
            case opcode::break_: return line("break;");
            case opcode::continue_: return line("continue;");
            case opcode::return_:
                return line(f_.operand(v, 0) == ir::none ? "return;" : "return " + operand(v, 0, 0) + ";");
            case opcode::sub_group:
                return effect_statement(v, sync_words(v, spell(parts_.language, parts_.takes_ptx,
                                                               static_cast<ir::sub_group_op>(at(v).detail),
                                                               at(v).result.element)));
            case opcode::fence: {
                settle_before(effects_of(f_, v));
                return line(spell_fence(parts_.language, parts_.takes_ptx,
                                        static_cast<trace::memory_scope>(at(v).bits)));
            }
            case opcode::barrier: {
                if (at(v).operand_count > 0)
                    return effect_statement(
                        v, sync_words(v, spell_counting_barrier(parts_.language, parts_.takes_ptx)));
                settle_before(effects_of(f_, v));
                const std::string_view words[] = {words_.local_barrier, words_.global_barrier,
                                                  words_.full_barrier};
                return line(std::string(words[at(v).bits - 1]));
            }
            default: return value(v);
        }
    }

    /// A value: it waits for its use, or is declared here.
    void value(value_id v) {
        if (uses_[v] == 0 && !has_effect(f_, v)) return;
        int operations = 1;
        for (value_id o : f_.operands_of(v))
            if (name_[o].empty()) operations += operations_[o];
        const bool is_guard = at(v).op == opcode::logic_and || at(v).op == opcode::logic_or;
        if (is_guard && !is_expression(at(v).blocks[0])) return guard_statement(v);
        operations_[v] = operations;
        // A pointer is spelt again at each use; its index is then computed once, ahead of it.
        const bool is_path = at(v).op == opcode::offset || at(v).op == opcode::member;
        if (at(v).op == opcode::offset && uses_[v] > 1 && at(f_.operand(v, 1)).op != opcode::constant &&
            name_[f_.operand(v, 1)].empty())
            declare(f_.operand(v, 1));
        const bool waits = at(v).op == opcode::read_cell || is_path || at(v).op == opcode::constant_array ||
                           (uses_[v] == 1 && operations <= max_operations_in_line);
        if (!waits) return declare(v);
        is_pending_[v] = true;
        pending_.push_back(v);
    }

    /// Operand k as it lies in memory: truth values in lanes become bytes, f32 that is kept as f16 its bits.
    std::string stored(value_id v, std::size_t k) {
        const ir::type given = at(f_.operand(v, k)).result;
        if (at(v).op == opcode::write_cell || given.is_pointer() || given.aggregate != 0)
            return operand(v, k, 0);
        const ir::type memory = pointee(at(at(v).op == opcode::store ? f_.operand(v, 0) : v).result);
        if (memory.element == scalar::f16)
            return half_conversion(parts_, in_memory(memory), given) + "(" + operand(v, k, 0) + ")";
        if (given.lanes == 1 || given.element != scalar::boolean) return operand(v, k, 0);
        if (!is_opencl())
            return lane_wise_conversion(parts_, in_memory(memory), given) + "(" + operand(v, k, 0) + ")";
        return fmt::format("convert_{}({} & (char)1)", type_of(ir::type(scalar::u8, given.lanes)),
                           operand(v, k, unary));
    }

    /// `v.xy = value;` where a variable is written with some of its lanes replaced; whether it was that.
    bool write_lanes(value_id v) {
        const value_id cell = f_.operand(v, 0), value = f_.operand(v, 1);
        const instruction& i = at(value);
        if (i.op != opcode::insert || !is_pending_[value]) return false;
        const value_id old = f_.operand(value, 0);
        const int count = at(f_.operand(value, 1)).result.lanes;
        const bool same_cell = at(old).op == opcode::read_cell && f_.operand(old, 0) == cell &&
                               is_pending_[old] && uses_[old] == 1;
        const bool is_truth = i.result.element == scalar::boolean;
        if (!same_cell || (count > 1 && !is_opencl()) || is_truth) return false;
        --uses_[value];
        --uses_[old];
        is_pending_[value] = is_pending_[old] = false;
        const std::string words = operand(value, 1, 0);
        settle_before(effects_of(f_, v));
        line(fmt::format("{}.{} = {};", name_[cell], lane_names(i.result.lanes, i.bits, count), words));
        return true;
    }

    /// `target = value;` or `target += value;` where the value is `target + …`.
    void write(value_id v, const std::string& target, std::size_t value_position) {
        const value_id value = f_.operand(v, value_position);
        const std::string_view symbol = compound_symbol(v, value);
        std::string words;
        if (symbol.empty()) {
            words = fmt::format("{} = {};", target, stored(v, value_position));
        } else {
            --uses_[value];
            is_pending_[value] = false;
            const value_id old = f_.operand(value, 0);
            --uses_[old];
            words = fmt::format("{} {}= {};", target, symbol, plain_operand(value, 1, 0));
        }
        settle_before(effects_of(f_, v));
        line(words);
    }
    void store(value_id v) { write(v, element(v).words, 2); }
    /// It is done here, whoever uses it and when.
    void volatile_load(value_id v) { return uses_[v] > 0 ? declare(v) : line(expression(v).words + ";"); }

    /// The operator when the value written is `what is there now` operator `something`, else nothing.
    std::string_view compound_symbol(value_id writer, value_id value) const {
        const instruction& i = at(value);
        if (i.op != opcode::builtin || !is_pending_[value] || f_.operands_of(value).size() != 2) return {};
        const auto what = static_cast<builtin>(i.detail);
        const ir::builtin_info& row = ir::info(what);
        if (!row.symbol || row.takes == detail::rule::compare || needs_helper(value)) return {};
        if (row.takes == detail::rule::shift && !words_.masks_shift_counts && !is_small_shift(value))
            return {};
        const value_id old = f_.operand(value, 0);
        if (!is_pending_[old] || uses_[old] != 1 || !(at(old).result == i.result)) return {};
        if (i.result.element == scalar::boolean || (i.result.lanes > 1 && !is_opencl())) return {};
        if (i.result.lanes > 1 && !has_vector_form(what, i.result.element)) return {};
        if (at(old).op == opcode::load && !(pointee(at(f_.operand(old, 0)).result) == i.result)) return {};
        const bool same_cell = at(writer).op == opcode::write_cell && at(old).op == opcode::read_cell &&
                               f_.operand(old, 0) == f_.operand(writer, 0);
        const bool same_element = at(writer).op == opcode::store && at(old).op == opcode::load &&
                                  f_.operand(old, 0) == f_.operand(writer, 0) &&
                                  f_.operand(old, 1) == f_.operand(writer, 1);
        if (same_element && name_[f_.operand(old, 1)].empty() &&
            at(f_.operand(old, 1)).op != opcode::constant)
            return {};
        return same_cell || same_element ? std::string_view(row.symbol) : std::string_view();
    }

    /// What has an effect, and perhaps a result.
    void effect_statement(value_id v, const std::string& words) {
        settle_before(effects_of(f_, v));
        if (at(v).result == ir::type() || uses_[v] == 0) return line(words + ";");
        name_[v] = names_.unique(word_for(v));
        line(fmt::format("{} = {};", constant_declaration(at(v).result, name_[v]), words));
    }

    void guard_statement(value_id v) {
        const bool is_and = at(v).op == opcode::logic_and;
        const std::string left = operand(v, 0, 0);
        settle_before(effects_of(f_, v));
        const std::string name = names_.unique(word_for(v));
        line(fmt::format("bool {} = {};", name, left));
        line(fmt::format("if ({}{}) {{", is_and ? "" : "!", name));
        ++depth_;
        block_(at(v).blocks[0]);
        line(fmt::format("{} = {};", name, operand(v, 1, 0)));
        --depth_;
        line("}");
        name_[v] = name;
    }

    void if_statement(value_id v) {
        const std::string condition = operand(v, 0, 0);
        settle_before(effects_of(f_, v));
        const instruction& i = at(v);
        const bool no_then = f_.blocks[i.blocks[0]].empty();
        line(no_then ? fmt::format("if (!({})) {{", condition) : fmt::format("if ({}) {{", condition));
        inner_block(i.blocks[no_then ? 1 : 0]);
        if (no_then || f_.blocks[i.blocks[1]].empty()) return line("}");
        std::string before = std::exchange(out_, {});
        inner_block(i.blocks[1]);
        std::string otherwise = std::exchange(out_, std::move(before));
        const std::string margin(static_cast<std::size_t>(depth_) * 4, ' ');
        const auto& rest = f_.blocks[i.blocks[1]];
        const auto statements =
            std::count_if(rest.begin(), rest.end(), [&](value_id inner) { return has_effect(f_, inner); });
        const bool is_chain = statements == 1 && at(rest.back()).op == opcode::if_ &&
                              otherwise.compare(0, margin.size() + 8, margin + "    if (") == 0;
        if (!is_chain) {
            line("} else {");
            out_ += otherwise;
            return line("}");
        }
        for (std::size_t at_line = 0; at_line < otherwise.size();) {
            otherwise.erase(at_line, 4);
            at_line = otherwise.find('\n', at_line) + 1;
        }
        out_ += margin + "} else " + otherwise.substr(margin.size());
    }

    void while_statement(value_id v) {
        const instruction& i = at(v);
        settle_before(effects_of(f_, v));
        settle_for_loop(v);
        if (is_expression(i.blocks[0])) {
            block_(i.blocks[0]);
            line(fmt::format("while ({}) {{", operand(v, 0, 0)));
            inner_block(i.blocks[1]);
            return line("}");
        }
        line("while (true) {");
        ++depth_;
        block_(i.blocks[0]);
        line(fmt::format("if (!({})) break;", operand(v, 0, 0)));
        --depth_;
        inner_block(i.blocks[1]);
        line("}");
    }

    void for_statement(value_id v) {
        const value_id end = f_.operand(v, 1), step = f_.operand(v, 2);
        const ir::effects e = effects_of(f_, v);
        for (value_id bound : {end, step})
            if (!is_trivial(bound) ||
                (at(bound).op == opcode::read_cell && is_pending_[bound] && clobbers(f_, e, bound)))
                declare(bound);
        const std::string from = plain_operand(v, 0, 0);
        const std::string to = plain_operand(v, 1, shift), by = plain_operand(v, 2, unary);
        settle_before(e);
        settle_for_loop(v);
        const std::string k = names_.unique(word_for(v));
        name_[v] = k;
        if (at(v).detail == ir::scalar_loop) line("#pragma clang loop vectorize(disable)");
        line(fmt::format("for ({} {} = {}; {}; {}) {{", type_of(at(v).result), k, from,
                         goes_on(k, to, step, by), advance(k, step, by)));
        inner_block(at(v).blocks[0]);
        line("}");
    }
    /// The sign of a constant step, 0 when it is known only on the device.
    int sign_of(value_id step) const {
        if (at(step).op == opcode::place) return 1;
        if (at(step).op != opcode::constant) return is_signed(at(step).result.element) ? 0 : 1;
        const std::size_t top_bit = 8 * size_of(at(step).result.element) - 1;
        return is_signed(at(step).result.element) && (at(step).bits >> top_bit & 1) ? -1 : 1;
    }
    std::string goes_on(const std::string& k, const std::string& to, value_id step,
                        const std::string& by) const {
        const int sign = sign_of(step);
        if (sign != 0) return fmt::format("{} {} {}", k, sign > 0 ? "<" : ">", to);
        return fmt::format("{1} > 0 ? {0} < {2} : {0} > {2}", k, by, to);
    }
    std::string advance(const std::string& k, value_id step, const std::string& by) const {
        if (at(step).op == opcode::constant && by == "1") return "++" + k;
        if (at(step).op == opcode::constant && (by == "-1" || by == "(-1)")) return "--" + k;
        return k + " += " + by;
    }

    // ---- expressions

    /// Operand k of v, in parentheses where it binds less tightly than asked.
    std::string operand(value_id v, std::size_t k, int least_precedence) {
        const value_id o = f_.operand(v, k);
        text t = use(o);
        return t.precedence < least_precedence ? "(" + t.words + ")" : t.words;
    }
    /// All operands of v, as the arguments of a call.
    std::string operand_list(value_id v) {
        std::string list;
        for (std::size_t k = 0; k < f_.operands_of(v).size(); ++k) list += (k ? ", " : "") + operand(v, k, 0);
        return list;
    }
    /// Operand k where C's promotions make the type of a 64-bit literal plain without its suffix: as an
    /// index, or beside an operand that is no literal.
    std::string plain_operand(value_id v, std::size_t k, int least_precedence) {
        const instruction& i = at(f_.operand(v, k));
        const bool fits = i.op == opcode::constant && i.result.element == scalar::i64 && i.bits <= INT32_MAX;
        if (!fits) return operand(v, k, least_precedence);
        --uses_[f_.operand(v, k)];
        return std::to_string(i.bits);
    }
    bool is_literal(value_id v, std::size_t k) const { return at(f_.operand(v, k)).op == opcode::constant; }
    text use(value_id v) {
        --uses_[v];
        if (at(v).op == opcode::object && at(v).detail == ir::one_element) return {"&" + name_[v], unary};
        if (!name_[v].empty()) return {name_[v], primary};
        if (at(v).op == opcode::constant) return literal(at(v));
        if (uses_[v] <= 0) is_pending_[v] = false;
        return expression(v);
    }

    text expression(value_id v) {
        const instruction& i = at(v);
        switch (i.op) {
            case opcode::constant: return literal(i);
            case opcode::read_cell:
                // The variable itself is not used up by a read that is printed several times.
                return {name_[f_.operand(v, 0)], primary};
            case opcode::load: return loaded(v);
            case opcode::offset: return address(v);
            case opcode::member: return {"&" + element_of(v, 0).words, unary};
            case opcode::reinterpret:
                return {fmt::format("({}){}", type_of(i.result), operand(v, 0, unary)), unary};
            case opcode::constant_array:
                return {constant_name(parts_, *f_.constants[i.bits], words_.constant_array.data()), primary};
            case opcode::compose: return compose(v);
            case opcode::swizzle: return swizzle(v);
            case opcode::insert: {
                const std::string name =
                    insert_function(parts_, i.result, i.bits, at(f_.operand(v, 1)).result);
                return {fmt::format("{}({})", name, operand_list(v)), postfix};
            }
            case opcode::place: return place_words(i);
            case opcode::convert: return conversion(v);
            case opcode::broadcast: return compose(v);
            case opcode::lane_index: return {lane_indices(v), add_precedence};
            case opcode::select:
                if (at(f_.operand(v, 0)).result.lanes > 1) return vector_select(v);
                return scalar_select(v);
            case opcode::logic_and: return guard_words(v, " && ", logical_and);
            case opcode::logic_or: return guard_words(v, " || ", logical_or);
            case opcode::evaluate: return {call_words(v), postfix};
            case opcode::read_image: return read_image(v);
            case opcode::image_size:
                return {spell_image_size(parts_, at(f_.operand(v, 0)).result, operand(v, 0, postfix), i.bits),
                        postfix};
            default: return builtin_words(v);
        }
    }

    // Memory.

    bool is_zero(value_id v) const { return at(v).op == opcode::constant && at(v).bits == 0; }
    /// What a load or store names: `pointer[index]` and its shorter forms.
    text element(value_id v) {
        text words = element_of(f_.operand(v, 0), v);
        if (!is_volatile(v)) return words;
        const std::string pointer = type_of(at(f_.operand(v, 0)).result);
        return {fmt::format("*(volatile {})&{}", pointer, words.words), unary};
    }
    bool is_volatile(value_id v) const { return ir::is_volatile(at(v)); }
    /// The element of a pointer at the index that `user` has as its operand 1; 0: the first.
    text element_of(value_id pointer, value_id user) {
        const bool first = user == 0 || is_zero(f_.operand(user, 1));
        const auto index = [&] { return plain_operand(user, 1, 0); };
        if (user != 0 && first) --uses_[f_.operand(user, 1)];
        const instruction& p = at(pointer);
        if (p.op == opcode::object && p.detail == ir::one_element)
            return first ? text{name_[pointer], primary}
                         : text{fmt::format("(&{})[{}]", name_[pointer], index()), postfix};
        if (p.op == opcode::member && name_[pointer].empty()) {
            const ir::type whole = pointee(at(f_.operand(pointer, 0)).result);
            text base = element_of(f_.operand(pointer, 0), 0);
            const bool through = base.words[0] == '*';
            const std::string path = (through ? base.words.substr(1) + "->" : base.words + ".");
            if (!ir::is_structure(whole))
                return {path + lane_name(whole.lanes, static_cast<int>(p.bits)), postfix};
            const trace::member& m = ir::structure_of(whole).members[p.bits];
            if (m.count > 1) return {fmt::format("{}{}[{}]", path, m.name, first ? "0" : index()), postfix};
            if (first) return {path + m.name, postfix};
            return {fmt::format("(&{}{})[{}]", path, m.name, index()), postfix};
        }
        if (p.op == opcode::offset && name_[pointer].empty() && first) {
            if (is_zero(f_.operand(pointer, 1))) return element_of(f_.operand(pointer, 0), 0);
            return element_of(f_.operand(pointer, 0), pointer);
        }
        text base = use_path(pointer);
        if (base.precedence < (first ? unary : postfix)) base.words = "(" + base.words + ")";
        if (!first) return {fmt::format("{}[{}]", base.words, index()), postfix};
        const bool is_array = (p.op == opcode::parameter && !f_.parameters[p.bits].is_one) ||
                              p.op == opcode::object || p.op == opcode::constant_array;
        return is_array ? text{base.words + "[0]", postfix} : text{"*" + base.words, unary};
    }
    text use_path(value_id pointer) {
        if (name_[pointer].empty()) return use(pointer);
        --uses_[pointer];
        return {name_[pointer], primary};
    }
    /// pointer + index
    text address(value_id v) {
        if (is_zero(f_.operand(v, 1))) return use(f_.operand(v, 0));
        const std::string base = operand(v, 0, add_precedence);
        return {fmt::format("{} + {}", base, plain_operand(v, 1, add_precedence + 1)), add_precedence};
    }
    text loaded(value_id v) {
        const ir::type value = at(v).result, memory = pointee(at(f_.operand(v, 0)).result);
        text words = element(v);
        if (value.is_pointer() || value.aggregate != 0) return words;
        if (memory.element == scalar::f16)
            return {half_conversion(parts_, value, in_memory(memory)) + "(" + words.words + ")", postfix};
        if (value.element != scalar::boolean) return words;
        if (value.lanes > 1 && !is_opencl())
            return {lane_wise_conversion(parts_, value, in_memory(memory)) + "(" + words.words + ")",
                    postfix};
        return {words.words + (value.lanes > 1 ? " != (uchar)0" : " != 0"), equality};
    }

    // Vectors.

    text compose(value_id v) {
        const ir::type t = at(v).result;
        const std::string list = operand_list(v);
        if (!is_opencl()) return {fmt::format("{}({})", type_of(t), list), postfix};
        const bool is_truth = t.element == scalar::boolean;
        return {fmt::format("{}({})({})", is_truth ? "-" : "", type_of(t), list), is_truth ? unary : postfix};
    }
    text swizzle(value_id v) {
        const instruction& i = at(v);
        const ir::type vector = at(f_.operand(v, 0)).result;
        const int count = i.result.lanes;
        if (count > 1 && !is_opencl())
            return {swizzle_function(parts_, vector, i.bits, count) + "(" + operand(v, 0, 0) + ")", postfix};
        const std::string words = operand(v, 0, postfix) + "." + lane_names(vector.lanes, i.bits, count);
        if (count == 1 && i.result.element == scalar::boolean && is_opencl())
            return {words + " != 0", equality};
        return {words, postfix};
    }
    text scalar_select(value_id v) {
        const ir::type result = at(v).result;
        // Compilers warn of (a < b) | c ? x : y.
        const std::string words = fmt::format("{} ? {} : {}", operand(v, 0, equality),
                                              operand(v, 1, ternary + 1), operand(v, 2, ternary + 1));
        // C promotes the two values to int, and clz or add_sat would be those of int.
        if (is_integer(result.element) && size_of(result.element) < 4)
            return {fmt::format("({})({})", type_of(result), words), unary};
        return {words, ternary};
    }

    text guard_words(value_id v, const char* symbol, int precedence) {
        const std::string left = operand(v, 0, logical_and);
        block_(at(v).blocks[0]);
        return {left + symbol + operand(v, 1, logical_and), precedence};
    }

    std::string call_words(value_id v) {
        const ir::function* callee = f_.callees[at(v).bits].get();
        std::string list;
        for (std::size_t k = 0; k < f_.operands_of(v).size(); ++k) {
            list += (k ? ", " : "") + operand(v, k, 0);
            const instruction& given = at(f_.operand(v, k));
            if (given.result.is_image() && samplers_.count(given.bits))
                list += ", " + samplers_.at(given.bits);
        }
        return parts_.functions.at(callee) + "(" + list + ")";
    }

    // Images.

    /// The operands of v from `first` on, without the last `but`.
    std::vector<std::string> operands_between(value_id v, std::size_t first, std::size_t but,
                                              int precedence) {
        std::vector<std::string> list;
        for (std::size_t k = first; k + but < f_.operands_of(v).size(); ++k)
            list.push_back(operand(v, k, precedence));
        return list;
    }
    text read_image(value_id v) {
        const instruction& image = at(f_.operand(v, 0));
        const auto own_sampler = samplers_.find(image.bits);
        const std::string name = operand(v, 0, primary);
        const bool by_position = f_.parameters[image.bits].use == ir::access::in_image;
        return spell_read_image(parts_, image.result, by_position, name,
                                own_sampler == samplers_.end() ? "" : own_sampler->second,
                                operands_between(v, 1, 0, 0));
    }
    std::string write_image_words(value_id v) {
        const std::string name = operand(v, 0, primary);
        const std::vector<std::string> position = operands_between(v, 1, 1, 0);
        return spell_write_image(parts_, at(f_.operand(v, 0)).result, name, position,
                                 operand(v, f_.operands_of(v).size() - 1, 0));
    }

    std::string atomic_words(value_id v) {
        const value_id pointer = f_.operand(v, 0);
        const atomic_spelling s =
            spell(parts_.language, parts_.takes_ptx, static_cast<ir::atomic_op>(at(v).detail),
                  pointee(at(pointer).result).element, at(pointer).result.where);
        for (const helper_function& h : s.helpers) parts_.use(h);
        if (!s.extension.empty()) parts_.extensions.insert(s.extension);
        std::string words = fmt::format("{}(&{}", s.name, element(v).words);
        for (std::size_t k = 2; k < f_.operands_of(v).size(); ++k) words += ", " + operand(v, k, 0);
        return words + ")";
    }

    std::string sync_words(value_id v, const sync_spelling& s) {
        for (const helper_function& h : s.helpers) parts_.use(h);
        std::vector<std::string> list;
        for (std::size_t k = 0; k < f_.operands_of(v).size(); ++k) list.push_back(operand(v, k, 0));
        return substitute(s.pattern, list);
    }

    text place_words(const instruction& i) const {
        std::string words;
        constexpr auto first_linear = static_cast<std::uint16_t>(ir::place::local_linear_id);
        const bool one_row = f_.dimensions == 1 || i.detail < first_linear;
        for (char c : one_row ? words_.places[i.detail] : words_.linear_places[i.detail - first_linear]) {
            if (c == '$')
                words += words_.axes[i.bits];
            else
                words += c;
        }
        return {words, words.find('*') == std::string::npos ? int(unary) : 11};
    }

    text conversion(value_id v) {
        const scalar from = at(f_.operand(v, 0)).result.element;
        const scalar to = at(v).result.element;
        if (at(f_.operand(v, 0)).result.is_pointer())
            return {fmt::format("({}){}", type_of(at(v).result), operand(v, 0, unary)), unary};
        if (at(v).result.lanes > 1) return vector_conversion(v, from, to);
        if (to == scalar::boolean) {
            const bool floating = is_floating(from);
            return {operand(v, 0, 9) + (!floating             ? " != 0"
                                        : from == scalar::f32 ? " != 0.0f"
                                                              : " != 0.0"),
                    8};
        }
        if (is_floating(from) && is_integer(to))
            return {
                parts_.use(saturating_conversion(parts_.language, from, to)) + "(" + operand(v, 0, 0) + ")",
                postfix};
        if (is_integer(to) && size_of(to) <= 4 && at(f_.operand(v, 0)).op == opcode::place &&
            name_[f_.operand(v, 0)].empty())
            return narrow_place(v);
        return {"(" + type_of(at(v).result) + ")" + operand(v, 0, unary), unary};
    }
    /// A work-item's place as a number of 32 bits or fewer: the wide arithmetic would end in the same bits.
    text narrow_place(value_id v) {
        std::string words = use(f_.operand(v, 0)).words;
        words.erase(0, words.find(')') + 1);  // "(long)"
        if (words[0] != '(' && words.find(' ') != std::string::npos) words = "(" + words + ")";
        return {"(" + type_of(at(v).result) + ")" + words, unary};
    }

    /// Whether a division or remainder must be guarded: the divisor is not a constant that cannot fault.
    bool needs_helper(value_id v) const {
        const auto what = static_cast<builtin>(at(v).detail);
        if ((what != builtin::div && what != builtin::rem) || is_floating(at(v).result.element)) return false;
        const instruction& divisor = at(f_.operand(v, 1));
        if (divisor.op == opcode::place) {
            const auto which = static_cast<ir::place>(divisor.detail);
            return which < ir::place::global_size || which == ir::place::global_offset ||
                   which == ir::place::local_linear_id || which == ir::place::sub_group_id;
        }
        if (divisor.op != opcode::constant) return true;
        const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * size_of(divisor.result.element));
        return divisor.bits == 0 || (is_signed(divisor.result.element) && divisor.bits == ones);
    }

    /// Whether it multiplies two numbers of 64 bits of which only the lower 32 are not 0.
    bool is_wide_product(value_id v) const {
        const instruction& i = at(v);
        if (i.op != opcode::builtin || static_cast<builtin>(i.detail) != builtin::mul) return false;
        if (i.result.lanes != 1 || i.result.element != scalar::u64) return false;
        const auto is_half = [&](value_id o) {
            if (at(o).op == opcode::constant) return at(o).bits >> 32 == 0;
            return at(o).op == opcode::convert && at(f_.operand(o, 0)).result.element == scalar::u32;
        };
        return is_half(f_.operand(v, 0)) && is_half(f_.operand(v, 1));
    }

    /// Whether it is the square root of an f32 that is kept between normal numbers, so that none is needed
    /// for others.
    bool is_root_of_normal(value_id v) const {
        const instruction& i = at(v);
        if (i.op != opcode::builtin || static_cast<builtin>(i.detail) != builtin::sqrt) return false;
        const value_id of = f_.operand(v, 0);
        const bool is_clamped =
            at(of).op == opcode::builtin && static_cast<builtin>(at(of).detail) == builtin::clamp;
        if (!is_clamped || i.result.element != scalar::f32 || i.result.lanes != 1) return false;
        const instruction &low = at(f_.operand(of, 1)), &high = at(f_.operand(of, 2));
        if (low.op != opcode::constant || high.op != opcode::constant) return false;
        const auto as_float = [](std::uint64_t bits) {
            return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        };
        return as_float(low.bits) >= 0x1p-100f && as_float(high.bits) <= 0x1p126f;
    }

    text builtin_words(value_id v) {
        const instruction& i = at(v);
        const auto what = static_cast<builtin>(i.detail);
        const ir::builtin_info& row = ir::info(what);
        const scalar type = at(f_.operand(v, 0)).result.element;
        if (i.result.element == scalar::f64) parts_.uses_f64 = true;
        if (has_lanes(v) && (!is_opencl() || needs_helper(v) || !has_vector_form(what, type)))
            return lane_wise_words(v, what);
        if (needs_helper(v)) {
            const std::string name = parts_.use(guarded_division(parts_.language, what, type));
            const std::string left = operand(v, 0, 0);
            return {fmt::format("{}({}, {})", name, left, operand(v, 1, 0)), postfix};
        }
        const bool gives_lanes_of_truth =
            i.result.lanes > 1 && i.result.element == scalar::boolean &&
            (row.takes == detail::rule::compare || row.takes == detail::rule::predicate);
        if (gives_lanes_of_truth) return lanes_of_truth(v, row);
        if (row.symbol && row.arity == 1) return {row.symbol + operand(v, 0, postfix), unary};
        if ((!is_opencl() || parts_.takes_ptx) && is_wide_product(v)) {
            const std::string name = parts_.use(wide_product(parts_.language));
            const std::string left = operand(v, 0, 0);
            return {fmt::format("{}({}, {})", name, left, operand(v, 1, 0)), postfix};
        }
        if ((!is_opencl() || parts_.takes_ptx) && is_root_of_normal(v))
            return {fmt::format("{}({})", parts_.use(root_of_normal(parts_.language)), operand(v, 0, 0)),
                    postfix};
        if (row.symbol) return operator_words(v, row);
        if (i.result.lanes >= 8 && ir::has_own_lanes(what, type))
            return {fmt::format("{}({})", elementary_function(parts_, what, i.result), operand_list(v)),
                    postfix};
        const builtin_spelling s = spell(parts_, what, type);
        if (s.pattern == "$0") return use(f_.operand(v, 0));
        for (const helper_function& h : s.helpers) parts_.use(h);
        std::vector<std::string> list;
        for (std::size_t k = 0; k < row.arity; ++k) list.push_back(operand(v, k, s.is_call ? 0 : postfix));
        return {substitute(s.pattern, list), s.is_call ? int(postfix) : 8};
    }

    // Truth values in lanes are chars in OpenCL C, 0 or -1; in memory they are bytes, 0 or 1.

    bool has_lanes(value_id v) const {
        const auto operands = f_.operands_of(v);
        return std::any_of(operands.begin(), operands.end(),
                           [&](value_id o) { return at(o).result.lanes > 1; });
    }
    /// Whether OpenCL C's row on vectors serves. PoCL's vectors have functions of their own, which round
    /// otherwise than those of scalars where the standard leaves that open; a user's vector gives in each
    /// lane what a scalar gives.
    bool has_vector_form(builtin what, scalar type) const {
        return ir::has_lanes_in_opencl(what, type) && (f_.is_widened || ir::info(what).ulp == 0);
    }
    /// A row lane after lane, by a function of ours.
    text lane_wise_words(value_id v, builtin what) {
        std::vector<ir::type> types;
        for (std::size_t k = 0; k < f_.operands_of(v).size(); ++k) {
            types.emplace_back(at(f_.operand(v, k)).result.element, at(v).result.lanes);
        }
        const std::string name = lane_wise_row(parts_, what, at(v).result, types);
        const ir::builtin_info& row = ir::info(what);
        if (row.symbol && !is_opencl())
            return row.arity == 1 ? text{row.symbol + operand(v, 0, postfix), unary} : operator_words(v, row);
        return {fmt::format("{}({})", name, operand_list(v)), postfix};
    }

    std::string lane_indices(value_id v) {
        const int lanes = at(v).result.lanes;
        std::string list;
        for (int k = 0; k < lanes; ++k) list += (k ? ", " : "") + std::to_string(k);
        return fmt::format("{} + ({})({})", operand(v, 0, add_precedence), type_of(at(v).result), list);
    }
    text vector_select(value_id v) {
        const ir::type result = at(v).result;
        if (!is_opencl()) {
            const std::string name = lane_wise_select(parts_, result);
            const std::string condition = operand(v, 0, 0), yes = operand(v, 1, 0);
            return {fmt::format("{}({}, {}, {})", name, condition, yes, operand(v, 2, 0)), postfix};
        }
        constexpr scalar masks[] = {scalar::i8, scalar::i16, scalar::i32, scalar::i32, scalar::i64};
        const ir::type mask(masks[size_of(result.element) / 2], result.lanes);
        const std::string condition = operand(v, 0, 0), yes = operand(v, 1, 0);
        return {
            fmt::format("select({}, {}, convert_{}({}))", operand(v, 2, 0), yes, type_of(mask), condition),
            postfix};
    }
    text vector_conversion(value_id v, scalar from, scalar to) {
        const std::string result = type_of(at(v).result);
        const bool saturates = is_floating(from) && is_integer(to);
        if (!is_opencl() || saturates) {
            const ir::type given(from, at(v).result.lanes);
            return {lane_wise_conversion(parts_, at(v).result, given) + "(" + operand(v, 0, 0) + ")",
                    postfix};
        }
        if (to == scalar::boolean)
            return {fmt::format("convert_{}({} != ({})0)", result, operand(v, 0, shift), type_of(from)),
                    postfix};
        if (from == scalar::boolean)
            return {fmt::format("convert_{}({} & (char)1)", result, operand(v, 0, unary)), postfix};
        return {fmt::format("convert_{}({})", result, operand(v, 0, 0)), postfix};
    }
    /// A comparison gives lanes as wide as its operands; all truth values are made chars.
    text lanes_of_truth(value_id v, const ir::builtin_info& row) {
        const std::string result = type_of(at(v).result);
        if (at(f_.operand(v, 0)).result.element == scalar::boolean && row.precedence == relation) {
            const std::string left = operand(v, 0, shift);  // true is -1 here: the order is turned round
            return {fmt::format("({} {}{} {})", left, row.symbol[0] == '<' ? '>' : '<', row.symbol + 1,
                                operand(v, 1, shift)),
                    primary};
        }
        if (row.symbol) return {fmt::format("convert_{}({})", result, operator_words(v, row).words), postfix};
        std::string list = operand(v, 0, 0);
        for (std::size_t k = 1; k < row.arity; ++k) list += ", " + operand(v, k, 0);
        return {fmt::format("convert_{}({}({}))", result, row.name, list), postfix};
    }

    text operator_words(value_id v, const ir::builtin_info& row) {
        const int own = row.precedence;
        // Mixed bit operations, shifts and comparisons get parentheses that C does not ask for but readers
        // do.
        const bool careful = own <= bitwise || own == shift;
        const bool compares = own == equality || own == relation;
        const bool is_shift = own == shift, literals = is_literal(v, 0) && is_literal(v, 1);
        const int least_left = careful ? int(unary) : compares ? int(shift) + 1 : own;
        const int least_right = careful ? int(unary) : compares ? int(shift) + 1 : own + 1;
        const std::string left =
            literals || is_shift ? operand(v, 0, least_left) : plain_operand(v, 0, least_left);
        std::string right = literals ? operand(v, 1, least_right) : plain_operand(v, 1, least_right);
        const bool is_scalar = at(v).result.lanes == 1;  // CUDA's operators on vectors mask by themselves
        if (is_shift && !words_.masks_shift_counts && is_scalar && !is_small_shift(v))
            right = fmt::format("({} & {})", right, 8 * size_of(at(v).result.element) - 1);
        if (is_shift && words_.masks_shift_counts && is_constant_beyond(v))
            right = fmt::format("{}", at(f_.operand(v, 1)).bits & (8 * size_of(at(v).result.element) - 1));
        return {fmt::format("{} {} {}", left, row.symbol, right), own};
    }
    bool is_small_shift(value_id v) const {
        const instruction& count = at(f_.operand(v, 1));
        return count.op == opcode::constant && count.bits < 8 * size_of(at(v).result.element);
    }
    bool is_constant_beyond(value_id v) const {
        return at(f_.operand(v, 1)).op == opcode::constant && !is_small_shift(v);
    }

    text literal(const instruction& i) {
        if (i.result.element == scalar::f64) parts_.uses_f64 = true;
        return emit::literal(parts_.language, i.result.is_pointer() ? scalar::nothing : i.result.element,
                             i.bits);
    }

    const ir::function& f_;
    std::string printed_name_;
    program_parts& parts_;
    const spelling& words_;
    std::vector<int> uses_;
    std::vector<int> operations_;
    std::vector<std::string> name_;  ///< of values that have one
    std::vector<bool> is_pending_;
    std::vector<value_id> pending_;
    std::vector<std::string> parameter_names_;
    std::map<std::uint64_t, std::string> samplers_;  ///< of image parameters that have one of their own
    std::vector<shifted_pointer> shifted_;
    name_set names_;
    std::string out_;
    int depth_ = 0;
};

}  // namespace

std::string print_function(const ir::function& f, const std::string& printed_name, program_parts& parts) {
    return function_printer(f, printed_name, parts).run();
}

}  // namespace balm::emit
