// Array programs as C++ text, for the message of a failure.

#include <cctype>

#include "support/array_program.hpp"
#include "support/exact_complex.hpp"

namespace balm::test {

namespace {

std::string joined(const std::vector<std::string>& parts, const char* between) {
    std::string text;
    for (const std::string& each : parts) text += (text.empty() ? "" : between) + each;
    return text;
}
template <class T>
std::string listed(const std::vector<T>& all) {
    std::vector<std::string> parts;
    for (const T& each : all) parts.push_back(std::to_string(each));
    return joined(parts, ", ");
}
const char* name_of(element_form form) {
    constexpr const char* names[] = {"",         "float4", "int2",           "uchar4",
                                     "double2",  "float3", "complex<float>", "complex<double>",
                                     "particle", "half3",  "half4"};
    return names[static_cast<std::size_t>(form)];
}
std::string text_of(const dimension_part& p) {
    switch (p.what) {
        case dimension_part::kind::all: return "all";
        case dimension_part::kind::reversed: return "reversed";
        case dimension_part::kind::one: return std::to_string(p.begin);
        case dimension_part::kind::range: break;
    }
    return "slice(" + listed(std::vector{p.begin, p.end, p.stride}) + ")";
}
std::string text_of(const array_node&);
std::string text_of(const std::string& of, const std::vector<view_step>& steps) {
    std::string text = of;
    for (const view_step& s : steps) {
        std::vector<std::string> parts;
        for (const dimension_part& p : s.parts) parts.push_back(text_of(p));
        switch (s.what) {
            case view_step::kind::reshape: text += ".reshape({" + listed(s.to) + "})"; break;
            case view_step::kind::slice: text += "(" + joined(parts, ", ") + ")"; break;
            case view_step::kind::transpose: text += ".transpose({" + listed(s.order) + "})"; break;
            case view_step::kind::broadcast: text += ".broadcast({" + listed(s.to) + "})"; break;
            case view_step::kind::pick: text += "[" + text_of(*s.positions) + "]"; break;
        }
    }
    return text;
}
std::string number_text(const array_node& n) {
    return std::string(to_string(n.given_as)) + "(" +
           (is_floating(n.given_as) ? std::to_string(n.given) : std::to_string(static_cast<long>(n.given))) +
           ")";
}
std::string text_of(const array_node& n) {
    using kind = array_node::kind;
    std::vector<std::string> in;
    for (const node_pointer& each : n.in) in.push_back(text_of(*each));
    switch (n.what) {
        case kind::vector:
            return (n.is_constant_memory ? "constant_memory(v" : "v") + std::to_string(n.which) +
                   (n.is_constant_memory ? ")" : "");
        case kind::scalar: return number_text(n);
        case kind::constant:
            return std::string("constant<") + to_string(n.type) + ">(" + std::to_string(n.given) + ")";
        case kind::index:
            return "element_index(" + std::to_string(n.offset) +
                   (n.is_sized ? ", " + std::to_string(n.count) : "") + ")";
        case kind::random:
            return std::string(n.is_normal ? "normal<" : "uniform<") + to_string(n.type) +
                   (n.is_threefry ? ", threefry>(" : ">(") + joined(in, ", ") + ", " +
                   std::to_string(n.seed) + ", " + std::to_string(n.stream) + ")";
        case kind::look_up: return "look_up(" + in[0] + ", v" + std::to_string(n.which) + ")";
        case kind::host_call:
            return "twice_and(twice_and(" + in[0] + ", " + in[1] + "), " + in[2] + ") * " + in[3];
        case kind::both: return "(" + in[0] + " && " + in[1] + ")";
        case kind::either: return "(" + in[0] + " || " + in[1] + ")";
        case kind::cast: return std::string("cast<") + to_string(n.type) + ">(" + in[0] + ")";
        case kind::saturate: return std::string("convert_sat<") + to_string(n.type) + ">(" + in[0] + ")";
        case kind::bits: return std::string("bit_cast<") + to_string(n.type) + ">(" + in[0] + ")";
        case kind::select: return "select(" + joined(in, ", ") + ")";
        case kind::let:
            return "let(" + in[0] + ", [](auto k" + std::to_string(n.which) + ") { return " + in[1] + "; })";
        case kind::kept: return "k" + std::to_string(n.which);
        case kind::call: return std::string(array_functions[n.which].name) + "(" + joined(in, ", ") + ")";
        case kind::view: return text_of(in[0], n.steps);
        case kind::along:
            return std::string(name_of(n.reduces)) + "(" + in[0] + ", along(" + listed(n.dimensions) + "))";
        case kind::lane: return in[0] + "." + std::to_string(n.which);
        case kind::compose: return std::string(name_of(n.form)) + "(" + joined(in, ", ") + ")";
        case kind::turned: return "turned(" + in[0] + ")";
        case kind::any_lane: return "any_lane(" + in[0] + ")";
        case kind::all_lanes: return "all_lanes(" + in[0] + ")";
        case kind::conj: return "conj(" + in[0] + ")";
        case kind::proj: return "proj(" + in[0] + ")";
        case kind::complex_row:
            return std::string(name_of(static_cast<complex_row>(n.which))) + "(" + in[0] + ")";
        case kind::complex_pow: return "pow(" + joined(in, ", ") + ")";
        case kind::polar: return "polar(" + joined(in, ", ") + ")";
        case kind::complex_abs: return "abs(" + in[0] + ")";
        case kind::complex_arg: return "arg(" + in[0] + ")";
        case kind::complex_norm: return "norm(" + in[0] + ")";
        case kind::equal_complex: return "(" + joined(in, " == ") + ")";
        case kind::advance: return "advance(" + joined(in, ", ") + ")";
        case kind::row: break;
    }
    const row_rule& rule = rule_for(n.row);
    if (std::isalpha(rule.name[0]) != 0) return std::string(rule.name) + "(" + joined(in, ", ") + ")";
    return in.size() == 1 ? rule.name + in[0]
                          : "(" + joined(in, (std::string(" ") + rule.name + " ").c_str()) + ")";
}
std::string text_of(const array_statement& s) {
    std::vector<std::string> to, values;
    for (const array_target& t : s.to)
        to.push_back(text_of("v" + std::to_string(t.vector), t.steps) +
                     (t.part ? "." + std::to_string(*t.part) : ""));
    for (std::size_t k = 0; k < s.values.size(); ++k)
        values.push_back(s.reduces.empty()
                             ? text_of(*s.values[k])
                             : std::string(name_of(s.reduces[k])) + "_of(" + text_of(*s.values[k]) + ")");
    switch (s.what) {
        case array_statement::kind::multi:
            return "multivector(" + joined(to, ", ") + ") = {" + joined(values, ", ") + "}";
        case array_statement::kind::tie:
            return "tie(" + joined(to, ", ") + ") = tuple(" + joined(values, ", ") + ")";
        case array_statement::kind::reduce:
            return std::string(s.stays_on_device ? "reduce_into(" : "reduce(") +
                   (s.is_portable ? "portable, " : "") + joined(values, ", ") + ")";
        case array_statement::kind::compound:
            return to[0] + " " + rule_for(s.row).name + "= " + text_of(*s.values[0]->in[1]);
        case array_statement::kind::histogram: return "count(" + values[0] + ", " + to[0] + ")";
        case array_statement::kind::make: return "vector " + to[0] + "(" + values[0] + ")";
        default: return to[0] + " = " + values[0];
    }
}

}  // namespace

std::string text_of(const array_program& p) {
    std::string text;
    for (std::size_t k = 0; k < p.vectors.size(); ++k) {
        const array_vector& v = p.vectors[k];
        text += "  v" + std::to_string(k) + ": " +
                (v.form == element_form::scalar ? to_string(v.type) : name_of(v.form)) + "[" +
                std::to_string(v.size) + "]";
        if (v.positions_in > 0)
            text += std::string(v.may_repeat ? ", repeated" : ",") + " positions below " +
                    std::to_string(v.positions_in);
        text += "\n";
    }
    for (const array_statement& s : p.statements) text += "  " + text_of(s) + ";\n";
    return text;
}

}  // namespace balm::test
