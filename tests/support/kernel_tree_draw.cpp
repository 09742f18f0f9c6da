// Draws a program: a table of constructs with their weights, each a short function. What a construct needs (a
// variable of its type, a loop around it) decides whether it can be drawn.

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "support/kernel_tree.hpp"

namespace balm::test::tree {

namespace {

/// Words that meet: those of constants, parameters and functions, of both dialects, of their macros, and what
/// the printers make up.
constexpr std::string_view words[] = {"w",
                                      "w2",
                                      "in",
                                      "out",
                                      "kernel",
                                      "half",
                                      "float4",
                                      "NULL",
                                      "t",
                                      "k",
                                      "p",
                                      "v",
                                      "values",
                                      "shared",
                                      "gid",
                                      "shared_offset",
                                      "get_global_id",
                                      "blockIdx",
                                      "min",
                                      "local",
                                      "constant",
                                      "record",
                                      "f",
                                      "balm_local",
                                      "CHAR_BIT",
                                      "holds",
                                      "threadIdx",
                                      "as_int",
                                      "in_i",
                                      "i",
                                      "n",
                                      "std",
                                      "asm",
                                      "this",
                                      "_Bool",
                                      "unix",
                                      "fmaf",
                                      "other"};

/// Names that C has no other meaning for: of what the printers make up, of CUDA and of C++.
constexpr std::string_view text_words[] = {
    "w",        "w2",        "in",    "out",    "t",    "k",         "p",           "v",
    "values",   "shared",    "gid",   "record", "f",    "holds",     "i",           "n",
    "other",    "drawn",     "table", "std",    "this", "class",     "new",         "template",
    "xor",      "and",       "fmaf",  "sinf",   "dim3", "threadIdx", "blockIdx",    "warpSize",
    "float1",   "atomicAdd", "s",     "m",      "x",    "balm0",     "make_float4", "inner_record",
    "operator", "typename",  "a0",    "a1",     "s0",   "result",    "own",         "text"};
/// Members of structures may be called as those of vectors.
constexpr std::string_view component_words[] = {"x", "s0", "lo", "hi", "even", "odd", "sA", "xyz"};

/// An end of an integer type's range, or its neighbour.
std::uint32_t end_of_range(dice& d) {
    constexpr std::uint32_t ends[] = {0,          1,      0xffffffff, 0x7fffffff, 0x80000000,
                                      0x80000001, 0x7fff, 0xffff8000, 0xffff,     0xff};
    return ends[d.roll(static_cast<int>(std::size(ends)))];
}

class drawing {
public:
    drawing(std::uint64_t seed, bool with_texts, program& p) : dice_(seed), p_(p) {
        p.seed = seed;
        draws_texts_ = with_texts && dice_.chance(60);
    }

    void all() {
        if (draws_texts_) names_in_texts();
        constants();
        sampling();
        const int functions = dice_.roll(5);
        for (int k = 0; k < functions; ++k) function_();
        signature();
        is_kernel_ = true;
        has_sync_ = dice_.chance(35);
        has_grid_ = dice_.chance(35);
        p_.s = parameter(kind::variable, number::i32);
        p_.u = parameter(kind::variable, number::u32);
        p_.t = parameter(kind::variable, number::f32);
        p_.in_ints = parameter(kind::in, number::i32);
        p_.in_floats = parameter(kind::in, number::f32);
        p_.in_halves = parameter(kind::in_halves, number::f32);
        p_.ints = parameter(kind::mixed, number::i32);
        p_.floats = parameter(kind::mixed, number::f32);
        p_.halves = parameter(kind::halves, number::f32);
        p_.half_vectors = parameter(kind::half_vectors, number::f32);
        p_.records = parameter(kind::records, number::i32);
        p_.spread = hidden(kind::spread, number::i32);
        p_.image = parameter(kind::image, number::u32);
        p_.sampled = parameter(kind::sampled, number::f32);
        p_.out_image = hidden(kind::out_image, number::i32);
        p_.shared = parameter(kind::shared, number::i32);
        p_.tile = parameter(kind::tile, number::i32);
        for (const id c : constants_) visible_.push_back(c);
        for (int k = 0; k < 10; ++k) p_.body.push_back(statement_());
    }

private:
    // ---- the tables

    id add(expression e) {
        p_.expressions.push_back(e);
        return static_cast<id>(p_.expressions.size() - 1);
    }
    id op(operation what, number type, id a, id b = none, id c = none) {
        return add({what, type, 0, a, b, c});
    }
    id literal(number type, std::uint32_t bits) { return add({operation::literal, type, bits}); }
    id integer(int value) { return literal(number::i32, static_cast<std::uint32_t>(value)); }
    id masked(id a, int mask) { return op(operation::bit_and, number::i32, a, integer(mask)); }
    id converted(number to, id a) { return op(operation::convert, to, a); }
    /// A float whose size is bounded again.
    id bounded(id f) { return converted(number::f32, masked(converted(number::i32, f), 1023)); }

    id add(place where) {
        p_.places.push_back(where);
        return static_cast<id>(p_.places.size() - 1);
    }
    id add_object(object o) {
        if (is_text_ && o.word.empty() && dice_.chance(60)) o.word = word();
        p_.objects.push_back(std::move(o));
        return static_cast<id>(p_.objects.size() - 1);
    }
    id hidden(kind what, number type) { return add_object({what, type, {}, none, what}); }
    id parameter(kind what, number type) {
        visible_.push_back(hidden(what, type));
        return visible_.back();
    }
    template <std::size_t N>
    std::string one_of(const std::string_view (&list)[N]) {
        return std::string(list[dice_.roll(static_cast<int>(N))]);
    }
    std::string word() { return is_text_ ? one_of(text_words) : one_of(words); }
    object named(kind what, number type) {
        return {what, type, dice_.chance(60) ? word() : std::string(), none, what};
    }

    /// One that the texts have no other use for.
    std::string name_in_texts() {
        std::string name = one_of(text_words);
        while (std::find(in_texts_.begin(), in_texts_.end(), name) != in_texts_.end()) name += '_';
        in_texts_.push_back(name);
        return name;
    }
    template <std::size_t N>
    void members_in_texts(std::array<std::string, N>& all) {
        for (auto each = all.begin(); each != all.end(); ++each) {
            *each = dice_.chance(30) ? one_of(component_words) : one_of(text_words);
            while (std::find(all.begin(), each, *each) != each || *each == p_.in_texts.macro) *each += '_';
        }
    }
    void names_in_texts() {
        text_names& names = p_.in_texts;
        do names.macro = name_in_texts();
        while (names.macro == "x" || names.macro == "w" || names.macro == "s0");  // of lanes
        for (std::string* const each :
             {&names.record, &names.inner_record, &names.quotient, &names.remainder})
            *each = name_in_texts();
        members_in_texts(names.members);
        members_in_texts(names.inner_members);
        names.has_tags = dice_.chance(50);
        names.is_one_text = dice_.chance(50);
    }

    void constants() {
        const int count = 1 + dice_.roll(2);
        for (int k = 0; k < count; ++k) {
            object o{kind::constant, number::i32, k == 0 && dice_.chance(50) ? "w" : word(), none,
                     kind::constant};
            constants_.push_back(add_object(o));
            auto& values = p_.constants.emplace_back();
            for (std::uint32_t& each : values) each = static_cast<std::uint32_t>(dice_.bits() >> 40);
        }
        p_.given =
            add_object({kind::given, number::i32, dice_.chance(50) ? "table" : word(), none, kind::given});
        p_.given_record = add_object({kind::given_record, number::i32, word(), none, kind::given_record});
        constants_.push_back(p_.given);
        constants_.push_back(p_.given_record);
    }
    void sampling() {
        const bool is_normalised = dice_.chance(50);
        p_.through.filter = dice_.chance(50) ? image_filter::linear : image_filter::nearest;
        p_.through.coordinates = is_normalised ? image_coordinates::normalised : image_coordinates::elements;
        p_.through.address = static_cast<address_mode>(dice_.roll(is_normalised ? 4 : 2));
    }
    void signature() {
        p_.signature = dice_.chance(50) ? "drawn" : word();
        if (dice_.chance(30)) return;
        for (int k = 0; k < 17; ++k) p_.signature += (k == 0 ? "(" : ", ") + word();
        p_.signature += ")";
    }

    // ---- what is in scope

    template <class Wanted>
    id pick(Wanted&& wanted) {
        std::vector<id> found;
        for (const id o : visible_)
            if (wanted(p_.objects[static_cast<std::size_t>(o)])) found.push_back(o);
        return found.empty() ? none
                             : found[static_cast<std::size_t>(dice_.roll(static_cast<int>(found.size())))];
    }
    id pick(kind what) {
        return pick([&](const object& o) { return o.what == what; });
    }
    const object& at(id o) const { return p_.objects[static_cast<std::size_t>(o)]; }
    bool has(kind what) const {
        return std::any_of(visible_.begin(), visible_.end(), [&](id o) { return at(o).what == what; });
    }

    static bool gives(const object& o, number type) {
        switch (o.what) {
            case kind::vector: return type == number::u32;
            case kind::complex: return type == number::f32;
            case kind::record:
            case kind::record_pointer:
            case kind::given_record: return true;
            case kind::records: return type != number::u32;
            case kind::out_image: return false;
            default: return o.type == type;
        }
    }
    static bool is_only_read(kind what) {
        return what == kind::in || what == kind::in_halves || what == kind::constant || what == kind::given ||
               what == kind::given_record || what == kind::image || what == kind::sampled;
    }
    bool takes(id o) const {
        const object& what = at(o);
        return !is_only_read(what.what) && !is_only_read(what.space) &&
               std::find(counters_.begin(), counters_.end(), o) == counters_.end();
    }
    /// An index may hold places with an index; in that one is a literal.
    id index_below(int size) {
        if (index_depth_ == 2) return integer(dice_.roll(size));
        ++index_depth_;
        const id drawn = masked(numbers(number::i32, 2 - index_depth_), size - 1);
        --index_depth_;
        return drawn;
    }
    /// How far what points into the object may point.
    int reach_of(id o) const { return o != none && at(o).what == kind::variable ? 1 : reach; }
    /// Now and then beyond an image's edges.
    id about_image() { return op(operation::sub, number::i32, index_below(32), integer(8)); }
    place inside(id o, number type) {
        place made{type, o};
        const auto index = [&](int size) { return index_below(size); };
        switch (at(o).what) {
            case kind::image:
                made.index = about_image();
                made.other = about_image();
                made.part = dice_.roll(4);
                break;
            case kind::sampled:
                made.index = index(32);
                made.other = index(32);
                break;
            case kind::pointer_array:
                made.index = index(reach_of(at(o).of));
                made.other = index(pointers_each);
                break;
            case kind::in:
                if (type == number::f32 && dice_.chance(50)) {
                    made.index = index(in_columns);
                    made.other = index(in_elements / in_columns);
                } else {
                    made.index = index(in_elements);
                }
                break;
            case kind::in_halves:
                made.index = index(in_half_vectors);
                made.part = dice_.roll(4);
                break;
            case kind::half_vectors:
                made.index = index(half_vectors_each);
                made.part = dice_.roll(3);
                break;
            case kind::halves:
            case kind::array:
            case kind::matrix:
            case kind::tile:
            case kind::shared:
            case kind::mixed:
            case kind::constant:
            case kind::given: made.index = index(window); break;
            case kind::pointer:
                if (reach_of(at(o).of) > 1 && dice_.chance(40)) made.part = 1;
                [[fallthrough]];
            case kind::deep_pointer: made.index = index(reach_of(at(o).of)); break;
            case kind::vector: made.part = dice_.roll(4); break;
            case kind::complex: made.part = dice_.roll(2); break;
            case kind::records:
                made.index = index(records_each);
                made.part = type == number::i32 ? of_int : of_float;
                break;
            case kind::record:
            case kind::record_pointer:
            case kind::given_record: record_member(made); break;
            default: break;
        }
        return made;
    }
    void record_member(place& made) {
        if (made.type == number::i32) {
            constexpr member ones[] = {of_int, of_inner_int, of_inners_ints};
            made.part = ones[dice_.roll(3)];
        } else if (made.type == number::f32) {
            constexpr member ones[] = {of_float, of_inner_floats, of_inners_floats};
            made.part = ones[dice_.roll(3)];
        }
        if (made.part != of_int && made.part != of_float) made.index = index_below(2);
        if (made.part == of_inner_int) made.index = none;
        if (made.type != number::u32) return;
        made.part = dice_.chance(50) ? of_uints : of_lanes;
        const int size = made.part == of_uints ? 2 : 4;
        made.index = made.part == of_lanes ? integer(dice_.roll(4)) : index_below(size);
    }
    /// What is followed by an address: the printers decide where that is computed.
    static bool is_address(const object& o) {
        return o.what == kind::pointer || o.what == kind::deep_pointer || o.what == kind::pointer_array ||
               o.what == kind::record_pointer || o.what == kind::constant;
    }
    /// A place of the type among the objects wanted; addresses more often than by chance.
    template <class Wanted>
    id place_of(number type, Wanted&& wanted) {
        id o = none;
        if (dice_.chance(30)) o = pick([&](const object& each) { return is_address(each) && wanted(each); });
        if (o == none) o = pick(wanted);
        return o == none ? none : add(inside(o, type));
    }
    id readable(number type) {
        return place_of(type, [&](const object& o) { return gives(o, type); });
    }
    id writable(number type) {
        return place_of(type, [&](const object& o) {
            const auto which = static_cast<id>(&o - p_.objects.data());
            return gives(o, type) && takes(which) && o.what != kind::complex;
        });
    }

    // ---- expressions

    id leaf(number type) {
        const id where = dice_.chance(75) ? readable(type) : none;
        if (where != none) {
            const id value = op(operation::read, type, where);
            const bool is_fraction =
                at(p_.places[static_cast<std::size_t>(where)].where).what == kind::sampled;
            return is_fraction ? bounded(value) : value;
        }
        if (type == number::f32) {
            const auto value = static_cast<float>(dice_.roll(2047) - 1023);
            return literal(type, std::bit_cast<std::uint32_t>(value));
        }
        if (dice_.chance(15)) return literal(type, end_of_range(dice_));
        const auto bits = static_cast<std::uint32_t>(dice_.bits());
        return literal(type, dice_.chance(50) ? bits % 64 : bits);
    }
    id numbers(number type, int depth) {
        if (depth <= 0) return leaf(type);
        return type == number::i32   ? ints(depth - 1)
               : type == number::u32 ? uints(depth - 1)
                                     : floats(depth - 1);
    }
    id ints(int depth) {
        constexpr number i = number::i32;
        const auto small = [&] { return masked(numbers(i, depth), 0x7fff); };
        const auto full = [&] { return numbers(i, depth); };
        const int roll = dice_.roll(18);
        constexpr operation masked_ones[] = {operation::add, operation::sub, operation::mul};
        constexpr operation full_ones[] = {operation::bit_and, operation::bit_or, operation::bit_xor,
                                           operation::min,     operation::max,    operation::div,
                                           operation::rem};
        if (roll < 3) {
            const id a = small(), b = small();
            return op(masked_ones[roll], i, a, b);
        }
        if (roll < 10) {
            const id a = full(), b = full();
            return op(full_ones[roll - 3], i, a, b);
        }
        switch (roll) {
            case 10: return op(operation::bit_not, i, full());
            case 11: return op(operation::neg, i, small());
            case 12: return converted(i, numbers(dice_.chance(50) ? number::u32 : number::f32, depth));
            case 13: return converted(i, condition(depth));
            case 14: {
                const id a = full(), b = masked(numbers(i, depth), 31);
                return op(operation::shr, i, a, b);
            }
            case 15:
                return add({operation::round, i, static_cast<std::uint32_t>(dice_.roll(4)),
                            numbers(number::f32, depth)});
            case 16: return narrow(i, dice_.roll(narrowed_types - 1), depth);
            default: return selected(i, depth);
        }
    }
    id uints(int depth) {
        constexpr number u = number::u32;
        constexpr operation ones[] = {operation::add,    operation::sub,     operation::mul,
                                      operation::div,    operation::rem,     operation::bit_and,
                                      operation::bit_or, operation::bit_xor, operation::min,
                                      operation::max,    operation::shl,     operation::shr};
        const int roll = dice_.roll(16);
        if (roll < 12) {
            const id a = numbers(u, depth), b = numbers(u, depth);
            return op(ones[roll], u, a, b);
        }
        if (roll == 12) return op(operation::bit_not, u, numbers(u, depth));
        if (roll == 13) return converted(u, numbers(number::i32, depth));
        if (roll == 14) return narrow(u, static_cast<int>(narrowed::u32), depth);
        return selected(u, depth);
    }
    id narrow(number type, int to, int depth) {
        const id of = numbers(any_type(), depth);
        return add({operation::narrow, type, static_cast<std::uint32_t>(to), of});
    }
    id floats(int depth) {
        constexpr number f = number::f32;
        const auto one = [&] { return numbers(f, depth); };
        switch (dice_.roll(8)) {
            case 0: return op(operation::neg, f, one());
            case 1: return converted(f, masked(numbers(number::i32, depth), 1023));
            case 2: return selected(f, depth);
            case 3: {
                const id a = one(), b = one(), c = one();
                return bounded(op(operation::mul_add, f, a, b, c));
            }
            case 4: {
                const id a = one(), b = one(), c = one();
                const id product = op(operation::mul, f, a, b);  // contracted, or not
                return bounded(op(operation::add, f, product, c));
            }
            default: {
                constexpr operation ones[] = {operation::add, operation::sub, operation::mul, operation::min,
                                              operation::max};
                const id a = one(), b = one();
                return bounded(op(ones[dice_.roll(5)], f, a, b));
            }
        }
    }
    id selected(number type, int depth) {
        const id a = condition(depth), b = numbers(type, depth), c = numbers(type, depth);
        return op(operation::select, type, a, b, c);
    }
    id condition(int depth) {
        constexpr number truth = number::truth;
        const int roll = depth <= 0 ? 4 : dice_.roll(8);
        if (roll < 2) {
            const id a = condition(depth - 1);
            const bool steps = !is_text_ && dice_.chance(30);  // C orders no operands
            const id b = steps ? stepping_condition() : condition(depth - 1);
            return op(roll == 0 ? operation::logic_and : operation::logic_or, truth, a, b);
        }
        if (roll == 2) return op(operation::logic_not, truth, condition(depth - 1));
        const auto type = static_cast<number>(dice_.roll(3));
        const id a = numbers(type, depth), b = numbers(type, dice_.chance(70) ? 0 : depth);
        return op(dice_.chance(80) ? operation::less : operation::equal, truth, a, b);
    }
    /// One that writes memory when it is asked for.
    id stepping_condition() {
        const id where = writable(number::i32);
        if (where == none) return condition(0);
        const id stepped = op(operation::step_on, number::i32, where);
        return op(operation::less, number::truth, stepped, numbers(number::i32, 0));
    }
    /// One that takes more than a line, and depends on a loop's counter.
    id long_condition(id counter) {
        const id turn = op(operation::read, number::i32, add(place{number::i32, counter}));
        const id some = numbers(number::i32, 4), more = numbers(number::i32, 4);
        const id both = op(operation::bit_xor, number::i32, some, more);
        const id changing = op(operation::bit_xor, number::i32, both, turn);
        // The lowest bits, which change from turn to turn.
        return op(operation::less, number::truth, masked(changing, 3), integer(1 + dice_.roll(3)));
    }
    /// What is the same in all work-items: drawn from what cannot differ among them.
    template <class Draw>
    id uniform(Draw&& draw) {
        std::vector<id> all = uniform_ones();
        visible_.swap(all);
        const id made = draw();
        visible_.swap(all);
        return made;
    }
    std::vector<id> uniform_ones() const {
        std::vector<id> found;
        std::copy_if(visible_.begin(), visible_.end(), std::back_inserter(found), [&](id o) {
            return is_only_read(at(o).what) || std::find(uniform_counters_.begin(), uniform_counters_.end(),
                                                         o) != uniform_counters_.end();
        });
        return found;
    }

    /// Now and then one that takes several lines.
    id any(number type) { return numbers(type, dice_.chance(8) ? 5 : 1 + dice_.roll(2)); }
    number any_type() { return static_cast<number>(dice_.roll(3)); }

    // ---- statements

    struct construct {
        int weight;
        bool (drawing::*can_be)() const;
        statement (drawing::*draw)();
    };
    bool always() const { return true; }
    bool is_traced() const { return !is_text_; }
    bool is_shallow() const { return depth_ < 3; }
    /// Where all work-items are.
    bool may_meet() const { return divergence_ == 0 && (is_kernel_ ? has_sync_ : shape_ == shape::meeting); }
    bool may_exchange() const { return may_meet() && is_kernel_; }
    bool may_share_out() const {
        return is_kernel_ && depth_ == 0 && has_grid_ && (has_sync_ || !has_shared_out_);
    }
    bool may_paint() const { return is_kernel_ && !in_grid_; }
    bool has_function() const { return is_kernel_ && !p_.functions.empty(); }
    bool has_text() const {
        return is_kernel_ && std::any_of(p_.functions.begin(), p_.functions.end(),
                                         [](const function& f) { return f.is_text; });
    }
    bool has_target_of_pointers() const {
        return std::any_of(visible_.begin(), visible_.end(), [&](id o) { return is_pointed_to(at(o)); });
    }
    bool has_pointer() const { return has(kind::pointer); }
    bool has_vector() const { return has(kind::vector); }
    bool has_complex() const { return has(kind::complex); }
    bool has_record() const { return has(kind::record); }
    bool has_record_in_memory() const { return has(kind::record) && has(kind::records); }
    bool has_target_of_record_pointers() const { return has(kind::record) || has(kind::records); }
    bool has_redirected() const { return has(kind::deep_pointer) || has(kind::pointer_array); }
    bool may_leave() const { return loops_ > 0 || in_grid_ || may_return(); }
    /// Where all work-items go on elsewhere.
    bool may_leave_together() const { return may_meet() && depth_ > 0; }
    bool may_return() const {
        const bool all_are_needed = is_kernel_ ? has_sync_ || has_grid_ : shape_ == shape::meeting;
        return depth_ > 0 && !all_are_needed && shape_ != shape::of_record;
    }

    statement statement_() {
        static constexpr construct table[] = {
            {8, &drawing::always, &drawing::declare_variable},
            {3, &drawing::always, &drawing::declare_array},
            {3, &drawing::always, &drawing::declare_vector},
            {2, &drawing::is_traced, &drawing::declare_complex},
            {2, &drawing::always, &drawing::declare_record},
            {10, &drawing::has_target_of_pointers, &drawing::declare_pointer},
            {3, &drawing::has_pointer, &drawing::declare_deep_pointer},
            {4, &drawing::has_target_of_pointers, &drawing::declare_pointer_array},
            {3, &drawing::has_target_of_record_pointers, &drawing::declare_record_pointer},
            {14, &drawing::always, &drawing::assign},
            {4, &drawing::always, &drawing::add_to},
            {4, &drawing::has_vector, &drawing::combine_vectors},
            {3, &drawing::has_complex, &drawing::combine_complex},
            {2, &drawing::has_complex, &drawing::round_trip},
            {2, &drawing::has_vector, &drawing::shuffle},
            {2, &drawing::has_record, &drawing::copy_record},
            {3, &drawing::has_record, &drawing::copy_inner},
            {3, &drawing::has_record_in_memory, &drawing::move_record},
            {2, &drawing::has_pointer, &drawing::move_pointer},
            {1, &drawing::has_pointer, &drawing::copy_pointer},
            {4, &drawing::has_redirected, &drawing::redirect},
            {3, &drawing::may_paint, &drawing::paint},
            {7, &drawing::has_function, &drawing::call},
            {14, &drawing::has_text, &drawing::call_text},
            {12, &drawing::is_shallow, &drawing::branch},
            {10, &drawing::is_shallow, &drawing::count},
            {6, &drawing::is_shallow, &drawing::repeat},
            {2, &drawing::may_leave, &drawing::jump},
            {5, &drawing::may_leave_together, &drawing::jump_together},
            {12, &drawing::may_share_out, &drawing::share_out},
            {6, &drawing::may_exchange, &drawing::exchange},
            {3, &drawing::may_exchange, &drawing::tally},
            {12, &drawing::may_meet, &drawing::together},
        };
        int sum = 0;
        for (const construct& c : table) sum += (this->*c.can_be)() ? c.weight : 0;
        int roll = dice_.roll(sum);
        for (const construct& c : table) {
            if (!(this->*c.can_be)()) continue;
            roll -= c.weight;
            if (roll < 0) return (this->*c.draw)();
        }
        return assign();
    }

    /// Declares the object; it is visible from the next statement on.
    statement declared(object o, id a = none) {
        statement s{action::declare};
        s.a = a;
        s.target = add_object(std::move(o));
        visible_.push_back(s.target);
        return s;
    }
    statement declare_variable() {
        const number type = any_type();
        const id value = any(type);
        return declared(named(kind::variable, type), value);
    }
    statement declare_array() {
        return dice_.chance(50) ? declared({kind::array, number::i32, {}, none, kind::array})
                                : declared({kind::matrix, number::f32, {}, none, kind::matrix});
    }
    statement declare_vector() {
        const id value = any(number::u32);
        return declared({kind::vector, number::u32, {}, none, kind::vector}, value);
    }
    statement declare_complex() {
        const id value = any(number::f32);
        return declared({kind::complex, number::f32, {}, none, kind::complex}, value);
    }
    statement declare_record() { return declared({kind::record, number::i32, {}, none, kind::record}); }

    bool is_counter(const object& o) const {
        const auto is_it = [&](id each) { return &at(each) == &o; };
        return std::any_of(counters_.begin(), counters_.end(), is_it);
    }
    bool is_pointed_to(const object& o) const {
        const bool is_variable = o.what == kind::variable && o.type != number::u32 && !is_counter(o);
        return is_variable || o.what == kind::given || o.what == kind::array || o.what == kind::matrix ||
               o.what == kind::tile || o.what == kind::shared || o.what == kind::mixed ||
               o.what == kind::constant;
    }
    /// Arrays more often than variables, which are many.
    id target_of_pointers() {
        const auto wanted = [&](const object& o) { return is_pointed_to(o); };
        const id found = pick(wanted);
        return found != none && at(found).what == kind::variable ? pick(wanted) : found;
    }
    statement declare_pointer() {
        const id of = target_of_pointers();
        const int size = reach_of(of);
        const id index =
            dice_.chance(30) ? integer(dice_.roll(size)) : masked(numbers(number::i32, 1), size - 1);
        return declared({kind::pointer, at(of).type, {}, of, at(of).what}, index);
    }
    statement declare_pointer_array() {
        const id of = target_of_pointers();
        const id index = masked(numbers(number::i32, 1), reach_of(of) - 1);
        return declared({kind::pointer_array, at(of).type, {}, of, at(of).what}, index);
    }
    statement declare_record_pointer() {
        const id of = pick([](const object& o) { return o.what == kind::record || o.what == kind::records; });
        const id index = masked(numbers(number::i32, 1), records_each - 1);
        return declared({kind::record_pointer, number::i32, {}, of, at(of).what}, index);
    }
    /// A pointer that has a target of its own (no function's parameter).
    id pointer() {
        return pick([](const object& o) { return o.what == kind::pointer && o.of != none; });
    }
    statement declare_deep_pointer() {
        const id to = pick([](const object& o) { return o.what == kind::pointer && o.of != none; });
        if (to == none) return assign();
        statement s = declared({kind::deep_pointer, at(to).type, {}, at(to).of, at(to).space});
        s.b = to;
        return s;
    }

    statement assign() {
        const number type = any_type();
        statement s{action::assign};
        s.where = writable(type);
        if (s.where == none) return declare_variable();
        s.a = any(type);
        return s;
    }
    statement add_to() {
        statement s{action::add_to};
        s.where = writable(number::u32);
        if (s.where == none) return assign();
        s.a = any(number::u32);
        return s;
    }
    statement combine_vectors() {
        constexpr operation ones[] = {operation::add,     operation::sub, operation::mul,
                                      operation::bit_xor, operation::min, operation::shl};
        statement s{action::combine};
        s.target = pick(kind::vector);
        s.b = pick(kind::vector);
        s.op = ones[dice_.roll(6)];
        return s;
    }
    statement combine_complex() {
        constexpr operation ones[] = {operation::add, operation::sub, operation::mul, operation::div};
        statement s{action::combine};
        s.target = pick(kind::complex);
        s.b = pick(kind::complex);
        s.op = ones[dice_.roll(4)];
        s.part = dice_.roll(static_cast<int>(divisors.size()));
        return s;
    }
    statement round_trip() {
        statement s{action::round_trip};
        s.target = pick(kind::complex);
        s.b = pick(kind::complex);
        s.part = dice_.roll(static_cast<int>(journey::count));
        return s;
    }
    statement shuffle() {
        statement s{action::shuffle_lanes};
        s.target = pick(kind::vector);
        s.b = pick(kind::vector);
        return s;
    }
    statement copy_record() {
        statement s{action::copy};
        s.target = pick(kind::record);
        s.b = pick(kind::record);
        return s;
    }
    statement move_record() {
        statement s{dice_.chance(50) ? action::load_record : action::store_record};
        (s.what == action::load_record ? s.target : s.b) = pick(kind::record);
        s.part = dice_.roll(records_each);
        return s;
    }
    statement move_pointer() {
        statement s{action::move};
        s.target = pointer();
        if (s.target == none) return assign();
        s.a = any(number::i32);
        return s;
    }
    statement copy_pointer() {
        statement s{action::copy};
        s.target = pointer();
        if (s.target == none) return assign();
        const id of = at(s.target).of;
        s.b = pick([&](const object& o) { return o.what == kind::pointer && o.of == of; });
        return s;
    }
    statement redirect() {
        statement s{action::redirect};
        s.target = pick(
            [](const object& o) { return o.what == kind::deep_pointer || o.what == kind::pointer_array; });
        s.a = masked(numbers(number::i32, 1), reach_of(at(s.target).of) - 1);
        if (at(s.target).what == kind::pointer_array) s.b = index_below(pointers_each);
        return s;
    }
    statement copy_inner() {
        statement s{action::copy_inner};
        s.target = pick(kind::record);
        s.b = pick(kind::record);
        s.part = dice_.roll(inner_records * inner_records);
        return s;
    }
    statement paint() {
        statement s{action::paint};
        s.a = about_image();
        s.b = any(number::i32);
        return s;
    }

    /// Statements whose declarations end with them.
    std::vector<statement> block(int count, bool is_uniform = false) {
        const std::size_t outside = visible_.size();
        ++depth_;
        divergence_ += is_uniform ? 0 : 1;
        std::vector<statement> made{assign()};
        for (int k = 0; k < count; ++k) made.push_back(statement_());
        if (is_uniform && dice_.chance(40)) meet_and_part(made);
        divergence_ -= is_uniform ? 0 : 1;
        --depth_;
        visible_.resize(outside);
        return made;
    }
    /// Where a barrier in a branch or loop is followed by what only some work-items do, and by nothing else,
    /// or by another barrier.
    void meet_and_part(std::vector<statement>& made) {
        const auto meet = [&] { made.push_back(may_exchange() ? exchange() : together()); };
        meet();
        statement s{action::branch};
        s.a = condition(2);
        s.inner = block(1);
        made.push_back(s);
        // Work-items that jump out of the branch would not arrive at a barrier after it.
        if (!jumps(s.inner) && dice_.chance(50)) meet();
    }
    static bool jumps(const std::vector<statement>& all) {
        return std::any_of(all.begin(), all.end(), [](const statement& s) {
            return s.what == action::leave || s.what == action::next || s.what == action::give_back ||
                   jumps(s.inner) || jumps(s.other);
        });
    }
    /// Whether the next branch or loop is one that work-items take together.
    bool draw_uniform() { return may_meet() && dice_.chance(50); }
    statement branch() {
        statement s{action::branch};
        s.is_uniform = draw_uniform();
        const auto when = [&] { return condition(2); };
        s.a = s.is_uniform ? uniform(when) : when();
        s.inner = block(1 + dice_.roll(3), s.is_uniform);
        if (dice_.chance(50)) s.other = block(1 + dice_.roll(2), s.is_uniform);
        return s;
    }
    /// A loop's counter, which only the loop writes.
    id counter(number type) {
        const id made = add_object(named(kind::variable, type));
        visible_.push_back(made);
        counters_.push_back(made);
        return made;
    }
    /// A loop's statements; behind it only what was visible outside of it is. One that work-items take
    /// together is left by all of them or by none.
    std::vector<statement> loop_body(std::size_t visible_outside, bool is_uniform) {
        const int around = std::exchange(loops_, is_uniform ? 0 : loops_ + 1);
        uniform_loops_ += is_uniform ? 1 : 0;
        std::vector<statement> inner = block(1 + dice_.roll(3), is_uniform);
        uniform_loops_ -= is_uniform ? 1 : 0;
        loops_ = around;
        visible_.resize(visible_outside);
        return inner;
    }
    statement count() {
        statement s{action::count};
        s.is_uniform = draw_uniform();
        const auto bound = [&] { return masked(numbers(number::i32, 1), 3); };
        s.a = s.is_uniform ? uniform(bound) : bound();
        s.b = s.is_uniform ? uniform(bound) : bound();
        s.part = 1 + dice_.roll(2);
        const std::size_t outside = visible_.size();
        s.target = counter(number::i32);
        if (s.is_uniform) uniform_counters_.push_back(s.target);
        s.inner = loop_body(outside, s.is_uniform);
        return s;
    }
    statement repeat() {
        statement s{action::repeat};
        s.is_uniform = draw_uniform();
        const std::size_t outside = visible_.size();
        s.target = counter(number::i32);
        if (s.is_uniform) uniform_counters_.push_back(s.target);
        const auto when = [&] { return dice_.chance(40) ? long_condition(s.target) : condition(1); };
        s.a = s.is_uniform ? uniform(when) : when();
        s.op = dice_.chance(50) ? operation::add : steps[static_cast<std::size_t>(dice_.roll(3))];
        s.part = s.op == operation::add ? 1 + dice_.roll(4) : 2 + dice_.roll(39);
        s.inner = loop_body(outside, s.is_uniform);
        return s;
    }
    /// Which work-item takes an element is the device's choice: the body sees the element, and what is the
    /// same in all work-items.
    statement share_out() {
        statement s{action::share_out};
        const auto some = [&] { return masked(numbers(number::i32, 1), 127); };
        s.a = dice_.chance(50) ? integer(dice_.roll(spread_elements + 1)) : uniform(some);
        std::vector<id> around = uniform_ones();
        visible_.swap(around);
        visible_.push_back(p_.spread);
        s.target = counter(number::i32);
        in_grid_ = has_shared_out_ = true;
        s.inner = block(2 + dice_.roll(3));
        in_grid_ = false;
        visible_.swap(around);
        return s;
    }
    /// Under a condition, so that something follows.
    statement jump() {
        statement leave{action::give_back};
        if (loops_ > 0 && (!may_return() || dice_.chance(80)))
            leave.what = dice_.chance(50) ? action::leave : action::next;
        else if (in_grid_)
            leave.what = action::next;
        else if (!is_kernel_)
            leave.a = any(result_of(shape_));
        statement s{action::branch};
        s.a = condition(1);
        s.inner = block(0);
        s.inner.push_back(leave);
        return s;
    }
    /// Taken by all work-items or by none; before it they may meet.
    statement jump_together() {
        statement leave{action::give_back};
        if (uniform_loops_ > 0 && dice_.chance(80))
            leave.what = dice_.chance(50) ? action::leave : action::next;
        else if (!is_kernel_)
            leave.a = any(result_of(shape_));
        statement s{action::branch};
        s.is_uniform = true;
        s.a = uniform([&] { return condition(1); });
        s.inner = block(dice_.roll(2), true);
        s.inner.push_back(leave);
        return s;
    }

    statement exchange() {
        statement s{action::exchange};
        s.a = masked(numbers(number::i32, 1), window - 1);
        s.part = dice_.roll(items);
        s.target = add_object(named(kind::variable, number::i32));
        visible_.push_back(s.target);
        return s;
    }
    statement together() {
        const number type = any_type();
        statement s{action::together};
        s.a = any(type);
        // Where nobody is before a lane, the least and the greatest float are infinite.
        constexpr lanes_do of_floats[] = {
            lanes_do::reduce_add,    lanes_do::reduce_min,    lanes_do::reduce_max,
            lanes_do::inclusive_add, lanes_do::inclusive_min, lanes_do::inclusive_max,
            lanes_do::exclusive_add, lanes_do::shuffle,       lanes_do::shuffle_up,
            lanes_do::shuffle_down,  lanes_do::shuffle_xor};
        const int of_numbers = static_cast<int>(lanes_do::count);
        s.part = type == number::f32   ? static_cast<int>(of_floats[dice_.roll(11)])
                 : type == number::i32 ? dice_.roll(of_numbers - 1)
                                       : dice_.roll(of_numbers);
        s.b = any(number::i32);
        s.target = add_object(named(kind::variable, type));
        visible_.push_back(s.target);
        return s;
    }
    statement tally() {
        statement s{action::tally};
        s.a = condition(2);
        s.target = add_object(named(kind::variable, number::i32));
        visible_.push_back(s.target);
        return s;
    }

    // ---- functions

    static number result_of(shape what) {
        switch (what) {
            case shape::floats:
            case shape::private_pointer:
            case shape::own_record_pointer: return number::f32;
            case shape::from_record:
            case shape::meeting: return number::u32;
            default: return number::i32;
        }
    }
    void function_() {
        const auto what = static_cast<shape>(dice_.roll(shapes));
        function f;
        f.what = what;
        f.is_text = draws_texts_ && what != shape::meeting && dice_.chance(60);
        f.name = f.is_text ? name_in_texts() : dice_.chance(50) ? word() : "f";
        visible_.clear();
        shape_ = what;
        is_text_ = f.is_text;
        const auto numeric = [&](number type) { return parameter(kind::variable, type); };
        const auto pointer_to = [&](kind pointer, number type, kind space) {
            visible_.push_back(add_object({pointer, type, {}, none, space}));
            return visible_.back();
        };
        switch (what) {
            case shape::numbers: f.parameters = {numeric(number::i32), numeric(number::u32)}; break;
            case shape::meeting: f.parameters = {numeric(number::u32), numeric(number::i32)}; break;
            case shape::floats: f.parameters = {numeric(number::f32), numeric(number::i32)}; break;
            case shape::global_pointer:
                f.parameters[0] = pointer_to(kind::pointer, number::i32, kind::mixed);
                break;
            case shape::private_pointer:
                f.parameters[0] = pointer_to(kind::pointer, number::f32, kind::matrix);
                break;
            case shape::record_pointer:
                f.parameters[0] = pointer_to(kind::record_pointer, number::i32, kind::records);
                break;
            case shape::own_record_pointer:
                f.parameters[0] = pointer_to(kind::record_pointer, number::i32, kind::record);
                break;
            case shape::of_record:
            case shape::from_record: f.parameters[0] = parameter(kind::record, number::i32); break;
        }
        if (f.parameters[1] == none) f.parameters[1] = numeric(number::i32);
        if (!is_text_)
            for (const id c : constants_) visible_.push_back(c);
        for (int k = 0; k < 4; ++k) f.body.push_back(statement_());
        f.result = what == shape::of_record ? pick(kind::record) : any(result_of(what));
        p_.functions.push_back(std::move(f));
        visible_.clear();
        counters_.clear();
        uniform_counters_.clear();
        shape_ = shape::numbers;
        is_text_ = false;
    }
    statement call() { return call_of(dice_.roll(static_cast<int>(p_.functions.size()))); }
    statement call_text() {
        id callee = dice_.roll(static_cast<int>(p_.functions.size()));
        while (!p_.functions[static_cast<std::size_t>(callee)].is_text)
            callee = (callee + 1) % static_cast<id>(p_.functions.size());
        return call_of(callee);
    }
    statement call_of(id callee) {
        statement s{action::call};
        s.callee = callee;
        const shape what = p_.functions[static_cast<std::size_t>(s.callee)].what;
        id first = none;
        switch (what) {
            case shape::numbers: first = any(number::i32); break;
            case shape::floats: first = any(number::f32); break;
            case shape::meeting: first = may_meet() ? any(number::u32) : none; break;
            case shape::of_record:
            case shape::from_record: first = pick(kind::record); break;
            default: {
                const object& wanted = at(p_.functions[static_cast<std::size_t>(s.callee)].parameters[0]);
                first = pick([&](const object& o) {
                    return o.what == wanted.what && o.space == wanted.space && o.type == wanted.type;
                });
            }
        }
        if (first == none) return declare_argument(what);
        s.arguments = {first, any(what == shape::numbers ? number::u32 : number::i32)};
        s.target = what == shape::of_record ? add_object({kind::record, number::i32, {}, none, kind::record})
                                            : add_object(named(kind::variable, result_of(what)));
        visible_.push_back(s.target);
        return s;
    }

    /// What such a function could be called with by a later statement.
    statement declare_argument(shape what) {
        const auto pointer_to = [&](kind pointer, id of, int size) {
            const id index = masked(numbers(number::i32, 1), size - 1);
            return declared({pointer, at(of).type, {}, of, at(of).what}, index);
        };
        switch (what) {
            case shape::global_pointer: {
                const auto is_wanted = [](const object& o) {
                    return o.what == kind::mixed && o.type == number::i32;
                };
                const id of = pick(is_wanted);
                return of == none ? assign() : pointer_to(kind::pointer, of, reach);
            }
            case shape::private_pointer: {
                const id of = pick(kind::matrix);
                return of == none ? declared({kind::matrix, number::f32, {}, none, kind::matrix})
                                  : pointer_to(kind::pointer, of, reach);
            }
            case shape::record_pointer: {
                const id of = pick(kind::records);
                return of == none ? assign() : pointer_to(kind::record_pointer, of, records_each);
            }
            case shape::own_record_pointer: {
                const id of = pick(kind::record);
                return of == none ? declare_record() : pointer_to(kind::record_pointer, of, records_each);
            }
            case shape::of_record:
            case shape::from_record: return declare_record();
            default: return assign();
        }
    }

    dice dice_;
    program& p_;
    std::vector<id> constants_;
    std::vector<std::string> in_texts_;  ///< names that the texts have
    std::vector<id> visible_;
    std::vector<id> counters_;
    std::vector<id> uniform_counters_;  ///< of loops that all work-items take alike
    bool draws_texts_ = false;
    bool is_text_ = false;  ///< the function that is drawn
    bool is_kernel_ = false;
    bool has_sync_ = false;        ///< a kernel whose work-items meet, so that none returns early
    bool has_grid_ = false;        ///< a kernel with a grid_range, which needs all of them, too
    bool has_shared_out_ = false;  ///< it has one already: between two stands a barrier
    bool in_grid_ = false;
    shape shape_ = shape::numbers;
    int depth_ = 0;
    int divergence_ = 0;  ///< of the blocks around, those that work-items take on their own
    int index_depth_ = 0;
    int loops_ = 0;          ///< around, within the innermost one that work-items take together
    int uniform_loops_ = 0;  ///< around, that work-items take together
};

}  // namespace

program draw(std::uint64_t seed, bool with_texts) {
    program p;
    drawing(seed, with_texts, p).all();
    return p;
}

data::data(std::uint64_t seed) {
    dice d(seed);
    const auto an_int = [&] {
        if (d.chance(15)) return static_cast<std::int32_t>(end_of_range(d));
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(d.bits() >> d.roll(32)));
    };
    const auto a_float = [&] { return static_cast<float>(d.roll(2047) - 1023); };
    s = an_int();
    u = static_cast<std::uint32_t>(an_int());
    t = a_float();
    for (int k = 0; k < in_elements; ++k) in_ints.push_back(an_int());
    for (int k = 0; k < in_elements; ++k) in_floats.push_back(a_float());
    const auto lanes = [&](auto vector) {
        for (int k = 0; k < vector.size(); ++k) vector[k] = half(a_float());
        return vector;
    };
    for (int k = 0; k < in_half_vectors; ++k) in_halves.push_back(lanes(half4{}));
    for (int k = 0; k < items * window; ++k) ints.push_back(an_int());
    for (int k = 0; k < items * window; ++k) floats.push_back(a_float());
    for (int k = 0; k < items * window; ++k) halves.emplace_back(a_float());
    for (int k = 0; k < items * half_vectors_each; ++k) half_vectors.push_back(lanes(half3{}));
    const auto a_record = [&] {
        record r{};
        r.kernel = an_int();
        r.half = a_float();
        for (std::uint32_t& each : r.constant) each = static_cast<std::uint32_t>(an_int());
        for (int lane = 0; lane < 4; ++lane) r.local[lane] = static_cast<std::uint32_t>(an_int());
        for (inner_record* const each : {&r.in, &r.values[0], &r.values[1]}) {
            each->threadIdx = an_int();
            each->w[0] = a_float();
            each->w[1] = a_float();
        }
        return r;
    };
    for (int k = 0; k < items * records_each; ++k) records.push_back(a_record());
    for (int k = 0; k < spread_elements; ++k) spread.push_back(an_int());
    for (int k = 0; k < image_width * image_height; ++k)
        for (std::uint32_t& each : image.emplace_back()) each = static_cast<std::uint32_t>(an_int());
    for (int k = 0; k < sampled_size * sampled_size; ++k) sampled.push_back(a_float());
    for (int k = 0; k < items * window; ++k) out_image.push_back(an_int());
    for (int k = 0; k < window; ++k) given.push_back(an_int());
    given_record.push_back(a_record());
    out.resize(items);
}

}  // namespace balm::test::tree
