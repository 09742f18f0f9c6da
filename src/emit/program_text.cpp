// For OpenCL, texts are printed unchanged, each after a #line that names it; for CUDA, they are preprocessed
// and rewritten together, after the prelude.

#include "emit/program_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "balm/error.hpp"
#include "emit/builtin_spelling.hpp"
#include "emit/cuda/prelude.hpp"
#include "emit/names.hpp"
#include "ir/passes/aggregate.hpp"
#include "text/outline.hpp"
#include "text/preprocessor.hpp"
#include "text/rewriter.hpp"
#include "text/signature.hpp"

namespace balm::emit {

using opencl_c::all_words;
using opencl_c::cuda_name;
using opencl_c::difference;
using opencl_c::entry_point;
using opencl_c::fault;
using opencl_c::outline;
using opencl_c::prelude_namespace;
using opencl_c::preprocess;
using opencl_c::read_outline;
using opencl_c::rewrite;
using opencl_c::split;
using opencl_c::tokens;

namespace {

/// The functions given as text: the kernel itself and those that it calls.
std::vector<const ir::function*> functions_of(const ir::function& kernel) {
    std::vector<const ir::function*> list = ir::with_callees(kernel);
    list.erase(std::remove_if(list.begin(), list.end(), [](const ir::function* f) { return !f->text; }),
               list.end());
    return list;
}

/// The texts of the functions, without duplicates.
ir::text_list texts_of(const std::vector<const ir::function*>& functions) {
    ir::text_list list;
    for (const ir::function* f : functions)
        for (const auto& each : f->text->texts) {
            const bool is_known = std::any_of(list.begin(), list.end(),
                                              [&](const auto& known) { return known->words == each->words; });
            if (!is_known) list.push_back(each);
        }
    return list;
}

std::string names_of(const ir::text_list& list) {
    std::string names;
    for (const auto& each : list) names += (names.empty() ? "" : ", ") + each->name;
    return names.empty() ? "none" : names;
}

[[noreturn]] void fail_undefined(const ir::function& f, const ir::text_list& list) {
    throw build_error(
        fmt::format("'{}' is declared without a text, and no text of the program defines it (texts: {}); "
                    "pass the text that defines it",
                    f.name, names_of(list)));
}

program_text print_opencl(const ir::function& kernel, const ir::text_list& list,
                          const std::vector<const ir::function*>& functions) {
    program_text made;
    std::set<std::string> macros, reserved;
    bool uses_double = false;
    std::string words;
    for (const auto& each : list) {
        words += fmt::format("#line 1 \"{}\"\n{}\n\n", each->name, each->words);  // may end in a splice
        const tokens all = split(each->words, each->name);
        for (std::size_t k = 0; k + 2 < all.size(); ++k) {
            uses_double = uses_double || all[k].words.rfind("double", 0) == 0;
            if (all[k].is_word()) reserved.insert(all[k].words);
            if (all[k].starts_line && all[k].is("#") && all[k + 1].is("define"))
                macros.insert(all[k + 2].words);
        }
    }
    for (const ir::function* f : functions)
        if (!reserved.count(f->name)) fail_undefined(*f, list);
    made.reserved.assign(reserved.begin(), reserved.end());
    if (!kernel.text) {
        // Macros of the texts must not change the generated source.
        for (const std::string& name : macros) words += "#undef " + name + "\n";
        made.words = words + "#pragma OPENCL FP_CONTRACT OFF\n#line 1 \"Balm\"\n";
        return made;
    }
    made.kernel_name = kernel.name;
    if (uses_double) made.words += "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
    made.words += "#pragma OPENCL FP_CONTRACT OFF\n" + words;
    return made;
}

/// The number of parameters that ir::with_grid added; only these have code in a kernel given as text.
std::size_t hidden_parameters(const ir::function& kernel) {
    return kernel.code.empty() ? 0 : static_cast<std::size_t>(kernel.dimensions);
}

/// Compares the signature with the text's: preprocessor conditionals may have hidden it when the kernel was
/// defined.
void compare(const ir::function& expected, std::size_t count, const outline& declared) {
    const std::string why = difference(expected, count, *declared.definition(expected.name));
    if (!why.empty()) throw fault(why);
}

program_text print_cuda(const ir::function& kernel, const ir::text_list& list,
                        const std::vector<const ir::function*>& functions) {
    program_text made;
    const tokens source = preprocess(list);
    const outline declared = read_outline(source);
    for (const ir::function* f : functions) {
        if (!declared.definition(f->name)) fail_undefined(*f, list);
        compare(*f, f->parameters.size() - (f == &kernel ? hidden_parameters(kernel) : 0), declared);
    }
    made.words =
        cuda::prelude(all_words(source), kernel.dimensions, kernel.text && hidden_parameters(kernel) > 0);
    made.words += rewrite(source, declared);
    made.words += "#line 1 \"Balm\"\n";
    if (kernel.text) {
        made.kernel_name = name_set().unique(kernel.name);
        made.words +=
            entry_point(*declared.definition(kernel.name), made.kernel_name, hidden_parameters(kernel));
    }
    made.words += fmt::format("}}  // namespace {}\n\n", prelude_namespace);
    return made;
}

}  // namespace

ir::text_list all_texts(const ir::function& f) { return texts_of(functions_of(f)); }

program_text print_texts(const ir::function& kernel, const dialect& language) {
    const std::vector<const ir::function*> functions = functions_of(kernel);
    if (functions.empty()) return {};
    const ir::text_list list = texts_of(functions);
    try {
        if (language.has.keeps_texts) return print_opencl(kernel, list, functions);
        if (language.has.rewrites_texts) return print_cuda(kernel, list, functions);
        throw fault("it does not accept OpenCL C");
    } catch (const fault& f) {
        throw build_error(fmt::format(
            "'{}' cannot be compiled for {}: {}.{}", kernel.name, language.name, f.what(),
            language.has.keeps_texts ? "" : " OpenCL devices use the text unchanged (BALM_BACKEND=opencl)."));
    }
}

namespace {

ir::type element_of(ir::type t) { return t.is_pointer() ? pointee(t) : t; }
bool is_structure(ir::type t) { return ir::is_structure(element_of(t)); }
/// Whether the rewritten text and its callers use different types with the same layout.
bool has_two_types(ir::type t) { return is_structure(t) || element_of(t).lanes > 1; }

template <class Condition>
bool any_type(const ir::function& f, Condition&& holds) {
    return holds(f.result) || std::any_of(f.parameters.begin(), f.parameters.end(),
                                          [&](const ir::parameter& p) { return holds(p.what); });
}

/// Names for a wrapper's parameters that hide no name of the texts.
std::vector<std::string> parameter_names(const ir::function& f, name_set& names) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < f.parameters.size(); ++k) all.push_back(names.unique(fmt::format("a{}", k)));
    return all;
}
/// "float4 a0, float a1": the parameters, with the caller's types.
std::string parameters_of(const ir::function& f, const std::vector<std::string>& names,
                          program_parts& parts) {
    std::vector<std::string> all;
    for (std::size_t k = 0; k < f.parameters.size(); ++k)
        all.push_back(fmt::format("{} {}", type_name(parts, f.parameters[k].what), names[k]));
    return joined(all);
}

/// The type's name in the rewritten text; `structure` is the text's name for a structure.
std::string type_in_text(const dialect& language, ir::type t, const std::string& structure) {
    const ir::type element = element_of(t);
    std::string name = type_name(language, element.element);
    if (is_structure(t))
        name =
            fmt::format("{}::{}", prelude_namespace, cuda_name(structure.substr(structure.rfind(' ') + 1)));
    else if (element.lanes > 1)
        name = fmt::format("{}::{}", prelude_namespace,
                           type_name(dialect_of(runtime::dialect::opencl_c), element.element, element.lanes));
    return t.is_pointer() ? fmt::format("{}{}*", t.is_const ? "const " : "", name) : name;
}

std::string cuda_wrapper(const ir::function& f, const std::string& own, program_parts& parts) {
    name_set names(parts.names);
    const std::vector<std::string> given = parameter_names(f, names);
    std::vector<std::string> arguments;
    for (std::size_t k = 0; k < f.parameters.size(); ++k) {
        const ir::type what = f.parameters[k].what;
        std::string argument = given[k];
        if (has_two_types(what)) {
            const std::string type =
                type_in_text(parts.language, what, is_structure(what) ? f.text->structures[k] : "");
            argument = what.is_pointer()
                           ? fmt::format("({}){}", type, argument)
                           : fmt::format("{}::balm_as<{}>({})", prelude_namespace, type, argument);
        }
        arguments.push_back(argument);
    }
    std::string call = fmt::format("{}({})", own, joined(arguments));
    const std::string result = type_name(parts, f.result);
    if (has_two_types(f.result)) call = fmt::format("{}::balm_as<{}>({})", prelude_namespace, result, call);
    return fmt::format("static __device__ inline {} balm_text_{}({}) {{\n    return {};\n}}\n", result,
                       f.name, parameters_of(f, given, parts), call);
}

/// C has no conversion between structures: the wrapper writes one member of a union and reads the other.
/// Pointers to structures are passed as pointers to void, which convert to any of them.
std::string opencl_wrapper(const ir::function& f, program_parts& parts) {
    name_set names(parts.names);
    const std::vector<std::string> given = parameter_names(f, names);
    const auto both = [&](ir::type t, std::size_t k, const std::string& name) {
        return fmt::format("    union {{ {} own; {} text; }} {};\n", type_name(parts, t),
                           f.text->structures[k], name);
    };
    std::string body;
    std::vector<std::string> arguments;
    for (std::size_t k = 0; k < f.parameters.size(); ++k) {
        const ir::type what = f.parameters[k].what;
        std::string argument = given[k];
        if (is_structure(what) && what.is_pointer()) {
            const ir::type memory = pointer_to(ir::type(), what.where, what.is_const);
            argument = fmt::format("({}){}", type_name(parts, memory), argument);
        } else if (is_structure(what)) {
            const std::string name = names.unique(fmt::format("s{}", k));
            body += both(what, k, fmt::format("{} = {{{}}}", name, argument));
            argument = name + ".text";
        }
        arguments.push_back(argument);
    }
    const std::string call = fmt::format("{}({});\n", f.name, joined(arguments));
    if (is_structure(f.result)) {
        const std::string name = names.unique("result");
        body += both(f.result, f.parameters.size(), name) +
                fmt::format("    {0}.text = {1}    return {0}.own;\n", name, call);
    } else {
        body += (f.result == ir::type() ? "    " : "    return ") + call;
    }
    return fmt::format("static inline {} balm_text_{}({}) {{\n{}}}\n", type_name(parts, f.result), f.name,
                       parameters_of(f, given, parts), body);
}

}  // namespace

std::string called_name(const ir::function& f, program_parts& parts) {
    const bool keeps_texts = parts.language.has.keeps_texts;
    std::string own = keeps_texts ? f.name : fmt::format("{}::{}", prelude_namespace, cuda_name(f.name));
    if (!any_type(f, keeps_texts ? is_structure : has_two_types)) return own;
    parts.meets_text_structures = parts.meets_text_structures || any_type(f, is_structure);
    return parts.use(
        {"balm_text_" + f.name, keeps_texts ? opencl_wrapper(f, parts) : cuda_wrapper(f, own, parts)});
}

}  // namespace balm::emit
