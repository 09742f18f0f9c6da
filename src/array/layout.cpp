// Numbers the leaves, declares them as parameters, and records the steps of an expression as a kernel's body.

#include "array/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "balm/context.hpp"
#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "kernel/launch.hpp"

namespace balm::array {

namespace {

bool is_argument(const step& s) { return s.what == step::kind::scalar || s.what == step::kind::index; }

/// a, b, c … z, a1, b1 …
std::string leaf_name(std::size_t k, const char* alphabet, std::size_t letters) {
    return std::string(1, alphabet[k % letters]) + (k >= letters ? std::to_string(k / letters) : "");
}
std::string vector_name(std::size_t k) { return leaf_name(k, "abcdefgh", 8); }
std::string image_name(std::size_t k) { return "image" + (k > 0 ? std::to_string(k) : ""); }
std::string scalar_name(std::size_t k) { return leaf_name(k, "stuvwxyz", 8); }

}  // namespace

layout::layout(const program& p) {
    for (const auto& v : p.vectors) {
        const auto known = std::find(vectors.begin(), vectors.end(), v.get());
        number_of_leaf.push_back(static_cast<std::uint16_t>(known - vectors.begin()));
        if (known == vectors.end()) vectors.push_back(v.get());
    }
}

std::uint64_t layout::hash(std::uint64_t seed) const {
    for (std::uint16_t number : number_of_leaf) seed = (seed ^ number) * 0x9e3779b97f4a7c15u;
    return seed ^ seed >> 32;
}

namespace {

/// Where an expression of a known size but without vectors is computed: the device of a default context.
const std::shared_ptr<runtime::device_state>& default_device() {
    static const std::shared_ptr<runtime::device_state>& device =
        *new std::shared_ptr<runtime::device_state>(context().device(0).state());
    return device;
}

}  // namespace

std::size_t element_count(const program& p) {
    if (p.size < 0)
        throw usage_error(
            "an expression says nowhere how many elements it has (memory, scalars and positions do not); "
            "assign it to a vector of a size, or use element_index(offset, size)");
    return static_cast<std::size_t>(p.size);
}

bool reads_as_memory(const program& p, const vector_state& v) {
    return std::any_of(p.steps.begin(), p.steps.end(), [&](const step& s) {
        return s.what == step::kind::memory && p.vectors[s.leaf].get() == &v;
    });
}

bool reads_through_another(const layout& leaves, const vector_state& v) {
    return std::any_of(leaves.vectors.begin(), leaves.vectors.end(),
                       [&](const vector_state* each) { return each != &v && each->overlaps(v); });
}

bool is_cheaper_in_fours(const program& p) {
    return std::any_of(p.functions.begin(), p.functions.end(),
                       [](const auto& f) { return f->of_four != nullptr; });
}

const std::shared_ptr<runtime::device_state>& device_of(const program& p) {
    if (p.vectors.empty() && p.size >= 0)
        return p.images.empty() ? default_device() : p.images[0].memory->device_handle();
    if (p.vectors.empty())
        throw usage_error(
            "an expression without vectors says neither on what device nor how many elements; "
            "assign it to a vector of a size");
    for (const auto& v : p.vectors)
        if (&v->device() != &p.vectors[0]->device())
            throw usage_error(fmt::format("an expression combines vectors of {} and of {}",
                                          p.vectors[0]->device().words(), v->device().words()));
    return p.vectors[0]->device_handle();
}

bool same_structure(const program& a, const program& b) {
    if (a.steps.size() != b.steps.size() || a.functions.size() != b.functions.size()) return false;
    for (std::size_t k = 0; k < a.functions.size(); ++k)
        if (a.functions[k]->identity != b.functions[k]->identity) return false;
    return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), [](const step& x, const step& y) {
        return x.what == y.what && x.type == y.type && x.detail == y.detail && x.arity == y.arity &&
               x.leaf == y.leaf && (x.what != step::kind::constant || x.bits == y.bits);
    });
}

namespace {

/// Whether the kernel is given a quarter of the index's offset, so that it knows what begins a block of four.
bool is_in_fours(const program& p, const step& s) { return s.detail != 0 && is_cheaper_in_fours(p); }

/// index + offset, or 4 offset
trace::node shifted(trace::node index, trace::node offset, bool in_fours) {
    if (in_fours) {
        const trace::node product[] = {offset, trace::constant(scalar::i64, 4)};
        offset = trace::apply(builtin::mul, product, 2);
    }
    const trace::node sum[] = {index, offset};
    return trace::apply(builtin::add, sum, 2);
}

/// An index's offset, or a quarter of it.
std::uint64_t offset_of(const program& p, const step& s) {
    return is_in_fours(p, s) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(s.bits) / 4) : s.bits;
}

}  // namespace

bound_leaves declare(trace::recording& r, const program& p, const layout& leaves, const vector_state* target,
                     trace::node target_node) {
    bound_leaves nodes;
    for (const vector_state* v : leaves.vectors)
        nodes.vectors.push_back(v == target ? target_node : r.parameter(v->type(), trace::access::in));
    for (const image_leaf& image : p.images) nodes.images.push_back(r.parameter(image.type, image.use));
    for (const step& s : p.steps)
        if (is_argument(s)) nodes.scalars.push_back(r.parameter(s.type, trace::access::value));
    return nodes;
}

std::string parameter_names(const program& p, const layout& leaves, const vector_state* target) {
    std::string names;
    std::size_t letter = 0;
    for (const vector_state* v : leaves.vectors)
        if (v != target) names += ", " + vector_name(letter++);
    for (std::size_t k = 0; k < p.images.size(); ++k) names += ", " + image_name(k);
    letter = 0;
    for (const step& s : p.steps)
        if (is_argument(s)) names += ", " + scalar_name(letter++);
    return names;
}

trace::node record(const program& p, const layout& leaves, const bound_leaves& nodes, trace::node index) {
    std::vector<trace::node> stack;
    std::size_t next_scalar = 0;
    for (const step& s : p.steps) {
        const std::size_t first = stack.size() - s.arity;
        const trace::node* operands = stack.data() + first;
        trace::node made;
        switch (s.what) {
            case step::kind::vector:
                made = trace::load(nodes.vectors[leaves.number_of_leaf[s.leaf]], index, {});
                break;
            case step::kind::scalar: made = nodes.scalars[next_scalar++]; break;
            case step::kind::constant: made = trace::constant(s.type, s.bits); break;
            case step::kind::index:
                made = shifted(index, nodes.scalars[next_scalar++], is_in_fours(p, s));
                break;
            case step::kind::memory: made = nodes.vectors[leaves.number_of_leaf[s.leaf]]; break;
            case step::kind::image: made = nodes.images[s.leaf]; break;
            case step::kind::element:
                made = trace::load(operands[0], trace::convert(operands[1], scalar::i64), {});
                break;
            case step::kind::apply:
                made = trace::apply(static_cast<builtin>(s.detail), operands, s.arity);
                break;
            case step::kind::convert: made = trace::convert(operands[0], s.type); break;
            case step::kind::select:
                made = trace::select(operands[0], trace::convert(operands[1], s.type),
                                     trace::convert(operands[2], s.type));
                break;
            case step::kind::call: {
                const ir::function& f = *p.functions[s.leaf];
                std::vector<trace::node> converted;
                for (std::size_t k = 0; k < s.arity; ++k) {
                    const trace::type wanted = f.parameters[k].what;
                    converted.push_back(wanted.is_pointer() ? operands[k]
                                                            : trace::convert(operands[k], wanted.element));
                }
                made = trace::call(p.functions[s.leaf], converted.data(), converted.size(), {});
                break;
            }
        }
        stack.resize(first);
        stack.push_back(made);
    }
    return stack.back();
}

std::string describe(const program& p, const layout& leaves, const vector_state* target) {
    std::vector<std::string> names;
    std::size_t letter = 0;
    for (const vector_state* v : leaves.vectors) names.push_back(v == target ? "out" : vector_name(letter++));
    struct phrase {
        std::string words;
        int precedence;
    };
    std::vector<phrase> stack;
    letter = 0;
    for (const step& s : p.steps) {
        const std::size_t first = stack.size() - s.arity;
        auto words = [&](std::size_t k, int least) {
            const phrase& operand = stack[first + k];
            return operand.precedence < least ? "(" + operand.words + ")" : operand.words;
        };
        auto call = [&](std::string name) {
            for (std::size_t k = 0; k < s.arity; ++k) name += (k ? ", " : "(") + words(k, 0);
            return phrase{name + ")", 15};
        };
        phrase made{"", 15};
        switch (s.what) {
            case step::kind::vector:
            case step::kind::memory: made.words = names[leaves.number_of_leaf[s.leaf]]; break;
            case step::kind::image: made.words = image_name(s.leaf); break;
            case step::kind::scalar: made.words = scalar_name(letter++); break;
            case step::kind::constant: made.words = "constant"; break;
            case step::kind::index: made = {"element_index(" + scalar_name(letter++) + ")", 15}; break;
            case step::kind::convert: made = call(std::string("cast<") + to_string(s.type) + ">"); break;
            case step::kind::select: made = call("select"); break;
            case step::kind::element: made.words = words(0, 15) + "[" + words(1, 0) + "]"; break;
            case step::kind::call: made = call(p.functions[s.leaf]->name); break;
            case step::kind::apply: {
                const ir::builtin_info& row = ir::info(static_cast<builtin>(s.detail));
                if (!row.symbol)
                    made = call(row.name);
                else if (row.arity == 1)
                    made = {row.symbol + words(0, 14), row.precedence};
                else
                    made = {fmt::format("{} {} {}", words(0, row.precedence), row.symbol,
                                        words(1, row.precedence + 1)),
                            row.precedence};
                break;
            }
        }
        stack.resize(first);
        stack.push_back(std::move(made));
        if (stack.back().words.size() > 200) stack.back() = {"…", 15};
    }
    return stack.back().words;
}

runtime::argument argument_of(const runtime::storage& memory) {
    return runtime::argument::of(memory.native());
}

runtime::argument argument_of(const vector_state& of) {
    return runtime::argument::of(of.memory()->native(), of.offset());
}

runtime::argument argument_of(scalar type, std::uint64_t bits) {
    runtime::argument a;
    a.size = static_cast<std::uint32_t>(size_of(type));
    std::memcpy(a.bytes.data(), &bits, a.size);  // little-endian hosts: the low bytes come first
    return a;
}

void append_arguments(const program& p, const layout& leaves, const vector_state* target,
                      std::vector<runtime::argument>& list) {
    for (const vector_state* v : leaves.vectors)
        if (v != target) list.push_back(argument_of(*v));
    for (const image_leaf& image : p.images)
        list.push_back(
            runtime::argument::of(image.memory->native(), kernels::image_use_of(image.use), image.sampler));
    for (const step& s : p.steps)
        if (is_argument(s))
            list.push_back(argument_of(s.type, s.what == step::kind::index ? offset_of(p, s) : s.bits));
}

void append_reads(const program& p, const layout& leaves, std::vector<runtime::storage*>& list) {
    for (const vector_state* v : leaves.vectors) list.push_back(v->memory().get());
    for (const image_leaf& image : p.images) list.push_back(image.memory.get());
}

}  // namespace balm::array
