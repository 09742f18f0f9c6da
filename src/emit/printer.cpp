// Assembles a program: provenance, the dialect's head, texts, types, constants, helper functions, callees,
// kernel.

#include "emit/printer.hpp"

#include <fmt/format.h>

#include <utility>

#include "balm/version.hpp"
#include "emit/function/printer.hpp"
#include "emit/outlining.hpp"
#include "emit/program_text.hpp"

namespace balm::emit {

namespace {

/// Names the functions that f calls; functions with equal names get different ones. Appends those that have
/// code to `order`, each once, callees before their callers.
void declare_callees(const ir::function& f, program_parts& parts, std::vector<const ir::function*>& order) {
    for (const auto& callee : f.callees) {
        if (parts.functions.count(callee.get())) continue;
        if (callee->text) {
            parts.functions[callee.get()] = called_name(*callee, parts);
            continue;
        }
        declare_callees(*callee, parts, order);
        parts.functions[callee.get()] = parts.names.unique(callee->name);
        order.push_back(callee.get());
    }
}

/// The first line, which says where the program came from; it is not part of the disk cache key.
std::string provenance(const ir::function& kernel) {
    std::string text = "// " + (kernel.description.empty() ? kernel.name : kernel.description);
    if (kernel.where.file) text += fmt::format(", from {}:{}", kernel.where.file, kernel.where.line);
    return text + " (Balm " BALM_VERSION ")\n";
}

}  // namespace

printed print_program(const ir::function& kernel, const dialect& language) {
    const program_text given = print_texts(kernel, language);
    const std::string_view barriers = kernel.fences_barriers ? language.fenced_barriers : "";
    if (kernel.text) return {provenance(kernel) + std::string(barriers) + given.words, given.kernel_name};
    program_parts parts(language);
    for (const std::string& word : given.reserved) parts.names.reserve(word);
    std::string name = parts.names.unique(kernel.name);
    std::vector<const ir::function*> callees;
    declare_callees(kernel, parts, callees);
    if (!language.say.outlined_function.empty()) parts.outlined = outlined_functions(kernel);
    for (const ir::function* callee : callees) declare_parts_of(parts, *callee);
    declare_parts_of(parts, kernel);
    std::string functions;
    for (const ir::function* callee : callees)
        functions += print_function(*callee, parts.functions.at(callee), parts) + "\n";
    functions += print_function(kernel, name, parts);
    std::string text = provenance(kernel);
    if (language.head != nullptr) text += language.head(parts);
    text += std::string(barriers) + "\n" + given.words;
    text += parts.type_text;
    if (!parts.constant_text.empty()) text += parts.constant_text + "\n";
    for (const auto& [helper, definition] : parts.helpers) text += definition + "\n";
    return {text + functions, std::move(name)};
}

}  // namespace balm::emit
