// Executes a program on the host: a statement of the body for all work-items, then the next, so that barriers
// and sub-groups need nothing more. All numbers are kept as their bits.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>

#include "support/kernel_tree.hpp"

namespace balm::test::tree {

namespace {

using bits = std::uint32_t;

std::int32_t as_int(bits b) { return static_cast<std::int32_t>(b); }
float as_float(bits b) { return std::bit_cast<float>(b); }
bits bits_of(float f) { return std::bit_cast<bits>(f); }
bits bits_of(std::int32_t i) { return static_cast<bits>(i); }

bits apply(operation what, std::int32_t x, std::int32_t y) {
    switch (what) {
        case operation::add: return bits_of(x) + bits_of(y);
        case operation::sub: return bits_of(x) - bits_of(y);
        case operation::mul: return bits_of(x) * bits_of(y);
        case operation::div: return y == 0 ? 0 : y == -1 ? bits{0} - bits_of(x) : bits_of(x / y);
        case operation::rem: return y == 0 ? bits_of(x) : y == -1 ? 0 : bits_of(x % y);
        case operation::bit_and: return bits_of(x & y);
        case operation::bit_or: return bits_of(x | y);
        case operation::bit_xor: return bits_of(x ^ y);
        case operation::shr: return bits_of(x >> y);
        case operation::min: return bits_of(std::min(x, y));
        case operation::max: return bits_of(std::max(x, y));
        case operation::less: return x < y;
        case operation::equal: return x == y;
        default: throw std::logic_error("an operation on Int");
    }
}
bits apply(operation what, bits x, bits y) {
    switch (what) {
        case operation::add: return x + y;
        case operation::sub: return x - y;
        case operation::mul: return x * y;
        case operation::div: return y == 0 ? 0 : x / y;
        case operation::rem: return y == 0 ? x : x % y;
        case operation::bit_and: return x & y;
        case operation::bit_or: return x | y;
        case operation::bit_xor: return x ^ y;
        case operation::shl: return x << (y & 31);
        case operation::shr: return x >> (y & 31);
        case operation::min: return std::min(x, y);
        case operation::max: return std::max(x, y);
        case operation::less: return x < y;
        case operation::equal: return x == y;
        default: throw std::logic_error("an operation on UInt");
    }
}
bits apply(operation what, float x, float y) {
    switch (what) {
        case operation::add: return bits_of(x + y);
        case operation::sub: return bits_of(x - y);
        case operation::mul: return bits_of(x * y);
        case operation::min: return bits_of(std::fmin(x, y));
        case operation::max: return bits_of(std::fmax(x, y));
        case operation::less: return x < y;
        case operation::equal: return x == y;
        default: throw std::logic_error("an operation on Float");
    }
}
bits bounded(float f) { return bits_of(static_cast<float>(static_cast<std::int32_t>(f) & 1023)); }
bits apply(operation what, number type, bits x, bits y) {
    switch (type) {
        case number::i32: return apply(what, as_int(x), as_int(y));
        case number::u32: return apply(what, x, y);
        default: return apply(what, as_float(x), as_float(y));
    }
}

/// The words of a record: kernel, half, constant[3], padding, local[4].
constexpr std::size_t record_words = sizeof(record) / sizeof(bits);
constexpr std::size_t inner_words = sizeof(inner_record) / sizeof(bits);
std::size_t word_of(int part, std::size_t index) {
    constexpr std::size_t begins[] = {
        offsetof(record, kernel) / 4,   offsetof(record, half) / 4,
        offsetof(record, constant) / 4, offsetof(record, local) / 4,
        offsetof(record, in) / 4,       offsetof(record, in.w) / 4,
        offsetof(record, values) / 4,   offsetof(record, values) / 4 + inner_words - 1};
    const bool is_in_array = part == of_inners_ints || part == of_inners_floats;
    return begins[part] + index * (is_in_array ? inner_words : 1);
}
/// Where the k-th of the structures in a record begins.
std::size_t word_of_inner(int k) {
    return k == 0 ? word_of(of_inner_int, 0) : word_of(of_inners_ints, static_cast<std::size_t>(k - 1));
}

/// What a sampler makes of the k-th and l-th of the kernel's coordinates: a quarter of an element behind each
/// half of one, so that weights are quarters and nothing is rounded.
float sampled(const std::vector<bits>& image, const sampler& through, int x, int y) {
    const auto element = [&](int column, int row) {
        for (int* const at : {&column, &row}) {
            const bool is_beyond = *at < 0 || *at >= sampled_size;
            if (through.address == address_mode::clamp_to_border && is_beyond) return 0.f;
            if (through.address == address_mode::clamp_to_edge) *at = std::clamp(*at, 0, sampled_size - 1);
            *at &= 2 * sampled_size - 1;  // a power of two: the image and its mirror
            if (*at < sampled_size) continue;
            *at = through.address == address_mode::repeat ? *at - sampled_size : 2 * sampled_size - 1 - *at;
        }
        return as_float(image[static_cast<std::size_t>(row * sampled_size + column)]);
    };
    // In quarters of an element.
    int u = 2 * (x - 12) + 1, v = 2 * (y - 12) + 1;
    if (through.filter == image_filter::nearest) return element(u >> 2, v >> 2);
    u -= 2;
    v -= 2;
    const int column = u >> 2, row = v >> 2;
    const auto right = static_cast<float>(u & 3) / 4, below = static_cast<float>(v & 3) / 4;
    const float above = element(column, row) * (1 - right) + element(column + 1, row) * right;
    const float under = element(column, row + 1) * (1 - right) + element(column + 1, row + 1) * right;
    return above * (1 - below) + under * below;
}

/// What all work-items share.
struct world {
    const program& p;
    std::map<id, std::vector<bits>> memory;  ///< of the kernel's parameters, local memory and constants
};

enum class flow : std::uint8_t { on, leaves, next, returns };

/// The variables of one work-item, or of one call of a function by it.
class frame {
public:
    frame(world& w, int item) : w_(w), p_(w.p), item_(item) {}

    void set(id o, bits value) {
        std::vector<bits>& kept = storage_[o];  // stays where it is: pointers point to it
        kept.assign(1, value);
    }
    void set(id o, bits* pointer) { pointers_[o] = pointer; }
    void set(id o, const std::vector<bits>& words) { storage_[o] = words; }
    std::vector<bits>& words(id o) { return storage_.at(o); }
    bool is_done() const { return is_done_; }
    bits returned(const function& f) {
        if (is_done_) return returned_;
        return f.what == shape::of_record ? 0 : value(f.result);
    }
    /// What its row of the image gets.
    void paint(const statement& s) {
        const std::int32_t column = as_int(value(s.a));
        const bits b = value(s.b);
        if (column >= 0 && column < window) begin(p_.out_image)[column] = b;
    }
    void share_out(const statement& s, std::int32_t element) {
        set(s.target, bits_of(element));
        element_ = element;
        block(s.inner);
    }

    flow top_level(const statement& s) {
        if (is_done_) return flow::returns;
        const flow f = step(s);
        is_done_ = f == flow::returns;
        return f;
    }
    bits call(const function& f) {
        is_done_ = block(f.body) == flow::returns;
        return returned(f);
    }

    bits value(id e) {
        const expression& x = p_.expressions[static_cast<std::size_t>(e)];
        switch (x.what) {
            case operation::literal: return x.bits;
            case operation::read: return read(x.a);
            case operation::convert: return converted(x.type, type_of(x.a), value(x.a));
            case operation::round: return rounded(static_cast<rounding>(x.bits), as_float(value(x.a)) / 4);
            case operation::narrow: return narrow(static_cast<narrowed>(x.bits), type_of(x.a), value(x.a));
            case operation::neg:
                return x.type == number::f32 ? bits_of(-as_float(value(x.a))) : bits{0} - value(x.a);
            case operation::bit_not: return ~value(x.a);
            case operation::logic_not: return value(x.a) == 0;
            case operation::logic_and: return value(x.a) != 0 && value(x.b) != 0;
            case operation::logic_or: return value(x.a) != 0 || value(x.b) != 0;
            case operation::step_on: {
                bits& stepped = *find(x.a);
                return stepped = (stepped & 0x7fff) + 1;
            }
            default: break;
        }
        // Operands may write: each is evaluated, in its turn.
        const bits a = value(x.a), b = value(x.b), c = x.c == none ? 0 : value(x.c);
        switch (x.what) {
            case operation::select: return a ? b : c;
            case operation::mul_add: return bits_of(as_float(a) * as_float(b) + as_float(c));
            default: return apply(x.what, type_of(x.a), a, b);
        }
    }

private:
    number type_of(id e) const { return p_.expressions[static_cast<std::size_t>(e)].type; }
    const object& at(id o) const { return p_.objects[static_cast<std::size_t>(o)]; }
    static bits converted(number to, number from, bits b) {
        if (from == number::f32) return bits_of(static_cast<std::int32_t>(as_float(b)));
        if (to == number::f32) return bits_of(static_cast<float>(as_int(b)));
        return b;
    }

    static bits rounded(rounding how, float f) {
        const float below = std::floor(f), rest = f - below;
        const bool is_odd = std::fmod(below, 2.f) != 0;
        const bool is_up = how == rounding::up            ? rest > 0
                           : how == rounding::toward_zero ? rest > 0 && f < 0
                           : how == rounding::down        ? false
                                                          : rest > 0.5f || (rest == 0.5f && is_odd);
        return bits_of(static_cast<std::int32_t>(is_up ? below + 1 : below));
    }
    static bits narrow(narrowed to, number from, bits b) {
        constexpr std::int64_t ends[][2] = {
            {-128, 127}, {0, 255}, {-32768, 32767}, {0, 65535}, {INT32_MIN, INT32_MAX}, {0, UINT32_MAX}};
        const std::int64_t given = from == number::u32   ? std::int64_t{b}
                                   : from == number::i32 ? std::int64_t{as_int(b)}
                                                         : static_cast<std::int64_t>(as_float(b));
        const auto& [least, most] = ends[static_cast<std::size_t>(to)];
        return static_cast<bits>(std::clamp(given, least, most));
    }

    /// The first element of what an object is, for this work-item.
    bits* begin(id o) {
        const kind what = at(o).what;
        const bool is_shared = what == kind::tile || what == kind::shared || what == kind::mixed ||
                               what == kind::in || what == kind::constant || what == kind::records ||
                               what == kind::given || what == kind::given_record || what == kind::spread ||
                               what == kind::out_image || what == kind::in_halves || what == kind::halves ||
                               what == kind::half_vectors;
        if (!is_shared) return storage_.at(o).data();
        std::vector<bits>& memory = w_.memory.at(o);
        const bool is_own = what == kind::tile || what == kind::shared || what == kind::mixed ||
                            what == kind::out_image || what == kind::halves;
        const std::size_t each = what == kind::records        ? records_each * record_words
                                 : what == kind::half_vectors ? half_vectors_each * 3
                                 : is_own                     ? window
                                                              : 0;
        return memory.data() + each * static_cast<std::size_t>(item_);
    }
    bits read(id where) {
        const place& p = p_.places[static_cast<std::size_t>(where)];
        const kind what = at(p.where).what;
        if (what != kind::image && what != kind::sampled) return *find(where);
        const int x = as_int(value(p.index)), y = as_int(value(p.other));
        if (what == kind::sampled) return bits_of(sampled(w_.memory.at(p.where), p_.through, x, y));
        const bool is_inside = x >= 0 && x < image_width && y >= 0 && y < image_height;
        return is_inside ? w_.memory.at(p.where)[static_cast<std::size_t>((y * image_width + x) * 4 + p.part)]
                         : 0;
    }
    bits* find(id where) {
        const place& at_place = p_.places[static_cast<std::size_t>(where)];
        const std::size_t index = at_place.index == none ? 0 : value(at_place.index);
        const id o = at_place.where;
        switch (at(o).what) {
            case kind::pointer: return pointers_.at(o) + at_place.part + index;
            case kind::pointer_array: return pointer_arrays_.at(o)[value(at_place.other)] + index;
            case kind::record_pointer: return pointers_.at(o) + word_of(at_place.part, index);
            case kind::given_record: return begin(o) + word_of(at_place.part, index);
            case kind::in:
                return begin(o) + index + (at_place.other == none ? 0 : value(at_place.other) * in_columns);
            case kind::spread: return begin(o) + element_;
            case kind::in_halves: return begin(o) + index * 4 + static_cast<std::size_t>(at_place.part);
            case kind::half_vectors: return begin(o) + index * 3 + static_cast<std::size_t>(at_place.part);
            case kind::deep_pointer: return pointers_.at(deep_.at(o)) + index;
            case kind::record: return begin(o) + word_of(at_place.part, index);
            case kind::records: return begin(o) + index * record_words + word_of(at_place.part, 0);
            default: return begin(o) + index + static_cast<std::size_t>(at_place.part);
        }
    }

    flow block(const std::vector<statement>& list) {
        for (const statement& s : list)
            if (const flow f = step(s); f != flow::on) return f;
        return flow::on;
    }
    flow step(const statement& s) {
        switch (s.what) {
            case action::declare: declare(s); return flow::on;
            case action::assign: {
                const bits b = value(s.a);
                *find(s.where) = b;
                return flow::on;
            }
            case action::add_to: *find(s.where) += value(s.a); return flow::on;
            case action::combine: combine(s); return flow::on;
            case action::round_trip: {
                const std::vector<bits> from = words(s.b);
                return set(s.target,
                           std::vector<bits>{bounded(as_float(from[0])), bounded(as_float(from[1]))}),
                       flow::on;
            }
            case action::shuffle_lanes: {
                const std::vector<bits> from = words(s.b);
                words(s.target)[0] = from[2];
                words(s.target)[1] = from[3];
                return flow::on;
            }
            case action::copy:
                if (at(s.target).what == kind::pointer)
                    pointers_.at(s.target) = pointers_.at(s.b);
                else
                    std::ranges::copy(std::vector<bits>(words(s.b)), words(s.target).begin());
                return flow::on;
            case action::copy_inner: {
                const std::vector<bits> from = words(s.b);
                std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(word_of_inner(s.part % inner_records)),
                            inner_words, words(s.target).data() + word_of_inner(s.part / inner_records));
                return flow::on;
            }
            case action::paint: paint(s); return flow::on;
            case action::load_record:
            case action::store_record: move_record(s); return flow::on;
            case action::move: {
                bits* const base = begin(at(s.target).of);
                bits*& p = pointers_.at(s.target);
                p = base + ((static_cast<bits>(p - base) + value(s.a)) & last_of(s.target));
                return flow::on;
            }
            case action::redirect: {
                bits* const to = begin(at(s.target).of) + value(s.a);
                if (at(s.target).what == kind::deep_pointer)
                    pointers_.at(deep_.at(s.target)) = to;
                else
                    pointer_arrays_.at(s.target)[value(s.b)] = to;
                return flow::on;
            }
            case action::call: call_statement(s); return flow::on;
            case action::branch: return block(value(s.a) ? s.inner : s.other);
            case action::count: return count(s);
            case action::repeat: return repeat(s);
            case action::leave: return flow::leaves;
            case action::next: return flow::next;
            case action::give_back:
                if (s.a != none) returned_ = value(s.a);
                return flow::returns;
            default: throw std::logic_error("a statement for all work-items inside a block");
        }
    }

    /// The last element of its object that a pointer may point to.
    bits last_of(id pointer) const { return at(at(pointer).of).what == kind::variable ? 0 : reach - 1; }
    void declare(const statement& s) {
        switch (at(s.target).what) {
            case kind::array:
            case kind::matrix: set(s.target, std::vector<bits>(window)); return;
            case kind::record: set(s.target, std::vector<bits>(record_words)); return;
            case kind::vector: {
                const bits b = value(s.a);
                return set(s.target, std::vector<bits>{b, b + 1, b ^ 5, ~b});
            }
            case kind::complex: {
                const bits b = value(s.a);
                return set(s.target, std::vector<bits>{b, bits_of(-as_float(b))});
            }
            case kind::pointer: {
                bits* const base = begin(at(s.target).of);
                return set(s.target, base + value(s.a));
            }
            case kind::deep_pointer: deep_[s.target] = s.b; return;
            case kind::pointer_array: {
                bits* const base = begin(at(s.target).of);
                const bits first = value(s.a);
                for (bits k = 0; k < pointers_each; ++k)
                    pointer_arrays_[s.target][k] = base + ((first + k) & last_of(s.target));
                return;
            }
            case kind::record_pointer: {
                const bits which = at(s.target).space == kind::records ? value(s.a) : 0;
                return set(s.target, begin(at(s.target).of) + which * record_words);
            }
            default: return set(s.target, value(s.a));
        }
    }
    void combine(const statement& s) {
        const std::vector<bits> a = words(s.target), b = words(s.b);
        std::vector<bits>& to = words(s.target);
        if (at(s.target).what == kind::vector) {
            for (std::size_t lane = 0; lane < 4; ++lane) to[lane] = apply(s.op, a[lane], b[lane]);
            return;
        }
        const float x = as_float(a[0]), y = as_float(a[1]), v = as_float(b[0]), w = as_float(b[1]);
        if (s.op == operation::div) return divide(to, x, y, divisors[static_cast<std::size_t>(s.part)]);
        const bool is_product = s.op == operation::mul;
        const float sign = s.op == operation::sub ? -1.f : 1.f;
        to[0] = bounded(is_product ? x * v - y * w : x + sign * v);
        to[1] = bounded(is_product ? x * w + y * v : y + sign * w);
    }
    static void divide(std::vector<bits>& to, float x, float y, const std::array<float, 2>& by) {
        const float square = by[0] * by[0] + by[1] * by[1];
        const auto part = [&](float products, float own) {
            if (square != 0) return bounded(products / square);
            return bits_of(own > 0 ? 1023.f : 0.f);  // of the ends of i32, to which infinities are converted
        };
        to[0] = part(x * by[0] + y * by[1], x);
        to[1] = part(y * by[0] - x * by[1], y);
    }
    void move_record(const statement& s) {
        bits* const memory = begin(p_.records) + static_cast<std::size_t>(s.part) * record_words;
        if (s.what == action::load_record)
            std::copy_n(memory, record_words, words(s.target).begin());
        else
            std::copy_n(words(s.b).begin(), record_words, memory);
    }
    void call_statement(const statement& s) {
        const function& f = p_.functions[static_cast<std::size_t>(s.callee)];
        frame inner(w_, item_);
        const id first = s.arguments[0];
        const bool has_number = f.what == shape::numbers || f.what == shape::floats;
        if (has_number) inner.set(f.parameters[0], value(first));
        inner.set(f.parameters[1], value(s.arguments[1]));
        if (f.what == shape::of_record || f.what == shape::from_record)
            inner.set(f.parameters[0], words(first));  // as it is when the function begins
        else if (!has_number)
            inner.set(f.parameters[0], pointers_.at(first));
        const bits result = inner.call(f);
        if (f.what == shape::of_record)
            set(s.target, inner.words(f.result));
        else
            set(s.target, result);
    }
    flow count(const statement& s) {
        const std::int32_t begin = as_int(value(s.a)), end = as_int(value(s.b));
        for (std::int32_t k = begin; k < end; k += s.part) {
            set(s.target, bits_of(k));
            const flow f = block(s.inner);
            if (f == flow::leaves) break;
            if (f == flow::returns) return f;
        }
        return flow::on;
    }
    flow repeat(const statement& s) {
        set(s.target, static_cast<bits>(first_of(s.op)));
        while (as_int(words(s.target)[0]) < s.part && value(s.a)) {
            bits& turn = words(s.target)[0];
            turn = bits_of(stepped(s.op, as_int(turn)));
            const flow f = block(s.inner);
            if (f == flow::leaves) break;
            if (f == flow::returns) return f;
        }
        return flow::on;
    }

    world& w_;
    const program& p_;
    int item_;
    std::map<id, std::vector<bits>> storage_;
    std::map<id, bits*> pointers_;
    std::map<id, std::array<bits*, pointers_each>> pointer_arrays_;
    std::int32_t element_ = 0;  ///< at which the grid_range is
    std::map<id, id> deep_;     ///< the pointers that deep pointers point to
    bits returned_ = 0;
    bool is_done_ = false;
};

/// What each of a sub-group's lanes gets for the values of all.
std::vector<bits> together(lanes_do what, number type, const std::vector<bits>& values,
                           const std::vector<bits>& operands) {
    std::vector<bits> results(values.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        const std::size_t begin = k / 32 * 32, lane = k % 32, by = operands[k] % 32;
        const auto fold = [&](operation how, std::size_t end, bits none_of_them) {
            if (end == begin) return none_of_them;
            bits sum = values[begin];
            for (std::size_t l = begin + 1; l < end; ++l) sum = apply(how, type, sum, values[l]);
            return sum;
        };
        const auto from = [&](std::size_t other) { return values[other < 32 ? begin + other : k]; };
        const bool is_signed = type == number::i32;
        switch (what) {
            case lanes_do::reduce_add: results[k] = fold(operation::add, begin + 32, 0); break;
            case lanes_do::reduce_min: results[k] = fold(operation::min, begin + 32, 0); break;
            case lanes_do::reduce_max: results[k] = fold(operation::max, begin + 32, 0); break;
            case lanes_do::inclusive_add: results[k] = fold(operation::add, k + 1, 0); break;
            case lanes_do::inclusive_min: results[k] = fold(operation::min, k + 1, 0); break;
            case lanes_do::inclusive_max: results[k] = fold(operation::max, k + 1, 0); break;
            case lanes_do::exclusive_add: results[k] = fold(operation::add, k, 0); break;
            case lanes_do::exclusive_min:
                results[k] = fold(operation::min, k, is_signed ? 0x7fffffffu : 0xffffffffu);
                break;
            case lanes_do::exclusive_max:
                results[k] = fold(operation::max, k, is_signed ? 0x80000000u : 0u);
                break;
            case lanes_do::shuffle: results[k] = from(by); break;
            case lanes_do::shuffle_up: results[k] = from(by > lane ? 32 : lane - by); break;
            case lanes_do::shuffle_down: results[k] = from(lane + by); break;
            case lanes_do::shuffle_xor: results[k] = from(lane ^ by); break;
            default:
                for (std::size_t l = 0; l < 32; ++l) results[k] |= (values[begin + l] & 1) << l;
        }
        if (type == number::f32) results[k] = bounded(as_float(results[k]));
    }
    return results;
}

/// A statement for all work-items, then the next. What they take alike is decided by the first.
flow run_together(world&, const std::vector<statement>&, std::deque<frame>&);

void call_together(world& w, const statement& s, std::deque<frame>& frames) {
    const function& f = w.p.functions[static_cast<std::size_t>(s.callee)];
    std::deque<frame> inner;
    for (std::size_t k = 0; k < frames.size(); ++k) {
        inner.emplace_back(w, static_cast<int>(k));
        for (std::size_t a = 0; a < 2; ++a) inner[k].set(f.parameters[a], frames[k].value(s.arguments[a]));
    }
    run_together(w, f.body, inner);
    for (std::size_t k = 0; k < frames.size(); ++k) frames[k].set(s.target, inner[k].returned(f));
}

/// A variable that each work-item gets, for what all of them have.
void meet(world& w, const statement& s, std::deque<frame>& frames) {
    std::vector<bits> values, operands;
    for (frame& f : frames) {
        values.push_back(f.value(s.a));
        operands.push_back(s.b == none ? 0 : f.value(s.b));
    }
    if (s.what == action::together) {
        const number type = w.p.objects[static_cast<std::size_t>(s.target)].type;
        values = together(static_cast<lanes_do>(s.part), type, values, operands);
    } else if (s.what == action::tally) {
        const auto count = static_cast<bits>(std::count(values.begin(), values.end(), 1u));
        values.assign(frames.size(), count);
    } else {
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] =
                w.memory[w.p.shared][(k + static_cast<std::size_t>(s.part)) % items * window + values[k]];
    }
    for (std::size_t k = 0; k < frames.size(); ++k) frames[k].set(s.target, values[k]);
}

flow loop_together(world& w, const statement& s, std::deque<frame>& frames) {
    frame& first = frames.front();
    const auto set_all = [&](std::int32_t turn) {
        for (frame& f : frames) f.set(s.target, bits_of(turn));
    };
    if (s.what == action::count) {
        const std::int32_t begin = as_int(first.value(s.a)), end = as_int(first.value(s.b));
        for (std::int32_t k = begin; k < end; k += s.part) {
            set_all(k);
            const flow f = run_together(w, s.inner, frames);
            if (f == flow::leaves) break;
            if (f == flow::returns) return f;
        }
        return flow::on;
    }
    std::int32_t turn = first_of(s.op);
    set_all(turn);
    while (turn < s.part && first.value(s.a) != 0) {
        turn = stepped(s.op, turn);
        set_all(turn);
        const flow f = run_together(w, s.inner, frames);
        if (f == flow::leaves) break;
        if (f == flow::returns) return f;
    }
    return flow::on;
}

void share_out(const statement& s, std::deque<frame>& frames) {
    const std::int32_t count = as_int(frames.front().value(s.a));
    for (std::int32_t k = 0; k < count; ++k) frames[static_cast<std::size_t>(k % items)].share_out(s, k);
}

/// A jump of all of them, and where to.
flow jump_together(const statement& s, std::deque<frame>& frames) {
    flow to = flow::on;
    for (frame& f : frames) to = f.top_level(s);
    return to;
}

flow run_together(world& w, const std::vector<statement>& list, std::deque<frame>& frames) {
    for (const statement& s : list) {
        const bool is_call = s.what == action::call;
        flow f = flow::on;
        if (s.what == action::exchange || s.what == action::together || s.what == action::tally)
            meet(w, s, frames);
        else if (s.what == action::share_out)
            share_out(s, frames);
        else if (is_call && w.p.functions[static_cast<std::size_t>(s.callee)].what == shape::meeting)
            call_together(w, s, frames);
        else if (s.what == action::leave || s.what == action::next || s.what == action::give_back)
            f = jump_together(s, frames);
        else if (!s.is_uniform)
            for (frame& each : frames) each.top_level(s);
        else if (s.what == action::branch)
            f = run_together(w, frames.front().value(s.a) ? s.inner : s.other, frames);
        else
            f = loop_together(w, s, frames);
        if (f != flow::on) return f;
    }
    return flow::on;
}

template <class T>
std::vector<bits> as_bits(const std::vector<T>& values) {
    std::vector<bits> made(values.size() * sizeof(T) / sizeof(bits));
    std::memcpy(made.data(), values.data(), values.size() * sizeof(T));
    return made;
}
template <class T>
void from_bits(const std::vector<bits>& given, std::vector<T>& values) {
    std::memcpy(static_cast<void*>(values.data()), given.data(), values.size() * sizeof(T));
}

/// Numbers of memory of half, as floats.
std::vector<bits> as_bits(const std::vector<half>& values) {
    std::vector<bits> made;
    for (const half each : values) made.push_back(bits_of(static_cast<float>(each)));
    return made;
}
template <int N>
std::vector<bits> as_bits(const std::vector<vec<half, N>>& values) {
    std::vector<bits> made;
    for (const auto& each : values)
        for (int lane = 0; lane < N; ++lane) made.push_back(bits_of(static_cast<float>(each[lane])));
    return made;
}
void from_bits(const std::vector<bits>& given, std::vector<half>& values) {
    std::ranges::transform(given, values.begin(), [](bits b) { return half(as_float(b)); });
}
template <int N>
void from_bits(const std::vector<bits>& given, std::vector<vec<half, N>>& values) {
    for (std::size_t k = 0; k < given.size(); ++k)
        values[k / N][static_cast<int>(k % N)] = half(as_float(given[k]));
}

}  // namespace

void run(const program& p, data& d) {
    world w{p, {}};
    w.memory[p.in_ints] = as_bits(d.in_ints);
    w.memory[p.in_floats] = as_bits(d.in_floats);
    w.memory[p.in_halves] = as_bits(d.in_halves);
    w.memory[p.ints] = as_bits(d.ints);
    w.memory[p.floats] = as_bits(d.floats);
    w.memory[p.halves] = as_bits(d.halves);
    w.memory[p.half_vectors] = as_bits(d.half_vectors);
    w.memory[p.records] = as_bits(d.records);
    w.memory[p.spread] = as_bits(d.spread);
    w.memory[p.image] = as_bits(d.image);
    w.memory[p.sampled] = as_bits(d.sampled);
    w.memory[p.out_image] = as_bits(d.out_image);
    w.memory[p.given] = as_bits(d.given);
    w.memory[p.given_record] = as_bits(d.given_record);
    for (bits k = 0; k < items * window; ++k) {
        w.memory[p.shared].push_back(k % window);
        w.memory[p.tile].push_back(window - k % window);
    }
    std::size_t next_constant = 0;
    for (std::size_t o = 0; o < p.objects.size(); ++o)
        if (p.objects[o].what == kind::constant) {
            const auto& values = p.constants[next_constant++];
            w.memory[static_cast<id>(o)].assign(values.begin(), values.end());
        }
    std::deque<frame> frames;
    for (int item = 0; item < items; ++item) {
        frames.emplace_back(w, item);
        frames.back().set(p.s, bits_of(d.s));
        frames.back().set(p.u, d.u);
        frames.back().set(p.t, bits_of(d.t));
    }
    run_together(w, p.body, frames);
    // A sum over the variables declared at the top, and over local memory.
    for (std::size_t k = 0; k < frames.size(); ++k) {
        if (frames[k].is_done()) continue;
        bits sum = 0;
        const auto add = [&](bits b) { sum = sum * 31 + b; };
        for (const statement& s : p.body) {
            if (s.target == none) continue;
            const object& o = p.objects[static_cast<std::size_t>(s.target)];
            const bool declares = s.what == action::declare || s.what == action::call ||
                                  s.what == action::exchange || s.what == action::together ||
                                  s.what == action::tally;
            if (!declares || o.what == kind::pointer || o.what == kind::deep_pointer ||
                o.what == kind::pointer_array || o.what == kind::record_pointer || o.what == kind::record)
                continue;
            for (const bits b : frames[k].words(s.target))
                add(o.type == number::f32 ? bits_of(static_cast<std::int32_t>(as_float(b))) : b);
        }
        for (std::size_t l = 0; l < window; ++l) add(w.memory[p.shared][k * window + l]);
        for (std::size_t l = 0; l < window; ++l) add(w.memory[p.tile][k * window + l]);
        d.out[k] = sum;
    }
    from_bits(w.memory[p.ints], d.ints);
    from_bits(w.memory[p.floats], d.floats);
    from_bits(w.memory[p.halves], d.halves);
    from_bits(w.memory[p.half_vectors], d.half_vectors);
    from_bits(w.memory[p.records], d.records);
    from_bits(w.memory[p.spread], d.spread);
    from_bits(w.memory[p.out_image], d.out_image);
}

}  // namespace balm::test::tree
