// Finds declarations by brackets and semicolons; types are read from words alone.

#include "text/outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace balm::opencl_c {

namespace {

constexpr std::string_view plain_qualifiers[] = {
    "const",     "volatile",   "restrict",   "__restrict",  "__restrict__", "static",
    "inline",    "extern",     "kernel",     "__kernel",    "__inline",     "__inline__",
    "__private", "private",    "__const",    "auto",        "register",     "__volatile",
    "read_only", "write_only", "read_write", "__read_only", "__write_only", "__read_write"};

bool is_qualifier(const token& t) {
    return address_of(t) != address::none ||
           std::find(std::begin(plain_qualifiers), std::end(plain_qualifiers), t.words) !=
               std::end(plain_qualifiers);
}

struct named_scalar {
    std::string_view name;
    scalar type;
    bool is_no_parameter = false;
};
/// Types of a single word. Those that a kernel's parameter must not have: OpenCL 1.2, 6.9.k.
constexpr named_scalar short_names[] = {{"uchar", scalar::u8},
                                        {"ushort", scalar::u16},
                                        {"uint", scalar::u32},
                                        {"ulong", scalar::u64},
                                        {"float", scalar::f32},
                                        {"double", scalar::f64},
                                        {"half", scalar::f16, true},
                                        {"bool", scalar::boolean, true},
                                        {"_Bool", scalar::boolean, true},
                                        {"size_t", scalar::u64, true},
                                        {"ptrdiff_t", scalar::i64, true},
                                        {"intptr_t", scalar::i64, true},
                                        {"uintptr_t", scalar::u64, true},
                                        {"void", scalar::nothing}};

/// Types of OpenCL C that have no parameter type in balm::source_kernel and source_function.
constexpr std::string_view foreign_names[] = {"image1d_t",
                                              "image1d_buffer_t",
                                              "image1d_array_t",
                                              "image2d_t",
                                              "image2d_array_t",
                                              "image3d_t",
                                              "image2d_depth_t",
                                              "image2d_array_depth_t",
                                              "pipe",
                                              "__pipe",
                                              "sampler_t",
                                              "event_t",
                                              "queue_t",
                                              "clk_event_t",
                                              "reserve_id_t",
                                              "ndrange_t"};

bool opens(const token& t) { return t.is("(") || t.is("[") || t.is("{"); }
bool closes(const token& t) { return t.is(")") || t.is("]") || t.is("}"); }

bool is_closed_by(const token& opening, const token& t) {
    return t.is(opening.is("(") ? ")" : opening.is("[") ? "]" : "}");
}

/// Compilers recurse into brackets, into prefixes (!!!a, (int)(int)a) and into what associates to the right
/// (a ? b : c ? d : e, a = b = c, else if … else if), and they run in this process. The contents of brackets
/// are found by matching them, so brackets must match.
void check_nesting(const tokens& list) {
    struct level {
        const token* bracket = nullptr;
        int prefixes = 0, choices = 0, statements = 0;
    };
    constexpr std::string_view prefixes[] = {"!", "~", "+", "-", "*", "&", "++", "--", ")", "sizeof"};
    constexpr std::string_view choices[] = {"?", "="};
    constexpr std::string_view statements[] = {"if", "for", "while", "do"};
    const auto is_among = [](const token& t, const auto& words) {
        return t.what != kind::string &&
               std::find(std::begin(words), std::end(words), t.words) != std::end(words);
    };
    std::vector<level> open(1);
    for (std::size_t k = 0; k + 1 < list.size(); ++k) {
        const token& t = list[k];
        if (t.words.starts_with('#') && !t.starts_line && t.what != kind::string)
            refuse(t.where, fmt::format("unexpected {} in the middle of a line", t.words));
        if (closes(t)) {
            if (open.size() == 1) refuse(t.where, fmt::format("unmatched {}", t.words));
            if (!is_closed_by(*open.back().bracket, t))
                refuse(t.where, fmt::format("{} does not match the {} in line {}", t.words,
                                            open.back().bracket->words, open.back().bracket->where.line));
            open.pop_back();
        }
        level& here = open.back();
        if (is_among(t, prefixes))
            ++here.prefixes;
        else if (!opens(t))
            here.prefixes = 0;
        if (is_among(t, choices)) ++here.choices;
        if (is_among(t, statements)) ++here.statements;
        const bool ends = t.is(";") || t.is("}");
        if (ends || t.is(",")) here.choices = 0;
        if (ends && !list[k + 1].is("else")) here.statements = 0;
        if (here.prefixes > limits::prefixes)
            refuse_excess(t.where, fmt::format("more than {} prefixes (!, -, casts) before one operand",
                                               limits::prefixes));
        if (here.choices > limits::choices)
            refuse_excess(t.where,
                          fmt::format("more than {} of ?: and = in one expression", limits::choices));
        if (here.statements > limits::statements)
            refuse_excess(t.where,
                          fmt::format("more than {} statements (if, else if, for, while, do) are nested "
                                      "without braces",
                                      limits::statements));
        if (!opens(t)) continue;
        if (open.size() > limits::brackets)
            refuse_excess(t.where,
                          fmt::format("brackets are nested deeper than {} levels", limits::brackets));
        open.push_back({&t});
    }
}

/// Reads the outermost declarations, one at a time.
class reader {
public:
    explicit reader(const tokens& list) : list_(list), end_(list.size() - 1) {}

    outline run() {
        std::size_t at = 0;
        while (at < end_) {
            if (list_[at].is(";") || list_[at].is("#")) {
                at = list_[at].is(";") ? at + 1 : end_of_line(at);
                continue;
            }
            at = declaration_(at);
        }
        return std::move(result_);
    }

private:
    std::size_t end_of_line(std::size_t at) const {
        do ++at;
        while (at < end_ && !list_[at].starts_line);
        return at;
    }

    std::size_t declaration_(std::size_t first) {
        std::size_t name = 0, open = 0, close = 0;
        bool has_value = false, has_braces = false;
        for (std::size_t at = first; at < end_;) {
            const token& t = list_[at];
            if (t.is_attribute()) {
                at = behind_bracket(list_, at + 1, end_);
                continue;
            }
            if (t.is(";")) {
                finish({first, at + 1}, name, open, close, has_value, has_braces);
                return at + 1;
            }
            if (t.is("=")) has_value = true;
            if (t.is("(") && !open && !has_value && at > first && list_[at - 1].is_word()) {
                name = at - 1;
                open = at;
                close = behind_bracket(list_, at, end_) - 1;
                at = close + 1;
                continue;
            }
            if (t.is("{")) {
                const std::size_t behind = behind_bracket(list_, at, end_);
                if (open && !has_value && !has_braces) {
                    function_({first, behind}, name, open, close, {at + 1, behind - 1});
                    return behind;
                }
                has_braces = true;
                at = behind;
                continue;
            }
            at = t.is("(") || t.is("[") ? behind_bracket(list_, at, end_) : at + 1;
        }
        refuse(list_[first].where, "unterminated declaration; a ; or } is missing");
    }

    void finish(range all, std::size_t name, std::size_t open, std::size_t close, bool has_value,
                bool has_braces) {
        const bool is_typedef = list_[all.first].is("typedef");
        if (open && !has_value && !is_typedef && !has_braces)
            return function_(all, name, open, close, {0, 0});
        if (is_typedef) remember_typedef(all);
        declaration d;
        d.all = all;
        const bool is_tagged = std::any_of(at(all.first), at(all.last), [](const token& t) {
            return t.is("struct") || t.is("union") || t.is("enum");
        });
        const bool declares_nothing = only_attributes_behind_braces(all) || all.last - all.first == 3;
        d.is_type = is_typedef || (is_tagged && declares_nothing && !has_value);
        result_.others.push_back(d);
    }
    bool only_attributes_behind_braces(range all) const {
        std::size_t k = all.first;
        while (k < all.last && !list_[k].is("{")) ++k;
        if (k == all.last) return false;
        k = behind_bracket(list_, k, all.last);
        while (k < all.last && list_[k].is_attribute()) k = behind_bracket(list_, k + 1, all.last);
        return list_[k].is(";");
    }
    /// typedef float real, *reals;
    void remember_typedef(range all) {
        std::size_t k = all.first + 1;
        const declared_type base = specifiers(k, all.last - 1);
        while (k + 1 < all.last) {
            declared_type type = base;
            std::string name;
            declarator(k, all.last - 1, type, name, false);
            if (!name.empty()) result_.typedefs[name] = type;
            while (k + 1 < all.last && !list_[k].is(","))
                k = opens(list_[k]) ? behind_bracket(list_, k, all.last) : k + 1;
            ++k;
        }
    }
    tokens::const_iterator at(std::size_t position) const {
        return list_.begin() + static_cast<std::ptrdiff_t>(position);
    }

    void function_(range all, std::size_t name, std::size_t open, std::size_t close, range body) {
        function f;
        f.name = list_[name].words;
        f.where = list_[name].where;
        f.name_at = name;
        f.all = all;
        f.list = {open + 1, close};
        f.body = body;
        f.is_definition = body.last != 0;
        for (std::size_t k = all.first; k < name; ++k) {
            if (list_[k].is_attribute()) {
                attribute(k + 1, f);
                k = behind_bracket(list_, k + 1, end_) - 1;
            } else if (list_[k].is("kernel") || list_[k].is("__kernel")) {
                f.is_kernel = true;
            }
        }
        for (std::size_t k = close + 1; k < all.last && !list_[k].is("{"); ++k)
            if (list_[k].is_attribute()) attribute(k + 1, f);
        std::size_t at = all.first;
        f.result = specifiers(at, name);
        std::string no_name;
        declarator(at, name, f.result, no_name, false);
        std::size_t first = open + 1;
        for (std::size_t k = first; k <= close; ++k) {
            if (k < close && (list_[k].is("(") || list_[k].is("["))) {
                k = behind_bracket(list_, k, end_) - 1;
                continue;
            }
            if (k < close && !list_[k].is(",")) continue;
            const bool is_void = k == close && first == open + 1 && k == first + 1 && list_[first].is("void");
            if (k > first && !is_void) f.parameters.push_back(parameter_({first, k}));
            first = k + 1;
        }
        if (f.is_definition) result_.definitions.emplace(f.name, result_.functions.size());
        result_.functions.push_back(std::move(f));
    }
    void attribute(std::size_t open, function& f) const {
        const std::size_t behind = behind_bracket(list_, open, end_);
        for (std::size_t k = open; k + 7 < behind; ++k) {
            if (!list_[k].is("reqd_work_group_size") && !list_[k].is("__reqd_work_group_size__")) continue;
            for (std::size_t d = 0; d < 3; ++d) {
                std::uint64_t value = 0;
                bool ignored = false;
                if (integer_value(list_[k + 2 + 2 * d].words, value, ignored)) f.required_local[d] = value;
            }
        }
    }

    parameter parameter_(range all) const {
        parameter p;
        p.list.assign(at(all.first), at(all.last));
        std::size_t k = all.first;
        static_cast<declared_type&>(p) = specifiers(k, all.last);
        declarator(k, all.last, p, p.name, true);
        return p;
    }

    /// Reads qualifiers and the words of a type from k on; k ends after them.
    declared_type specifiers(std::size_t& k, std::size_t end) const {
        declared_type t;
        address where = address::none;
        bool is_const = false, is_found = false;
        arithmetic words;
        for (; k < end; ++k) {
            const token& word = list_[k];
            if (word.is_attribute()) {
                k = behind_bracket(list_, k + 1, end) - 1;
            } else if (is_qualifier(word)) {
                if (address_of(word) != address::none) where = address_of(word);
                is_const = is_const || word.is("const") || word.is("__const");
            } else if (words.take(word)) {
                continue;
            } else if (!word.is_word() || is_found || (words.is_any() && !word.is("double"))) {
                break;
            } else {
                is_found = true;
                t = named(k, end);
            }
        }
        if (words.is_any()) t.type = words.type(t.type, is_found);
        if (!t.is_pointer) {  // else they belong to the pointer
            t.where = where != address::none ? where : t.where;
            t.is_const = t.is_const || is_const;
        }
        return t;
    }

    /// The type that the word at k names; k ends on its last token.
    declared_type named(std::size_t& k, std::size_t end) const {
        declared_type t;
        const token& word = list_[k];
        if (word.is("struct") || word.is("union") || word.is("enum")) {
            t.type.what = word.is("enum") ? category::enumeration : category::structure;
            while (k + 1 < end && list_[k + 1].is_attribute() && k + 2 < end)
                k = behind_bracket(list_, k + 2, end) - 1;
            if (k + 1 < end && list_[k + 1].is_word()) {
                ++k;
                t.type.words = word.words + " " + list_[k].words;
            }
            if (k + 1 < end && list_[k + 1].is("{")) k = behind_bracket(list_, k + 1, end) - 1;
            return t;
        }
        for (const named_scalar& row : short_names)
            if (word.is(row.name)) {
                t.type = {category::plain, row.type, 1, row.is_no_parameter};
                return t;
            }
        if (is_vector_name(word.words, t.type.element, t.type.lanes)) {
            t.type.what = category::plain;
            return t;
        }
        for (const std::string_view name : foreign_names)
            if (word.is(name)) t.type = {category::foreign, scalar::nothing, 1, false, name};
        if (const auto found = result_.typedefs.find(word.words); found != result_.typedefs.end())
            t = found->second;
        if (!t.is_pointer) t.type.words = word.words;
        return t;
    }

    /// char, short, int and long with their signs, in any order.
    class arithmetic {
    public:
        bool take(const token& t) {
            constexpr std::string_view words[] = {"unsigned", "signed", "int", "char", "short", "long"};
            for (std::size_t k = 0; k < std::size(words); ++k)
                if (t.is(words[k])) return ++counts_[k], true;
            return false;
        }
        bool is_any() const {
            return std::any_of(counts_.begin(), counts_.end(), [](int n) { return n > 0; });
        }
        /// The type that these words and the type name among them denote.
        value_type type(const value_type& among, bool is_other) const {
            const auto [n_unsigned, n_signed, n_int, n_char, n_short, n_long] = counts_;
            if (is_other)
                return n_long == 1 && among.element == scalar::f64
                           ? value_type{category::foreign, scalar::nothing, 1, false, "long double"}
                           : value_type{};
            if (n_long > 1) return {category::foreign, scalar::nothing, 1, false, "long long"};
            if (n_unsigned + n_signed > 1 || n_char + n_short + n_long > 1 || n_int > 1) return {};
            const scalar s = n_char ? scalar::i8 : n_short ? scalar::i16 : n_long ? scalar::i64 : scalar::i32;
            return {category::plain, n_unsigned ? static_cast<scalar>(static_cast<int>(s) + 1) : s};
        }

    private:
        std::array<int, 6> counts_{};
    };

    /// Reads `*const name[3]` from k on into the type; k ends after it.
    void declarator(std::size_t& k, std::size_t end, declared_type& t, std::string& name,
                    bool is_parameter) const {
        const auto foreign = [&](std::string_view what) {
            t.type = {category::foreign, scalar::nothing, 1, false, what};
        };
        for (; k < end; ++k) {
            const token& each = list_[k];
            if (each.is("*")) {
                t.become_pointer();
            } else if (each.is_attribute()) {
                k = behind_bracket(list_, k + 1, end) - 1;
            } else if (is_qualifier(each)) {
                t.is_const = t.is_const || each.is("const") || each.is("__const");
            } else {
                break;
            }
        }
        if (k < end && list_[k].is("(")) {  // (name), (*name)[3], (*name)(int)
            const std::size_t behind = behind_bracket(list_, k, end);
            const bool is_function = behind < end && list_[behind].is("(");
            const bool is_pointer = list_[k + 1].is("*") || list_[k + 1].is("^");
            for (std::size_t inner = k; inner < behind; ++inner)
                if (list_[inner].is_word() && !is_qualifier(list_[inner])) name = list_[inner].words;
            k = behind;
            if (is_function) foreign("a function");
            if (!is_function && is_pointer) foreign("a pointer in brackets");
        } else if (k < end && list_[k].is_word()) {
            name = list_[k++].words;
        }
        if (k < end && list_[k].is("(")) foreign("a function");
        if (k >= end || !list_[k].is("[")) return;
        k = behind_bracket(list_, k, end);
        if (k < end && list_[k].is("[")) foreign("an array of arrays");
        if (is_parameter)
            t.become_pointer();
        else if (t.type.what != category::foreign)
            t.type = {category::array};
    }

    const tokens& list_;
    std::size_t end_;
    outline result_;
};

}  // namespace

void declared_type::become_pointer() {
    points_to_const = is_const || (!is_pointer && where == address::constant);
    if (is_pointer) where = address::none;
    is_const = false;
    is_pointer = true;
    ++depth;
}

const function* outline::definition(std::string_view name) const {
    const auto found = definitions.find(name);
    return found == definitions.end() ? nullptr : &functions[found->second];
}

outline read_outline(const tokens& list) {
    check_nesting(list);
    return reader(list).run();
}

bool is_vector_name(std::string_view word, scalar& element, std::uint8_t& lanes) {
    constexpr named_scalar names[] = {{"char", scalar::i8},    {"uchar", scalar::u8},  {"short", scalar::i16},
                                      {"ushort", scalar::u16}, {"int", scalar::i32},   {"uint", scalar::u32},
                                      {"long", scalar::i64},   {"ulong", scalar::u64}, {"float", scalar::f32},
                                      {"double", scalar::f64}};
    const std::size_t digits = word.find_last_not_of("0123456789") + 1;
    const std::string_view number = word.substr(digits);
    for (const named_scalar& row : names) {
        if (word.substr(0, digits) != row.name) continue;
        for (const int n : {2, 3, 4, 8, 16})
            if (number == std::to_string(n)) {
                element = row.type;
                lanes = static_cast<std::uint8_t>(n);
                return true;
            }
    }
    return false;
}

address address_of(const token& t) {
    if (!t.is_word()) return address::none;
    if (t.is("__global") || t.is("global")) return address::global;
    if (t.is("__local") || t.is("local")) return address::local;
    if (t.is("__constant") || t.is("constant")) return address::constant;
    return address::none;
}

std::size_t behind_bracket(const tokens& list, std::size_t at, std::size_t end) {
    int depth = 0;
    const std::size_t first = at;
    for (; at < end; ++at) {
        const token& t = list[at];
        if (opens(t)) ++depth;
        if (closes(t)) --depth;
        if (depth == 0) return at + 1;
    }
    refuse(list[std::min(first, list.size() - 1)].where, "unclosed bracket");
}

std::string words(const std::vector<parameter>& list) {
    constexpr std::size_t most = 2048;
    std::string text;
    for (const parameter& p : list) {
        if (!text.empty()) text += ", ";
        for (std::size_t k = 0; k < p.list.size() && text.size() <= most; ++k)
            text += (k > 0 && p.list[k].spaced ? " " : "") + p.list[k].words;
    }
    return "(" + shortened(text, most) + ")";
}

}  // namespace balm::opencl_c
