// Walks the tokens once. C and C++ share most of their syntax, so that what is copied means the same in both;
// what differs is rewritten here or refused: qualifiers, vector literals and components, names of types,
// shifts, character constants, C++'s further keywords.

#include "text/rewriter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace balm::opencl_c {

namespace {

using namespace std::string_view_literals;

/// Words that are no part of OpenCL C 1.2 as far as CUDA can be given it, and why.
struct refusal {
    std::string_view word;
    std::string_view why;
};
constexpr auto images = "images and samplers are not carried over to CUDA"sv;
constexpr auto halves = "half precision is not carried over to CUDA; compute in float"sv;
constexpr auto newer = "it is OpenCL C 2.0; texts are OpenCL C 1.2"sv;
constexpr refusal refusals[] = {
    {"image1d_t", images},
    {"image1d_buffer_t", images},
    {"image1d_array_t", images},
    {"image2d_t", images},
    {"image2d_array_t", images},
    {"image3d_t", images},
    {"sampler_t", images},
    {"read_imagef", images},
    {"read_imagei", images},
    {"read_imageui", images},
    {"write_imagef", images},
    {"write_imagei", images},
    {"write_imageui", images},
    {"get_image_width", images},
    {"get_image_height", images},
    {"get_image_depth", images},
    {"__read_only", images},
    {"__write_only", images},
    {"__read_write", images},
    {"read_only", images},
    {"write_only", images},
    {"half", halves},
    {"pipe", newer},
    {"__pipe", newer},
    {"queue_t", newer},
    {"clk_event_t", newer},
    {"reserve_id_t", newer},
    {"ndrange_t", newer},
    {"generic", newer},
    {"__generic", newer},
    {"work_group_barrier", newer},
    {"enqueue_kernel", newer},
    {"atomic_int", newer},
    {"atomic_uint", newer},
    {"atomic_flag", newer},
    {"atomic_float", newer},
    {"atomic_init", newer},
    {"atomic_load", newer},
    {"atomic_store", newer},
    {"atomic_fetch_add", newer},
    {"asm", "assembly is of one device only"},
    {"__asm", "assembly is of one device only"},
    {"__asm__", "assembly is of one device only"},
    {"_Generic", "it is C11"},
    {"_Static_assert", "it is C11"},
    {"_Complex", "it is reserved in OpenCL C"},
    {"_Imaginary", "it is reserved in OpenCL C"},
    {"complex", "it is reserved in OpenCL C"},
    {"imaginary", "it is reserved in OpenCL C"},
    {"quad", "it is reserved in OpenCL C"},
    {"typeof", "it is an extension of some compilers"},
    {"__typeof__", "it is an extension of some compilers"},
    {"__block", "blocks are OpenCL C 2.0"},
};

/// Words of C++ that are names in C.
constexpr std::string_view cpp_keywords[] = {
    "alignas",     "alignof",   "and",      "and_eq",           "bitand",       "bitor",
    "catch",       "char16_t",  "char32_t", "char8_t",          "class",        "co_await",
    "co_return",   "co_yield",  "compl",    "concept",          "const_cast",   "consteval",
    "constexpr",   "constinit", "decltype", "delete",           "dynamic_cast", "explicit",
    "export",      "friend",    "mutable",  "namespace",        "new",          "noexcept",
    "not",         "not_eq",    "nullptr",  "operator",         "or",           "or_eq",
    "private",     "protected", "public",   "reinterpret_cast", "requires",     "static_assert",
    "static_cast", "template",  "this",     "thread_local",     "throw",        "try",
    "typeid",      "typename",  "using",    "virtual",          "wchar_t",      "xor",
    "xor_eq"};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), word) != list.end();
}
bool starts_with(std::string_view word, std::string_view start) {
    return word.substr(0, start.size()) == start;
}
bool is_private_qualifier(const token& t) { return t.is("__private") || t.is("private"); }

/// ".xyz", ".s01F", ".even": which components, or none.
struct selection {
    std::vector<int> components;
    bool is_even = false, is_odd = false;

    bool is_every_other() const { return is_even || is_odd; }
};
std::optional<selection> components_of(std::string_view word) {
    selection s;
    s.is_even = word == "even";
    s.is_odd = word == "odd";
    if (s.is_every_other()) return s;
    const bool by_number = word.size() > 1 && (word[0] == 's' || word[0] == 'S');
    for (const char c : word.substr(by_number ? 1 : 0)) {
        const std::size_t at =
            by_number ? "0123456789abcdef"sv.find(static_cast<char>(c | 0x20)) : "xyzw"sv.find(c);
        if (by_number && c >= '0' && c <= '9') {
            s.components.push_back(c - '0');
        } else if (at == std::string_view::npos) {
            return std::nullopt;
        } else {
            s.components.push_back(static_cast<int>(at));
        }
    }
    const std::size_t n = s.components.size();
    if (n != 1 && n != 2 && n != 3 && n != 4 && n != 8 && n != 16) return std::nullopt;
    return s;
}

/// Tokens as text: lines stay where they were, and no two tokens run together.
class text_writer {
public:
    void put(const token& t) { put(t.words, t); }
    void put(const std::string& words, const token& from) {
        if (words == "}") --depth_;
        move_to(from);
        if (words == "{") ++depth_;
        const bool is_spaced = from.spaced && !std::exchange(joins_next_, false);
        if (!text_.empty() && text_.back() != '\n' && text_.back() != ' ' &&
            (is_spaced || run_together(text_.back(), words[0])))
            text_ += ' ';
        text_ += words;
        if (text_.size() > longest)
            refuse_excess(from.where, fmt::format("the program for CUDA is longer than {} bytes", longest));
    }
    /// Leaves a token out, with the space that it brought.
    void drop(const token& t) { joins_next_ = !t.spaced; }
    std::string take() { return std::move(text_) + "\n"; }

private:
    static bool in_word(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '"' || c == '\'' || c == '.';
    }
    static bool run_together(char last, char first) {
        if (in_word(last) && in_word(first)) return last != '.' && first != '.';
        constexpr auto symbols = "+-*/%<>=!&|^#:?.~"sv;
        return symbols.find(last) != std::string_view::npos && symbols.find(first) != std::string_view::npos;
    }
    void move_to(const token& t) {
        if (!t.where.file) return;
        const bool same_file = file_ && *file_ == *t.where.file;
        if (same_file && t.where.line == line_) return;
        const bool breaks = t.starts_line || !same_file;
        // What comes from a macro's argument may stand on an earlier line: it stays on this one.
        if (same_file && t.where.line < line_ && !t.starts_line) return;
        if (same_file && t.where.line > line_ && t.where.line - line_ <= 3) {
            text_.append(t.where.line - line_, '\n');
        } else {
            if (!text_.empty() && text_.back() != '\n') text_ += '\n';
            text_ += fmt::format("#line {} \"{}\"\n", t.where.line, *t.where.file);
        }
        file_ = t.where.file;
        line_ = t.where.line;
        text_.append(static_cast<std::size_t>(std::max(depth_ + (breaks ? 0 : 1), 0)) * 4, ' ');
    }

    /// Each line may name its file, at whatever length.
    static constexpr std::size_t longest = std::size_t{1} << 28;

    std::string text_;
    std::shared_ptr<const std::string> file_;
    std::uint32_t line_ = 0;
    int depth_ = 0;
    bool joins_next_ = false;
};

class rewriter {
public:
    rewriter(const tokens& list, const outline& declared) : list_(list), declared_(declared) {}

    /// A list of tokens on its own, without lines: the type of a parameter.
    std::string run_alone() {
        for (std::size_t k = 0; k + 1 < list_.size(); k = next_) copy(k, list_.size() - 1);
        std::string text = out_.take();
        text.pop_back();
        return text;
    }

    std::string run() {
        collect_members();
        collect_vector_typedefs();
        std::size_t f = 0, d = 0;
        for (std::size_t at = 0; at + 1 < list_.size();) {
            if (list_[at].is("#")) {  // #pragma unroll at the outermost level, which says nothing
                pragma(at);
            } else if (f < declared_.functions.size() && declared_.functions[f].all.first == at) {
                function_(declared_.functions[f]);
                at = declared_.functions[f++].all.last;
            } else if (d < declared_.others.size() && declared_.others[d].all.first == at) {
                declaration_(declared_.others[d]);
                at = declared_.others[d++].all.last;
            } else {
                ++at;  // a lone semicolon
            }
        }
        return out_.take();
    }

private:
    // ---- what is known of the whole text

    /// Names of the members of structs: what looks like components of a vector is refused there.
    void collect_members() {
        for (std::size_t k = 0; k + 2 < list_.size(); ++k) {
            if (!list_[k].is("struct") && !list_[k].is("union")) continue;
            std::size_t open = k + 1;
            while (open < list_.size() && list_[open].is_attribute())
                open = behind_bracket(list_, open + 1, list_.size() - 1);
            if (list_[open].is_word()) ++open;
            if (!list_[open].is("{")) continue;
            const std::size_t behind = behind_bracket(list_, open, list_.size() - 1);
            for (std::size_t m = open + 1; m < behind; ++m) {
                const bool is_name = list_[m].is_word() && m + 1 < behind &&
                                     (list_[m + 1].is(";") || list_[m + 1].is(",") || list_[m + 1].is("[") ||
                                      list_[m + 1].is(":"));
                if (is_name) members_.insert(list_[m].words);
            }
        }
    }
    void collect_vector_typedefs() {
        for (std::size_t k = 0; k + 3 < list_.size(); ++k) {
            if (!list_[k].is("typedef")) continue;
            const bool is_plain = list_[k + 2].is_word() && list_[k + 3].is(";");
            if (is_plain && is_vector_type(list_[k + 1])) vector_typedefs_.insert(list_[k + 2].words);
        }
    }
    bool is_vector_type(const token& t) const {
        scalar element{};
        std::uint8_t lanes = 0;
        return t.is_word() &&
               (is_vector_name(t.words, element, lanes) || vector_typedefs_.count(t.words) > 0);
    }

    // ---- declarations

    void function_(const function& f) {
        out_.put("static __device__ inline", list_[f.all.first]);
        for (std::size_t k = f.all.first; k < f.name_at; ++k) {
            const token& t = list_[k];
            if (t.is_attribute()) {
                k = attribute(k, true) - 1;
                continue;
            }
            if (is_one_of(t.words, {"kernel", "__kernel", "static", "inline", "__inline", "extern"}))
                continue;
            copy(k, f.name_at);
        }
        for (std::size_t k = f.name_at; k < f.all.last;) k = step(k, f.all.last);
    }

    void declaration_(const declaration& d) {
        const bool is_constant =
            std::any_of(list_.begin() + static_cast<std::ptrdiff_t>(d.all.first),
                        list_.begin() + static_cast<std::ptrdiff_t>(d.all.last),
                        [](const token& t) { return address_of(t) == address::constant; });
        if (!d.is_type) {
            const token& first = list_[d.all.first];
            if (!is_constant)
                refuse(first.where,
                       "a variable outside of functions is in constant memory: write __constant before its "
                       "type");
            mark_vector_braces(d.all.first, d.all.last);
            if (is_brace_list_of_struct(d.all.first, d.all.last)) refuse_braces(first);
            out_.put("static __constant__ const", first);
        }
        bool in_value = false;
        for (std::size_t k = d.all.first; k < d.all.last;) {
            const token& t = list_[k];
            in_value = in_value || t.is("=");
            const bool is_said = address_of(t) == address::constant || t.is("const") || t.is("static");
            if (!d.is_type && !in_value && is_said) {
                ++k;
                continue;
            }
            k = step(k, d.all.last);
        }
    }

    /// Drops an attribute that says nothing to CUDA, keeps layout, refuses others. Gives what follows it.
    std::size_t attribute(std::size_t at, bool of_function) {
        const std::size_t behind = behind_bracket(list_, at + 1, list_.size() - 1);
        bool keeps = false;
        for (std::size_t k = at + 3; k + 2 < behind; ++k) {
            const token& t = list_[k];
            if (t.is("(")) {
                k = behind_bracket(list_, k, behind) - 1;
                continue;
            }
            if (!t.is_word()) continue;
            std::string word = t.words;
            if (word.size() > 4 && starts_with(word, "__")) word = word.substr(2, word.size() - 4);
            if (is_one_of(word, {"aligned", "packed"})) {
                keeps = true;
            } else if (!is_one_of(word, {"reqd_work_group_size", "work_group_size_hint", "vec_type_hint",
                                         "always_inline", "noinline", "unused", "overloadable", "const",
                                         "pure", "opencl_unroll_hint", "endian"})) {
                refuse(t.where,
                       fmt::format("the attribute '{}' is not carried over to CUDA", shortened(t.words)));
            }
        }
        if (keeps && !of_function)
            for (std::size_t k = at; k < behind; ++k) out_.put(list_[k]);
        return behind;
    }

    // ---- one step through a declaration or a body; each gives the position behind what it took

    std::size_t step(std::size_t k, std::size_t end) {
        const token& t = list_[k];
        if (t.is("#")) return pragma(k), k;
        if (t.is("{") && vector_braces_.count(k)) return vector_from_braces(k, end);
        if (t.is("{") || t.is(";") || t.is("}") || t.is(":")) {
            if (t.is("{")) refuse_designators(k);
            out_.put(t);
            return statement(k + 1, end);
        }
        return copy(k, end), next_;
    }

    /// What begins a statement may declare a variable in local memory.
    std::size_t statement(std::size_t k, std::size_t end) {
        if (k >= end) return k;
        std::size_t stop = k;
        bool in_local = false, in_constant = false;
        while (stop < end && !is_one_of(list_[stop].words, {";", "{", "}", "=", ":"})) {
            if (list_[stop].is("(")) {
                stop = behind_bracket(list_, stop, end);
                continue;
            }
            in_local = in_local || address_of(list_[stop]) == address::local;
            in_constant = in_constant || address_of(list_[stop]) == address::constant;
            ++stop;
        }
        mark_vector_braces(k, end);
        if (is_brace_list_of_struct(k, end)) refuse_braces(list_[k]);
        if (!in_local && !in_constant) return k;
        const token& first = list_[k];
        while (stop < end && !list_[stop].is(";") && !list_[stop].is("}")) {
            stop = list_[stop].is("(") || list_[stop].is("[") || list_[stop].is("{")
                       ? behind_bracket(list_, stop, end)
                       : stop + 1;
        }
        const int pointers = declared_pointers(k, stop);
        if (pointers == 2)
            refuse(
                first.where,
                "pointers and variables of an address space are declared together here; declare them apart");
        if (pointers == 1) return k;
        if (in_constant)
            refuse(
                first.where,
                "__constant variables inside a function are not carried over to CUDA; declare it outside of "
                "the functions");
        out_.put("__shared__", first);
        for (std::size_t at = k; at < stop;) {
            if (list_[at].is("=")) refuse(list_[at].where, "a variable in local memory has no initial value");
            if (address_of(list_[at]) == address::local || list_[at].is("static")) {
                ++at;
                continue;
            }
            at = step(at, stop);
        }
        return stop;
    }
    /// 0: all declarators are variables, 1: all are pointers, 2: both occur.
    int declared_pointers(std::size_t k, std::size_t end) const {
        bool pointer = false, any_pointer = false, any_variable = false, in_value = false;
        for (; k <= end; ++k) {
            const bool ends = k == end || list_[k].is(",");
            if (ends) {
                (pointer ? any_pointer : any_variable) = true;
                pointer = in_value = false;
            } else if (list_[k].is("=")) {
                in_value = true;
            } else if (list_[k].is("*") && !in_value) {
                pointer = true;
            } else if (list_[k].is("[") || list_[k].is("{") || (in_value && list_[k].is("("))) {
                k = behind_bracket(list_, k, end) - 1;
            } else if (list_[k].is("(")) {
                const std::size_t behind = behind_bracket(list_, k, end);
                for (std::size_t inner = k; inner < behind; ++inner)
                    pointer = pointer || list_[inner].is("*");
                k = behind - 1;
            }
        }
        return any_pointer && any_variable ? 2 : any_pointer ? 1 : 0;
    }

    std::size_t behind_qualifiers(std::size_t k, std::size_t end) const {
        while (k < end && (address_of(list_[k]) != address::none || is_private_qualifier(list_[k]) ||
                           is_one_of(list_[k].words, {"const", "volatile", "static"})))
            ++k;
        return k;
    }

    /// `float4 v = {1, 2, 3, 4}`, `float4 v[2] = {{1, 2, 3, 4}, …`: the braces that hold the components of a
    /// vector, which become its constructor.
    void mark_vector_braces(std::size_t first, std::size_t end) {
        const std::size_t type = behind_qualifiers(first, end);
        if (type >= end || !is_vector_type(list_[type])) return;
        int dimensions = 0;
        for (std::size_t at = type + 1; at < end && !list_[at].is(";") && !list_[at].is("}");) {
            const token& t = list_[at];
            if (t.is(",")) dimensions = 0;
            if (t.is("[")) ++dimensions;
            if (t.is("=") && at + 1 < end && list_[at + 1].is("{")) {
                mark_braces(at + 1, dimensions, list_[type].words);
                at = behind_bracket(list_, at + 1, end);
            } else {
                at = t.is("(") || t.is("[") || t.is("{") ? behind_bracket(list_, at, end) : at + 1;
            }
        }
    }
    void mark_braces(std::size_t open, int dimensions, const std::string& type) {
        if (dimensions == 0) {
            vector_braces_[open] = type;
            return;
        }
        const std::size_t behind = behind_bracket(list_, open, list_.size() - 1);
        for (std::size_t at = open + 1; at + 1 < behind;) {
            if (list_[at].is("{")) mark_braces(at, dimensions - 1, type);
            at = list_[at].is("(") || list_[at].is("[") || list_[at].is("{")
                     ? behind_bracket(list_, at, behind)
                     : at + 1;
        }
    }
    /// {1, 2, 3, 4} -> (float4(1, 2, 3, 4))
    std::size_t vector_from_braces(std::size_t open, std::size_t end) {
        const std::size_t behind = behind_bracket(list_, open, end);
        out_.put("(" + vector_braces_.at(open) + "(", list_[open]);
        const std::size_t last = list_[behind - 2].is(",") ? behind - 2 : behind - 1;
        if (!has_comma(open + 1, last)) refuse_braces(list_[open]);
        for (std::size_t k = open + 1; k < last;) k = step_inside(k, last);
        out_.put("))", list_[behind - 1]);
        return behind;
    }

    /// A structure's members that are vectors may be among what these braces hold: OpenCL fills components
    /// where C++ would make whole vectors.
    bool is_brace_list_of_struct(std::size_t k, std::size_t end) const {
        k = behind_qualifiers(k, end);
        if (k + 1 >= end || is_vector_type(list_[k])) return false;
        if (!list_[k].is("struct") && !(list_[k].is_word() && list_[k + 1].is_word())) return false;
        std::size_t at = k + 1;
        for (; at < end && !list_[at].is(";") && !list_[at].is("="); ++at)
            if (list_[at].is("(") || list_[at].is("{") || list_[at].is("}")) return false;
        if (at + 1 >= end || !list_[at].is("=") || !list_[at + 1].is("{")) return false;
        const std::size_t behind = behind_bracket(list_, at + 1, end);
        const bool is_scalar =
            is_one_of(list_[k].words, {"char", "short", "int", "long", "unsigned", "signed", "float",
                                       "double", "bool", "uchar", "ushort", "uint", "ulong", "size_t"});
        if (is_scalar) return false;
        for (std::size_t inner = at + 2; inner + 2 < behind; ++inner) {
            if (!list_[inner].is("{")) continue;
            const std::size_t inner_behind = behind_bracket(list_, inner, behind);
            bool is_single = true;
            for (std::size_t m = inner + 1; m + 1 < inner_behind; ++m) {
                if (list_[m].is("(")) m = behind_bracket(list_, m, inner_behind) - 1;
                if (list_[m].is(",") || list_[m].is("{")) is_single = false;
            }
            if (is_single) return true;
        }
        return false;
    }
    [[noreturn]] static void refuse_braces(const token& at) {
        refuse(at.where,
               "a vector is given by a list in braces here, which C++ reads in another way; write a literal: "
               "(float4)(a, b, c, d)");
    }

    /// The line of a #pragma that is kept.
    void pragma(std::size_t& at) {
        do {
            out_.put(list_[at]);
            ++at;
        } while (at + 1 < list_.size() && !list_[at].starts_line);
    }

    // ---- tokens

    const token& ahead(std::size_t k, std::size_t by = 1) const {
        return list_[std::min(k + by, list_.size() - 1)];
    }
    const token& before(std::size_t k) const {
        static const token& nothing = *new token;
        return k > 0 ? list_[k - 1] : nothing;
    }

    /// Writes the token at k, rewritten; next_ is what follows.
    void copy(std::size_t k, std::size_t end) {
        next_ = k + 1;
        const token& t = list_[k];
        switch (t.what) {
            case kind::identifier: return word(k);
            case kind::number: return out_.put(number(t), t);
            case kind::character: return character(t);
            case kind::string: return string(t);
            case kind::punctuation: return punctuation(k, end);
            case kind::other: refuse(t.where, fmt::format("'{}' is no part of OpenCL C", shortened(t.words)));
            case kind::end: return;
        }
    }

    void word(std::size_t k) {
        const token& t = list_[k];
        const std::string& w = t.words;
        if (before(k).is(".") || before(k).is("->")) return member(k);
        for (const refusal& r : refusals)
            if (w == r.word) refuse(t.where, fmt::format("'{}': {}", w, r.why));
        if (starts_with(w, "balm_"))
            refuse(t.where, fmt::format("'{}': names that begin with balm_ are reserved", shortened(w)));
        if (starts_with(w, "sub_group_") || starts_with(w, "work_group_"))
            refuse(t.where, fmt::format("'{}': {}", shortened(w), newer));
        if (starts_with(w, "vload_half") || starts_with(w, "vstore_half") || starts_with(w, "vloada_half") ||
            starts_with(w, "vstorea_half") || (starts_with(w, "half") && w.size() < 7 && is_half_vector(w)))
            refuse(t.where, fmt::format("'{}': {}", shortened(w), halves));
        if (t.is_attribute()) {
            next_ = attribute(k, false);
            return;
        }
        if (address_of(t) == address::constant) return out_.put("const", t);
        if (address_of(t) != address::none || is_private_qualifier(t)) return out_.drop(t);
        if (is_one_of(w, {"restrict", "__restrict", "__restrict__"})) return out_.put("__restrict__", t);
        if (is_one_of(w, {"kernel", "__kernel", "inline", "__inline", "__inline__", "auto", "register"}))
            return;
        if (w == "__const") return out_.put("const", t);
        if (w == "__volatile") return out_.put("volatile", t);
        if (w == "_Bool") return out_.put("bool", t);
        if (w == "sizeof" && ahead(k).is("(")) refuse_size_of_truth(k + 1);
        if (w == "vec_step" && ahead(k).is("(") && is_type_word(ahead(k, 2)))
            refuse(t.where, "vec_step of a type is not carried over to CUDA; give it a value");
        if (w == "long") return long_word(k);
        if (w == "char") return char_word(k);
        if (starts_with(w, "as_") && type_named(w.substr(3))) return out_.put(reinterpretation(t), t);
        if (starts_with(w, "convert_"))
            if (const auto call = conversion(w)) return out_.put(*call, t);
        out_.put(cuda_name(w), t);
    }
    /// sizeof(a < b) is that of an int in C and that of a bool in C++.
    void refuse_size_of_truth(std::size_t open) const {
        const std::size_t behind = behind_bracket(list_, open, list_.size() - 1);
        for (std::size_t k = open; k < behind; ++k)
            if (is_one_of(list_[k].words, {"<", ">", "<=", ">=", "==", "!=", "&&", "||", "!"}))
                refuse(list_[k].where, "the size of a truth value is asked for, which differs in C++");
    }
    static bool is_half_vector(const std::string& w) {
        return w.find_first_not_of("0123456789", 4) == std::string::npos;
    }
    void long_word(std::size_t k) {
        const token& t = list_[k];
        if (ahead(k).is("long") || before(k).is("long"))
            refuse(t.where, "'long long': it is reserved in OpenCL C; its long has 64 bits");
        if (ahead(k).is("double")) refuse(t.where, "'long double': it is reserved in OpenCL C");
        out_.put("long long", t);
    }
    void char_word(std::size_t k) {
        const auto says_sign = [](const token& t) { return t.is("unsigned") || t.is("signed"); };
        out_.put(says_sign(before(k)) || says_sign(ahead(k)) ? "char" : "signed char", list_[k]);
    }

    bool is_type_word(const token& t) const {
        return is_vector_type(t) || is_one_of(t.words, {"char", "uchar", "short", "ushort", "int", "uint",
                                                        "long", "ulong", "float", "double", "unsigned"});
    }
    /// "float4", "uchar", "long" as C++ spells them, in the prelude's namespace.
    static std::optional<std::string> type_named(const std::string& w) {
        scalar element{};
        std::uint8_t lanes = 0;
        if (is_vector_name(w, element, lanes)) return w;
        if (w == "long") return "long long";
        if (w == "char") return "signed char";
        if (is_one_of(w, {"uchar", "short", "ushort", "int", "uint", "ulong", "float", "double", "size_t",
                          "ptrdiff_t", "intptr_t", "uintptr_t"}))
            return w;
        return std::nullopt;
    }
    static std::string reinterpretation(const token& t) {
        return "balm_as<" + *type_named(t.words.substr(3)) + ">";
    }
    /// convert_TYPE[_sat][_rte|_rtz|_rtp|_rtn]
    static std::optional<std::string> conversion(const std::string& w) {
        std::string rest = w.substr(8);
        int mode = 0;
        constexpr std::pair<std::string_view, int> modes[] = {
            {"_rte", 1}, {"_rtz", 2}, {"_rtp", 3}, {"_rtn", 4}};
        for (const auto& row : modes) {
            if (rest.size() <= 4 || rest.substr(rest.size() - 4) != row.first) continue;
            mode = row.second;
            rest.resize(rest.size() - 4);
        }
        const bool saturates = rest.size() > 4 && rest.substr(rest.size() - 4) == "_sat";
        if (saturates) rest.resize(rest.size() - 4);
        const auto type = type_named(rest);
        if (!type) return std::nullopt;
        return fmt::format("balm_convert<{}, {}, {}>", *type, saturates, mode);
    }

    static std::string number(const token& t) {
        std::string w = t.words;
        const bool is_hex = w.size() > 1 && (w[1] | 0x20) == 'x';
        const bool floating =
            w.find('.') != std::string::npos || w.find_first_of(is_hex ? "pP" : "eE") != std::string::npos;
        if (floating) {
            if ((w.back() | 0x20) == 'h') refuse(t.where, fmt::format("'{}': {}", shortened(w), halves));
            if ((w.back() | 0x20) == 'l')
                refuse(t.where, fmt::format("'{}': it is a long double", shortened(w)));
            return w;
        }
        std::uint64_t value = 0;
        bool is_unsigned = false;
        if (!integer_value(w, value, is_unsigned))
            refuse(t.where, fmt::format("'{}' is no number of C", shortened(w)));
        // OpenCL's long has 64 bits everywhere and is one type; C++ has two.
        const bool is_long = w.find_first_of("lL") != std::string::npos;
        const std::uint64_t most = is_unsigned || w[0] == '0' ? 0xffffffffu : 0x7fffffffu;
        if (!is_long && value > most)
            return w + (is_unsigned || value >> 63 ? (is_unsigned ? "LL" : "ULL") : "LL");
        if (!is_long) return w;
        w.erase(std::remove_if(w.begin(), w.end(), [](char c) { return (c | 0x20) == 'l'; }), w.end());
        return w + "LL";
    }

    /// An int of a signed char's value in C.
    void character(const token& t) {
        if (t.words.size() != 3 && t.words[1] != '\\')
            refuse(t.where,
                   fmt::format("the character constant {} holds several characters", shortened(t.words)));
        out_.put("(int)(signed char)" + t.words, t);
    }

    void string(const token& t) {
        // printf's conversions: CUDA's knows no vectors.
        for (std::size_t k = 0; k + 1 < t.words.size(); ++k) {
            if (t.words[k] != '%') continue;
            if (t.words[k + 1] == '%') {
                ++k;
                continue;
            }
            std::size_t at = k + 1;
            while (at < t.words.size() && "-+ #0123456789."sv.find(t.words[at]) != std::string_view::npos)
                ++at;
            if (at + 1 < t.words.size() && t.words[at] == 'v' && t.words[at + 1] >= '1' &&
                t.words[at + 1] <= '9')
                refuse(t.where, "printf of a vector (%v) is not carried over to CUDA; print its components");
        }
        out_.put(t);
    }

    // ---- components

    void member(std::size_t k) {
        const token& t = list_[k];
        const auto selected = components_of(t.words);
        // A struct's member may be called as components are (seed, xy): then a vector has none of that name.
        if (!selected || members_.count(t.words)) return out_.put(cuda_name(t.words), t);
        if (selected->components.size() == 1) {
            // .x, .s0 and .sA are members of the vector; the last has one spelling there.
            std::string word = t.words;
            for (char& c : word) c = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
            return out_.put(word, t);
        }
        const bool writes = is_assigned(k);
        if (selected->is_every_other()) {
            if (writes)
                refuse(
                    t.where,
                    fmt::format("writing to .{} is not carried over to CUDA; write the components", t.words));
            return out_.put(fmt::format("balm_every_other({})", selected->is_odd ? 1 : 0), t);
        }
        std::string list;
        for (const int c : selected->components) list += (list.empty() ? "" : ", ") + std::to_string(c);
        out_.put(fmt::format("balm_{}<{}>()", writes ? "ref" : "get", list), t);
    }
    bool is_assigned(std::size_t k) const {
        const token& next = ahead(k);
        if (is_one_of(next.words, {"++", "--"}))
            refuse(next.where,
                   fmt::format("'{}' on components of a vector is not carried over to CUDA", next.words));
        if (is_one_of(next.words, {"<<=", ">>="}))
            refuse(next.where,
                   fmt::format("'{}' on components of a vector is not carried over to CUDA", next.words));
        if (next.is(".") && is_written_further(k + 1))
            refuse(next.where,
                   "components of components are written here, which is not carried over to CUDA");
        return is_one_of(next.words, {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="});
    }
    /// v.xyz.x = …
    bool is_written_further(std::size_t dot) const {
        while (dot + 2 < list_.size() && list_[dot].is(".") && components_of(list_[dot + 1].words)) dot += 2;
        return is_one_of(list_[dot].words,
                         {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"});
    }

    // ---- punctuation

    void punctuation(std::size_t k, std::size_t end) {
        const token& t = list_[k];
        if (t.is("::") || t.is("##") || t.is("#"))
            refuse(t.where, fmt::format("'{}' has no meaning in OpenCL C here", t.words));
        if (t.is("^") && ahead(k).is("{")) refuse(t.where, "blocks are OpenCL C 2.0");
        if (t.is("<<") || t.is(">>") || t.is("<<=") || t.is(">>=")) return shift(k);
        if (t.is("(")) return parenthesis(k, end);
        if (t.is(",")) refuse_designators(k);
        out_.put(t);
    }

    /// { .member = …, [index] = … }: the token at k is the brace or comma ahead.
    void refuse_designators(std::size_t k) const {
        if (ahead(k).is(".") && ahead(k, 2).is_word() &&
            (ahead(k, 3).is("=") || ahead(k, 3).is(".") || ahead(k, 3).is("[")))
            refuse(ahead(k).where, "designated initialisers (.member = …) are not carried over to CUDA");
        if (ahead(k).is("["))
            refuse(ahead(k).where, "designated initialisers ([index] = …) are not carried over to CUDA");
    }

    /// C++ leaves a count beyond the width open, OpenCL takes it modulo the width.
    void shift(std::size_t k) {
        const token& t = list_[k];
        std::uint64_t count = 0;
        bool ignored = false;
        const bool is_plain =
            ahead(k).what == kind::number && integer_value(ahead(k).words, count, ignored) && count < 32 &&
            is_one_of(ahead(k, 2).words, {")", "]", ";",  ",",  "}", "?", ":",  "&&", "||", "|",
                                          "&", "^", "==", "!=", "<", ">", "<=", ">=", "<<", ">>"});
        out_.put(t);
        if (is_plain) return;
        token marker = t;
        marker.spaced = true;
        out_.put("balm_count()", marker);
        out_.put(t.words, marker);
    }

    void parenthesis(std::size_t k, std::size_t end) {
        const token& t = list_[k];
        // ( type ) …
        std::size_t at = k + 1;
        while (at < end && (list_[at].is("const") || address_of(list_[at]) != address::none)) ++at;
        const bool is_cast = at + 2 < end && is_vector_type(list_[at]) && list_[at + 1].is(")");
        if (ahead(k).is("{")) refuse(ahead(k).where, "statements as expressions are no part of OpenCL C");
        if (!is_cast) {
            compound_literal(k, end);
            return out_.put(t);
        }
        const token& type = list_[at];
        const std::size_t open = at + 2;
        if (list_[open].is("{")) refuse_braces(list_[open]);
        if (!list_[open].is("(")) return out_.put(t);
        const std::size_t behind = behind_bracket(list_, open, end);
        if (!has_comma(open + 1, behind - 1)) return out_.put(t);
        if (behind < end && is_one_of(list_[behind].words, {".", "->", "[", "++", "--"}))
            refuse(type.where,
                   fmt::format("components are taken from a vector literal; put it in parentheses: "
                               "((({})(…)).x",
                               type.words));
        // A vector literal: the type with all its values.
        out_.put("(" + type.words, t);
        out_.put("(", list_[open]);
        for (std::size_t inner = open + 1; inner < behind - 1;) inner = step_inside(inner, behind - 1);
        out_.put("))", list_[behind - 1]);
        next_ = behind;
    }
    std::size_t step_inside(std::size_t k, std::size_t end) {
        copy(k, end);
        return next_;
    }
    bool has_comma(std::size_t k, std::size_t end) const {
        while (k < end) {
            if (list_[k].is(",")) return true;
            k = list_[k].is("(") || list_[k].is("[") || list_[k].is("{") ? behind_bracket(list_, k, end)
                                                                         : k + 1;
        }
        return false;
    }
    /// (struct pair){1, 2}: an lvalue in C, nothing in C++.
    void compound_literal(std::size_t k, std::size_t end) const {
        const token& previous = before(k);
        const bool in_expression = is_one_of(previous.words, {"=", ",", "(", "return", "+", "-", "*", "/",
                                                              "?", ":", "[", "{", "&"}) ||
                                   previous.is(";");
        if (!in_expression) return;
        const std::size_t behind = behind_bracket(list_, k, end);
        if (behind < end && list_[behind].is("{") && !previous.is(";"))
            refuse(list_[k].where, "compound literals, (type){…}, are not carried over to CUDA");
    }

    const tokens& list_;
    const outline& declared_;
    text_writer out_;
    std::set<std::string> members_;
    std::set<std::string> vector_typedefs_;
    std::map<std::size_t, std::string> vector_braces_;  ///< where they open, and the vector's type
    std::size_t next_ = 0;
};

}  // namespace

std::string rewrite(const tokens& list, const outline& declared) {
    refuse_recursion(list, declared);
    return rewriter(list, declared).run();
}

std::string cuda_name(const std::string& name) {
    const bool is_taken =
        std::find(std::begin(cpp_keywords), std::end(cpp_keywords), name) != std::end(cpp_keywords);
    return is_taken && name != "nullptr" ? name + "_of_c" : name;
}

namespace {

/// The type of a kernel's parameter, as CUDA C++ has it.
std::string type_of(const parameter& p) {
    tokens type;
    bool is_array = false;
    for (const token& t : p.list) {
        is_array = is_array || t.is("[");
        if (is_array || (t.is_word() && t.words == p.name)) continue;
        type.push_back(t);
        type.back().where.file = nullptr;
    }
    type.emplace_back();
    return rewriter(type, outline{}).run_alone() + (is_array ? "*" : "");
}

}  // namespace

std::string entry_point(const function& kernel, const std::string& entry_name, std::size_t starts) {
    std::string parameters, arguments, locals;
    for (std::size_t k = 0; k < kernel.parameters.size(); ++k) {
        const parameter& p = kernel.parameters[k];
        const std::string type = type_of(p), separator = k ? ", " : "";
        if (p.is_pointer && p.where == address::local) {
            parameters += fmt::format("{}unsigned int a{}_offset", separator, k);
            arguments += fmt::format("{}({})(balm_local + a{}_offset)", separator, type, k);
            locals = "    extern __shared__ __align__(128) unsigned char balm_local[];\n";
        } else {
            parameters += fmt::format("{}{} a{}", separator, type, k);
            arguments += fmt::format("{}a{}", separator, k);
        }
    }
    for (std::size_t d = 0; d < 3 && starts > 0; ++d) {
        const std::string start = d < starts ? fmt::format("start{}", d) : std::string("0");
        if (d < starts) parameters += fmt::format("{}long long start{}", parameters.empty() ? "" : ", ", d);
        locals += fmt::format("    balm_starts[{}] = {};\n", d, start);  // every work-item writes the same
    }
    if (starts > 0) locals += "    __syncthreads();\n";
    return fmt::format(
        "namespace balm_entries {{\nextern \"C\" __global__ void {}({}) {{\n{}    {}::{}({});\n}}\n}}\n",
        entry_name, parameters, locals, prelude_namespace, cuda_name(kernel.name), arguments);
}

std::set<std::string> all_words(const tokens& list) {
    std::set<std::string> words;
    for (const token& t : list)
        if (t.is_word()) words.insert(t.words);
    return words;
}

void refuse_recursion(const tokens& list, const outline& declared) {
    // Functions are taken away that call none of those left, until none is left or each calls another.
    const std::size_t count = declared.functions.size();
    std::vector<std::vector<std::size_t>> callers(count);
    std::vector<std::size_t> calls(count);
    for (std::size_t f = 0; f < count; ++f) {
        const range body = declared.functions[f].body;
        std::set<const function*> called;
        for (std::size_t k = body.first; k + 1 < body.last; ++k)
            if (list[k].is_word() && list[k + 1].is("("))
                if (const function* callee = declared.definition(list[k].words)) called.insert(callee);
        calls[f] = called.size();
        for (const function* callee : called)
            callers[static_cast<std::size_t>(callee - declared.functions.data())].push_back(f);
    }
    std::vector<std::size_t> done;
    for (std::size_t f = 0; f < count; ++f)
        if (calls[f] == 0) done.push_back(f);
    for (std::size_t next = 0; next < done.size(); ++next)
        for (const std::size_t caller : callers[done[next]])
            if (--calls[caller] == 0) done.push_back(caller);
    // Who is left is in a circle, or calls into one: from any of them, callees that are left lead into it.
    if (done.size() == count) return;
    const auto calls_one_left = [&](std::size_t f) { return calls[f] > 0; };
    std::vector<std::size_t> callee_left(count);
    for (std::size_t f = 0; f < count; ++f)
        if (calls_one_left(f))
            for (const std::size_t caller : callers[f])
                if (calls_one_left(caller)) callee_left[caller] = f;
    std::size_t in_circle = 0;
    while (!calls_one_left(in_circle)) ++in_circle;
    for (std::size_t k = 0; k < count; ++k) in_circle = callee_left[in_circle];
    const function& f = declared.functions[in_circle];
    refuse(f.where, fmt::format("'{}' calls itself, directly or through others; devices have no recursion",
                                shortened(f.name)));
}

}  // namespace balm::opencl_c
