// Draws a program by recursive descent: statements out of expressions out of leaves. C++ does not fix the
// order in which a function's arguments are evaluated, so operands are drawn one statement at a time.

#include "support/random_program.hpp"

#include <deque>
#include <limits>
#include <type_traits>

namespace balm::test {

namespace {

using namespace balm::dsl;

/// Of the standard library only the engine is the same everywhere; so no std distribution.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    /// 0 … sides - 1 (splitmix64).
    int roll(int sides) {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<int>((z ^ (z >> 31)) % static_cast<unsigned>(sides));
    }
    bool chance(int percent) { return roll(100) < percent; }

private:
    std::uint64_t state_;
};

struct memory {
    In<std::int32_t> in_int;
    In<std::uint32_t> in_uint;
    In<float> in_float;
    In<half> in_half;
    Mixed<std::int32_t> mixed;
    Out<std::int32_t> out_int;
    Out<std::uint32_t> out_uint;
    Out<std::int64_t> out_long;
    Out<float> out_float;
    Out<half> out_half;
};

class writer {
public:
    writer(dice& d, random_program_options options) : dice_(d), options_(options) {}

    /// A function of its own without memory: arithmetic, and maybe an early return.
    Int function_body(Int x, UInt u) {
        ints_.emplace_back(x);
        uints_.emplace_back(u);
        floats_.emplace_back(cast<float>(x & 0xff) * 0.25f);
        longs_.emplace_back(cast<std::int64_t>(u));
        statements(3);
        if (dice_.chance(40)) {
            const Bool early = condition(1);
            IF (early) {
                return_(Int(int_expression(1)));
            }
        }
        return int_expression(2);
    }

    void kernel_body(const memory& m, Int s, UInt u, Float t, const device_function<Int, Int, UInt>& callee) {
        memory_ = &m;
        callee_ = &callee;
        const Index first_slot = global_id(0) * random_program::slots;
        first_slot_ = &first_slot;
        for (int k = 0; k < random_program::slots; ++k) {
            m.out_int[first_slot + k] = 0;
            m.out_uint[first_slot + k] = 0;
            m.out_long[first_slot + k] = 0;
            m.out_float[first_slot + k] = 0.f;
            m.out_half[first_slot + k] = 0.f;
        }
        ints_.emplace_back(s);
        ints_.emplace_back(cast<std::int32_t>(global_id(0)));
        uints_.emplace_back(u);
        floats_.emplace_back(t);
        longs_.emplace_back(global_id(0));
        statements(10);
        store_all();
    }

private:
    // ---- statements

    void statements(int count) {
        for (int k = 0; k < count; ++k) statement();
    }

    void statement() {
        const int kind = dice_.roll(depth_ < 3 ? 13 : 7);
        switch (kind) {
            case 0: ints_.emplace_back(int_expression(2)); return;
            case 1: uints_.emplace_back(uint_expression(2)); return;
            case 2: floats_.emplace_back(float_expression(2)); return;
            case 3: longs_.emplace_back(long_expression(2)); return;
            case 4:
            case 5: return assign();
            case 6: return memory_ && dice_.chance(70) ? store() : assign();
            case 7:
            case 8:
            case 9: return branch();
            case 10:
            case 11: return counted_loop();
            default: return while_loop();
        }
    }

    template <class V>
    V& pick(std::deque<V>& from) {
        return from[static_cast<std::size_t>(dice_.roll(static_cast<int>(from.size())))];
    }

    void assign() {
        switch (dice_.roll(6)) {
            case 0: {
                const Int value = int_expression(2);
                pick(ints_) = value;
                return;
            }
            case 1: {
                const UInt value = uint_expression(2);
                pick(uints_) = value;
                return;
            }
            case 2: {
                const Float value = float_expression(2);
                pick(floats_) = value;
                return;
            }
            case 3: {
                const Long value = long_expression(2);
                pick(longs_) = value;
                return;
            }
            case 4: {
                const UInt value = uint_expression(1);
                UInt& changed = pick(uints_);
                if (dice_.chance(50))
                    changed += value;
                else
                    changed ^= value;
                return;
            }
            default: {  // an old value must not follow the variable
                Int& variable = pick(ints_);
                const Int before = variable;
                variable = int_expression(1);
                pick(ints_) = small(before) + small(variable);
            }
        }
    }

    Index slot() {
        const Int which = int_expression(1);
        return *first_slot_ + (which & static_cast<int>(random_program::slots - 1));
    }
    void store() {
        const Index at = slot();
        switch (dice_.roll(8)) {
            case 0: memory_->out_int[at] = int_expression(2); return;
            case 1: memory_->out_uint[at] = uint_expression(2); return;
            case 2:
                if (dice_.chance(50))
                    as_streaming(memory_->out_float)[at] = float_expression(2);
                else
                    memory_->out_float[at] = float_expression(2);
                return;
            case 3: memory_->out_long[at] = long_expression(2); return;
            case 4: memory_->out_half[at] = float_expression(2); return;
            case 5: {
                const Float first = float_expression(1);
                const Float second = float_expression(1);
                vstore(Float2(first, second), memory_->out_half, at >> 1);
                return;
            }
            case 6: {  // vectors at any element, which overlap each other and the store of a scalar
                const Ptr<std::int32_t> own = memory_->mixed.data() + *first_slot_;
                const auto pair = [&] { return own + dice_.roll(random_program::slots - 1); };
                const Int2 before = vload<2>(pair(), 0);
                prefetch(memory_->in_float, cast<std::int64_t>(int_expression(1)));
                memory_->mixed[at] = int_expression(1);
                const Int2 after = vload<2>(pair(), 0);
                vstore(before.yx ^ after, pair(), 0);
                ints_.emplace_back(vload<4>(own, 0)[dice_.roll(4)]);
                return;
            }
            default: {  // loads around a store must stay on their sides of it
                const Int before = memory_->mixed[at];
                memory_->mixed[slot()] = int_expression(1);
                const Int after = memory_->mixed[at];
                ints_.emplace_back(before ^ after);
            }
        }
    }
    void store_all() {
        Int i = 0;
        for (Int& each : ints_) i = (i ^ each) + 0;
        UInt u = 0u;
        for (UInt& each : uints_) u = u * 31u + each;
        Long l = 0;
        for (Long& each : longs_) l ^= each;
        Float f = 0.f;
        for (Float& each : floats_) f = bounded(f + each);
        memory_->out_int[*first_slot_] = i;
        memory_->out_uint[*first_slot_] = u;
        memory_->out_long[*first_slot_] = l;
        memory_->out_float[*first_slot_] = f;
    }

    /// A block of statements, whose variables end with it. It never ends empty.
    void block() {
        const std::size_t sizes[] = {ints_.size(), uints_.size(), floats_.size(), longs_.size()};
        ++depth_;
        assign();
        statements(1 + dice_.roll(3));
        --depth_;
        while (ints_.size() > sizes[0]) ints_.pop_back();
        while (uints_.size() > sizes[1]) uints_.pop_back();
        while (floats_.size() > sizes[2]) floats_.pop_back();
        while (longs_.size() > sizes[3]) longs_.pop_back();
    }
    void loop_body() {
        ++loops_;
        block();
        if (dice_.chance(50)) jump();
        assign();
        --loops_;
    }
    void jump() {
        const Bool leaves = condition(1);
        const int kind = dice_.roll(memory_ ? 5 : 4);
        IF (leaves) {
            if (dice_.chance(50)) assign();
            if (kind == 4)
                return_();
            else if (kind % 2 == 0)
                break_();
            else
                continue_();
        }
    }

    void branch() {
        const int shape = dice_.roll(3);
        if (shape == 0) {
            IF (condition(2)) {
                block();
            }
        } else if (shape == 1) {
            IF (condition(2)) {
                block();
            }
            ELSE { block(); }
        } else {
            IF (condition(2)) {
                block();
            }
            ELIF (condition(1)) {
                block();
            }
            ELSE { block(); }
        }
        if (loops_ > 0 && dice_.chance(20)) jump();
    }

    /// A loop that ends at an end of its type's range, or leads from one to the other in a few steps.
    template <class V>
    void loop_to_the_end() {
        using T = typename V::value_type;
        using limits = std::numeric_limits<T>;
        const bool is_up = std::is_unsigned_v<T> || dice_.chance(50);
        const bool is_long = dice_.chance(25);
        const T from = is_long ? (is_up ? limits::min() : limits::max())
                               : static_cast<T>(is_up ? limits::max() - 15 : limits::min() + 15);
        const T part = static_cast<T>(limits::max() / static_cast<T>(1 + dice_.roll(3)));
        const T by = is_long ? part : static_cast<T>(1 + dice_.roll(9));
        const T step = static_cast<T>(is_up ? by : -by);
        const T end = static_cast<T>(is_up ? limits::max() - static_cast<T>(dice_.roll(2))
                                           : limits::min() + static_cast<T>(dice_.roll(2)));
        const V away = cast<T>(int_expression(1) & 15), start = is_up ? V(from + away) : V(from - away);
        const auto body = [&](const V& k) { with_variable(cast<std::int32_t>(k)); };
        switch (dice_.roll(3)) {
            case 0:
                for (V k : range(start, end, step)) body(k);
                return;
            case 1: {
                const V stop = select(condition(1), V(end), V(from));
                for (V k : range(start, stop, step)) body(k);
                return;
            }
            default: {
                const V stride = select(condition(1), V(step), V(is_up ? T(1) : static_cast<T>(-1)));
                const V stop = end;
                if (is_long)  // in steps of one it would not end in time
                    for (V k : range(start, stop, V(step))) body(k);
                else
                    for (V k : range(start, stop, stride)) body(k);
            }
        }
    }
    void counted_loop() {
        switch (dice_.roll(7)) {
            case 3: return loop_to_the_end<Int>();
            case 4: return loop_to_the_end<UInt>();
            case 5: return loop_to_the_end<Long>();
            case 6: return loop_to_the_end<ULong>();
            case 0: {
                const Int turns = int_expression(1) & 3;
                for (Int k : range(turns)) with_variable(k);
                return;
            }
            case 1: {
                const Int begin = int_expression(1) & 7;
                for (Int k : range(begin, 9, 3)) with_variable(k);
                return;
            }
            default: {
                const Int begin = int_expression(1) & 3;
                for (Int k : range(begin, -2, -2)) with_variable(k);
            }
        }
    }
    void with_variable(const Int& k) {
        ints_.emplace_back(k);
        loop_body();
        ints_.pop_back();
    }

    void while_loop() {
        Int turns = 0;
        WHILE (turns < 3 && condition(1)) {
            turns += 1;
            loop_body();
        }
    }

    // ---- conditions

    Bool condition(int depth) {
        switch (dice_.roll(depth > 0 ? 9 : 4)) {
            case 0: {
                const Int a = int_expression(depth);
                const Int b = int_expression(depth);
                return a < b;
            }
            case 1: {
                const UInt a = uint_expression(depth);
                const UInt b = uint_expression(depth);
                return a >= b;
            }
            case 2: {
                const Float a = float_expression(depth);
                const Float b = float_expression(depth);
                return a <= b;
            }
            case 3: {
                const Long a = long_expression(depth);
                return (a & 1) == 0;
            }
            case 4: return condition(depth - 1) && condition(depth - 1);
            case 5: return condition(depth - 1) || condition(depth - 1);
            case 6: return !condition(depth - 1);
            case 7: {
                const Bool a = condition(depth - 1);
                return a != condition(depth - 1);
            }
            default: {
                if (!memory_) return condition(depth - 1);
                // Out of range unless the guard holds: the load must stay behind it.
                const Int i = int_expression(depth);
                return i >= 0 && i < static_cast<int>(random_program::input_size) && memory_->in_int[i] > 0;
            }
        }
    }

    // ---- expressions

    static Int small(const Int& x) { return x & 0x7fff; }
    static Long small(const Long& x) { return x & 0x3fffffff; }
    /// Nothing huge and nothing undefined: sums and products stay finite.
    static Float bounded(const Float& x) { return select(abs(x) < 1e6f, x, 0.5f); }

    Int input_index() {
        const Int i = int_expression(0);
        return i & static_cast<int>(random_program::input_size - 1);
    }

    Int int_leaf() {
        switch (dice_.roll(memory_ ? 6 : 4)) {
            case 0: return Int(dice_.roll(64) - 32);
            case 1: {
                constexpr int constants[] = {0, 1, -1, 255, 65535, 0x7fffffff, -0x7fffffff - 1, 31, 32, 33};
                return Int(constants[dice_.roll(10)]);
            }
            case 4: return memory_->in_int[input_index()];
            case 5: return memory_->mixed[*first_slot_ + dice_.roll(static_cast<int>(random_program::slots))];
            default: return pick(ints_);
        }
    }

    Int int_expression(int depth) {
        if (depth <= 0) return int_leaf();
        const int kind = dice_.roll(callee_ ? 25 : 24);
        if (kind == 23) return rounded<std::int32_t>(depth);
        const Int a = int_expression(depth - 1);
        switch (kind) {
            case 10: return -small(a);
            case 11: return ~a;
            case 12: return popcount(a);
            case 13: return clz(a);
            case 14: return abs(small(a) - 9);
            case 15: return cast<std::int32_t>(float_expression(depth - 1) * 1e5f);
            case 16: return cast<std::int32_t>(uint_expression(depth - 1));
            case 17: return cast<std::int32_t>(long_expression(depth - 1));
            case 18: return Int(cast<std::int8_t>(a));
            case 19: return Int(cast<std::uint16_t>(a));
            case 20: return Int(condition(depth - 1));
            case 22: return narrowed(a);
            default: break;
        }
        const Int b = int_expression(depth - 1);
        switch (kind) {
            case 0: return small(a) + small(b);
            case 1: return small(a) - small(b);
            case 2: return small(a) * small(b);
            case 3: return a / b;
            case 4: return a % b;
            case 5: return a & b;
            case 6: return a | b;
            case 7: return a ^ b;
            case 8: return small(a) << (b & 15);
            case 9: return a >> b;
            case 21: {
                const Bool c = condition(depth - 1);
                return dice_.chance(50) ? select(c, a, b) : min(a, b);
            }
            case 24: {
                const UInt u = uint_expression(depth - 1);
                return (*callee_)(a, u);
            }
            default: return max(a, b);
        }
    }

    /// In every rounding mode, of numbers beyond the type's range, too.
    template <class T>
    Var<T> rounded(int depth) {
        const int mode = dice_.roll(4);
        const Float x = float_expression(depth - 1) * (dice_.chance(30) ? 1e14f : 0.75f);
        switch (mode) {
            case 0: return convert<T, rounding::nearest_even>(x);
            case 1: return convert<T, rounding::toward_zero>(x);
            case 2: return convert<T, rounding::up>(x);
            default: return convert<T, rounding::down>(x);
        }
    }
    Int narrowed(const Int& a) {
        switch (dice_.roll(5)) {
            case 0: return Int(convert_sat<std::int8_t>(a));
            case 1: return Int(convert_sat<std::uint8_t>(a));
            case 2: return Int(convert_sat<std::int16_t>(a));
            case 3: return cast<std::int32_t>(convert_sat<std::uint32_t>(a));
            default: return convert_sat<std::int32_t>(pick(longs_));
        }
    }
    /// A float that need not be near: whole numbers of 32 and 64 bits in every rounding mode.
    Float rounded_float(int depth) {
        const int mode = dice_.roll(3);
        const Long x = dice_.chance(50) ? Long(int_expression(depth - 1)) : long_expression(depth - 1);
        switch (mode) {
            case 0: return convert<float, rounding::toward_zero>(x);
            case 1: return convert<float, rounding::up>(x);
            default: return convert<float, rounding::down>(x);
        }
    }

    UInt uint_leaf() {
        switch (dice_.roll(memory_ ? 5 : 4)) {
            case 0: return UInt(static_cast<std::uint32_t>(dice_.roll(1 << 30)));
            case 3: {
                constexpr std::uint32_t constants[] = {0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 31, 32, 33};
                return UInt(constants[dice_.roll(8)]);
            }
            case 4: return memory_->in_uint[input_index()];
            default: return pick(uints_);
        }
    }

    UInt uint_expression(int depth) {
        if (depth <= 0) return uint_leaf();
        const int kind = dice_.roll(19);
        if (kind == 18) return rounded<std::uint32_t>(depth);
        const UInt a = uint_expression(depth - 1);
        switch (kind) {
            case 10: return ~a;
            case 11: return -a;
            case 12: return cast<std::uint32_t>(int_expression(depth - 1));
            case 13: return cast<std::uint32_t>(float_expression(depth - 1));
            case 14: return popcount(a) + clz(a);
            default: break;
        }
        const UInt b = uint_expression(depth - 1);
        switch (kind) {
            case 0: return a + b;
            case 1: return a - b;
            case 2: return a * b;
            case 3: return a / b;
            case 4: return a % b;
            case 5: return a & b;
            case 6: return a | b;
            case 7: return a ^ b;
            case 8: return a << b;
            case 9: return a >> b;
            case 15: return mul_hi(a, b);
            case 16: return rotate(a, b);
            default: return add_sat(a, b);
        }
    }

    Long long_leaf() {
        if (dice_.chance(70)) return pick(longs_);
        constexpr std::int64_t constants[] = {0,         1,         -1,        INT64_MAX,
                                              INT64_MIN, INT32_MAX, INT32_MIN, std::int64_t{1} << 32};
        return Long(constants[dice_.roll(8)]);
    }
    Long long_expression(int depth) {
        if (depth <= 0) return long_leaf();
        const int kind = dice_.roll(13);
        if (kind == 12) return rounded<std::int64_t>(depth);
        const Long a = long_expression(depth - 1);
        switch (kind) {
            case 7: return cast<std::int64_t>(int_expression(depth - 1));
            case 8: return cast<std::int64_t>(uint_expression(depth - 1));
            case 9: return cast<std::int64_t>(float_expression(depth - 1) * 1e12f);
            default: break;
        }
        const Long b = long_expression(depth - 1);
        switch (kind) {
            case 0: return small(a) + small(b);
            case 1: return small(a) - small(b);
            case 2: return small(a) * small(b);
            case 3: return a / b;
            case 4: return a % b;
            case 5: return a ^ b;
            case 6: return a >> b;
            case 10: return hadd(a, b);
            default: return sub_sat(a, b);
        }
    }

    Float float_leaf() {
        switch (dice_.roll(memory_ ? 6 : 3)) {
            case 4: return memory_->in_half[input_index()];
            case 5: {
                const Float4 lanes = vload<4>(memory_->in_half, input_index() >> 2);
                return lanes[dice_.roll(4)];
            }
            case 0: return Float(0.125f * static_cast<float>(dice_.roll(65) - 32));
            case 3: return memory_->in_float[input_index()];
            case 2: return memory_ ? Float(as_streaming(memory_->in_float)[input_index()]) : pick(floats_);
            default: return pick(floats_);
        }
    }

    Float float_expression(int depth) {
        if (depth <= 0) return float_leaf();
        const int kind = dice_.roll(options_.divides_floats ? 16 : 14);
        if (kind == 12) return bounded(rounded_float(depth));
        const Float a = float_expression(depth - 1);
        switch (kind) {
            case 4: return -a;
            case 5: return abs(a);
            case 6: return floor(a);
            case 7: return rint(a);
            case 8: return cast<float>(int_expression(depth - 1)) * 1e-6f;
            case 9: return bounded(cast<float>(uint_expression(depth - 1)));
            case 10: return trunc(a);
            case 15: return sqrt(abs(a));
            default: break;
        }
        const Float b = float_expression(depth - 1);
        switch (kind) {
            case 0: return bounded(a + b);
            case 1: return bounded(a - b);
            case 2: return bounded(a * b);
            case 3: {
                const Float c = float_expression(depth - 1);
                return bounded(fma(a, b, c));
            }
            case 11: {
                const Bool c = condition(depth - 1);
                return select(c, a, b);
            }
            case 14: return bounded(a / b);
            default: return bounded(a * 0.5f + b);  // contracted, alike everywhere
        }
    }

    dice& dice_;
    random_program_options options_;
    const memory* memory_ = nullptr;
    const device_function<Int, Int, UInt>* callee_ = nullptr;
    const Index* first_slot_ = nullptr;
    // What is in scope. A deque keeps its elements where they are.
    std::deque<Int> ints_;
    std::deque<UInt> uints_;
    std::deque<Float> floats_;
    std::deque<Long> longs_;
    int depth_ = 0;
    int loops_ = 0;
};

}  // namespace

random_program draw_program(std::uint64_t seed, random_program_options options) {
    dice d(seed);
    const auto callee = balm::function("mix", [&](Int x, UInt u) {
        Int result = writer(d, options).function_body(x, u);
        return result;
    });
    auto kernel = balm::kernel<1>(
        "drawn", [&](Int s, UInt u, Float t, In<std::int32_t> in_int, In<std::uint32_t> in_uint,
                     In<float> in_float, In<half> in_half, Mixed<std::int32_t> mixed,
                     Out<std::int32_t> out_int, Out<std::uint32_t> out_uint, Out<std::int64_t> out_long,
                     Out<float> out_float, Out<half> out_half) {
            const memory m{in_int,  in_uint,  in_float, in_half,   mixed,
                           out_int, out_uint, out_long, out_float, out_half};
            writer(d, options).kernel_body(m, s, u, t, callee);
        });
    return {seed, kernel};
}

}  // namespace balm::test
