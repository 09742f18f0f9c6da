// Declares leaves as parameters, records the steps of an expression as a kernel's body, and describes it in
// words. Refuses writes by functions whose results would depend on the order of elements.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "array/expression_recorder.hpp"
#include "array/layout.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "ir/ir.hpp"
#include "ir/lower/widen.hpp"
#include "ir/with_type.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

parameter_name vector_name(std::size_t k) { return parameter_name::letter("abcdefgh", k); }
parameter_name scalar_name(std::size_t k) { return parameter_name::letter("stuvwxyz", k); }
/// Calls f(step, number of its argument) for each scalar.
template <class F>
void for_each_scalar(const tape& p, const layout& leaves, F&& f) {
    std::size_t k = 0;
    for (const step& s : p.steps)
        if (is_argument(s)) f(s, leaves.argument_of_scalar(k++));
}
bool contains(std::span<vector_state* const> list, const vector_state* v) {
    return std::find(list.begin(), list.end(), v) != list.end();
}
parameter_name image_name(std::size_t k) { return {"image", k}; }

/// Whether a function of the expression writes the vector.
bool is_written(const tape& p, const vector_state& v) {
    return p.writes_memory && std::any_of(p.steps.begin(), p.steps.end(), [&](const step& s) {
               return s.what == step::kind::memory &&
                      s.detail == static_cast<std::uint32_t>(memory_use::write) &&
                      p.vectors[s.leaf].get() == &v;
           });
}

}  // namespace

void refuse_written_overlap(const tape& p, target_list targets) {
    if (!p.writes_memory) return;
    const auto is_on_several = [](const auto& v) { return v->is_spread(); };
    if (std::any_of(p.vectors.begin(), p.vectors.end(), is_on_several) ||
        std::any_of(targets.begin(), targets.end(), [](const target& t) { return t.vector->is_spread(); }))
        throw usage_error(
            "a function in an expression writes memory, but a vector is spread over several devices; use "
            "vectors on one device");
    for (const auto& v : p.vectors) {
        if (!is_written(p, *v)) continue;
        if (std::any_of(targets.begin(), targets.end(),
                        [&](const target& t) { return t.vector->overlaps(*v); }))
            throw usage_error(
                "a function in an expression writes elements of the vector that the expression is assigned "
                "to; pass another vector, or write all elements in the function and call it with balm::eval");
        if (std::any_of(p.vectors.begin(), p.vectors.end(),
                        [&](const auto& other) { return other != v && other->overlaps(*v); }))
            throw usage_error(
                "a function in an expression writes a vector that shares elements with another vector of the "
                "expression; copy one of them");
    }
}

void refuse_writing(const tape& p) {
    if (!p.writes_memory) return;
    throw usage_error(
        "a function in an expression that is reduced or scanned writes memory; assign the expression to a "
        "vector first");
}

namespace {

/// Whether the kernel receives a quarter of the index's offset, so that it is known where blocks of four
/// begin.
bool is_in_fours(const tape& p, const step& s) { return s.detail != 0 && is_cheaper_in_fours(p); }

/// index + offset, or index + 4 * offset
trace::node shifted(trace::node index, trace::node offset, bool in_fours) {
    if (in_fours) offset = trace::apply(builtin::mul, offset, trace::constant(scalar::i64, 4));
    return trace::apply(builtin::add, index, offset);
}

/// An index's offset, or a quarter of it.
std::uint64_t offset_of(const tape& p, const step& s) {
    return is_in_fours(p, s) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(s.bits) / 4) : s.bits;
}

}  // namespace

trace::node as_element(trace::node value, trace::type wanted) {
    if (wanted.is_pointer())  // constness differs if the expression also writes the memory
        return value.type.is_const == wanted.is_const ? value : trace::reinterpret(value, wanted);
    if (!wanted.is_scalar() || !value.type.is_scalar()) return value;
    if (wanted.element != scalar::f16) return trace::convert(value, wanted.element);
    return value.type.element == scalar::f64 ? trace::rounded_for_half(value)
                                             : trace::convert(value, scalar::f32);
}

template <class List>
void declare_leaves(List& to, const tape& p, const layout& leaves, std::span<vector_state* const> written) {
    std::size_t letter = 0;
    for (std::size_t k = 0; k < leaves.vectors.size(); ++k) {
        vector_state* const v = leaves.vectors[k];
        if (contains(written, v)) continue;
        const bool is_constant = k < leaves.in_constant_memory.size() && leaves.in_constant_memory[k];
        to.vector(vector_name(letter++), *v, is_written(p, *v) ? trace::access::mixed : trace::access::in,
                  is_constant ? space::constant : space::global);
    }
    for (std::size_t k = 0; k < p.images.size(); ++k) to.image(image_name(k), p.images[k]);
    std::size_t next = 0;
    for_each_scalar(p, leaves, [&](const step& s, std::size_t number) {
        if (number != next) return;
        if (s.what == step::kind::index)
            to.number(scalar_name(next), static_cast<std::int64_t>(offset_of(p, s)));
        else if (s.type.is_scalar())
            to.value(scalar_name(next), s.type.element, s.bits);
        else
            to.value(scalar_name(next), s.type, p.values.begin() + s.bits);
        ++next;
    });
    leaves.places.declare_parameters(to);
}
template void declare_leaves(parameter_list&, const tape&, const layout&, std::span<vector_state* const>);
template void declare_leaves(parameter_bindings&, const tape&, const layout&, std::span<vector_state* const>);
template void declare_leaves(small_counts&, const tape&, const layout&, std::span<vector_state* const>);
template void declare_leaves(listed_bytes&, const tape&, const layout&, std::span<vector_state* const>);

namespace {

const operation& operation_of(const step& s) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the step keeps a pointer where others keep a value
    return *reinterpret_cast<const operation*>(s.bits);
}

/// A vector of the lanes `lane(k)`; a scalar for one lane.
template <class Lane>
trace::node in_lanes(int count, const coordinates& at, Lane&& lane) {
    if (count == 1) return lane(0);
    if (at.is_single) {
        const trace::node same = lane(0);
        return trace::compose({same.type.element, static_cast<std::uint8_t>(count)}, &same, 1);
    }
    std::vector<trace::node> each;
    each.reserve(static_cast<std::size_t>(count));
    for (int k = 0; k < count; ++k) each.push_back(lane(k));
    const trace::type whole(each[0].type.element, static_cast<std::uint8_t>(count));
    return trace::compose(whole, each.data(), each.size());
}
trace::node after(trace::node index, int distance) {
    if (distance == 0) return index;
    return trace::apply(builtin::add, index,
                        trace::constant(scalar::i64, static_cast<std::uint64_t>(distance)));
}

/// The memory as short vectors.
trace::node short_vectors(trace::node memory, trace::type element, const coordinates& at, bool is_read) {
    const trace::type whole(element.element, static_cast<std::uint8_t>(at.vector.lanes));
    return trace::reinterpret(memory, pointer_to(whole, space::global, is_read));
}
trace::node lane_of_short_vector(trace::node memory, trace::type element, const coordinates& at) {
    const trace::node vectors = short_vectors(memory, element, at, true);
    return trace::swizzle(trace::load(vectors, at.vector.number, {}),
                          static_cast<std::uint64_t>(at.vector.lane), 1);
}

}  // namespace

bool has_lanes(const tape& p) {
    std::vector<trace::type> stack;
    step::kind before = step::kind::end;
    for (const step& s : p.steps) {
        const bool is_one = s.what == step::kind::at && before == step::kind::constant;
        before = s.what;
        if (s.what == step::kind::end) continue;
        if (is_one) {
            stack.pop_back();
            continue;
        }
        const trace::type* const operands = stack.data() + stack.size() - s.arity;
        // Lanes of small integers keep their type, whereas scalars are promoted.
        if (!s.type.is_scalar() || (size_of(s.type.element) < 4 && s.type.element != scalar::boolean))
            return false;
        switch (s.what) {
            case step::kind::vector:
                if (s.type.element == scalar::boolean) return false;
                break;
            case step::kind::scalar:
            case step::kind::constant:
            case step::kind::index: break;
            case step::kind::apply: {
                scalar types[4] = {};
                for (std::size_t k = 0; k < s.arity; ++k) {
                    types[k] = operands[k].element;
                    if (types[k] != types[0]) return false;
                }
                const auto row = static_cast<builtin>(s.detail);
                if (balm::detail::resolve_lanes(row, types, s.arity).result != s.type.element) return false;
                break;
            }
            case step::kind::convert:
                if (operands[0].element == scalar::boolean || s.type.element == scalar::boolean ||
                    (is_floating(operands[0].element) && !is_floating(s.type.element)))
                    return false;
                break;
            case step::kind::select:
                if (s.type.element == scalar::boolean) return false;
                break;
            case step::kind::keep:
            case step::kind::kept:
            case step::kind::within: break;
            default: return false;
        }
        stack.resize(stack.size() - s.arity);
        stack.push_back(s.type);
    }
    return true;
}

bool calls_vector_functions(const tape& p) {
    return std::any_of(p.steps.begin(), p.steps.end(), [](const step& s) {
        return s.what == step::kind::apply &&
               ir::is_slow_in_loops(static_cast<builtin>(s.detail), s.type.element);
    });
}

std::uint32_t statement_count(const tape& p) {
    return static_cast<std::uint32_t>(std::count_if(p.steps.begin(), p.steps.end(), ends_statement));
}

bool is_in_short_vectors(trace::type element, const coordinates& at) {
    return at.vector.lanes > 1 && element.is_scalar() && element.element != scalar::boolean &&
           element.element != scalar::f16;
}

void store_in_short_vector(trace::node memory, const std::vector<trace::node>& lanes, const coordinates& at) {
    const trace::type element = lanes[0].type;
    const trace::type whole(element.element, static_cast<std::uint8_t>(at.vector.lanes));
    trace::store(short_vectors(memory, element, at, false), at.vector.number,
                 trace::compose(whole, lanes.data(), lanes.size()), {});
}

expression_recorder::expression_recorder(const tape& p, const layout& leaves, const parameter_list& given,
                                         const coordinates& at, int lanes)
    : p_(&p), leaves_(&leaves), given_(&given), lanes_(lanes), places_{at} {}

trace::node expression_recorder::kept(std::uint64_t number) const {
    const auto found =
        std::find_if(kept_.rbegin(), kept_.rend(), [&](const auto& k) { return k.number == number; });
    if (found == kept_.rend())
        throw usage_error(
            "the value that balm::let passes to its function is used outside the function's result");
    if (found->depth != places_.size())
        throw usage_error(
            "the value that balm::let passes to its function is a single element and cannot be read at other "
            "positions; apply the positions to the expression that is passed to let");
    return found->value;
}

trace::node expression_recorder::next_scalar() {
    return (*given_)[scalar_name(leaves_->argument_of_scalar(scalars_++))];
}

trace::node expression_recorder::loaded(const step& s) const {
    const coordinates& here = places_.back();
    const trace::node memory = (*given_)[*p_->vectors[s.leaf]];
    return in_lanes(lanes_, here, [&](int k) {
        return is_in_short_vectors(s.type, here) ? lane_of_short_vector(memory, s.type, here)
                                                 : trace::load(memory, after(here.flat, k), {});
    });
}

trace::node expression_recorder::called(const step& s, const trace::node* operands) const {
    const ir::function& f = *p_->functions[s.leaf];
    std::vector<trace::node> converted;
    for (std::size_t k = 0; k < s.arity; ++k)
        converted.push_back(as_element(operands[k], f.parameters[k].what));
    return trace::call(p_->functions[s.leaf], converted.data(), converted.size(), {});
}

void expression_recorder::number_statements(std::uint32_t first, std::uint32_t count) {
    apart_end_ = statement_ + count;
    apart_by_ = first - statement_;
}

std::vector<trace::node> expression_recorder::record_until(std::size_t end) {
    std::vector<trace::node> stack;
    begin_statement();
    step::kind before = step::kind::end;
    for (; next_ < end; ++next_) {
        const step& s = p_->steps[next_];
        const coordinates& here = places_.back();
        const std::size_t first = stack.size() - s.arity;
        const trace::node* operands = stack.data() + first;
        const bool is_one = before == step::kind::constant;  // a vector of one element is read there
        before = s.what;
        trace::node made;
        switch (s.what) {
            case step::kind::vector: made = loaded(s); break;
            case step::kind::scalar: made = next_scalar(); break;
            case step::kind::constant: made = trace::constant(s.type, s.bits); break;
            case step::kind::index:
                made = shifted(in_lanes(lanes_, here, [&](int k) { return after(here.flat, k); }),
                               next_scalar(), is_in_fours(*p_, s));
                break;
            case step::kind::memory: made = (*given_)[*p_->vectors[s.leaf]]; break;
            case step::kind::image: made = (*given_)[image_name(s.leaf)]; break;
            case step::kind::position: made = leaves_->places.record(positions_++, *given_, here); break;
            case step::kind::at: {
                coordinates there(operands[0]);
                there.is_single = places_[0].is_single || is_one;
                places_.push_back(std::move(there));
                stack.pop_back();
                continue;
            }
            case step::kind::end: places_.pop_back(); continue;
            case step::kind::apply:
                made = trace::apply(static_cast<builtin>(s.detail), operands, s.arity);
                break;
            case step::kind::keep:
                made = operands[0];
                keep(s.bits, made);
                if (ends_statement(s)) {
                    ++statement_;
                    begin_statement();
                }
                break;
            case step::kind::kept: made = kept(s.bits); break;
            case step::kind::within: made = operands[1]; break;
            case step::kind::record: made = operation_of(s).record(operands); break;
            case step::kind::convert: made = trace::convert(operands[0], s.type.element); break;
            case step::kind::select:
                made = trace::select(operands[0], as_element(operands[1], s.type),
                                     as_element(operands[2], s.type));
                break;
            case step::kind::call: made = called(s, operands); break;
        }
        stack.resize(first);
        stack.push_back(made);
    }
    return stack;
}

void expression_recorder::skip_until(std::size_t end) {
    for (; next_ < end; ++next_) {
        const step& s = p_->steps[next_];
        scalars_ += is_argument(s);
        positions_ += s.what == step::kind::position;
        statement_ += ends_statement(s);
    }
}

std::vector<trace::node> record(const tape& p, const layout& leaves, const parameter_list& given,
                                const coordinates& at, int lanes) {
    return expression_recorder(p, leaves, given, at, lanes).record_until(p.steps.size());
}

std::vector<trace::node> record_as_in_lanes(const tape& p, const layout& leaves, const parameter_list& given,
                                            coordinates at) {
    constexpr int lanes = 8;  // the fewest for which Balm has functions of its own
    at.is_single = true;
    std::vector<trace::node> values = record(p, leaves, given, at, lanes);
    for (trace::node& each : values)
        if (each.type.lanes > 1) each = trace::swizzle(each, 0, 1);
    return values;
}

namespace {

/// The values of a tape as C++ text. `words_of` returns the text of a leaf or a host value, `view_of` that of
/// a view from its operand and its position. The first value of several statements begins with all of them.
template <class Words, class View>
std::vector<std::string> written_out(const tape& p, const Words& words_of, const View& view_of) {
    struct phrase {
        std::string words;
        int precedence;
    };
    std::vector<phrase> stack;
    constexpr std::size_t most_characters = 1000;
    std::vector<std::uint64_t> results;  // numbers of kept values
    std::string statements;
    for (const step& s : p.steps) {
        // A value that is computed at an index is above it on the stack.
        const std::size_t arity = s.what == step::kind::end ? 2 : s.what == step::kind::at ? 0 : s.arity;
        const std::size_t first = stack.size() - arity;
        auto words = [&](std::size_t k, int least) {
            const phrase& operand = stack[first + k];
            return operand.precedence < least ? "(" + operand.words + ")" : operand.words;
        };
        auto call = [&](std::string name) {
            for (std::size_t k = 0; k < arity; ++k) name += (k ? ", " : "(") + words(k, 0);
            return phrase{name + ")", 15};
        };
        phrase made{"", 15};
        switch (s.what) {
            case step::kind::vector:
            case step::kind::memory:
            case step::kind::image:
            case step::kind::scalar:
            case step::kind::constant:
            case step::kind::position: made.words = words_of(s); break;
            case step::kind::index: made.words = "element_index(" + words_of(s) + ")"; break;
            case step::kind::convert:
                made = call(std::string("cast<") + to_string(s.type.element) + ">");
                break;
            case step::kind::select: made = call("select"); break;
            case step::kind::at: continue;  // the index stays below the value that is computed at it
            case step::kind::end: made.words = view_of(words(1, 15), words(0, 0)); break;
            case step::kind::call: made = call(p.functions[s.leaf]->name); break;
            case step::kind::keep:
                made = stack[first];
                if (s.detail == static_cast<std::uint32_t>(value_of_statement::none)) break;
                results.push_back(s.bits);
                if (statements.size() < most_characters)
                    statements += fmt::format("r{} = {}; ", results.size(), made.words);
                else if (!statements.ends_with("…; "))
                    statements += "…; ";
                made = {fmt::format("r{}", results.size()), 15};
                break;
            case step::kind::kept: {
                const auto found = std::find(results.begin(), results.end(), s.bits);
                made.words = found == results.end() ? "it" : fmt::format("r{}", found - results.begin() + 1);
                break;
            }
            case step::kind::within: made = results.empty() ? call("let") : stack[first + 1]; break;
            case step::kind::record:
                if (const char* name = operation_of(s).name) {
                    made = call(name);
                    break;
                }
                [[fallthrough]];
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
    std::vector<std::string> all;
    all.reserve(stack.size());
    for (phrase& each : stack) all.push_back(std::move(each.words));
    if (!statements.empty()) all.front().insert(0, statements);
    return all;
}

/// A host value as C++ prints it; the type of one that is not a scalar.
std::string value_words(const step& s) {
    if (!s.type.is_scalar()) return ir::to_string(s.type);
    return ir::with_type(s.type.element, [&]<class T>(std::type_identity<T>) {
        T value;
        std::memcpy(&value, &s.bits, sizeof value);  // little-endian hosts
        if constexpr (sizeof(T) == 1 && !std::same_as<T, bool>)
            return std::to_string(value);
        else
            return fmt::format("{}", value);
    });
}

/// Describes a vector: its type, its size, the line that made it, and optionally its device.
std::string vector_words(const vector_state& v, trace::type type, const shape& extents, bool with_devices) {
    std::string words = fmt::format("{}[{}]", ir::to_string(type), to_string(extents));
    if (v.made_at().file != nullptr) words += fmt::format(" of {}:{}", v.made_at().file, v.made_at().line);
    if (with_devices) words += fmt::format(" on {}", v.device().words());
    return words;
}

}  // namespace

std::vector<std::string> describe(const tape& p, const layout& leaves, const parameter_list& given) {
    std::size_t scalars = 0;
    const auto words_of = [&](const step& s) -> std::string {
        switch (s.what) {
            case step::kind::vector:
            case step::kind::memory: return given.name_of(*p.vectors[s.leaf]).spelled();
            case step::kind::image: return image_name(s.leaf).spelled();
            case step::kind::constant: return "constant";
            case step::kind::position: return "view" + std::to_string(s.leaf);
            default: return scalar_name(leaves.argument_of_scalar(scalars++)).spelled();
        }
    };
    return written_out(p, words_of,
                       [](const std::string& of, const std::string& at) { return of + "[" + at + "]"; });
}

std::string with_extents(const tape& p, bool with_devices) {
    const auto words_of = [&](const step& s) -> std::string {
        switch (s.what) {
            case step::kind::vector:
            case step::kind::memory: {
                const vector_state& v = *p.vectors[s.leaf];
                for (const produced_leaf& made : p.produced)
                    if (made.leaf == s.leaf) return vector_words(v, s.type, made.by->extents(), with_devices);
                return vector_words(v, s.type, shape(v.size()), with_devices);
            }
            case step::kind::image: return "image";
            case step::kind::position: return to_string(p.maps[s.leaf].box);
            default: return value_words(s);
        }
    };
    const auto values = written_out(p, words_of, [](const std::string& of, const std::string& box) {
        return "view(" + of + ", " + box + ")";
    });
    return fmt::format("{}", fmt::join(values, ", "));
}

}  // namespace balm::array
