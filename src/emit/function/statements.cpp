// Prints the statements of a plan, block by block, in order.

#include <fmt/format.h>

#include "emit/folding.hpp"
#include "emit/function/expressions.hpp"
#include "emit/function/printer.hpp"
#include "emit/function/signature.hpp"
#include "emit/lanes.hpp"
#include "emit/literal.hpp"
#include "emit/ptx.hpp"

namespace balm::emit {

namespace {

using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;

class function_printer {
public:
    function_printer(const ir::function& f, const std::string& printed_name, program_parts& parts)
        : f_(f),
          parts_(parts),
          words_(parts.language.say),
          plan_(plan_folding(f)),
          names_(f, parts.names),
          signature_(print_signature(f, printed_name, parts, names_)),
          expressions_(f, parts, names_, signature_.samplers),
          may_lose_stores_(parts.language.has.has_ptx && ptx::may_lose_stores(f)) {}

    std::string run() {
        out_ = signature_.text + " {\n";
        depth_ = 1;
        for (const std::string& pointer : signature_.pointers) line(pointer);
        depth_ = 0;
        block_(0);
        return out_ + "}\n";
    }

private:
    const instruction& at(value_id v) const { return f_.code[v]; }
    std::string type_of(ir::type t) { return type_name(parts_, t); }
    bool has_statements(block_id b) const { return !plan_.statements[b].empty(); }
    std::string operand(value_id v, std::size_t k) { return expressions_.operand(v, k, 0); }

    void line(const std::string& words) {
        out_.append(static_cast<std::size_t>(depth_) * 4, ' ');
        out_ += words;
        out_ += '\n';
    }
    void block_(block_id b) {
        ++depth_;
        for (value_id v : plan_.statements[b]) statement(v);
        --depth_;
    }

    void statement(value_id v) {
        const instruction& i = at(v);
        switch (i.op) {
            case opcode::cell: {
                const std::string start = operand(v, 0);
                return line(fmt::format("{} {} = {};", type_of(i.result), names_.declare(v), start));
            }
            case opcode::object: return object(v);
            case opcode::write_cell: return write(v, names_[f_.operand(v, 0)], 1);
            case opcode::store: {
                if (const std::string call = expressions_.streaming_store(v); !call.empty())
                    line(call + ";");
                else
                    write(v, expressions_.element(v).words, 2);
                return tell_of_write(v, 0, ptx::handed::to_store);
            }
            case opcode::prefetch:
                return line(fmt::format("{}({});", parts_.use(parts_.language.prefetch(parts_.language)),
                                        expressions_.address_of_access(v)));
            case opcode::call: {
                value(v);
                for (std::size_t k = 0; k < i.operand_count; ++k)
                    tell_of_write(v, k, ptx::handed::to_function);
                return;
            }
            case opcode::logic_and:
            case opcode::logic_or: return has_statements(i.blocks[0]) ? guard(v) : value(v);
            case opcode::if_: return branch(v, "");
            case opcode::while_: return while_loop(v);
            case opcode::for_: return counted_loop(v);
            case opcode::break_: return line("break;");
            case opcode::continue_: return line("continue;");
            case opcode::return_:
                return line(f_.operand(v, 0) == ir::none ? "return;" : "return " + operand(v, 0) + ";");
            case opcode::fence: return line(parts_.language.fence(static_cast<trace::memory_scope>(i.bits)));
            case opcode::barrier: {
                if (i.operand_count > 0) return value(v);
                const std::string_view words[] = {words_.local_barrier, words_.global_barrier,
                                                  words_.full_barrier};
                return line(std::string(words[i.bits - 1]));
            }
            default: return value(v);
        }
    }

    /// Declares a value, which is not written again, or prints an effect whose result is unused.
    void value(value_id v) {
        const std::string words = expressions_.expression(v).words;
        if (plan_.forms[v] == form::unused) return line(words + ";");
        const ir::type t = at(v).result;
        const std::string type = t.is_pointer() ? type_of(t) + " const" : "const " + type_of(t);
        line(fmt::format("{} {} = {};", type, names_.declare(v), words));
    }

    void object(value_id v) {
        const instruction& i = at(v);
        const std::string type = type_of(in_memory(pointee(i.result)));
        if (i.result.where == space::local)
            return line(fmt::format("{}{} {}[{}];", words_.local_array, type, names_.declare(v), i.bits));
        const bool begins_as_zeros = i.detail != ir::array && f_.operand(v, 0) == ir::none;
        const std::string start = begins_as_zeros               ? std::string(words_.zeroed)
                                  : i.detail == ir::one_element ? " = " + expressions_.stored(v, 0)
                                                                : "";
        const std::string count = i.detail == ir::one_element ? "" : fmt::format("[{}]", i.bits);
        line(fmt::format("{} {}{}{};", type, names_.declare(v), count, start));
    }

    // ---- writes

    /// Whether `old` is the value that the writer overwrites.
    bool is_overwritten(value_id old, value_id writer) const {
        if (names_.has(old)) return false;
        if (at(writer).op == opcode::write_cell)
            return at(old).op == opcode::read_cell && f_.operand(old, 0) == f_.operand(writer, 0);
        if (at(old).op != opcode::load || f_.operand(old, 0) != f_.operand(writer, 0)) return false;
        const value_id index = f_.operand(writer, 1);
        const bool is_plain = names_.has(index) || at(index).op == opcode::constant;
        return is_plain && f_.operand(old, 1) == index &&
               pointee(at(f_.operand(old, 0)).result) == at(old).result;
    }
    /// `target = value;`, or `target += value;` if the value is `target + …`; or `target.xy = value;`
    void write(value_id v, const std::string& target, std::size_t value_position) {
        const value_id value = f_.operand(v, value_position);
        if (is_write_of_lanes(v, value)) {
            const instruction& lanes = at(value);
            const int count = at(f_.operand(value, 1)).result.lanes;
            return line(fmt::format("{}.{} = {};", target, lane_names(lanes.result.lanes, lanes.bits, count),
                                    operand(value, 1)));
        }
        const char* const symbol = expressions_.plain_operator(value);
        const bool is_compound = symbol != nullptr && is_overwritten(f_.operand(value, 0), v) &&
                                 at(f_.operand(value, 0)).result == at(value).result;
        if (is_compound)
            line(fmt::format("{} {}= {};", target, symbol, expressions_.plain_operand(value, 1, 0)));
        else
            line(fmt::format("{} = {};", target, expressions_.stored(v, value_position)));
    }
    /// What may have been written through operand k, for compilers that would overlook it.
    void tell_of_write(value_id writer, std::size_t k, ptx::handed how) {
        if (!may_lose_stores_ || !ptx::loses_stores(f_, f_.operand(writer, k), how)) return;
        const dialect& language = parts_.language;
        const std::string address = how == ptx::handed::to_store ? expressions_.address_of_access(writer)
                                                                 : expressions_.operand(writer, k, unary);
        line(fmt::format("{}(({}){});", parts_.use(ptx::written(language)), type_name(language, scalar::u64),
                         address));
    }
    /// Whether a variable is written with some of its lanes replaced.
    bool is_write_of_lanes(value_id writer, value_id value) const {
        const instruction& i = at(value);
        if (at(writer).op != opcode::write_cell || i.op != opcode::insert || names_.has(value)) return false;
        const bool takes_several =
            parts_.language.has.has_vectors || at(f_.operand(value, 1)).result.lanes == 1;
        return is_overwritten(f_.operand(value, 0), writer) && takes_several &&
               i.result.element != scalar::boolean;
    }

    // ---- control flow

    /// Evaluates the right operand only if the left one requires it.
    void guard(value_id v) {
        const std::string left = operand(v, 0);
        const std::string& name = names_.declare(v);
        line(fmt::format("bool {} = {};", name, left));
        line(fmt::format("if ({}{}) {{", at(v).op == opcode::logic_and ? "" : "!", name));
        block_(at(v).blocks[0]);
        ++depth_;
        line(fmt::format("{} = {};", name, operand(v, 1)));
        --depth_;
        line("}");
    }

    /// `ahead` is the text before `if` on its line.
    void branch(value_id v, const std::string& ahead) {
        const block_id then = at(v).blocks[0], otherwise = at(v).blocks[1];
        const std::string condition = operand(v, 0);
        if (!has_statements(then)) {
            line(fmt::format("{}if (!({})) {{", ahead, condition));
            block_(otherwise);
            return line("}");
        }
        line(fmt::format("{}if ({}) {{", ahead, condition));
        block_(then);
        if (!has_statements(otherwise)) return line("}");
        const ir::block& rest = plan_.statements[otherwise];
        if (rest.size() == 1 && at(rest[0]).op == opcode::if_) return branch(rest[0], "} else ");
        line("} else {");
        block_(otherwise);
        line("}");
    }

    void while_loop(value_id v) {
        const block_id condition = at(v).blocks[0];
        if (has_statements(condition)) {
            line("while (true) {");
            block_(condition);
            ++depth_;
            line(fmt::format("if (!({})) break;", operand(v, 0)));
            --depth_;
        } else {
            line(fmt::format("while ({}) {{", operand(v, 0)));
        }
        block_(at(v).blocks[1]);
        line("}");
    }

    void counted_loop(value_id v) {
        const value_id step = f_.operand(v, 2);
        const std::string from = expressions_.plain_operand(v, 0, 0);
        const std::string to = expressions_.plain_operand(v, 1, shift);
        const std::string by = expressions_.plain_operand(v, 2, unary);
        const std::string& k = names_.declare(v);
        const std::string start = fmt::format("{} {} = {};", type_of(at(v).result), k, from);
        if (at(v).bits != 0) return loop_to_end(v, start);
        if (at(v).detail == ir::scalar_loop) line("#pragma clang loop vectorize(disable)");
        line(fmt::format("for ({} {}; {}) {{", start, goes_on(k, to, step, by), advance(k, step, by)));
        block_(at(v).blocks[0]);
        line("}");
    }
    /// A loop that may end within a step of the end of its type's range, which its variable must not exceed:
    /// it counts its iterations, so that compilers know their number, and steps between them.
    void loop_to_end(value_id v, const std::string& start) {
        const scalar type = at(v).result.element, counter = size_of(type) == 8 ? scalar::u64 : scalar::u32;
        const std::string turns = names_.unique("turns"), &k = names_[v];
        line(start);
        line(fmt::format("{} {} = {}({}, {}, {});", type_of(counter), turns, count_of_turns(type, counter), k,
                         operand(v, 1), operand(v, 2)));
        if (at(v).detail == ir::scalar_loop) {
            line(fmt::format("if ({} > 0)", turns));
            line("#pragma clang loop vectorize(disable)");
            line("do {");
        } else {
            line(fmt::format("if ({} > 0) do {{", turns));
        }
        block_(at(v).blocks[0]);
        line(fmt::format("}} while (--{} > 0 && ({} += {}, true));", turns, k,
                         expressions_.plain_operand(v, 2, unary)));
    }
    /// The name of the function that counts a loop's iterations; none by a step of 0.
    std::string count_of_turns(scalar type, scalar counter) {
        const std::string t = type_of(type), u = type_of(counter);
        const std::string up =
            fmt::format("step > 0 && from < to ? (({0})to - ({0})from - 1) / ({0})step + 1 : 0;", u);
        const std::string down = fmt::format(
            "if (step < 0) return from > to ? (({0})from - ({0})to - 1) / (0 - ({0})step) + 1 : 0;\n    ", u);
        const helper_function made = make_helper(
            parts_.language, fmt::format("balm_turns_{}", to_string(type)), u,
            fmt::format("{0} from, {0} to, {0} step", t), (is_signed(type) ? down : "") + "return " + up);
        parts_.use(made);
        return made.name;
    }
    /// Whether it is a work-group's size as an i32, which can hold it.
    bool is_group_size(value_id v) const {
        if (at(v).op != opcode::convert || at(v).result != ir::type(scalar::i32)) return false;
        const ir::instruction& from = at(f_.operand(v, 0));
        const auto what = static_cast<ir::place>(from.detail);
        return from.op == opcode::place &&
               (what == ir::place::local_size || what == ir::place::local_linear_size);
    }
    /// The sign of a constant step; 0 if it is known only on the device.
    int sign_of(value_id step) const {
        if (at(step).op == opcode::place || is_group_size(step)) return 1;
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

    const ir::function& f_;
    program_parts& parts_;
    const words& words_;
    const folding_plan plan_;
    value_names names_;
    const signature signature_;
    expression_printer expressions_;
    const bool may_lose_stores_;
    std::string out_;
    int depth_ = 0;
};

}  // namespace

std::string print_function(const ir::function& f, const std::string& printed_name, program_parts& parts) {
    return function_printer(f, printed_name, parts).run();
}

}  // namespace balm::emit
