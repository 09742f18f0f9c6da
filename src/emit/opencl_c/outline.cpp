// Finds declarations by brackets and semicolons; types are read from words alone.

#include "emit/opencl_c/outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace balm::emit::opencl_c {

namespace {

constexpr std::string_view plain_qualifiers[] = {
    "const",   "volatile", "restrict", "__restrict", "static",     "inline",
    "extern",  "kernel",   "__kernel", "__inline",   "__inline__", "__private",
    "private", "__const",  "auto",     "register",   "__volatile", "__restrict__"};

bool is_qualifier(const token& t) {
    return address_of(t) != address::none ||
           std::find(std::begin(plain_qualifiers), std::end(plain_qualifiers), t.words) !=
               std::end(plain_qualifiers);
}

struct named_scalar {
    std::string_view name;
    scalar type;
};
constexpr named_scalar short_names[] = {
    {"uchar", scalar::u8},     {"ushort", scalar::u16},    {"uint", scalar::u32},
    {"ulong", scalar::u64},    {"size_t", scalar::u64},    {"float", scalar::f32},
    {"double", scalar::f64},   {"bool", scalar::boolean},  {"ptrdiff_t", scalar::i64},
    {"intptr_t", scalar::i64}, {"uintptr_t", scalar::u64}, {"_Bool", scalar::boolean},
    {"void", scalar::nothing}};

bool is_attribute(const token& t) { return t.is("__attribute__") || t.is("__attribute"); }

/// Reads one outermost declaration after the other.
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
            if (is_attribute(t)) {
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
        refuse(list_[first].where, "the declaration that begins here has no end; a ; or } is missing");
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
        while (k < all.last && is_attribute(list_[k])) k = behind_bracket(list_, k + 1, all.last);
        return list_[k].is(";");
    }
    void remember_typedef(range all) {
        tokens meaning(at(all.first + 1), at(all.last - 2));
        const token& name = list_[all.last - 2];
        const bool is_plain =
            !meaning.empty() && name.is_word() &&
            std::all_of(meaning.begin(), meaning.end(), [](const token& t) { return t.is_word(); });
        if (is_plain) result_.typedefs[name.words] = std::move(meaning);
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
        tokens result;
        for (std::size_t k = all.first; k < name; ++k) {
            const token& t = list_[k];
            if (is_attribute(t)) {
                attribute(k + 1, f);
                k = behind_bracket(list_, k + 1, end_) - 1;
                continue;
            }
            if (t.is("kernel") || t.is("__kernel")) f.is_kernel = true;
            if (t.is("*")) f.returns_pointer = true;
            result.push_back(t);
        }
        for (std::size_t k = close + 1; k < all.last && !list_[k].is("{"); ++k)
            if (is_attribute(list_[k])) attribute(k + 1, f);
        f.result = result_.type_of(result);
        std::size_t first = open + 1;
        for (std::size_t k = first; k <= close; ++k) {
            if (k < close && (list_[k].is("(") || list_[k].is("["))) {
                k = behind_bracket(list_, k, end_) - 1;
                continue;
            }
            if (k < close && !list_[k].is(",")) continue;
            const bool is_void = k == close && first + 1 == close && list_[first].is("void");
            if (k > first && !is_void) f.parameters.push_back(parameter_({first, k}));
            first = k + 1;
        }
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
        std::size_t last_star = p.list.size();
        bool is_array = false, const_before_star = false;
        tokens type;
        for (std::size_t k = 0; k < p.list.size(); ++k) {
            const token& t = p.list[k];
            if (is_attribute(t)) {
                k = behind_bracket(p.list, k + 1, p.list.size()) - 1;
                continue;
            }
            if (t.is("[")) is_array = true;
            if (t.is("[") || t.is("(")) break;
            if (t.is("*")) {
                ++p.depth;
                last_star = k;
                continue;
            }
            if (address_of(t) != address::none) p.where = address_of(t);
            const bool before_star = last_star == p.list.size();
            if (t.is("const") && before_star) const_before_star = true;
            if (!is_qualifier(t) && t.is_word()) type.push_back(t);
        }
        p.is_pointer = is_array || last_star != p.list.size();
        p.points_to_const = p.is_pointer && (const_before_star || p.where == address::constant);
        // The last word is the name, unless the type needs it.
        if (type.size() > 1 && !is_type_word(type.back())) {
            p.name = type.back().words;
            type.pop_back();
        }
        p.type = result_.type_of(type);
        return p;
    }
    bool is_type_word(const token& t) const {
        constexpr std::string_view words[] = {"unsigned", "signed", "char", "short", "int", "long", "half"};
        scalar element{};
        std::uint8_t lanes = 0;
        return std::find(std::begin(words), std::end(words), t.words) != std::end(words) ||
               std::any_of(std::begin(short_names), std::end(short_names),
                           [&](const named_scalar& row) { return t.is(row.name); }) ||
               is_vector_name(t.words, element, lanes);
    }

    const tokens& list_;
    std::size_t end_;
    outline result_;
};

}  // namespace

const function* outline::definition(std::string_view name) const {
    for (const function& f : functions)
        if (f.is_definition && f.name == name) return &f;
    return nullptr;
}

value_type outline::type_of(const tokens& given) const {
    value_type t;
    int longs = 0;
    bool is_unsigned = false, is_plain = false;
    scalar plain = scalar::i32;
    for (const token& word : given) {
        if (is_qualifier(word) || !word.is_word()) continue;
        const std::string& w = word.words;
        if (w == "unsigned" || w == "signed" || w == "int" || w == "long" || w == "char" || w == "short") {
            is_plain = true;
            if (w == "unsigned") is_unsigned = true;
            if (w == "long") ++longs;
            if (w == "char") plain = scalar::i8;
            if (w == "short") plain = scalar::i16;
            continue;
        }
        for (const named_scalar& row : short_names)
            if (w == row.name) return {row.type, 1, true};
        if (is_vector_name(w, t.element, t.lanes)) {
            t.is_known = true;
            return t;
        }
        if (const auto found = typedefs.find(w); found != typedefs.end() && found->second[0].words != w)
            return type_of(found->second);
        return {};
    }
    if (!is_plain || longs > 1) return {};
    if (longs) plain = scalar::i64;
    if (is_unsigned) plain = static_cast<scalar>(static_cast<int>(plain) + 1);
    return {plain, 1, true};
}

outline read_outline(const tokens& list) { return reader(list).run(); }

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
        if (t.is("(") || t.is("[") || t.is("{")) ++depth;
        if (t.is(")") || t.is("]") || t.is("}")) --depth;
        if (depth == 0) return at + 1;
    }
    refuse(list[std::min(first, list.size() - 1)].where, "a bracket that opens here is never closed");
}

std::string words(const std::vector<parameter>& list) {
    std::string text;
    for (const parameter& p : list) {
        if (!text.empty()) text += ", ";
        for (std::size_t k = 0; k < p.list.size(); ++k)
            text += (k > 0 && p.list[k].spaced ? " " : "") + p.list[k].words;
    }
    return "(" + text + ")";
}

}  // namespace balm::emit::opencl_c
