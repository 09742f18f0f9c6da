// Walks the tokens once. C and C++ share most of their syntax: what is copied means the same in both, and
// what differs is rewritten here or refused: qualifiers, vector literals and components, type names, shifts,
// character constants, C++ keywords.

#include "text/rewriter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "text/cuda_words.hpp"
#include "text/text_writer.hpp"

namespace balm::opencl_c {

namespace {

using namespace std::string_view_literals;

bool is_private_qualifier(const token& t) { return t.is("__private") || t.is("private"); }

class rewriter {
public:
    rewriter(const tokens& list, const outline& declared) : list_(list), declared_(declared) {}

    /// Rewrites a list of tokens on its own, without lines: the type of a parameter.
    std::string run_alone() {
        for (std::size_t k = 0; k + 1 < list_.size(); k = next_) copy(k, list_.size() - 1);
        std::string text = out_.take();
        text.pop_back();
        return text;
    }

    std::string run() {
        collect_members();
        collect_hidden_types();
        collect_vector_typedefs();
        std::size_t f = 0, d = 0;
        for (std::size_t at = 0; at + 1 < list_.size();) {
            if (list_[at].is("#")) {  // #pragma unroll at the outermost level, without effect
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
    // ---- facts about the whole text

    /// The names of struct members: these words never select components of a vector.
    void collect_members() {
        for (std::size_t k = 0; k + 2 < list_.size(); ++k) {
            if (!list_[k].is("struct") && !list_[k].is("union")) continue;
            std::size_t open = k + 1;
            while (open < list_.size() && list_[open].is_attribute())
                open = behind_bracket(list_, open + 1, list_.size() - 1);
            if (list_[open].is_word()) ++open;
            if (!list_[open].is("{")) continue;
            bodies_.push_back({open + 1, behind_bracket(list_, open, list_.size() - 1)});
            for (std::size_t m = bodies_.back().first; m < bodies_.back().last; ++m)
                if (is_member_name(m, bodies_.back().last)) members_.insert(list_[m].words);
        }
    }
    bool is_member_name(std::size_t k, std::size_t behind) const {
        return list_[k].is_word() && k + 1 < behind && is_one_of(list_[k + 1].words, {";", ",", "[", ":"});
    }
    /// Uses in structs of types that have the name of a member: in C++ the member hides the type.
    void collect_hidden_types() {
        for (const range& body : bodies_)
            for (std::size_t k = body.first; k < body.last; ++k)
                if (members_.count(list_[k].words) && declared_.typedefs.count(list_[k].words) &&
                    !is_member_name(k, body.last))
                    hidden_types_.insert(k);
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
                       "a variable outside functions must be in constant memory: write __constant before its "
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

    /// Drops attributes that mean nothing to CUDA, keeps those for layout, refuses others. Returns the
    /// position after them.
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
                       fmt::format("the attribute '{}' is not translated to CUDA", shortened(t.words)));
            }
        }
        if (keeps && !of_function)
            for (std::size_t k = at; k < behind; ++k) out_.put(list_[k]);
        return behind;
    }

    // ---- one step through a declaration or a body; each returns the position after what it has read

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

    /// The beginning of a statement may declare a variable in local memory.
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
            refuse(first.where,
                   "pointers and variables of an address space are declared together here; declare them "
                   "separately");
        if (pointers == 1) return k;
        if (in_constant)
            refuse(first.where,
                   "__constant variables inside a function are not translated to CUDA; declare them outside "
                   "functions");
        out_.put("__shared__", first);
        for (std::size_t at = k; at < stop;) {
            if (list_[at].is("="))
                refuse(list_[at].where, "a variable in local memory cannot have an initialiser");
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

    /// `float4 v = {1, 2, 3, 4}`, `float4 v[2] = {{1, 2, 3, 4}, …`: marks the braces around the components of
    /// a vector, which become its constructor.
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

    /// Whether the braces may initialise vector members of a structure: OpenCL fills components where C++
    /// would construct whole vectors.
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
               "a vector is written as a list in braces here, which means something else in C++; write a "
               "vector literal: (float4)(a, b, c, d)");
    }

    /// Writes the line of a #pragma that is kept.
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

    /// Writes the token at k, rewritten; next_ becomes the position after it.
    void copy(std::size_t k, std::size_t end) {
        next_ = k + 1;
        const token& t = list_[k];
        switch (t.what) {
            case kind::identifier: return word(k);
            case kind::number: return out_.put(cuda_number(t), t);
            case kind::character: return out_.put(cuda_character(t), t);
            case kind::string: refuse_vector_formats(t); return out_.put(t);
            case kind::punctuation: return punctuation(k, end);
            case kind::other:
                refuse(t.where, fmt::format("'{}' is not part of OpenCL C", shortened(t.words)));
            case kind::end: return;
        }
    }

    void word(std::size_t k) {
        const token& t = list_[k];
        const std::string& w = t.words;
        if (before(k).is(".") || before(k).is("->")) return member(k);
        refuse_foreign(t);
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
            refuse(t.where, "vec_step of a type is not translated to CUDA; pass a value");
        if (w == "long") return long_word(k);
        if (w == "char") return char_word(k);
        if (const auto call = cuda_conversion(w)) return out_.put(*call, t);
        if (hidden_types_.count(k))
            return out_.put(fmt::format("{}::{}", prelude_namespace, cuda_name(w)), t);
        out_.put(cuda_name(w), t);
    }
    /// sizeof(a < b) is the size of an int in C and of a bool in C++.
    void refuse_size_of_truth(std::size_t open) const {
        const std::size_t behind = behind_bracket(list_, open, list_.size() - 1);
        for (std::size_t k = open; k < behind; ++k)
            if (is_one_of(list_[k].words, {"<", ">", "<=", ">=", "==", "!=", "&&", "||", "!"}))
                refuse(list_[k].where, "sizeof of a comparison or logical expression, which differs in C++");
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
    // ---- components

    void member(std::size_t k) {
        const token& t = list_[k];
        const auto selected = components_of(t.words);
        // A struct's member may have the name of components (seed, xy): then the word never selects
        // components.
        if (!selected || members_.count(t.words)) return out_.put(cuda_name(t.words), t);
        if (selected->components.size() == 1) {
            // .x, .s0 and .sA are members of the vector; the last is spelled .sa there.
            std::string word = t.words;
            for (char& c : word) c = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 0x20 : 0));
            return out_.put(word, t);
        }
        const bool writes = is_assigned(k);
        if (selected->is_every_other()) {
            if (writes)
                refuse(t.where, fmt::format("writing to .{} is not translated to CUDA; write the components",
                                            t.words));
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
                   fmt::format("'{}' on components of a vector is not translated to CUDA", next.words));
        if (is_one_of(next.words, {"<<=", ">>="}))
            refuse(next.where,
                   fmt::format("'{}' on components of a vector is not translated to CUDA", next.words));
        if (next.is(".") && is_written_further(k + 1))
            refuse(next.where, "writing to components of components is not translated to CUDA");
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
            refuse(t.where, fmt::format("'{}' is not valid in OpenCL C here", t.words));
        if (t.is("^") && ahead(k).is("{")) refuse(t.where, "blocks are OpenCL C 2.0");
        if (t.is("<<") || t.is(">>") || t.is("<<=") || t.is(">>=")) return shift(k);
        if (t.is("(")) return parenthesis(k, end);
        if (t.is(",")) refuse_designators(k);
        out_.put(t);
    }

    /// { .member = …, [index] = … }: the token at k is the brace or comma before it.
    void refuse_designators(std::size_t k) const {
        if (ahead(k).is(".") && ahead(k, 2).is_word() &&
            (ahead(k, 3).is("=") || ahead(k, 3).is(".") || ahead(k, 3).is("[")))
            refuse(ahead(k).where, "designated initialisers (.member = …) are not translated to CUDA");
        if (ahead(k).is("["))
            refuse(ahead(k).where, "designated initialisers ([index] = …) are not translated to CUDA");
    }

    /// A count beyond the width is undefined in C++; OpenCL takes it modulo the width.
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
        if (ahead(k).is("{")) refuse(ahead(k).where, "statement expressions are not part of OpenCL C");
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
            refuse(
                type.where,
                fmt::format("components are taken from a vector literal; put it in parentheses: (({})(…)).x",
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
    /// (struct pair){1, 2}: an lvalue in C, invalid in C++.
    void compound_literal(std::size_t k, std::size_t end) const {
        const token& previous = before(k);
        const bool in_expression = is_one_of(previous.words, {"=", ",", "(", "return", "+", "-", "*", "/",
                                                              "?", ":", "[", "{", "&"}) ||
                                   previous.is(";");
        if (!in_expression) return;
        const std::size_t behind = behind_bracket(list_, k, end);
        if (behind < end && list_[behind].is("{") && !previous.is(";"))
            refuse(list_[k].where, "compound literals, (type){…}, are not translated to CUDA");
    }

    const tokens& list_;
    const outline& declared_;
    text_writer out_;
    std::vector<range> bodies_;  ///< of structs
    std::set<std::string> members_;
    std::set<std::size_t> hidden_types_;
    std::set<std::string> vector_typedefs_;
    std::map<std::size_t, std::string> vector_braces_;  ///< where they open, and the vector's type
    std::size_t next_ = 0;
};

}  // namespace

std::string rewrite(const tokens& list, const outline& declared) {
    refuse_recursion(list, declared);
    return rewriter(list, declared).run();
}

namespace {

/// The type of a kernel's parameter in CUDA C++.
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

}  // namespace balm::opencl_c
