// The operations of reductions as values of a kernel.

#include "algorithm/reduce/reduce_operations.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "balm/dsl/control.hpp"
#include "ir/ir.hpp"
#include "ir/with_type.hpp"

namespace balm::array {

namespace {

using trace::apply;
using trace::node;

node whole(trace::type type, std::uint64_t bits) {
    const node value = trace::constant(type.element, bits);
    return type.lanes == 1 ? value : trace::compose(type, &value, 1);
}
/// A structure has no numbers: any value, for states that say that they have none.
node number(trace::type type, int value) {
    if (type.aggregate != 0)
        return trace::load(trace::object(type, 1, space::private_, true, {}), block::node_of(0), {});
    return ir::with_type(type.element, [&]<class T>(std::type_identity<T>) {
        return whole(type, dsl::detail::bits_of(static_cast<T>(value)));
    });
}

/// The value that every element precedes: the opposite end of the type's range, or NaN.
node farthest(trace::type type, bool from_least, bool assumes_numbers) {
    return ir::with_type(type.element, [&]<class T>(std::type_identity<T>) {
        using limits = std::numeric_limits<T>;
        if constexpr (!std::floating_point<T>)
            return whole(type, dsl::detail::bits_of(from_least ? limits::max() : limits::lowest()));
        else if (assumes_numbers)
            return whole(type, dsl::detail::bits_of(from_least ? limits::infinity() : -limits::infinity()));
        else
            return whole(type, dsl::detail::bits_of(limits::quiet_NaN()));
    });
}

/// The value converted to the type; a scalar is broadcast to the type's lanes.
node as_type(node value, trace::type type) {
    if (type.aggregate != 0) return value;
    if (value.type.element == scalar::boolean && value.type.lanes > 1 && type.element != scalar::boolean)
        return trace::select(value, number(type, 1), number(type, 0));
    value = trace::convert(value, type.element);
    return value.type.lanes == type.lanes ? value : trace::compose(type, &value, 1);
}
trace::type in_lanes(trace::type type, int lanes) {
    if (lanes > 1) type.lanes = static_cast<std::uint8_t>(lanes);
    return type;
}
bool is_least(reduction_kind kind) { return kind == reduction_kind::min || kind == reduction_kind::arg_min; }

/// Whether b is nearer to the wanted end than a, or a is NaN.
node is_nearer(const reduction& r, node b, node a, bool assumes_numbers) {
    const node nearer = apply(is_least(r.kind) ? builtin::less : builtin::greater, b, a);
    if (!is_floating(r.element.element) || assumes_numbers) return nearer;
    return apply(builtin::bit_or, nearer, apply(builtin::not_equal, a, a));
}

/// Whether the second of two values with positions is the result.
node takes_second(const reduction& r, const node* a, const node* b, bool in_order) {
    const node nearer = is_nearer(r, b[0], a[0], false);
    // An integer may equal the initial state; no number equals NaN.
    if (in_order && is_floating(r.element.element)) return nearer;
    const node is_level = apply(builtin::equal, a[0], b[0]);
    return apply(builtin::bit_or, nearer,
                 apply(builtin::bit_and, is_level, apply(builtin::less, b[1], a[1])));
}

/// a + b and its rounding error. Knuth, The Art of Computer Programming 2, 4.2.2, theorem B.
void add_exactly(node a, node b, node& sum, node& error) {
    sum = apply(builtin::add, a, b);
    const node of_b = apply(builtin::sub, sum, a);
    error = apply(builtin::add, apply(builtin::sub, a, apply(builtin::sub, sum, of_b)),
                  apply(builtin::sub, b, of_b));
}

node truth(bool value) { return trace::constant(scalar::boolean, value ? 1 : 0); }

/// Combines two states of a fold without an identity, each a value and whether there is one. The function is
/// called only for two values: for others it need not be defined.
values folded(const reduction& r, const node* a, const node* b) {
    const values made = block::variables("folded", block::chosen(block::Bool(b[1]), {b[0]}, {a[0]}));
    IF (block::Bool(apply(builtin::bit_and, a[1], b[1]))) {
        const node operands[] = {a[0], b[0]};
        block::write(made, {as_element(trace::call(r.function, operands, 2, {}), r.element)});
    }
    return block::joined(block::read(made), {apply(builtin::bit_or, a[1], b[1])});
}

/// The product of two complex numbers, each a vector of two lanes, as in the kernel language.
node product_of_complex(node a, node b) {
    const node straight = apply(builtin::mul, a, b);
    const node crossed = apply(builtin::mul, a, trace::swizzle(b, 0x01, 2));
    const auto lane = [](node of, int k) { return trace::swizzle(of, static_cast<std::uint64_t>(k), 1); };
    const node parts[] = {apply(builtin::sub, lane(straight, 0), lane(straight, 1)),
                          apply(builtin::add, lane(crossed, 0), lane(crossed, 1))};
    return trace::compose(a.type, parts, 2);
}
node complex_one(trace::type type) {
    const node parts[] = {number(type.element, 1), number(type.element, 0)};
    return trace::compose(type, parts, 2);
}

/// The type of a state's second value.
trace::type second_of_state(const reduction& r) {
    if (has_position(r)) return scalar::i64;
    return r.kind == reduction_kind::sum_compensated ? r.element : trace::type(scalar::boolean);
}

/// The positions of `lanes` elements, from the first on.
node positions(node first, int lanes) {
    if (lanes == 1) return first;
    values each;
    for (int k = 0; k < lanes; ++k)
        each.push_back(
            apply(builtin::add, first, trace::constant(scalar::i64, static_cast<std::uint64_t>(k))));
    return trace::compose(in_lanes(scalar::i64, lanes), each.data(), each.size());
}

values lanes_from(const values& state, int first, int count) {
    std::uint64_t order = 0;
    for (int k = count; k-- > 0;) order = order << 4 | static_cast<std::uint64_t>(first + k);
    values made;
    for (const node& each : state) made.push_back(trace::swizzle(each, order, count));
    return made;
}

}  // namespace

bool is_condition(const reduction& r) {
    return r.kind == reduction_kind::any || r.kind == reduction_kind::all;
}
bool has_position(const reduction& r) {
    return r.kind == reduction_kind::arg_min || r.kind == reduction_kind::arg_max;
}
bool is_extreme(const reduction& r) {
    return has_position(r) || r.kind == reduction_kind::min || r.kind == reduction_kind::max;
}

std::size_t state_size(const reduction& r) {
    return has_position(r) || r.kind == reduction_kind::sum_compensated ||
                   r.kind == reduction_kind::fold_without_identity
               ? 2
               : 1;
}

std::size_t result_slots(const reduction& r) {
    const std::size_t bytes = is_condition(r) ? 1 : trace::size_of(r.element);
    return (bytes + 7) / 8 + (has_position(r) ? 1 : 0);
}

void write_result_of_nothing(const reduction& r, std::uint64_t* slots) {
    std::fill_n(slots, result_slots(r), 0);
    std::copy(r.nothing.begin(), r.nothing.end(), reinterpret_cast<std::byte*>(slots));
    if (r.element.aggregate != 0 || r.kind == reduction_kind::fold_without_identity) return;
    const bool is_one = r.kind == reduction_kind::product || r.kind == reduction_kind::product_of_complex ||
                        r.kind == reduction_kind::all;
    const int lanes = r.kind == reduction_kind::product_of_complex ? 1 : r.element.lanes;
    ir::with_type(r.element.element, [&]<class T>(std::type_identity<T>) {
        const std::uint64_t bits = is_one ? dsl::detail::bits_of(T(1)) : r.identity;
        for (int k = 0; k < lanes; ++k)
            std::memcpy(reinterpret_cast<std::byte*>(slots) + static_cast<std::size_t>(k) * sizeof(T), &bits,
                        sizeof(T));
    });
}

reduction_form form_of(const reduction& r) {
    return {r.kind, r.element, r.identity, r.statement,
            r.function != nullptr ? r.function->identity : runtime::digest{}};
}
reduction_forms forms_of(std::span<const reduction> all) {
    reduction_forms forms;
    for (const reduction& each : all) forms.push_back(form_of(each));
    return forms;
}

operations::operations(const reduction* first, std::size_t count, operation_style style)
    : all_(first, first + count), style_(style) {
    for (reduction& r : all_) {
        r.element = in_lanes(r.element, style.lanes);
        state_.push_back(r.element);
        results_.push_back(is_condition(r) ? trace::type(scalar::boolean) : r.element);
        if (has_position(r)) {
            state_.push_back(in_lanes(scalar::i64, style.lanes));
            results_.push_back(state_.back());
        } else if (state_size(r) == 2) {
            state_.push_back(second_of_state(r));
        }
    }
}

operations operations::without_positions() const {
    std::vector<reduction> extremes = all_;
    for (reduction& r : extremes)
        if (has_position(r)) r.kind = is_least(r.kind) ? reduction_kind::min : reduction_kind::max;
    return {extremes.data(), extremes.size(), style_};
}
values operations::with_position(const values& state, node position) const {
    values made;
    auto next = state.begin();
    for (const reduction& r : all_) {
        made.push_back(*next++);
        if (has_position(r))
            made.push_back(position);
        else if (state_size(r) == 2)
            made.push_back(*next++);
    }
    return made;
}
std::vector<bool> operations::have_positions() const {
    std::vector<bool> made;
    for (const reduction& r : all_) {
        made.push_back(has_position(r));
        if (state_size(r) == 2) made.push_back(false);
    }
    return made;
}

bool operations::is_vector(const reduction& r) const { return style_.lanes == 1 && r.element.lanes > 1; }
bool operations::assumes_numbers(const reduction& r) const { return style_.assumes_numbers && !is_vector(r); }

bool operations::depend_on_order() const {
    for (const reduction& r : all_) switch (r.kind) {
            case reduction_kind::sum:
            case reduction_kind::sum_compensated:
            case reduction_kind::product:
            case reduction_kind::product_of_complex:
                if (is_floating(r.element.element)) return true;
                break;
            case reduction_kind::min:
            case reduction_kind::max:
                if (is_floating(r.element.element) && style_.exact_order) return true;
                break;
            case reduction_kind::fold:
            case reduction_kind::fold_without_identity: return true;
            default: break;
        }
    return false;
}

values operations::identity() const {
    values made;
    for (const reduction& r : all_) {
        switch (r.kind) {
            case reduction_kind::sum:
            case reduction_kind::count:
            case reduction_kind::any: made.push_back(number(r.element, 0)); break;
            case reduction_kind::product:
            case reduction_kind::all: made.push_back(number(r.element, 1)); break;
            case reduction_kind::product_of_complex: made.push_back(complex_one(r.element)); break;
            case reduction_kind::sum_compensated:
                made.push_back(number(r.element, 0));
                made.push_back(number(r.element, 0));
                break;
            case reduction_kind::min:
            case reduction_kind::max:
                made.push_back(farthest(r.element, is_least(r.kind), assumes_numbers(r)));
                break;
            case reduction_kind::arg_min:
            case reduction_kind::arg_max:
                made.push_back(farthest(r.element, is_least(r.kind), false));
                made.push_back(whole(in_lanes(scalar::i64, style_.lanes),
                                     dsl::detail::bits_of(std::numeric_limits<std::int64_t>::max())));
                break;
            case reduction_kind::fold: made.push_back(whole(r.element, r.identity)); break;
            case reduction_kind::fold_without_identity:
                made.push_back(number(r.element, 0));
                made.push_back(truth(false));
                break;
        }
    }
    return made;
}

values operations::beginning_with(const std::vector<initial_value>& first) const {
    values made = identity();
    std::size_t at = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) {
        if (first[k].value) {
            made[at] = as_type(*first[k].value, all_[k].element);
            if (all_[k].kind == reduction_kind::fold_without_identity)
                made[at + 1] = truth(first[k].is_element);
        }
        at += state_size(all_[k]);
    }
    return made;
}

values operations::of_element(const values& elements, node position) const {
    values made;
    for (std::size_t k = 0; k < all_.size(); ++k) {
        const reduction& r = all_[k];
        const bool counts = r.kind == reduction_kind::count || is_condition(r);
        made.push_back(
            as_type(counts ? trace::convert(elements[k], scalar::boolean) : elements[k], r.element));
        if (has_position(r))
            made.push_back(positions(position, style_.lanes));
        else if (r.kind == reduction_kind::sum_compensated)
            made.push_back(number(r.element, 0));
        else if (r.kind == reduction_kind::fold_without_identity)
            made.push_back(truth(true));
    }
    return made;
}

values operations::combined(const values& first, const values& second, bool in_order) const {
    values made;
    for (const reduction& r : all_) {
        trace::begin_statement(r.statement);
        const node* const a = first.data() + made.size();
        const node* const b = second.data() + made.size();
        const auto row = [&](builtin what) { made.push_back(as_type(apply(what, *a, *b), r.element)); };
        switch (r.kind) {
            case reduction_kind::sum:
            case reduction_kind::count: row(builtin::add); break;
            case reduction_kind::product: row(builtin::mul); break;
            case reduction_kind::product_of_complex: made.push_back(product_of_complex(*a, *b)); break;
            case reduction_kind::any: row(builtin::bit_or); break;
            case reduction_kind::all: row(builtin::bit_and); break;
            case reduction_kind::min:
            case reduction_kind::max:
                if (is_floating(r.element.element) && (style_.exact_order || assumes_numbers(r)))
                    made.push_back(trace::select(is_nearer(r, *b, *a, assumes_numbers(r)), *b, *a));
                else if (r.element.element == scalar::boolean)
                    row(r.kind == reduction_kind::min ? builtin::bit_and : builtin::bit_or);
                else
                    row(r.kind == reduction_kind::min ? builtin::min : builtin::max);
                break;
            case reduction_kind::arg_min:
            case reduction_kind::arg_max: {
                const node second_wins = takes_second(r, a, b, in_order);
                made.push_back(trace::select(second_wins, b[0], a[0]));
                made.push_back(trace::select(second_wins, b[1], a[1]));
                break;
            }
            case reduction_kind::sum_compensated: {
                node sum, error;
                add_exactly(a[0], b[0], sum, error);
                made.push_back(sum);
                made.push_back(apply(builtin::add, apply(builtin::add, a[1], b[1]), error));
                break;
            }
            case reduction_kind::fold: {
                const node operands[] = {*a, *b};
                made.push_back(as_element(trace::call(r.function, operands, 2, {}), r.element));
                break;
            }
            case reduction_kind::fold_without_identity:
                for (const node& each : folded(r, a, b)) made.push_back(each);
                break;
        }
    }
    return made;
}

block::operation operations::operation(bool in_order) const {
    return {
        [does = *this, in_order](const values& a, const values& b) { return does.combined(a, b, in_order); },
        [does = *this] { return does.identity(); }};
}

values operations::of_lanes(int lanes, values states) const {
    for (int half = lanes / 2; half > 0; half /= 2)
        states =
            with_lanes(half).combined(lanes_from(states, 0, half), lanes_from(states, half, half), false);
    return states;
}

std::size_t operations::bytes_of_state() const {
    std::size_t bytes = 0;
    for (const trace::type& each : state_) bytes += trace::size_of(each);
    return bytes;
}

std::vector<bool> operations::are_extremes() const {
    std::vector<bool> made;
    for (const reduction& r : all_) {
        made.push_back((r.kind == reduction_kind::min || r.kind == reduction_kind::max) &&
                       is_floating(r.element.element) && !is_vector(r));
        if (state_size(r) == 2) made.push_back(false);
    }
    return made;
}

bool operations::have_extremes() const {
    const std::vector<bool> extreme = are_extremes();
    return std::find(extreme.begin(), extreme.end(), true) != extreme.end();
}

node operations::is_doubtful(const values& state) const {
    const std::vector<bool> extreme = are_extremes();
    const values begin = identity();
    node made = trace::constant(scalar::boolean, 0);
    for (std::size_t v = 0; v < state.size(); ++v)
        if (extreme[v]) made = apply(builtin::bit_or, made, apply(builtin::equal, state[v], begin[v]));
    return made;
}

values operations::result(const values& state) const {
    values made;
    std::size_t at = 0;
    for (const reduction& r : all_) {
        const node* const own = state.data() + at;
        at += state_size(r);
        if (has_position(r)) {
            made.push_back(own[0]);
            // If all elements are NaN, the position is 0.
            made.push_back(is_floating(r.element.element)
                               ? trace::select(apply(builtin::equal, own[0], own[0]), own[1],
                                               trace::constant(scalar::i64, 0))
                               : own[1]);
        } else if (r.kind == reduction_kind::sum_compensated) {
            // The error of an infinite sum is NaN: infinity minus infinity.
            made.push_back(trace::select(apply(builtin::equal, own[1], own[1]),
                                         apply(builtin::add, own[0], own[1]), own[0]));
        } else {
            made.push_back(is_condition(r) ? trace::convert(own[0], scalar::boolean) : own[0]);
        }
    }
    return made;
}

}  // namespace balm::array
