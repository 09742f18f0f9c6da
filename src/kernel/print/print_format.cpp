#include "kernel/print/print_format.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <utility>
#include <vector>

#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "ir/passes/aggregate.hpp"

namespace balm::kernels {

namespace {

using ir::print_argument;
using ir::print_format;
using trace::type;

/// A vector or structure to format.
struct composite {
    type what;
    const std::uint32_t* words;
};

std::size_t words_of(scalar s) { return size_of(s) == 8 ? 2 : 1; }

std::uint64_t bits_in(scalar s, const std::uint32_t* words) {
    return words_of(s) == 2 ? std::uint64_t{words[1]} << 32 | words[0] : words[0];
}

/// Calls use with the value, in the type that {fmt} formats.
template <class Use>
void with_number(scalar s, std::uint64_t bits, Use&& use) {
    switch (s) {
        case scalar::boolean: return use(bits != 0);
        case scalar::i8: return use(static_cast<std::int8_t>(bits));
        case scalar::u8: return use(static_cast<std::uint8_t>(bits));
        case scalar::i16: return use(static_cast<std::int16_t>(bits));
        case scalar::u16: return use(static_cast<std::uint16_t>(bits));
        case scalar::i32: return use(static_cast<std::int32_t>(bits));
        case scalar::u32: return use(static_cast<std::uint32_t>(bits));
        case scalar::i64: return use(static_cast<std::int64_t>(bits));
        case scalar::u64: return use(bits);
        case scalar::f64: return use(std::bit_cast<double>(bits));
        default: return use(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));  // f16 as f32
    }
}

class composite_writer {
public:
    composite_writer(fmt::appender out, const std::string& specification, const std::uint32_t* words)
        : out_(out), leaf_("{:" + specification + "}"), words_(words) {}

    fmt::appender write(type what) {
        if (ir::is_structure(what))
            structure(ir::structure_of(what));
        else if (what.lanes > 1)
            list('(', what.lanes, type(what.element), ')');
        else
            number(what.element);
        return out_;
    }

private:
    void structure(const trace::structure& s) {
        *out_++ = '{';
        for (std::uint32_t k = 0; k < s.member_count; ++k) {
            const trace::member& m = s.members[k];
            out_ = fmt::format_to(out_, "{}{}: ", k == 0 ? "" : ", ", m.name);
            if (m.count > 1)
                list('[', m.count, m.what, ']');
            else
                write(m.what);
        }
        *out_++ = '}';
    }
    void list(char open, std::uint32_t count, type each, char close) {
        *out_++ = open;
        for (std::uint32_t k = 0; k < count; ++k) {
            if (k > 0) out_ = fmt::format_to(out_, ", ");
            write(each);
        }
        *out_++ = close;
    }
    void number(scalar s) {
        with_number(s, bits_in(s, words_),
                    [&](auto value) { out_ = fmt::vformat_to(out_, leaf_, fmt::make_format_args(value)); });
        words_ += words_of(s);
    }

    fmt::appender out_;
    std::string leaf_;
    const std::uint32_t* words_;
};

using argument_list = fmt::dynamic_format_arg_store<fmt::format_context>;

}  // namespace

}  // namespace balm::kernels

template <>
struct fmt::formatter<balm::kernels::composite> {
    constexpr auto parse(format_parse_context& context) {
        const auto* end = context.begin();
        for (; end != context.end() && *end != '}'; ++end)
            if (*end == '{')
                throw format_error(
                    "a width or precision from an argument is supported only for single numbers");
        specification = {context.begin(), static_cast<std::size_t>(end - context.begin())};
        return end;
    }
    auto format(const balm::kernels::composite& c, format_context& context) const {
        return balm::kernels::composite_writer(context.out(), std::string(specification), c.words)
            .write(c.what);
    }
    std::string_view specification;
};

namespace balm::kernels {

namespace {

void append(const print_argument& argument, const std::uint32_t*& words, argument_list& list) {
    const auto push = [&](auto value) { list.push_back(value); };
    switch (argument.from) {
        case print_argument::kind::text: list.push_back(argument.text); return;
        case print_argument::kind::character: push(static_cast<char>(argument.bits)); return;
        case print_argument::kind::number: with_number(argument.what.element, argument.bits, push); return;
        case print_argument::kind::device: break;
    }
    const type what = argument.what;
    if (what.is_pointer())
        push(std::bit_cast<const void*>(static_cast<std::uintptr_t>(bits_in(scalar::u64, words))));
    else if (what.is_scalar())
        with_number(what.element, bits_in(what.element, words), push);
    else
        push(composite{what, words});
    words += kernels::words_of(what);
}

/// The largest width and precision: a record's text is built in memory, whatever its format asks for.
constexpr std::uint64_t longest_field = 4096;

std::string too_long(std::uint64_t size) {
    return fmt::format("a width or precision of {} is more than {}", size, longest_field);
}

std::uint64_t bits_of(const print_argument& argument, const std::uint32_t* words) {
    return argument.from == print_argument::kind::device ? bits_in(argument.what.element, words)
                                                         : argument.bits;
}

/// Throws fmt::format_error for a width or precision that is too large. {fmt} refuses those that are not
/// numbers.
void check_size(const print_argument& argument, const std::uint32_t* words) {
    const bool is_number =
        argument.from == print_argument::kind::device || argument.from == print_argument::kind::number;
    if (!is_number || !argument.what.is_scalar() || !is_integer(argument.what.element)) return;
    with_number(argument.what.element, bits_of(argument, words), [](auto value) {
        if (value > 0 && static_cast<std::uint64_t>(value) > longest_field)
            throw fmt::format_error(too_long(static_cast<std::uint64_t>(value)));
    });
}

std::string fill(const print_format& format, const std::uint32_t* words) {
    argument_list list;
    for (std::size_t k = 0; k < format.arguments.size(); ++k) {
        const bool is_size = std::find(format.sizes.begin(), format.sizes.end(), k) != format.sizes.end();
        if (is_size) check_size(format.arguments[k], words);
        append(format.arguments[k], words, list);
    }
    return fmt::vformat(format.text, list);
}

/// The arguments that the fields of a text refer to; {fmt} has not yet checked that the text is a valid
/// format.
struct fields {
    std::set<std::size_t> used;      ///< arguments of any field
    std::set<std::size_t> sizes;     ///< those within specifications: widths and precisions
    std::uint64_t longest_size = 0;  ///< of the widths and precisions in the text
    bool fills_with_brace = false;   ///< {:}>5}: versions of {fmt} differ on where this field ends
};

/// Whether the specification that begins at `at` has a brace among the bytes that {fmt} uses as its fill: as
/// many as the first byte announces.
bool is_filled_with_brace(const std::string& text, std::size_t at) {
    if (at >= text.size()) return false;
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t bytes = lead < 0xc0 || lead >= 0xf8 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    const bool aligns =
        at + bytes < text.size() && std::string_view("<>^").find(text[at + bytes]) != std::string_view::npos;
    return aligns && text.substr(at, bytes).find_first_of("{}") != std::string::npos;
}

fields fields_of(const std::string& text) {
    fields found;
    std::size_t next = 0;
    int depth = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const char c = text[k];
        const auto number_from = [&](std::size_t& at) {
            std::uint64_t n = 0;
            for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
                n = std::min<std::uint64_t>(10 * n + static_cast<std::uint64_t>(text[at] - '0'),
                                            std::uint64_t{1} << 40);
            return n;
        };
        if (depth == 0 && (c == '{' || c == '}') && k + 1 < text.size() && text[k + 1] == c) {
            ++k;  // an escaped brace
        } else if (c == '}') {
            depth = std::max(depth - 1, 0);
        } else if (c == '{') {
            std::size_t end = k + 1;
            const std::uint64_t number = number_from(end);
            const std::size_t which = end > k + 1 ? number : next++;
            found.used.insert(which);
            if (++depth > 1) found.sizes.insert(which);
            k = end - 1;
        } else if (depth == 1 && c == ':' && is_filled_with_brace(text, k + 1)) {
            found.fills_with_brace = true;
        } else if (depth > 0 && c >= '0' && c <= '9') {
            found.longest_size = std::max(found.longest_size, number_from(k));
            --k;
        }
    }
    return found;
}

std::string type_of(const print_argument& argument) {
    switch (argument.from) {
        case print_argument::kind::text: return "text";
        case print_argument::kind::character: return "char";
        default: return ir::to_string(argument.what);
    }
}

[[noreturn]] void refuse(const print_format& format, const std::string& why) {
    std::string types;
    for (const print_argument& each : format.arguments) types += (types.empty() ? "" : ", ") + type_of(each);
    std::string text;
    for (const char c : format.text) text += c == '\0' ? "\\0" : std::string(1, c);  // what() would end there
    throw trace_error(fmt::format("{}:{}: the format \"{}\" does not fit its arguments ({}): {}",
                                  format.where.file, format.where.line, text, types.empty() ? "none" : types,
                                  why));
}

void check_format(print_format& format) {
    const fields found = fields_of(format.text);
    if (found.longest_size > longest_field) refuse(format, too_long(found.longest_size));
    if (found.fills_with_brace) refuse(format, "{:} before <, > or ^ is ambiguous; write {}");
    format.sizes.assign(found.sizes.begin(), found.sizes.end());
    const std::vector<std::uint32_t> zeros(format.words + 1);
    try {
        fill(format, zeros.data());
    } catch (const fmt::format_error& fault) {
        const std::string why = fault.what();
        refuse(format, why == "argument not found" ? "it needs more arguments than were given" : why);
    }
    for (std::size_t k = 0; k < format.arguments.size(); ++k)
        if (found.used.count(k) == 0) refuse(format, fmt::format("it does not use argument {}", k + 1));
}

// Writes the length ahead of each text: a text may contain the separators.
std::string key_of(const print_format& format) {
    std::string key = fmt::format("{}:{}:{}:{}:{}", format.is_check, format.where.line, format.where.file,
                                  format.text.size(), format.text);
    for (const print_argument& each : format.arguments)
        key += fmt::format("\n{}:{}:{}:{}:{}", static_cast<int>(each.from), ir::code(each.what), each.bits,
                           each.text.size(), each.text);
    return key;
}

}  // namespace

std::size_t words_of(type what) noexcept {
    if (what.is_pointer()) return words_of(scalar::u64);
    if (!ir::is_structure(what)) return what.lanes * words_of(what.element);
    const trace::structure& s = ir::structure_of(what);
    std::size_t sum = 0;
    for (std::uint32_t k = 0; k < s.member_count; ++k)
        sum += s.members[k].count * words_of(s.members[k].what);
    return sum;
}

std::shared_ptr<const print_format> checked(print_format format) {
    for (const print_argument& each : format.arguments)
        if (each.from == print_argument::kind::device) format.words += words_of(each.what);
    check_format(format);
    format.key = key_of(format);
    return std::make_shared<const print_format>(std::move(format));
}

std::string formatted(const print_format& format, const std::uint32_t* words) {
    try {
        return fill(format, words);
    } catch (const fmt::format_error& fault) {  // a width from an argument that is negative or too long
        return fmt::format("[\"{}\" cannot be formatted: {}]", format.text, fault.what());
    }
}

}  // namespace balm::kernels
