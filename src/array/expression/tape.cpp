// The tape of an expression: how it grows, and the hash of its structure.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "array/layout.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/expr.hpp"
#include "base/thread_stock.hpp"
#include "ir/ir.hpp"

namespace balm {

namespace detail {

void array_scalar_does_not_fit(scalar type) {
    throw usage_error(fmt::format("a host value does not fit the element type {}", to_string(type)));
}

void member_not_described(const char* structure, std::size_t offset) {
    throw usage_error(
        fmt::format("an expression uses the member at byte {} of the structure {}, which its BALM_STRUCT "
                    "does not list: add it there",
                    offset, structure));
}

std::int64_t checked_positions(std::int64_t offset, const shape& extents) {
    const auto count = static_cast<std::int64_t>(extents.count());
    if (!checked_sum(offset, count))
        throw usage_error(
            fmt::format("the indices of {} elements from {} on overflow 64 bits", count, offset));
    return count;
}

void array_scalar_wraps(scalar type, std::uint64_t value) {
    throw usage_error(
        fmt::format("the host value {0} is out of range for the element type {1}: "
                    "cast<std::uint{2}_t>(x) makes the elements unsigned, cast<std::int64_t>(x) wide",
                    value, to_string(type), 8 * size_of(type)));
}

array::tape& host_expression::own_list() {
    if (!list_) list_ = std::make_shared<array::tape>();
    return *list_;
}

const array::tape& host_expression::list() const {
    if (!list_) throw usage_error("an array expression contains a value that was recorded in a kernel");
    return *list_;
}

void host_expression::push(trace::type type, const bound_argument& given) {
    if (!type.is_scalar())
        return own_list().push_bytes(type, given.long_value ? given.long_value->data() : given.bytes.data(),
                                     given.size);
    std::uint64_t bits = 0;
    std::memcpy(&bits, given.bytes.data(), given.size);  // little-endian hosts
    push(type.element, bits);
}
void host_expression::push(scalar type, std::uint64_t bits) {
    own_list().push_value(array::step::kind::scalar, type, bits);
}
void host_expression::push(const host_expression& other) { own_list().append(other.list()); }
void host_expression::push_call(std::shared_ptr<const ir::function> function, trace::type type,
                                std::size_t arity) {
    own_list().push_call(std::move(function), type, static_cast<std::uint16_t>(arity));
}
void host_expression::push_row(builtin row, scalar type, std::size_t arity) {
    array::step& s = own_list().push(array::step::kind::apply);
    s.type = type;
    s.detail = static_cast<std::uint32_t>(row);
    s.arity = static_cast<std::uint16_t>(arity);
}

}  // namespace detail

namespace array {

namespace {

/// The multiplications of successive calls do not depend on each other.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    value *= 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio (Knuth, TAOCP 3, 6.4)
    return std::rotl(hash, 9) + (value ^ value >> 32);
}

/// The common size of both. `left` and `right` describe them in messages.
template <class Right>
std::int64_t common_size(const tape& left, std::int64_t b, Right&& right, bool has_no_device = false) {
    const std::int64_t a = left.size;
    if (a < 0 || b < 0) return a < 0 ? b : a;
    if (a == b) [[likely]]
        return a;
    if (has_no_device || left.has_no_device)
        throw usage_error(fmt::format(
            "an expression combines {} elements with a vector that has no elements yet: {} with {}",
            std::max(a, b), with_extents(left), right()));
    throw usage_error(fmt::format("an expression combines {} elements with {}: {} with {}", a, b,
                                  with_extents(left), right()));
}
/// Whether one of the two has one element and the other one another number, so that the former counts as a
/// scalar.
bool is_one_beside_others(const tape& left, std::int64_t b) {
    const std::int64_t a = left.size;
    return a != b && a >= 0 && b >= 0 && (a == 1 || b == 1) && !left.has_no_device;
}
/// A single leaf as text, for messages.
template <class Push>
std::string leaf_words(Push&& push) {
    tape alone;
    push(alone);
    return with_extents(alone);
}

}  // namespace

tape::tape() = default;
tape::tape(const tape&) = default;
tape::tape(tape&&) noexcept = default;
tape& tape::operator=(const tape&) = default;
tape& tape::operator=(tape&&) noexcept = default;
tape::~tape() = default;

void tape::refuse_more() {
    throw usage_error("an expression has more than 60,000 operations; assign parts of it to vectors");
}

void tape::clear() noexcept {
    steps.clear();
    vectors.clear();
    functions.clear();
    images = {};
    maps = {};
    produced = {};
    values = {};
    near = nullptr;
    size = box = -1;
    scalars_seen = 0;
    may_repeat = writes_memory = wants_constant_memory = has_no_device = false;
}

namespace {

using stock = runtime::thread_stock<tape, 16>;

}  // namespace

tape* tape_handle::taken() { return stock::take(); }

void tape_handle::give_back(tape* list) noexcept { stock::give_back(list); }

void tape::push_vector(std::shared_ptr<vector_state> v) {
    if (v && is_one_beside_others(*this, static_cast<std::int64_t>(v->size()))) [[unlikely]] {
        tape alone;
        alone.push_vector(std::move(v));
        return append(std::move(alone));
    }
    if (v)
        size = common_size(*this, static_cast<std::int64_t>(v->size()),
                           [&] { return leaf_words([&](tape& alone) { alone.push_vector(v); }); });
    push_leaf(step::kind::vector, std::move(v), 0);
}

void tape::push_no_elements(trace::type type) {
    size = common_size(
        *this, 0, [&] { return ir::to_string(type) + "[0]"; }, true);
    has_no_device = true;
    if (type.is_scalar())
        push_value(step::kind::constant, type, 0);
    else
        push_bytes(type, std::vector<std::byte>(trace::size_of(type)).data(), trace::size_of(type));
}

void tape::push_constant_memory(std::shared_ptr<vector_state> v) {
    push_vector(std::move(v));
    steps.back().detail = 1;
    wants_constant_memory = true;
}

void tape::push_produced(std::shared_ptr<const producer> by) {
    const bool has_extents = by->extents().dimensions() > 1;
    size = common_size(*this, static_cast<std::int64_t>(by->extents().count()),
                       [&] { return leaf_words([&](tape& alone) { alone.push_produced(by); }); });
    if (has_extents) {
        push_position(row_major(by->extents()));
        push(step::kind::at).arity = 1;
    }
    step& s = push(step::kind::vector);
    s.type = by->type();
    s.leaf = static_cast<std::uint16_t>(vectors.size());
    vectors.push_back(by->near());
    produced.push_back({std::move(by), s.leaf});
    if (has_extents) push(step::kind::end);
}

void tape::push_memory(std::shared_ptr<vector_state> v, memory_use use) {
    push_leaf(step::kind::memory, std::move(v), static_cast<std::uint32_t>(use));
    writes_memory = writes_memory || use == memory_use::write;
    wants_constant_memory = wants_constant_memory || use == memory_use::read_constant;
}

void tape::push_leaf(step::kind what, std::shared_ptr<vector_state> v, std::uint32_t detail) {
    if (!v) throw usage_error("an expression uses a vector that has no elements yet");
    step& s = push(what);
    s.type = v->type();
    s.detail = detail;
    s.leaf = static_cast<std::uint16_t>(vectors.size());
    vectors.push_back(std::move(v));
}

void tape::push_position(const affine_map& map) {
    size = common_size(*this, static_cast<std::int64_t>(map.box.count()), [&] { return to_string(map.box); });
    step& s = push(step::kind::position);
    s.type = scalar::i64;
    s.leaf = static_cast<std::uint16_t>(maps.size());
    if (map.box.dimensions() > 1 && box < 0) box = s.leaf;
    maps.push_back(map);
}

void tape::push_image(image_leaf image) {
    step& s = push(step::kind::image);
    s.type = image.type;
    s.detail = static_cast<std::uint32_t>(image.use);
    s.leaf = static_cast<std::uint16_t>(images.size());
    images.push_back(std::move(image));
}

void tape::push_value(step::kind what, trace::type type, std::uint64_t bits) {
    step& s = push(what);
    s.type = type;
    s.bits = bits;
    if (what == step::kind::index) s.detail = bits % 4 == 0;
    if (!is_argument(s)) return;
    const std::uint64_t own = std::uint64_t{1} << (bits * 0x9e3779b97f4a7c15u >> 58);
    may_repeat = may_repeat || (scalars_seen & own) != 0;
    scalars_seen |= own;
}

void tape::push_bytes(trace::type type, const void* value, std::size_t bytes) {
    step& s = push(step::kind::scalar);
    s.type = type;
    s.bits = values.size();
    const auto* first = static_cast<const std::byte*>(value);
    values.append(first, first + bytes);
}

void tape::push_operation(const operation& what, trace::type type, std::uint16_t arity, builtin row) {
    step& s = push(step::kind::record);
    s.type = type;
    s.detail = static_cast<std::uint16_t>(row);
    s.arity = arity;
    s.bits = reinterpret_cast<std::uintptr_t>(&what);
}

std::uint64_t tape::push_keep(trace::type type) {
    static std::atomic<std::uint64_t> numbers = 0;
    step& s = push(step::kind::keep);
    s.type = type;
    s.arity = 1;
    s.bits = ++numbers;
    return s.bits;
}

void tape::push_kept(trace::type type, std::uint64_t number) {
    step& s = push(step::kind::kept);
    s.type = type;
    s.bits = number;
}

void tape::push_within(trace::type type) {
    step& s = push(step::kind::within);
    s.type = type;
    s.arity = 2;
}

void tape::push_call(std::shared_ptr<const ir::function> function, trace::type type, std::uint16_t arity) {
    if (function->parameters.size() > arity)
        throw usage_error(fmt::format(
            "the function '{}' takes memory of several dimensions, but the vectors of an array expression "
            "have one; let it take In<T> and the number of columns, and read a[row * columns + column]",
            function->name));
    step& s = push(step::kind::call);
    s.type = type;
    s.arity = arity;
    s.leaf = static_cast<std::uint16_t>(functions.size());
    functions.push_back(std::move(function));
}

void tape::append(tape&& other) {
    if (is_one_beside_others(*this, other.size) && !other.has_no_device) [[unlikely]]
        (size == 1 ? *this : other).repeat();
    size = common_size(
        *this, other.size, [&] { return with_extents(other); }, other.has_no_device);
    if (box >= 0 && other.box >= 0 && box_of(*this) != box_of(other))
        throw usage_error(fmt::format(
            "an expression combines {} elements with {}: the same number, but different extents. Give both "
            "the same extents, or flatten one: balm::view(e, {{e.size()}}). The operands: {} with {}",
            to_string(box_of(*this)), to_string(box_of(other)), with_extents(*this), with_extents(other)));
    if (box < 0 && other.box >= 0) box = static_cast<std::int32_t>(maps.size()) + other.box;
    splice(std::move(other));
}

void tape::append_assigned(tape&& other) {
    if (size >= 0 && other.size >= 0 && size != other.size)
        throw usage_error(fmt::format("{} elements cannot be assigned to lanes or members of {}: {}",
                                      other.size, size, with_extents(other)));
    append(std::move(other));
}

void tape::append_at(tape&& of) {
    push(step::kind::at).arity = 1;
    splice(std::move(of));
    push(step::kind::end);
}

void tape::repeat() {
    const auto is_sized = [](const step& s) {
        return s.what == step::kind::vector || s.what == step::kind::position ||
               (s.what == step::kind::index && s.leaf != 0);
    };
    const auto before = std::exchange(steps, {});
    int depth = 0;
    const auto move_on = [&](const step& s) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        push(s);
    };
    for (std::size_t k = 0; k < before.size(); ++k) {
        const bool is_first = depth == 0 && is_sized(before[k]);
        if (is_first) {
            push(step::kind::constant).type = scalar::i64;
            push(step::kind::at).arity = 1;
        }
        move_on(before[k]);
        // A view remains a position and what is read there.
        const bool is_read_at = is_first && k + 1 < before.size() && before[k + 1].what == step::kind::at;
        if (is_read_at) {
            do {
                move_on(before[++k]);
            } while (depth > 0);
        }
        if (is_first) push(step::kind::end);
    }
    size = box = -1;
}

void tape::splice(tape&& other) {
    std::array<std::uint16_t, step_kinds> first{};  // of the other's leaves, by the kind that names them
    const auto begin_at = [&](step::kind what, std::size_t count) {
        first[static_cast<std::size_t>(what)] = static_cast<std::uint16_t>(count);
    };
    begin_at(step::kind::vector, vectors.size());
    begin_at(step::kind::memory, vectors.size());
    begin_at(step::kind::image, images.size());
    begin_at(step::kind::position, maps.size());
    begin_at(step::kind::call, functions.size());
    const std::size_t first_value = values.size();
    for (const produced_leaf& each : other.produced)
        produced.push_back({each.by, static_cast<std::uint16_t>(each.leaf + vectors.size())});
    may_repeat = may_repeat || other.may_repeat || (scalars_seen & other.scalars_seen) != 0;
    scalars_seen |= other.scalars_seen;
    writes_memory = writes_memory || other.writes_memory;
    wants_constant_memory = wants_constant_memory || other.wants_constant_memory;
    has_no_device = has_no_device || other.has_no_device;
    if (near && other.near) [[unlikely]]
        check_same_devices(*near, *other.near);
    if (!near) near = std::move(other.near);
    vectors.append(std::move(other.vectors));
    images.append(other.images);
    functions.append(std::move(other.functions));
    maps.append(other.maps);
    values.append(other.values);
    if (steps.size() + other.steps.size() > most_steps) refuse_more();
    const std::size_t own = steps.size();
    steps.append(other.steps.begin(), other.steps.end());
    for (step& s : std::span(steps.begin() + own, steps.end())) {
        s.leaf = static_cast<std::uint16_t>(s.leaf + first[static_cast<std::size_t>(s.what)]);
        if (s.what == step::kind::scalar && !s.type.is_scalar()) s.bits += first_value;
    }
}

std::uint64_t structure_hash(const tape& p) {
    std::uint64_t hash = 0;
    for (const step& s : p.steps) {
        hash = mix(hash, s.word(0) ^ std::rotl(s.word(1), 20));
        if (has_structural_bits(s)) hash = mix(hash, s.bits);
    }
    for (const auto& f : p.functions) hash = mix(hash, f->identity.words[0]);
    return hash;
}

void push_convert(tape& p, trace::type to) {
    step& s = p.push(step::kind::convert);
    s.type = to;
    s.arity = 1;
}

void materialise(std::span<tape> all) {
    std::vector<std::pair<const producer*, std::shared_ptr<vector_state>>> made;  // each once
    for (tape& p : all) {
        for (const produced_leaf& each : p.produced) {
            auto known = std::find_if(made.begin(), made.end(),
                                      [&](const auto& m) { return m.first == each.by.get(); });
            if (known == made.end()) known = made.insert(made.end(), {each.by.get(), each.by->compute()});
            p.vectors[each.leaf] = known->second;
        }
        p.produced = {};
    }
}
void materialise(tape& p) {
    if (!p.produced.empty()) materialise({&p, 1});
}

shape box_of(const tape& p) {
    return p.box >= 0 ? p.maps[static_cast<std::size_t>(p.box)].box : shape(element_count(p));
}

}  // namespace array
}  // namespace balm
