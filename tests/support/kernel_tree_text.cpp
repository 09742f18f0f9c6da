// Prints functions of a program as OpenCL C, in the texts that source_function is given.

#include <bit>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "support/kernel_tree.hpp"

namespace balm::test::tree {

namespace {

std::string joined(std::initializer_list<std::string_view> all) {
    std::string made;
    for (const std::string_view each : all) made += each;
    return made;
}

const char* type_name(number type) {
    switch (type) {
        case number::i32: return "int";
        case number::u32: return "uint";
        case number::f32: return "float";
        default: throw std::logic_error("a truth value is kept");
    }
}

std::string literal(number type, std::uint32_t bits) {
    if (type == number::u32) return std::to_string(bits) + "u";
    if (type == number::f32)
        return joined({"(", std::to_string(static_cast<int>(std::bit_cast<float>(bits))), ".0f)"});
    if (bits == 0x80000000) return "(-2147483647 - 1)";
    return joined({"(", std::to_string(static_cast<std::int32_t>(bits)), ")"});
}

/// Spellings of operators, and of functions with two arguments.
const char* infix(operation what) {
    switch (what) {
        case operation::add: return " + ";
        case operation::sub: return " - ";
        case operation::mul: return " * ";
        case operation::bit_and: return " & ";
        case operation::bit_or: return " | ";
        case operation::bit_xor: return " ^ ";
        case operation::shl: return " << ";
        case operation::shr: return " >> ";
        case operation::less: return " < ";
        case operation::equal: return " == ";
        case operation::logic_and: return " && ";
        case operation::logic_or: return " || ";
        default: return nullptr;
    }
}

/// The types that all texts of a program use, and what C lacks: quotients by 0 that are defined.
std::string declarations(const text_names& n) {
    const auto& m = n.members;
    const auto structure = [&](const std::string& name, const std::string& members) {
        return n.has_tags ? joined({"struct ", name, " {\n", members, "};\n"})
                          : joined({"typedef struct {\n", members, "} ", name, ";\n"});
    };
    const std::string inner = n.has_tags ? "struct " + n.inner_record : n.inner_record;
    std::string made = joined({"#define ", n.macro, " 0\n"});
    made +=
        structure(n.inner_record,
                  joined({"    int ", n.inner_members[0], ";\n    float ", n.inner_members[1], "[2];\n"}));
    made += structure(
        n.record, joined({"    int ", m[0], ";\n    float ", m[1], ";\n    uint ", m[2], "[3];\n    uint4 ",
                          m[3], ";\n    ", inner, " ", m[4], ", ", m[5], "[2];\n"}));
    for (const bool is_quotient : {true, false}) {
        const std::string& name = is_quotient ? n.quotient : n.remainder;
        const char* const op = is_quotient ? "a / b" : "a % b";
        made += joined({"static inline int ", name, "(int a, int b) {\n    if (b == ", n.macro, ") return ",
                        is_quotient ? "0" : "a", ";\n    return b == -1 ? ",
                        is_quotient ? "as_int(0u - as_uint(a))" : "0", " : ", op, ";\n}\n"});
        made += joined({"static inline uint ", name, "_u(uint a, uint b) { return b == ", n.macro, " ? ",
                        is_quotient ? "0u" : "a", " : ", op, "; }\n"});
    }
    return made;
}

class printing {
public:
    explicit printing(const program& p)
        : p_(p),
          names_(p.in_texts),
          record_(names_.has_tags ? "struct " + names_.record : names_.record),
          taken_{names_.macro, names_.record, names_.inner_record, names_.quotient, names_.remainder} {}

    std::string definition(const function& f) {
        const number second = at(f.parameters[1]).type;
        const std::string parameters =
            joined({first_parameter(f), ", ", type_name(second), " ", name(f.parameters[1])});
        line({f.what == shape::numbers ? "static inline " : "", result_type(f.what), " ", f.name, "(",
              parameters, ") {"});
        block(f.body);
        line({"    return ", f.what == shape::of_record ? name(f.result) : value(f.result), ";"});
        line({"}"});
        return text_.str();
    }

private:
    const expression& of_id(id e) const { return p_.expressions[static_cast<std::size_t>(e)]; }
    const object& at(id o) const { return p_.objects[static_cast<std::size_t>(o)]; }

    void line(std::initializer_list<std::string_view> words) {
        text_ << std::string(indent_, ' ');
        for (const std::string_view each : words) text_ << each;
        text_ << '\n';
    }
    /// The word of an object, where nothing else in the function is called so.
    const std::string& name(id o) {
        const auto [found, is_new] = local_names_.try_emplace(o);
        if (!is_new) return found->second;
        const std::string& word = at(o).word;
        std::string made = word.empty() ? "v" : word;
        if (!taken_.insert(made).second) made += "_" + std::to_string(o);
        taken_.insert(made);
        return found->second = made;
    }

    // ---- the function

    std::string result_type(shape what) const {
        switch (what) {
            case shape::of_record: return record_;
            case shape::from_record: return "uint";
            case shape::floats:
            case shape::private_pointer:
            case shape::own_record_pointer: return "float";
            default: return "int";
        }
    }
    std::string first_parameter(const function& f) {
        const id o = f.parameters[0];
        switch (f.what) {
            case shape::numbers:
            case shape::floats: return joined({type_name(at(o).type), " ", name(o)});
            case shape::of_record:
            case shape::from_record: return joined({record_, " ", name(o)});
            case shape::global_pointer: return joined({"global int* ", name(o)});
            case shape::private_pointer: return joined({"float* ", name(o)});
            case shape::record_pointer: return joined({"global ", record_, "* ", name(o)});
            case shape::own_record_pointer: return joined({record_, "* ", name(o)});
            default: throw std::logic_error("a function that is no text");
        }
    }

    // ---- expressions

    std::string value(id e) {
        const expression& x = of_id(e);
        const bool is_odd = e % 2 != 0;  // where there are two ways to say it
        switch (x.what) {
            case operation::literal: return literal(x.type, x.bits);
            case operation::read: return place_at(x.a);
            case operation::convert:
                if (is_odd && of_id(x.a).type != number::truth)
                    return joined({"convert_", type_name(x.type), "(", value(x.a), ")"});
                return joined({"(", type_name(x.type), ")(", value(x.a), ")"});
            case operation::round: return rounded(x);
            case operation::narrow: return narrow(x);
            case operation::neg: return joined({"(-", value(x.a), ")"});
            case operation::bit_not: return joined({"(~", value(x.a), ")"});
            case operation::logic_not: return joined({"(!", value(x.a), ")"});
            case operation::select:
                if (is_odd)
                    return joined({"select(", value(x.c), ", ", value(x.b), ", (int)", value(x.a), ")"});
                return joined({"(", value(x.a), " ? ", value(x.b), " : ", value(x.c), ")"});
            case operation::mul_add:
                return joined({"fma(", value(x.a), ", ", value(x.b), ", ", value(x.c), ")"});
            default: break;
        }
        const std::string a = value(x.a), b = value(x.b);
        if (const char* const op = infix(x.what)) return joined({"(", a, op, b, ")"});
        return joined({called(x, is_odd), "(", a, ", ", b, ")"});
    }
    std::string called(const expression& x, bool is_odd) const {
        const bool is_float = x.type == number::f32 && is_odd;
        switch (x.what) {
            case operation::min: return is_float ? "fmin" : "min";
            case operation::max: return is_float ? "fmax" : "max";
            case operation::div: return names_.quotient + (x.type == number::u32 ? "_u" : "");
            case operation::rem: return names_.remainder + (x.type == number::u32 ? "_u" : "");
            default: throw std::logic_error("an operation that C does not have");
        }
    }
    std::string rounded(const expression& x) {
        const char* const modes[] = {"rte", "rtz", "rtp", "rtn"};
        const auto mode = [&] {
            switch (static_cast<rounding>(x.bits)) {
                case rounding::nearest_even: return modes[0];
                case rounding::toward_zero: return modes[1];
                case rounding::up: return modes[2];
                default: return modes[3];
            }
        };
        return joined({"convert_int_", mode(), "(", value(x.a), " * 0.25f)"});
    }
    std::string narrow(const expression& x) {
        constexpr const char* types[] = {"char", "uchar", "short", "ushort", "int", "uint"};
        return joined({"(", type_name(x.type), ")convert_", types[x.bits], "_sat(", value(x.a), ")"});
    }

    // ---- places

    std::string place_at(id where) {
        const place& p = p_.places[static_cast<std::size_t>(where)];
        const std::string& o = name(p.where);
        const auto index = [&] { return joined({"[", value(p.index), "]"}); };
        switch (at(p.where).what) {
            case kind::variable: return o;
            case kind::array: return o + index();
            case kind::matrix: {
                const std::string k = value(p.index);
                return joined({o, "[", k, " >> 2][", k, " & 3]"});
            }
            case kind::vector: return o + lane(p.part, where);
            case kind::record: return o + "." + member_of(p, where);
            case kind::record_pointer:
                return where % 2 == 0 ? o + "->" + member_of(p, where)
                                      : joined({"(*", o, ").", member_of(p, where)});
            case kind::pointer:
                return p.part == 0 ? o + index()
                                   : joined({"(", o, " + ", std::to_string(p.part), ")", index()});
            case kind::deep_pointer: return joined({"(*", o, ")", index()});
            case kind::pointer_array: return joined({o, "[", value(p.other), "]", index()});
            default: throw std::logic_error("an object that no text has");
        }
    }
    static std::string lane(int k, id where) {
        if (where % 2 == 0) return std::string(".") + "xyzw"[k];
        return ".s" + std::to_string(k);
    }
    std::string member_of(const place& p, id where) {
        const auto& m = names_.members;
        const auto& inner = names_.inner_members;
        const auto index = [&] { return joined({"[", value(p.index), "]"}); };
        switch (p.part) {
            case of_int: return m[0];
            case of_float: return m[1];
            case of_uints: return m[2] + index();
            case of_lanes: return m[3] + lane(static_cast<int>(of_id(p.index).bits), where);
            case of_inner_int: return joined({m[4], ".", inner[0]});
            case of_inner_floats: return joined({m[4], ".", inner[1], index()});
            case of_inners_ints: return joined({m[5], index(), ".", inner[0]});
            default: return joined({m[5], index(), ".", inner[1], "[1]"});
        }
    }
    std::string inner_of(id record, int which) {
        const std::string& member = names_.members[which == 0 ? 4 : 5];
        return joined({name(record), ".", member}) +
               (which == 0 ? "" : joined({"[", std::to_string(which - 1), "]"}));
    }
    /// The first element of what pointers point into.
    std::string base_of(id o) {
        switch (at(o).what) {
            case kind::variable: return "&" + name(o);
            case kind::matrix: return joined({"&", name(o), "[0][0]"});
            default: return name(o);
        }
    }
    std::string pointer_into(id pointer, const std::string& element) {
        return joined({base_of(at(pointer).of), " + ", element});
    }
    std::string last_of(id pointer) const {
        return std::to_string(at(at(pointer).of).what == kind::variable ? 0 : reach - 1);
    }

    // ---- statements

    void block(const std::vector<statement>& list) {
        indent_ += 4;
        for (const statement& s : list) step(s);
        indent_ -= 4;
    }
    void step(const statement& s) {
        switch (s.what) {
            case action::declare: return declare(s);
            case action::assign: return line({place_at(s.where), " = ", value(s.a), ";"});
            case action::add_to: return line({place_at(s.where), " += ", value(s.a), ";"});
            case action::combine: return combine(s);
            case action::shuffle_lanes: return line({name(s.target), ".xy = ", name(s.b), ".zw;"});
            case action::copy: return line({name(s.target), " = ", name(s.b), ";"});
            case action::copy_inner:
                return line({inner_of(s.target, s.part / inner_records), " = ",
                             inner_of(s.b, s.part % inner_records), ";"});
            case action::move: {
                const std::string& p = name(s.target);
                const std::string from = joined({"(int)(", p, " - (", base_of(at(s.target).of), "))"});
                const std::string to =
                    joined({"((", from, " + (", value(s.a), " & 0xffff)) & ", last_of(s.target), ")"});
                return line({p, " = ", pointer_into(s.target, to), ";"});
            }
            case action::redirect: {
                const std::string to = pointer_into(s.target, value(s.a));
                if (at(s.target).what == kind::deep_pointer)
                    return line({"*", name(s.target), " = ", to, ";"});
                return line({name(s.target), "[", value(s.b), "] = ", to, ";"});
            }
            case action::branch: return branch(s);
            case action::count: return count(s);
            case action::repeat: return repeat(s);
            case action::leave: return line({"break;"});
            case action::next: return line({"continue;"});
            case action::give_back: return line({"return ", value(s.a), ";"});
            default: throw std::logic_error("a statement that no text has");
        }
    }
    void declare(const statement& s) {
        const object& o = at(s.target);
        // The value first: it names what was declared before.
        const std::string a = s.a == none ? "" : value(s.a);
        const std::string& made = name(s.target);
        switch (o.what) {
            case kind::array: return line({"int ", made, "[", std::to_string(window), "] = {0};"});
            case kind::matrix: return line({"float ", made, "[4][4] = {0};"});
            case kind::record: return line({record_, " ", made, " = {0};"});
            case kind::vector:
                line({"uint4 ", made, " = (uint4)(", a, ");"});
                return line(
                    {made, " = (uint4)(", made, ".x, ", made, ".y + 1u, ", made, ".z ^ 5u, ~", made, ".w);"});
            case kind::pointer:
                return line({type_name(o.type), "* ", made, " = ", pointer_into(s.target, a), ";"});
            case kind::deep_pointer: return line({type_name(o.type), "** ", made, " = &", name(s.b), ";"});
            case kind::pointer_array: return declare_pointers(s, a);
            case kind::record_pointer: return line({record_, "* ", made, " = &", name(o.of), ";"});
            default: return line({type_name(o.type), " ", made, " = ", a, ";"});
        }
    }
    void declare_pointers(const statement& s, const std::string& first) {
        const std::string& made = name(s.target);
        line({type_name(at(s.target).type), "* ", made, "[", std::to_string(pointers_each), "];"});
        for (int k = 0; k < pointers_each; ++k) {
            const std::string number = std::to_string(k);
            const std::string element = joined({"((", first, " + ", number, ") & ", last_of(s.target), ")"});
            line({made, "[", number, "] = ", pointer_into(s.target, element), ";"});
        }
    }
    void combine(const statement& s) {
        const std::string &v = name(s.target), &w = name(s.b);
        switch (s.op) {
            case operation::add: return line({v, " += ", w, ";"});
            case operation::sub: return line({v, " = ", v, " - ", w, ";"});
            case operation::mul: return line({v, " *= ", w, ";"});
            case operation::bit_xor: return line({v, " ^= ", w, ";"});
            case operation::min: return line({v, " = min(", v, ", ", w, ");"});
            default: return line({v, " = ", v, " << ", w, ";"});
        }
    }
    void branch(const statement& s) {
        line({"if (", value(s.a), ") {"});
        block(s.inner);
        if (!s.other.empty()) {
            line({"} else {"});
            block(s.other);
        }
        line({"}"});
    }
    /// The end is computed once.
    void count(const statement& s) {
        const std::string begin = value(s.a), end = value(s.b);
        const std::string& k = name(s.target);
        const std::string last = k + "_end";
        taken_.insert(last);
        line({"for (int ", k, " = ", begin, ", ", last, " = ", end, "; ", k, " < ", last, "; ", k,
              " += ", std::to_string(s.part), ") {"});
        block(s.inner);
        line({"}"});
    }
    void repeat(const statement& s) {
        const std::string& turn = name(s.target);
        line({"int ", turn, " = ", std::to_string(first_of(s.op)), ";"});
        line({"while (", turn, " < ", std::to_string(s.part), " && ", value(s.a), ") {"});
        const char* const step = s.op == operation::add   ? "++$"
                                 : s.op == operation::shl ? "$ *= 2"
                                                          : "$ = $ * 3 + 1";
        std::string stepped = "    ";
        for (const char* c = step; *c != 0; ++c) stepped += *c == '$' ? turn : std::string(1, *c);
        line({stepped, ";"});
        block(s.inner);
        line({"}"});
    }

    const program& p_;
    const text_names& names_;
    std::string record_;
    std::set<std::string> taken_;
    std::map<id, std::string> local_names_;
    std::ostringstream text_;
    std::size_t indent_ = 0;
};

}  // namespace

std::vector<std::string> texts_of(const program& p, const function& f) {
    std::string types = declarations(p.in_texts);
    if (!p.in_texts.is_one_text) return {types, printing(p).definition(f)};
    for (const function& each : p.functions)
        if (each.is_text) types += printing(p).definition(each);
    return {types};
}

}  // namespace balm::test::tree
