// Records print and check: values are split into words of 4 bytes, the operands of one instruction; host
// values become part of the format.

#include "balm/dsl/print.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "ir/passes/aggregate.hpp"
#include "kernel/print/print_format.hpp"

namespace balm::trace {

namespace {

using ir::print_argument;

/// The most words of one print: an instruction has at most 255 operands.
constexpr std::size_t most_words = 200;

class words_in {
public:
    void value(node v) {
        if (v.type.is_pointer())
            number(convert(v, scalar::u64));
        else if (ir::is_structure(v.type))
            structure(object(v));
        else if (v.type.lanes > 1)
            for (int lane = 0; lane < v.type.lanes; ++lane)
                number(swizzle(v, static_cast<std::uint64_t>(lane), 1));
        else
            number(v);
    }
    std::vector<node> words;

private:
    /// Loads each member separately: padding between members is not recorded.
    void structure(node pointer) {
        const trace::structure& s = ir::structure_of(pointee(pointer.type));
        for (std::uint32_t k = 0; k < s.member_count; ++k) {
            const node first = member_of(pointer, static_cast<int>(k));
            for (std::uint32_t e = 0; e < s.members[k].count; ++e) {
                const node index = constant(scalar::i32, e);
                if (ir::is_structure(s.members[k].what))
                    structure(offset(first, index));
                else
                    value(load(first, index, {}));
            }
        }
    }
    void number(node v) {
        switch (v.type.element) {
            case scalar::f32: words.push_back(apply(builtin::as_uint, &v, 1)); return;
            case scalar::f64: return halves(apply(builtin::as_ulong, &v, 1));
            case scalar::i64:
            case scalar::u64: return halves(convert(v, scalar::u64));
            default: words.push_back(convert(convert(v, scalar::i32), scalar::u32));
        }
    }
    void halves(node v) {
        words.push_back(convert(v, scalar::u32));
        const node operands[] = {v, constant(scalar::u64, 32)};
        words.push_back(convert(apply(builtin::shr, operands, 2), scalar::u32));
    }
};

print_argument argument_of(const print_value& given) {
    print_argument argument;
    argument.from = static_cast<print_argument::kind>(given.from);
    argument.what = given.from == print_value::kind::device ? given.value.type : type(given.type);
    argument.bits = given.bits;
    argument.text = given.text;
    return argument;
}

void record(bool is_check, std::string_view text, location where, const print_value* values,
            std::size_t count) {
    ir::print_format format;
    format.text = text;
    format.is_check = is_check;
    format.where = where;
    for (std::size_t k = 0; k < count; ++k) format.arguments.push_back(argument_of(values[k]));
    const auto known = kernels::checked(std::move(format));
    if (known->words > most_words)
        throw trace_error(
            fmt::format("{}:{}: the values take {} bytes, but one print or check can pass at most {}; split "
                        "it into several",
                        where.file, where.line, 4 * known->words, 4 * most_words));
    words_in taken;
    for (std::size_t k = 0; k < count; ++k)
        if (values[k].from == print_value::kind::device) taken.value(values[k].value);
    print(known, taken.words.data(), taken.words.size());
}

}  // namespace

void print(std::string_view format, location where, const print_value* values, std::size_t count) {
    record(false, format, where, values, count);
}

void report_failed_check(std::string_view format, location where, const print_value* values,
                         std::size_t count) {
    record(true, format, where, values, count);
}

}  // namespace balm::trace
