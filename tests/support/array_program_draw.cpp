// Draws array programs. What may follow what is settled here: extents agree, nothing narrows, positions are
// inside, and a target has each of its elements once.

#include "support/array_program.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "balm/shape.hpp"
#include "support/exact_complex.hpp"

namespace balm::test {

namespace {

constexpr scalar element_types[] = {scalar::boolean, scalar::i8,  scalar::u8,  scalar::i16,
                                    scalar::u16,     scalar::i32, scalar::u32, scalar::i64,
                                    scalar::u64,     scalar::f32, scalar::f64, scalar::f16};
constexpr int element_weights[] = {2, 2, 2, 2, 2, 5, 4, 3, 2, 6, 4, 4};
constexpr std::size_t most_vectors = 9, most_elements = 60000;

/// What elements of a type are computed with.
scalar loaded(scalar type) { return type == scalar::f16 ? scalar::f32 : type; }
element_form loaded(element_form form) {
    return form == element_form::half3   ? element_form::float3
           : form == element_form::half4 ? element_form::float4
                                         : form;
}

class drawing {
public:
    explicit drawing(std::mt19937_64& random) : random_(random) {}

    array_program draw() {
        draw_box();
        for (std::size_t k = between(2, 3); k > 0; --k) new_vector(count_);
        for (std::size_t k = between(1, 3); k > 0; --k) program_.statements.push_back(draw_statement());
        return std::move(program_);
    }

private:
    using kind = array_node::kind;
    using step = view_step::kind;
    using part = dimension_part::kind;

    // ---- chance ----

    std::size_t between(std::size_t least, std::size_t most) {
        return std::uniform_int_distribution<std::size_t>(least, most)(random_);
    }
    bool chance(int percent) { return between(1, 100) <= static_cast<std::size_t>(percent); }
    template <class Table, class Weight>
    const auto& weighted(const Table& table, Weight&& weight) {
        std::vector<int> weights;
        for (const auto& each : table) weights.push_back(weight(each));
        std::discrete_distribution<std::size_t> pick(weights.begin(), weights.end());
        return *std::next(std::begin(table), static_cast<std::ptrdiff_t>(pick(random_)));
    }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[between(0, list.size() - 1)];
    }
    scalar any_type() {
        std::discrete_distribution<std::size_t> pick(std::begin(element_weights), std::end(element_weights));
        return element_types[pick(random_)];
    }

    // ---- boxes and vectors ----

    void draw_box() {
        static constexpr std::size_t most[] = {0, 1500, 40, 11, 6};
        const std::size_t dimensions = std::min<std::size_t>(between(1, 5), 4);
        box_.clear();
        for (std::size_t d = 0; d < dimensions; ++d) box_.push_back(between(1, most[dimensions]));
        if (chance(8)) box_ = {between(4000, 30000)};
        if (chance(25)) box_ = {edge_size()};
        if (chance(5)) box_[between(0, box_.size() - 1)] = 0;
        count_ = product_of(box_);
    }
    /// About a power of two, where vectors, blocks, groups and pieces end.
    std::size_t edge_size() {
        const std::size_t power = std::size_t{1} << between(0, 15);
        return power + between(0, 6) - std::min<std::size_t>(3, power);
    }
    bool is_empty() const { return count_ == 0; }
    std::size_t new_vector(std::size_t size, element_form form = element_form::scalar) {
        program_.vectors.push_back({any_type(), size, 0, form});
        return program_.vectors.size() - 1;
    }
    /// A vector of this size; a known one where there is, mostly.
    std::size_t vector_of(std::size_t size, element_form form = element_form::scalar) {
        std::vector<std::size_t> known;
        for (std::size_t k = 0; k < program_.vectors.size(); ++k) {
            const array_vector& v = program_.vectors[k];
            if (v.size == size && v.form == form && v.positions_in == 0) known.push_back(k);
        }
        if (!known.empty() && (program_.vectors.size() >= most_vectors || !chance(20))) return one_of(known);
        return new_vector(size, form);
    }
    std::size_t vector_of_type(std::size_t size, scalar type) {
        const auto is_like = [&](const array_vector& v) {
            return v.size == size && v.type == type && v.form == element_form::scalar && v.positions_in == 0;
        };
        const auto found = std::find_if(program_.vectors.begin(), program_.vectors.end(), is_like);
        if (found != program_.vectors.end() && chance(70))
            return static_cast<std::size_t>(found - program_.vectors.begin());
        program_.vectors.push_back({type, size, 0, element_form::scalar});
        return program_.vectors.size() - 1;
    }
    std::size_t positions_in(std::size_t size, std::size_t count, bool may_repeat = false) {
        static const std::vector<scalar> types{scalar::i32, scalar::u32, scalar::i64, scalar::u16};
        program_.vectors.push_back({one_of(types), count, size, element_form::scalar, may_repeat});
        return program_.vectors.size() - 1;
    }

    // ---- nodes ----

    static node_pointer made(kind what, scalar type, std::vector<node_pointer> in = {}) {
        auto n = std::make_shared<array_node>();
        n->what = what;
        n->type = type;
        n->in = std::move(in);
        return n;
    }
    node_pointer vector_node(std::size_t which) {
        const array_vector& v = program_.vectors[which];
        node_pointer n = v.form == element_form::scalar ? made(kind::vector, loaded(v.type))
                                                        : formed(kind::vector, loaded(v.form));
        n->which = which;
        return n;
    }
    static node_pointer formed(kind what, element_form form, std::vector<node_pointer> in = {}) {
        node_pointer n = made(what, numbers_of(form)[0], std::move(in));
        n->form = form;
        return n;
    }
    node_pointer index_node(std::size_t count) {
        node_pointer n = made(kind::index, scalar::i64);
        n->offset = chance(50) ? 0 : static_cast<std::int64_t>(between(0, 40)) - 20;
        n->count = count;
        return n;
    }
    static node_pointer cast_to(scalar type, node_pointer n) {
        if (n->type == type) return n;
        return made(kind::cast, type, {std::move(n)});
    }
    static node_pointer row_node(builtin row, std::vector<node_pointer> in) {
        const row_rule& rule = rule_for(row);
        scalar common = operand_type(rule, in[0]->type, in.size() > 1 ? in[1]->type : in[0]->type);
        if (in.size() > 2) common = operand_type(rule, common, in[2]->type);
        node_pointer n = made(kind::row, result_type(rule, common), std::move(in));
        n->row = row;
        return n;
    }
    static node_pointer scalar_node(scalar type, scalar given_as = scalar::i32) {
        node_pointer n = made(kind::scalar, type);
        n->given_as = given_as;
        return n;
    }
    static node_pointer fixed(std::int64_t value) {
        node_pointer n = scalar_node(scalar::i64);
        n->given = static_cast<double>(value);
        n->is_fixed = true;
        return n;
    }

    // ---- expressions ----

    struct construct {
        int weight;
        node_pointer (drawing::*draw)(int depth);
    };
    node_pointer expression(int depth) {
        static constexpr construct leaves[] = {{8, &drawing::whole_vector},     {7, &drawing::view_of_vector},
                                               {2, &drawing::index_of_element}, {2, &drawing::random_numbers},
                                               {1, &drawing::look_up},          {2, &drawing::kept_value}};
        static constexpr construct all[] = {{22, &drawing::row},
                                            {4, &drawing::logic},
                                            {4, &drawing::cast},
                                            {1, &drawing::saturate},
                                            {1, &drawing::bits},
                                            {2, &drawing::random_numbers},
                                            {4, &drawing::choice},
                                            {2, &drawing::let},
                                            {2, &drawing::call},
                                            {2, &drawing::along},
                                            {3, &drawing::view_of_expression},
                                            {3, &drawing::view_of_vector},
                                            {4, &drawing::number_of_element}};
        const auto weight = [](const construct& c) { return c.weight; };
        const construct& c = depth == 0 ? weighted(leaves, weight) : weighted(all, weight);
        return (this->*c.draw)(depth);
    }

    node_pointer whole_vector(int) { return vector_node(vector_of(count_)); }
    node_pointer index_of_element(int) { return index_node(count_); }
    /// Numbers of neighbouring indices, or of any.
    node_pointer random_numbers(int depth) {
        node_pointer index = index_node(count_);
        if (chance(20)) index->offset += std::int64_t{1} << between(20, 40);
        if (depth > 0 && chance(30))
            index = cast_to(chance(50) ? scalar::i64 : scalar::u32, expression(depth - 1));
        return random_of(std::move(index), depth);
    }
    node_pointer random_of(node_pointer index, int depth) {
        scalar type = any_type();
        node_pointer n = made(kind::random, loaded(type), {std::move(index)});
        if (depth > 0 && chance(20)) n->in.push_back(cast_to(scalar::i64, expression(depth - 1)));
        n->is_normal = is_floating(n->type) && chance(40);
        n->is_threefry = (is_floating(n->type) || n->type == scalar::u32) && chance(40);
        return n;
    }
    /// A function reads a vector as a whole.
    node_pointer look_up(int) {
        static const std::vector<scalar> types{scalar::f32, scalar::i32, scalar::f16};
        const scalar type = one_of(types);
        const std::size_t size = chance(50) && !is_empty() ? count_ : between(1, 200);
        node_pointer n = made(kind::look_up, loaded(type), {position_within(size)});
        n->which = vector_of_type(size, type);
        return n;
    }
    node_pointer position_within(std::size_t size) {
        node_pointer at = index_node(count_);
        at->offset = static_cast<std::int64_t>(between(0, 9));
        at = row_node(builtin::mul, {at, fixed(static_cast<std::int64_t>(between(1, 9)))});
        return row_node(builtin::rem, {at, fixed(static_cast<std::int64_t>(size))});
    }
    /// One element, which is read for all of those beside it.
    node_pointer single() {
        std::vector<std::size_t> known;
        for (std::size_t k = 0; k < program_.vectors.size(); ++k) {
            const array_vector& v = program_.vectors[k];
            if (v.size > 0 && v.form == element_form::scalar && v.positions_in == 0) known.push_back(k);
        }
        if (known.empty() || chance(40)) return vector_node(vector_of(1));
        const std::size_t which = one_of(known), size = program_.vectors[which].size;
        if (size <= 4000 && chance(25)) {
            const node_pointer row = view_node({size, {reshape_to({1, size})}}, vector_node(which));
            return along_dimensions(row, {1}, size);
        }
        view_step s;
        s.what = step::slice;
        const auto at = static_cast<std::int64_t>(between(0, size - 1));
        s.parts.push_back(chance(50) ? dimension_part{part::range, at, at + 1, 1}
                                     : dimension_part{part::one, at, 0, 1});
        return view_node({size, {reshape_to({size}), s}}, vector_node(which));
    }
    /// What stands beside elements, and does not say how many.
    node_pointer unsized() {
        if (chance(40)) return single();
        node_pointer index = index_node(count_);
        index->is_sized = false;
        const std::size_t choice = between(0, 3);
        if (choice == 0) return index;
        if (choice == 1) return random_of(std::move(index), 0);
        if (choice == 2) {
            node_pointer n = made(kind::constant, loaded(any_type()));
            n->given = static_cast<double>(between(0, 12));
            if (is_floating(n->type) && chance(30)) n->given = chance(50) ? -0.0 : -n->given / 4;
            return n;
        }
        std::vector<node_pointer> given;
        for (int k = 0; k < 4; ++k) given.push_back(scalar_node(scalar::f32, scalar::f32));
        return made(kind::host_call, scalar::f32, std::move(given));
    }
    node_pointer kept_value(int depth) {
        if (kept_.empty()) return whole_vector(depth);
        const auto& [which, type] = one_of(kept_);
        node_pointer n = made(kind::kept, type);
        n->which = which;
        return n;
    }

    node_pointer as_operand(const row_rule& rule, node_pointer n) {
        static const std::vector<scalar> integers{scalar::i32, scalar::u32, scalar::i64,
                                                  scalar::u64, scalar::i8,  scalar::u16};
        static const std::vector<scalar> floats{scalar::f32, scalar::f64};
        const bool wants_integer = rule.takes == row_class::integer || rule.takes == row_class::shift ||
                                   rule.takes == row_class::whole ||
                                   (rule.takes == row_class::bits && n->type != scalar::boolean);
        const bool is_small = rule.takes == row_class::same || rule.takes == row_class::whole;
        if ((wants_integer && is_floating(n->type)) ||
            (wants_integer && is_small && n->type == scalar::boolean))
            return cast_to(one_of(integers), n);
        if (rule.takes == row_class::same && n->type == scalar::boolean) return cast_to(scalar::i32, n);
        if ((rule.takes == row_class::floating || rule.takes == row_class::predicate) &&
            !is_floating(n->type))
            return cast_to(one_of(floats), n);
        return n;
    }
    node_pointer row(int depth) {
        const row_rule& rule = weighted(row_rules(), [](const row_rule& r) { return r.weight; });
        std::vector<node_pointer> in{as_operand(rule, expression(depth - 1))};
        if (rule.arity == 2 && in[0]->type != scalar::boolean && chance(30)) {
            in.push_back(host_scalar(rule, in[0]->type));
            if (rule.takes != row_class::shift && chance(30)) std::swap(in[0], in[1]);
        }
        while (in.size() < static_cast<std::size_t>(rule.arity)) {
            node_pointer next = as_operand(rule, chance(12) ? unsized() : expression(depth - 1));
            // One type for all, but for some rows.
            in.push_back(rule.mixes && chance(50) ? next : cast_to(in[0]->type, next));
        }
        return row_node(rule.row, std::move(in));
    }
    /// Beside elements of a type: it takes the type if that is of the same kind or a greater one.
    node_pointer host_scalar(const row_rule& rule, scalar beside) {
        static const std::vector<scalar> any{scalar::i32, scalar::u8,  scalar::u32,
                                             scalar::i64, scalar::f32, scalar::f64};
        const bool keeps = rule.takes == row_class::same || rule.takes == row_class::whole;
        const bool takes_floating = is_floating(beside) || rule.takes == row_class::number;
        scalar given_as = takes_floating && chance(is_floating(beside) ? 50 : 20) ? scalar::f64 : scalar::i32;
        if (rule.mixes && chance(60)) given_as = one_of(any);
        scalar type = kind_of(given_as) <= kind_of(beside) ? beside : given_as;
        if (!keeps) type = promoted(type);
        return scalar_node(type, given_as);
    }
    /// `&&` and `||` of elements of one type, or of elements and truth values, or beside a host scalar.
    node_pointer logic(int depth) {
        const node_pointer first = expression(depth - 1);
        node_pointer second;
        if (chance(15)) {
            const scalar given_as = chance(50) ? scalar::i32 : scalar::f64;
            second = scalar_node(given_as, given_as);
        } else {
            second = chance(12) ? unsized() : expression(depth - 1);
            second = cast_to(chance(50) ? first->type : scalar::boolean, std::move(second));
        }
        node_pointer n = made(chance(50) ? kind::both : kind::either, scalar::boolean, {first, second});
        if (chance(30)) std::swap(n->in[0], n->in[1]);
        return n;
    }
    node_pointer cast(int depth) {
        scalar type = any_type();
        return cast_to(loaded(type), expression(depth - 1));
    }
    node_pointer saturate(int depth) {
        static const std::vector<scalar> types{scalar::i8, scalar::u8, scalar::i32, scalar::u64};
        return made(kind::saturate, one_of(types), {expression(depth - 1)});
    }
    node_pointer bits(int depth) {
        static const std::vector<scalar> of_four{scalar::f32, scalar::i32, scalar::u32},
            of_eight{scalar::f64, scalar::i64, scalar::u64};
        const auto& types = chance(50) ? of_four : of_eight;
        return made(kind::bits, one_of(types), {cast_to(one_of(types), expression(depth - 1))});
    }
    node_pointer choice(int depth) {
        const node_pointer either = expression(depth - 1);
        const node_pointer other = cast_to(either->type, chance(12) ? single() : expression(depth - 1));
        return made(kind::select, either->type, {expression(depth - 1), either, other});
    }
    node_pointer let(int depth) {
        const node_pointer value = expression(depth - 1);
        const std::size_t which = lets_++;
        kept_.emplace_back(which, value->type);
        const node_pointer body = cast_to(value->type, expression(depth - 1));
        kept_.pop_back();
        node_pointer n = made(kind::let, value->type, {value, body});
        n->which = which;
        return n;
    }
    node_pointer call(int depth) {
        const std::size_t which = between(0, array_functions.size() - 1);
        const array_function& f = array_functions[which];
        node_pointer n = made(kind::call, f.result,
                              {cast_to(f.first, expression(depth - 1)),
                               cast_to(f.second, chance(12) ? single() : expression(depth - 1))});
        n->which = which;
        return n;
    }

    // ---- elements of several numbers ----

    element_form any_form() { return static_cast<element_form>(between(1, 8)); }
    static bool is_short_vector(element_form form) {
        return form < element_form::complex_float && form != element_form::scalar;
    }
    node_pointer number_of_element(int depth) {
        const element_form form = any_form();
        if (is_short_vector(form) && chance(25)) {
            node_pointer n = made(chance(50) ? kind::any_lane : kind::all_lanes, scalar::boolean,
                                  {comparison(form, depth - 1)});
            return n;
        }
        if (is_complex(form) && chance(40)) return number_of_complex(form, depth);
        const std::size_t which = between(0, numbers_of(form).size() - 1);
        return lane_of(element(form, depth - 1), form, which);
    }
    node_pointer number_of_complex(element_form form, int depth) {
        static const std::vector<kind> kinds{kind::complex_abs, kind::complex_arg, kind::complex_norm,
                                             kind::equal_complex};
        const kind what = one_of(kinds);
        std::vector<node_pointer> in{element(form, depth - 1)};
        if (what != kind::equal_complex) return made(what, numbers_of(form)[0], std::move(in));
        in.push_back(chance(30) ? in[0] : element(form, depth - 1));
        return made(what, scalar::boolean, std::move(in));
    }
    node_pointer function_of_complex(element_form form, int depth) {
        const std::size_t choice = between(0, 9);
        if (choice == 0) return formed(kind::proj, form, {element(form, depth - 1)});
        if (choice == 1)
            return formed(kind::complex_pow, form, {element(form, depth - 1), element(form, depth - 1)});
        if (choice == 2) {
            const scalar type = numbers_of(form)[0];
            return formed(kind::polar, form,
                          {cast_to(type, expression(depth - 1)), cast_to(type, expression(depth - 1))});
        }
        node_pointer n = formed(kind::complex_row, form, {element(form, depth - 1)});
        n->which = between(0, complex_rows - 1);
        return n;
    }
    static node_pointer lane_of(node_pointer of, element_form form, std::size_t which) {
        node_pointer n = made(kind::lane, numbers_of(form)[which], {std::move(of)});
        n->which = which;
        return n;
    }
    node_pointer comparison(element_form form, int depth) {
        static const std::vector<builtin> rows{builtin::less, builtin::equal};
        node_pointer n = formed(kind::row, form, {element(form, depth), element(form, depth)});
        n->row = one_of(rows);
        n->type = scalar::boolean;
        return n;
    }
    /// What an element of this form may be in memory.
    element_form stored(element_form form) {
        if (form == element_form::float3 && chance(30)) return element_form::half3;
        if (form == element_form::float4 && chance(30)) return element_form::half4;
        return form;
    }
    node_pointer stored_element(element_form form) {
        if (chance(50)) return vector_node(vector_of(count_, stored(form)));
        viewed v = view_steps();
        const std::size_t which = vector_of(v.count, stored(form));
        return view_node(std::move(v), vector_node(which));
    }
    node_pointer composed(element_form form, int depth) {
        std::vector<node_pointer> numbers;
        for (const scalar type : numbers_of(form))
            numbers.push_back(cast_to(type, expression(std::min(depth, 1))));
        return formed(kind::compose, form, std::move(numbers));
    }
    /// An expression whose elements have this form.
    node_pointer element(element_form form, int depth) {
        if (depth <= 0) return stored_element(form);
        if (form == element_form::particle) {
            if (chance(50)) return stored_element(form);
            return formed(kind::advance, form,
                          {element(form, depth - 1), cast_to(scalar::f32, expression(depth - 1))});
        }
        const std::size_t choice = between(0, 9);
        if (choice == 0) return composed(form, depth - 1);
        if (choice == 1)
            return is_complex(form) ? formed(kind::conj, form, {element(form, depth - 1)})
                                    : formed(kind::turned, form, {element(form, depth - 1)});
        if (choice == 2) {
            const node_pointer which = !is_complex(form) && chance(50)
                                           ? comparison(form, 0)
                                           : cast_to(scalar::boolean, expression(depth - 1));
            return formed(kind::select, form, {which, element(form, depth - 1), element(form, depth - 1)});
        }
        if (choice < 7 && is_complex(form)) return function_of_complex(form, depth);
        return row_of_elements(form, depth);
    }
    node_pointer row_of_elements(element_form form, int depth) {
        static const std::vector<builtin> of_complex{builtin::add, builtin::sub, builtin::mul, builtin::div};
        static const std::vector<builtin> of_floats{builtin::add, builtin::sub, builtin::mul,
                                                    builtin::div, builtin::min, builtin::max};
        static const std::vector<builtin> of_integers{builtin::add,     builtin::sub,   builtin::mul,
                                                      builtin::div,     builtin::min,   builtin::bit_and,
                                                      builtin::bit_xor, builtin::bit_or};
        const scalar type = numbers_of(form)[0];
        std::vector<node_pointer> in{element(form, depth - 1)};
        if (!is_complex(form) && chance(30))
            in.push_back(scalar_node(type));
        else if (chance(12))
            in.push_back(vector_node(vector_of(1, stored(form))));
        else
            in.push_back(element(form, depth - 1));
        node_pointer n = formed(kind::row, form, std::move(in));
        n->row = one_of(is_complex(form) ? of_complex : is_floating(type) ? of_floats : of_integers);
        return n;
    }

    // ---- views ----

    static view_step reshape_to(extent_list to) {
        view_step s;
        s.to = std::move(to);
        return s;
    }
    /// Another box of as many elements.
    extent_list other_box(std::size_t count) {
        extent_list box;
        while (box.size() < 3 && count > 1) {
            std::vector<std::size_t> divisors;
            for (std::size_t d = 1; d <= std::min<std::size_t>(count, 64); ++d)
                if (count % d == 0) divisors.push_back(d);
            box.push_back(one_of(divisors));
            count /= box.back();
        }
        box.push_back(count);
        return box;
    }
    /// The same elements in another order.
    void rearrange(const extent_list& box, std::vector<view_step>& steps) {
        const extent_list other = chance(50) ? box : other_box(product_of(box));
        if (other != box) steps.push_back(reshape_to(other));
        view_step s;
        s.what = step::slice;
        for (std::size_t d = 0; d < other.size(); ++d) {
            dimension_part p;
            if (chance(40)) p.what = part::reversed;
            if (chance(10) && other[d] > 0)
                p = {part::range, static_cast<std::int64_t>(other[d]) - 1, -1, -1};
            s.parts.push_back(p);
        }
        steps.push_back(s);
        if (other != box) steps.push_back(reshape_to(box));
    }

    struct viewed {
        std::size_t count;  ///< elements of what is viewed
        std::vector<view_step> steps;
    };
    struct way {
        int weight;
        bool may_repeat;  ///< whether elements may come twice
        viewed (drawing::*draw)();
    };
    /// A view of something that has these extents.
    viewed view_steps(bool repeats = false) {
        static constexpr way ways[] = {
            {4, false, &drawing::in_order},       {5, false, &drawing::turned},
            {6, false, &drawing::sliced},         {8, false, &drawing::shifted},
            {3, false, &drawing::picked},         {4, true, &drawing::broadcast},
            {2, true, &drawing::picked_anywhere}, {2, true, &drawing::picked_often}};
        viewed v = (this->*weighted(ways, [&](const way& w) {
                               return repeats && !w.may_repeat ? 0 : w.weight;
                           }).draw)();
        for (int k = 0; k < 2 && chance(25); ++k) rearrange(box_, v.steps);
        return v;
    }
    viewed in_order() { return {count_, {reshape_to(box_)}}; }
    viewed turned() {
        std::vector<int> order(box_.size());
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random_);
        extent_list before(box_.size());
        for (std::size_t d = 0; d < order.size(); ++d) before[static_cast<std::size_t>(order[d])] = box_[d];
        view_step s;
        s.what = step::transpose;
        s.order = order;
        return {count_, {reshape_to(before), s}};
    }
    viewed sliced() {
        extent_list around;
        view_step s;
        s.what = step::slice;
        std::size_t spare = shape::max_dimensions - box_.size();
        for (const std::size_t size : box_) {
            if (spare > 0 && chance(15)) {
                --spare;
                around.push_back(between(1, 3));
                s.parts.push_back(
                    {part::one, static_cast<std::int64_t>(between(0, around.back() - 1)), 0, 1});
            }
            const std::size_t stride = chance(50) ? 1 : between(1, 3), before = between(0, 2),
                              after = between(0, 2);
            const std::size_t span = size == 0 ? 0 : (size - 1) * stride + 1;
            around.push_back(before + span + after);
            if (size == 0) {
                const auto at = static_cast<std::int64_t>(before);
                s.parts.push_back({part::range, at, at, static_cast<std::int64_t>(stride)});
                continue;
            }
            const auto first = static_cast<std::int64_t>(before),
                       last = static_cast<std::int64_t>(before + span - 1);
            const auto by = static_cast<std::int64_t>(stride);
            if (chance(70))
                s.parts.push_back({part::range, first, last + 1, by});
            else
                s.parts.push_back({part::range, last, first - 1, -by});
        }
        if (product_of(around) > most_elements) return in_order();
        viewed v{product_of(around), {reshape_to(around), s}};
        slices_.emplace_back(box_, v);
        return v;
    }
    /// A slice drawn before, moved, so that it has some of the same elements.
    viewed shifted() {
        std::vector<viewed> like;
        for (const auto& [box, v] : slices_)
            if (box == box_) like.push_back(v);
        if (like.empty() || is_empty()) return sliced();
        viewed v = one_of(like);
        const extent_list& around = v.steps[0].to;
        for (std::size_t d = 0; d < around.size(); ++d) {
            dimension_part& p = v.steps[1].parts[d];
            const auto size = static_cast<std::int64_t>(around[d]);
            if (p.what == part::one) {
                p.begin = static_cast<std::int64_t>(between(0, around[d] - 1));
                continue;
            }
            const std::int64_t last =
                p.begin + (p.end - p.begin - (p.stride > 0 ? 1 : -1)) / p.stride * p.stride;
            const std::int64_t low = std::min(p.begin, last), high = std::max(p.begin, last);
            const auto room = static_cast<std::size_t>(low + size - 1 - high);
            const std::int64_t by = static_cast<std::int64_t>(between(0, room)) - low;
            p.begin += by;
            p.end = last + by + (p.stride > 0 ? 1 : -1);
            if (chance(20)) p = {part::range, last + by, p.begin - (p.stride > 0 ? 1 : -1), -p.stride};
        }
        return v;
    }
    viewed picked() {
        view_step s;
        s.what = step::pick;
        s.to = {count_};
        std::size_t size = count_;
        if (chance(50)) {
            node_pointer index = index_node(count_);
            index->offset = 0;
            s.positions = row_node(builtin::sub, {fixed(static_cast<std::int64_t>(count_) - 1), index});
        } else {
            size += between(0, 20);
            s.positions = vector_node(positions_in(std::min<std::size_t>(size, 65536), count_));
        }
        return {size, {s, reshape_to(box_)}};
    }
    /// A few elements at positions that a vector holds.
    viewed picked_often() {
        const std::size_t size = chance(30) ? 1 : between(1, 20);
        view_step s;
        s.what = step::pick;
        s.to = {count_};
        s.positions = vector_node(positions_in(size, count_, true));
        return {size, {s, reshape_to(box_)}};
    }
    viewed picked_anywhere() {
        const std::size_t size = between(1, 200);
        view_step s;
        s.what = step::pick;
        s.to = {count_};
        s.positions = position_within(size);
        return {size, {s, reshape_to(box_)}};
    }
    viewed broadcast() {
        extent_list small;
        for (std::size_t d = between(0, box_.size() - 1); d < box_.size(); ++d)
            small.push_back(chance(50) ? 1 : box_[d]);
        view_step s;
        s.what = step::broadcast;
        s.to = box_;
        return {product_of(small), {reshape_to(small), s}};
    }

    static node_pointer view_node(viewed v, const node_pointer& of) {
        node_pointer n = made(kind::view, of->type, {of});
        n->form = of->form;
        n->count = v.count;
        n->steps = std::move(v.steps);
        return n;
    }
    node_pointer view_of_vector(int) {
        viewed v = view_steps();
        const node_pointer of = vector_node(vector_of(v.count));
        of->is_constant_memory = v.steps[0].what == step::pick && chance(40);
        return view_node(std::move(v), of);
    }
    /// Draws within another box.
    template <class F>
    auto within(extent_list box, F&& f) {
        const extent_list box_around = std::exchange(box_, std::move(box));
        const std::size_t count_around = std::exchange(count_, product_of(box_));
        const auto kept_around = std::exchange(kept_, {});
        auto drawn = f();
        box_ = box_around;
        count_ = count_around;
        kept_ = kept_around;
        return drawn;
    }
    node_pointer view_of_expression(int depth) {
        viewed v = view_steps();
        const node_pointer of = within({v.count}, [&] { return expression(std::min(depth - 1, 1)); });
        return view_node(std::move(v), of);
    }
    node_pointer along(int depth) {
        if (count_ > 4000) return whole_vector(depth);
        extent_list all;
        std::vector<int> dimensions;
        for (std::size_t d = 0; d <= box_.size(); ++d) {
            const bool is_here = d == box_.size() ? dimensions.empty() : chance(40) && dimensions.size() < 2;
            if (is_here) {
                dimensions.push_back(static_cast<int>(all.size()));
                all.push_back(between(1, 9));
            }
            if (d < box_.size()) all.push_back(box_[d]);
        }
        const node_pointer of = within(all, [&] {
            const node_pointer first = view_of_vector(0);
            return depth > 1 ? row_node(builtin::add, {first, cast_to(first->type, expression(0))}) : first;
        });
        return along_dimensions(of, std::move(dimensions), product_of(all));
    }
    node_pointer along_dimensions(const node_pointer& of, std::vector<int> dimensions, std::size_t count) {
        const reduction_row row = any_reduction(of->type, count);
        node_pointer n =
            made(kind::along, gives_position(row) ? scalar::i64 : reduced_type(row, of->type), {of});
        n->count = count;
        n->reduces = row;
        n->dimensions = std::move(dimensions);
        return n;
    }
    /// Of no elements there are no extremes.
    reduction_row any_reduction(scalar type, std::size_t count) {
        for (;;) {
            const auto row = static_cast<reduction_row>(between(0, reduction_rows - 1));
            const bool is_extreme =
                row == reduction_row::min || row == reduction_row::max || gives_position(row);
            if (row == reduction_row::sum_compensated && !is_floating(type)) continue;
            if (is_fold(row) && kind_of(type) > kind_of(reduced_type(row, type))) continue;
            if (!is_extreme || count > 0) return row;
        }
    }

    // ---- statements ----

    static node_pointer assignable(scalar to, node_pointer n) {
        return kind_of(n->type) > kind_of(loaded(to)) ? cast_to(loaded(to), std::move(n)) : n;
    }
    int some_depth() { return static_cast<int>(between(1, 3)); }
    array_target whole_target() { return {vector_of(count_), {}}; }
    array_target any_target() {
        if (chance(40)) return whole_target();
        viewed v = view_steps();
        return {vector_of(v.count), std::move(v.steps)};
    }
    array_target target_of(element_form form) {
        if (chance(50)) return {vector_of(count_, stored(form)), {}};
        viewed v = view_steps();
        const std::size_t which = vector_of(v.count, stored(form));
        return {which, std::move(v.steps)};
    }
    node_pointer value_for(const array_target& to, int depth) {
        return assignable(program_.vectors[to.vector].type, expression(depth));
    }

    struct statement_form {
        int weight;
        array_statement (drawing::*draw)();
    };
    array_statement draw_statement() {
        static constexpr statement_form forms[] = {{10, &drawing::assignment},
                                                   {5, &drawing::assignment_of_elements},
                                                   {3, &drawing::compound},
                                                   {8, &drawing::tie},
                                                   {3, &drawing::assignment_of_part},
                                                   {1, &drawing::multi},
                                                   {4, &drawing::reduction},
                                                   {1, &drawing::fill},
                                                   {1, &drawing::copy},
                                                   {2, &drawing::construction},
                                                   {1, &drawing::histogram},
                                                   {6, &drawing::overlap},
                                                   {4, &drawing::repeated}};
        return (this->*weighted(forms, [](const statement_form& f) { return f.weight; }).draw)();
    }
    array_statement assignment_of_elements() {
        array_statement s;
        const element_form form = any_form();
        s.to.push_back(target_of(form));
        s.values.push_back(element(form, some_depth()));
        return s;
    }
    /// lane<K>(x) = …, field<&S::member>(x) *= …
    array_statement assignment_of_part() {
        return assignment_of_part([this](element_form form) { return target_of(form); });
    }
    template <class F>
    array_statement assignment_of_part(F&& any_target_of) {
        element_form form = any_form();
        if (is_complex(form)) form = element_form::particle;
        array_statement s;
        s.to.push_back(any_target_of(form));
        s.to[0].part = between(0, numbers_of(form).size() - 1);
        const scalar type = numbers_of(form)[*s.to[0].part];
        node_pointer value = cast_to(type, expression(some_depth()));
        if (chance(40)) {
            static const std::vector<builtin> rows{builtin::add, builtin::sub, builtin::mul};
            s.what = array_statement::kind::compound;
            s.row = one_of(rows);
            value = row_node(s.row, {lane_of(own_value(s.to[0]), form, *s.to[0].part), std::move(value)});
        }
        s.values.push_back(std::move(value));
        return s;
    }
    /// What a target has before it is assigned.
    node_pointer own_value(const array_target& of) {
        node_pointer own = vector_node(of.vector);
        return of.steps.empty() ? own : view_node({program_.vectors[of.vector].size, of.steps}, own);
    }
    array_statement assignment() {
        array_statement s;
        s.to.push_back(any_target());
        s.values.push_back(value_for(s.to[0], some_depth()));
        return s;
    }
    array_statement compound() { return compound(any_target(), expression(some_depth())); }
    array_statement compound(array_target to, const node_pointer& value) {
        array_statement s;
        s.what = array_statement::kind::compound;
        s.to.push_back(std::move(to));
        const scalar type = loaded(program_.vectors[s.to[0].vector].type);
        static const std::vector<builtin> of_numbers{builtin::add, builtin::sub, builtin::mul, builtin::div};
        static const std::vector<builtin> of_bits{builtin::bit_and, builtin::bit_or, builtin::bit_xor};
        static const std::vector<builtin> of_integers{builtin::bit_and, builtin::bit_or, builtin::bit_xor,
                                                      builtin::rem,     builtin::shl,    builtin::shr};
        s.row = type == scalar::boolean            ? one_of(of_bits)
                : !is_floating(type) && chance(50) ? one_of(of_integers)
                                                   : one_of(of_numbers);
        s.values.push_back(row_node(s.row, {own_value(s.to[0]), cast_to(type, value)}));
        return s;
    }

    /// A statement that reads what it assigns, at positions that repeat.
    array_statement repeated() {
        if (is_empty()) return assignment();
        const auto target_of_size = [&](element_form form) {
            viewed v = view_steps(true);
            const std::size_t which =
                form == element_form::scalar ? vector_of(v.count) : vector_of(v.count, stored(form));
            return array_target{which, std::move(v.steps)};
        };
        if (chance(20)) return assignment_of_part(target_of_size);
        array_target to = target_of_size(element_form::scalar);
        if (chance(40)) return compound(std::move(to), expression(some_depth()));
        array_statement s;
        const node_pointer own = row_node(builtin::add, {own_value(to), expression(1)});
        s.values.push_back(assignable(program_.vectors[to.vector].type, own));
        s.to.push_back(std::move(to));
        if (chance(40)) {
            s.what = array_statement::kind::tie;
            s.to.push_back({new_vector(count_), {}});
            s.values.push_back(value_for(s.to[1], 1));
        }
        return s;
    }

    /// Two views of one vector: as many elements at the same stride, the second `distance` behind the first.
    struct neighbours {
        std::size_t vector = 0, size = 0, stride = 1, distance = 1;
        bool are_apart = false;
    };
    neighbours draw_neighbours() {
        neighbours n;
        n.stride = chance(60) ? 1 : between(2, 3);
        // In common: all elements but one, one, none; where elements alternate, none.
        const std::size_t distances[] = {n.stride, n.stride * (count_ - 1), n.stride * count_, 1};
        n.distance = std::max<std::size_t>(distances[between(0, 3)], 1);
        n.are_apart = n.distance % n.stride != 0 || n.distance / n.stride >= count_;
        n.size = n.distance + (count_ - 1) * n.stride + 1;
        n.vector = vector_of(n.size);
        return n;
    }
    std::vector<view_step> neighbour(const neighbours& of, bool is_second, bool is_reversed) {
        const auto first = static_cast<std::int64_t>(is_second ? of.distance : 0);
        const auto stride = static_cast<std::int64_t>(of.stride);
        const std::int64_t last = first + static_cast<std::int64_t>(count_ - 1) * stride;
        view_step s;
        s.what = step::slice;
        s.parts.push_back(is_reversed ? dimension_part{part::range, last, first - 1, -stride}
                                      : dimension_part{part::range, first, last + 1, stride});
        return {reshape_to({of.size}), s, reshape_to(box_)};
    }
    /// The source may be reversed, and be in an expression.
    node_pointer source(const neighbours& of, bool is_second) {
        node_pointer n = view_node({of.size, neighbour(of, is_second, chance(25))}, vector_node(of.vector));
        return chance(50) ? n : row_node(builtin::add, {n, cast_to(n->type, expression(1))});
    }
    /// A statement that writes what it reads elsewhere.
    array_statement overlap() {
        if (is_empty() || count_ > most_elements / 4) return assignment();
        if (chance(15)) return reduction_into_itself();
        const neighbours of = draw_neighbours();
        const bool is_second = chance(50);
        array_target to{of.vector, neighbour(of, is_second, false)};
        if (of.are_apart && chance(50)) return exchange(of);
        if (chance(25)) return compound(std::move(to), source(of, !is_second));
        array_statement s;
        s.values.push_back(assignable(program_.vectors[to.vector].type, source(of, !is_second)));
        s.to.push_back(std::move(to));
        return s;
    }
    /// tie(first, second) = tuple(second, first)
    array_statement exchange(const neighbours& of) {
        array_statement s;
        s.what = array_statement::kind::tie;
        for (const bool is_second : {false, true}) {
            s.to.push_back({of.vector, neighbour(of, is_second, false)});
            s.values.push_back(assignable(program_.vectors[of.vector].type, source(of, !is_second)));
        }
        return s;
    }
    /// A vector becomes what it has along a dimension of one element.
    array_statement reduction_into_itself() {
        array_statement s;
        s.to.push_back(whole_target());
        extent_list box = box_;
        box.push_back(1);
        viewed v{count_, {reshape_to(box_)}};
        if (chance(50)) rearrange(box_, v.steps);
        v.steps.push_back(reshape_to(box));
        const node_pointer of = view_node(std::move(v), vector_node(s.to[0].vector));
        s.values.push_back(assignable(program_.vectors[s.to[0].vector].type,
                                      along_dimensions(of, {static_cast<int>(box_.size())}, count_)));
        return s;
    }
    array_statement tie() {
        array_statement s;
        s.what = array_statement::kind::tie;
        for (std::size_t k = chance(50) ? between(2, 3) : between(4, 12); k > 0; --k) {
            array_target to = any_target();
            const auto is_taken = [&](const array_target& other) { return other.vector == to.vector; };
            if (std::any_of(s.to.begin(), s.to.end(), is_taken)) to = {new_vector(count_), {}};
            s.to.push_back(to);
        }
        for (const array_target& to : s.to)
            s.values.push_back(value_for(to, static_cast<int>(between(0, 2))));
        return s;
    }
    /// p = q * {a number for each component} + r, or p -= q * {…}.
    array_statement multi() {
        static const std::vector<scalar> types{scalar::f32, scalar::f64, scalar::i32, scalar::u64};
        array_statement s;
        s.what = array_statement::kind::multi;
        const scalar type = one_of(types);
        const node_pointer all = vector_node(vector_of_type(count_, type));
        s.row = chance(50) ? builtin::add : builtin::sub;
        for (std::size_t k = between(2, 3); k > 0; --k) {
            program_.vectors.push_back({type, count_, 0, element_form::scalar});
            s.to.push_back({program_.vectors.size() - 1, {}});
            const node_pointer product =
                row_node(builtin::mul, {vector_node(vector_of_type(count_, type)),
                                        scalar_node(type, is_floating(type) ? scalar::f64 : scalar::i32)});
            s.values.push_back(s.row == builtin::add
                                   ? row_node(s.row, {product, all})
                                   : row_node(s.row, {vector_node(s.to.back().vector), product}));
        }
        return s;
    }
    array_statement reduction() {
        array_statement s;
        s.what = array_statement::kind::reduce;
        s.to.push_back(whole_target());  // says how many
        s.is_portable = chance(30);
        for (std::size_t k = between(1, 4); k > 0; --k) {
            s.values.push_back(expression(static_cast<int>(between(0, 2))));
            s.reduces.push_back(any_reduction(s.values.back()->type, count_));
        }
        s.stays_on_device = std::none_of(s.reduces.begin(), s.reduces.end(), gives_position) && chance(40);
        return s;
    }
    array_statement fill() {
        array_statement s;
        s.what = array_statement::kind::fill;
        s.to.push_back(whole_target());
        const scalar type = loaded(program_.vectors[s.to[0].vector].type);
        s.values.push_back(scalar_node(type));
        return s;
    }
    array_statement copy() {
        array_statement s;
        s.what = array_statement::kind::copy;
        s.to.push_back(whole_target());
        std::vector<std::size_t> like;
        for (std::size_t k = 0; k < program_.vectors.size(); ++k)
            if (program_.vectors[k].type == program_.vectors[s.to[0].vector].type &&
                program_.vectors[k].form == element_form::scalar && program_.vectors[k].size == count_)
                like.push_back(k);
        s.values.push_back(vector_node(one_of(like)));
        return s;
    }
    array_statement construction() {
        array_statement s;
        s.what = array_statement::kind::make;
        const node_pointer value = expression(some_depth());
        const bool is_half = value->type == scalar::f32 && chance(30);
        program_.vectors.push_back({is_half ? scalar::f16 : value->type, count_, 0, element_form::scalar});
        s.to.push_back({program_.vectors.size() - 1, {}});
        s.values.push_back(value);
        return s;
    }
    array_statement histogram() {
        array_statement s;
        s.what = array_statement::kind::histogram;
        program_.vectors.push_back({scalar::u32, std::size_t{1} << between(0, 6), 0, element_form::scalar});
        s.to.push_back({program_.vectors.size() - 1, {}});
        s.values.push_back(cast_to(scalar::u32, expression(1)));
        s.to.push_back(whole_target());
        return s;
    }

    std::mt19937_64& random_;
    array_program program_;
    extent_list box_;
    std::size_t count_ = 0;
    std::size_t lets_ = 0;
    std::vector<std::pair<std::size_t, scalar>> kept_;
    std::vector<std::pair<extent_list, viewed>> slices_;  ///< drawn so far, with the box that they give
};

}  // namespace

array_program draw_array_program(std::mt19937_64& random) { return drawing(random).draw(); }

}  // namespace balm::test
