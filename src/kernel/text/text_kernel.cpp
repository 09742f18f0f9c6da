// Finds the definitions in the user's texts and checks that they match the C++ signatures. Out: an
// ir::function without code, whose text the printers use.

#include "balm/text_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "balm/error.hpp"
#include "emit/names.hpp"
#include "ir/ir.hpp"
#include "ir/passes/aggregate.hpp"
#include "kernel/text/text_files.hpp"
#include "text/outline.hpp"
#include "text/preprocessor.hpp"
#include "text/rewriter.hpp"
#include "text/signature.hpp"

namespace balm {

struct detail::text_state {
    ir::text_list texts;
    std::exception_ptr fault;  ///< of a source made before main, which nothing could catch
};

namespace {

using opencl_c::split;
using opencl_c::token;
using opencl_c::tokens;
using opencl_c::type_words;
using state_pointer = std::shared_ptr<const detail::text_state>;

/// The state that `make` fills. If nothing could catch an exception of `make`, the state stores it.
template <class Make>
state_pointer state_of(bool throws, Make&& make) {
    auto state = std::make_shared<detail::text_state>();
    try {
        make(state->texts);
    } catch (...) {
        if (throws) throw;
        state->fault = std::current_exception();
    }
    return state;
}

// ---- the contents -----------------------------------------------------------------------------------

bool has_conditions(const ir::text_list& texts) {
    for (const auto& each : texts) {
        const tokens list = split(each->words, each->name);
        for (std::size_t k = 0; k + 1 < list.size(); ++k)
            if (list[k].starts_line && list[k].is("#") && list[k + 1].words.rfind("if", 0) == 0) return true;
    }
    return false;
}

/// ". The text is 'scale.cl' …" if it looks like the name of a file.
std::string path_hint(const ir::text_list& texts) {
    const std::string& words = texts[0]->words;
    if (words.size() >= 4096 || words.find_first_of(" \n;{") != std::string::npos) return {};
    return fmt::format(". The text is '{}'; to read a file, use text_source::from_files({{\"…\"}})", words);
}

/// The text and its declarations, as far as they are known without a device: a condition on a vendor's macro
/// may hide some, and then only the compiler can tell.
struct survey {
    tokens words;
    opencl_c::outline declared;
};
std::optional<survey> survey_of(const ir::text_list& texts) {
    try {
        survey s;
        s.words = opencl_c::preprocess(texts);
        s.declared = opencl_c::read_outline(s.words);
        return s;
    } catch (const opencl_c::excess& fault) {
        throw usage_error(fmt::format("this text is rejected: {}", fault.what()));
    } catch (const opencl_c::fault& fault) {
        if (has_conditions(texts)) return std::nullopt;
        throw usage_error(fmt::format("this is not OpenCL C: {}{}", fault.what(), path_hint(texts)));
    }
}

std::string names_of(const ir::text_list& texts) {
    std::string names;
    for (const auto& each : texts) names += (names.empty() ? "'" : ", '") + each->name + "'";
    return names;
}

[[noreturn]] void refuse_absent(const ir::function& f, const survey& s) {
    const bool is_kernel = f.dimensions > 0;
    std::string present;
    for (const opencl_c::function& each : s.declared.functions)
        if (each.is_definition && each.is_kernel == is_kernel)
            present += (present.empty() ? "'" : ", '") + each.name + "'";
    throw usage_error(fmt::format(
        "no {} '{}' is defined in {}; {}{}", is_kernel ? "kernel" : "function", f.name,
        names_of(f.text->texts),
        present.empty()
            ? fmt::format("there is no {} in it", is_kernel ? "kernel" : "function")
            : fmt::format("there {} {}", present.find(',') == std::string::npos ? "is" : "are", present),
        path_hint(f.text->texts)));
}

/// Takes from the text whether memory is only read, and the element type of local memory.
void follow(ir::parameter& p, const opencl_c::parameter& text) {
    if (p.use == trace::access::local && text.type.what == opencl_c::category::plain &&
        text.type.element != scalar::nothing) {
        p.what = pointer_to(trace::type(text.type.element, text.type.lanes), space::local);
        return;
    }
    const bool is_read = text.points_to_const || text.where == opencl_c::address::constant;
    if (!is_read || p.use != trace::access::mixed) return;
    p.use = trace::access::in;
    p.what = pointer_to(pointee(p.what), space::global, true);
}

/// `follows`: the parameters for which the text decides whether they are written.
void check_definition(ir::function& f, ir::text_body& body, const survey& s,
                      const std::vector<bool>& follows) {
    const opencl_c::function* found = nullptr;
    for (const opencl_c::function& each : s.declared.functions) {
        if (each.name != f.name || !each.is_definition) continue;
        if (found)
            throw usage_error(fmt::format("'{}' is defined twice: in {}, and in {}", f.name,
                                          opencl_c::words(found->where), opencl_c::words(each.where)));
        found = &each;
    }
    if (!found) {
        if (has_conditions(body.texts)) return;
        refuse_absent(f, s);
    }
    for (std::size_t k = 0; k < std::min(f.parameters.size(), found->parameters.size()); ++k)
        if (follows[k]) follow(f.parameters[k], found->parameters[k]);
    if (const std::string why = difference(f, f.parameters.size(), *found); !why.empty())
        throw usage_error(why);
    for (std::size_t k = 0; k < f.parameters.size(); ++k) {
        f.parameters[k].name = found->parameters[k].name;
        body.structures.push_back(found->parameters[k].type.words);
    }
    body.structures.push_back(found->result.type.words);
    body.required_local = found->required_local;
    try {
        refuse_recursion(s.words, s.declared);
    } catch (const opencl_c::fault& fault) {
        throw usage_error(fault.what());
    }
}

/// Notes the facts that passes need of a function without code. The whole source counts, because it contains
/// the function's callees.
void note_effects(ir::function& f, ir::text_body& body) {
    bool has_effects = f.result == trace::type();
    for (const ir::parameter& p : f.parameters) has_effects = has_effects || p.what.is_pointer();
    for (const auto& each : body.texts)
        for (const token& t : split(each->words, each->name)) {
            if (!t.is_word()) continue;
            const auto starts = [&](std::string_view start) { return t.words.rfind(start, 0) == 0; };
            body.has_barrier = body.has_barrier || t.is("barrier") || t.is("work_group_barrier") ||
                               t.is("wait_group_events");
            body.asks_for_its_place = body.asks_for_its_place || starts("get_");
            has_effects = has_effects || starts("atom") || t.is("printf") || t.is("mem_fence") ||
                          t.is("asm") || t.is("__asm") || t.is("__asm__") || t.is("volatile");
        }
    f.only_reads = !has_effects && !body.has_barrier && !body.asks_for_its_place && !body.texts.empty();
    f.is_pure = f.only_reads;
}

}  // namespace

namespace {

/// Throws usage_error for types that a caller cannot pass to a function of a text: pointers to pointers, and
/// structures whose name in the text is not known.
void refuse_nameless_types(const ir::function& f) {
    const auto refuse = [&](trace::type t, std::size_t k) {
        if (t.is_pointer()) t = pointee(t);
        if (t.is_pointer())
            throw usage_error(fmt::format(
                "function '{}' is given as text and takes or returns a pointer to pointers; pass the memory "
                "itself",
                f.name));
        if (ir::is_structure(t) && (k >= f.text->structures.size() || f.text->structures[k].empty()))
            throw usage_error(
                fmt::format("function '{}' takes or returns the structure {}, but its definition, which "
                            "names that structure in the text, is missing or depends on a condition (#if)",
                            f.name, type_words(t)));
    };
    for (std::size_t k = 0; k < f.parameters.size(); ++k) refuse(f.parameters[k].what, k);
    refuse(f.result, f.parameters.size());
}

}  // namespace

// ---- sources ----------------------------------------------------------------------------------------

text_source::text_source() : state_(std::make_shared<const detail::text_state>()) {}

text_source::text_source(std::string_view words, bool throws)
    : state_(state_of(throws, [&](ir::text_list& list) { list.push_back(kernels::make_text(words, "")); })) {}

text_source::text_source(const ir::function& f, bool throws)
    : state_(state_of(throws, [&](ir::text_list& list) {
          if (!f.text)
              throw usage_error(fmt::format(
                  "'{}' was traced from C++ and has no source text to find other kernels or functions in",
                  f.name));
          list = f.text->texts;
      })) {}

text_source text_source::from_string(std::string_view words, std::string_view name, bool throws) {
    text_source made;
    made.state_ = state_of(
        throws, [&](ir::text_list& list) { list.push_back(kernels::make_text(words, std::string(name))); });
    return made;
}

text_source text_source::from_files(const std::vector<std::string>& paths, bool throws) {
    text_source made;
    made.state_ = state_of(throws, [&](ir::text_list& list) {
        for (const std::string& path : paths) list.push_back(kernels::read_text(path));
    });
    return made;
}

text_source text_source::from_files(std::initializer_list<std::string_view> paths, bool throws) {
    return from_files(std::vector<std::string>(paths.begin(), paths.end()), throws);
}

text_source text_source::joined(const text_source& a, const text_source& b) {
    text_source made;
    auto state = std::make_shared<detail::text_state>(*a.state_);
    if (!state->fault) state->fault = b.state_->fault;
    for (const auto& each : b.state_->texts) {
        const auto is_same = [&](const auto& known) { return known->words == each->words; };
        if (std::none_of(state->texts.begin(), state->texts.end(), is_same)) state->texts.push_back(each);
    }
    made.state_ = std::move(state);
    return made;
}

std::shared_ptr<const ir::function> detail::find_in_text(const located_name& name, int dimensions,
                                                         trace::type result, const text_parameter* parameters,
                                                         std::size_t count, const text_source& source) {
    if (source.state()->fault) std::rethrow_exception(source.state()->fault);
    if (!emit::is_identifier(name.words))
        throw usage_error(fmt::format(
            "'{}' is not a valid name for a kernel or function: use the C identifier from the text",
            name.words));
    auto body = std::make_shared<ir::text_body>();
    for (const auto& each : source.state()->texts)
        body->texts.push_back(each->name.empty() ? std::make_shared<const ir::named_text>(ir::named_text{
                                                       fmt::format("text of {}", name.words), each->words})
                                                 : each);
    auto f = std::make_shared<ir::function>();
    f->name = std::string(name.words);
    f->where = name.where;
    f->dimensions = dimensions;
    f->result = result;
    f->blocks.resize(1);
    std::vector<bool> follows;
    for (std::size_t k = 0; k < count; ++k) {
        const auto [element, use, is_promised, follows_text] = parameters[k];
        follows.push_back(follows_text);
        if (element.is_image())
            throw usage_error(fmt::format(
                "parameter {} of '{}', which is given as text, is an image: CUDA C++ has no equivalent of "
                "OpenCL C images. Write the kernel in C++ (balm::kernel), or pass a buffer",
                k + 1, name.words));
        ir::parameter p;
        p.use = use;
        p.what = use == trace::access::value ? element
                 : use == trace::access::local
                     ? pointer_to(element, space::local)
                     : pointer_to(element, space::global, use == trace::access::in && !is_promised);
        f->parameters.push_back(std::move(p));
    }
    f->text = body;
    if (body->texts.empty() && dimensions > 0)
        throw usage_error(fmt::format(
            "kernel '{}' has no source text; pass the source, or another kernel whose source defines it",
            f->name));
    if (!body->texts.empty())
        if (const auto s = survey_of(body->texts)) check_definition(*f, *body, *s, follows);
    if (dimensions == 0) refuse_nameless_types(*f);
    note_effects(*f, *body);
    f->identity = ir::hash(*f);
    return f;
}

// ---- kernels without a signature ---------------------------------------------------------------------

struct detail::text_kernel_state {
    struct known_form {
        std::vector<text_parameter> parameters;
        std::shared_ptr<const ir::function> function;
    };
    std::string name;
    trace::location where;
    int dimensions;
    text_source source;
    std::mutex mutex;
    std::vector<known_form> known;

    std::shared_ptr<const ir::function> form(std::vector<text_parameter> parameters) {
        const std::lock_guard lock(mutex);
        for (const known_form& each : known)
            if (each.parameters == parameters) return each.function;
        located_name located(name, where.file, where.line);
        auto made = find_in_text(located, dimensions, {}, parameters.data(), parameters.size(), source);
        known.push_back({std::move(parameters), made});
        return made;
    }
};

std::shared_ptr<detail::text_kernel_state> detail::make_text_kernel(const located_name& name, int dimensions,
                                                                    const text_source& source) {
    auto made = std::make_shared<text_kernel_state>();
    made->name = std::string(name.words);
    made->where = name.where;
    made->dimensions = dimensions;
    made->source = source;
    return made;
}

bound_call detail::bind_to_text(text_kernel_state& kernel, const std::vector<text_argument>& given) {
    std::vector<text_parameter> parameters;
    parameters.reserve(given.size());
    for (const text_argument& each : given) parameters.push_back(each.parameter);
    bound_call made{kernel.form(std::move(parameters)), {}};
    for (const text_argument& each : given) made.arguments.push_back(each.value);
    return made;
}

}  // namespace balm
