#pragma once
// Synchronisation and communication between work-items: barriers, fences, atomic operations on elements of
// global and local memory, and sub-group operations.
//
//     auto histogram = balm::kernel<1>("histogram", [](In<unsigned char> bytes, InOut<int> counts) {
//         atomic_add(counts[bytes[global_id(0)]], 1);
//     });

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "balm/dsl/value.hpp"

namespace balm::dsl {

// ---- barriers

/// Waits for all work-items of the group, and makes their writes to local and global memory visible to each
/// other. Every work-item of the group must reach it.
inline void barrier(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::barrier(3, {file, line});
}
/// The same for local memory only.
inline void local_barrier(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::barrier(1, {file, line});
}
/// The same for global memory only.
inline void global_barrier(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::barrier(2, {file, line});
}

/// A barrier() that returns the number of work-items of the group whose condition is true: the same number in
/// all of them.
///
///     Int alive = barrier_count(energy > 0.f);
template <operand C>
Int barrier_count(C&& condition, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return Int(trace::barrier_count(detail::condition_of(static_cast<C&&>(condition)), {file, line}));
}
/// A barrier() that returns whether the condition is true in all work-items of the group.
template <operand C>
Bool barrier_and(C&& condition, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return barrier_count(!Bool(detail::condition_of(static_cast<C&&>(condition))), file, line) == 0;
}
/// A barrier() that returns whether the condition is true in any work-item of the group.
template <operand C>
Bool barrier_or(C&& condition, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return barrier_count(static_cast<C&&>(condition), file, line) != 0;
}

// ---- fences

/// Orders this work-item's accesses to local and global memory: accesses before the fence are visible to the
/// work-items of the group before accesses after it. It does not wait for other work-items.
///
///     data[0] = 42;
///     group_fence();
///     atomic_exchange(ready[0], 1);  // a work-item that reads 1, then fences, reads 42
inline void group_fence(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::fence(trace::memory_scope::group, {file, line});
}
/// The same for all work-items of the device. OpenCL 1.2 has no such fence: on drivers other than NVIDIA's it
/// is a mem_fence of both memories, which guarantees the order only within the group. PoCL's mem_fence is a
/// full fence of the processor, and holds for the whole device.
inline void device_fence(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::fence(trace::memory_scope::device, {file, line});
}
/// The same for the host and other devices too, if they share the memory (CUDA, NVIDIA's OpenCL). Elsewhere
/// it is a device_fence, since OpenCL 1.2 shares no memory while a kernel runs.
inline void system_fence(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::fence(trace::memory_scope::system, {file, line});
}

// ---- sub-groups

/// The number of lanes of a sub-group, 32 on every device. Sub-group k of a group consists of its work-items
/// 32 k to 32 k + 31, counted through all dimensions, the first varying fastest. NVIDIA's GPUs have these as
/// warps; elsewhere Balm emulates them through local memory (4 or 8 bytes per work-item for each type
/// exchanged). If the size of a group is not a multiple of 32, its last sub-group has absent lanes, which
/// neither vote nor contribute values.
///
/// All lanes of a sub-group must reach its operations: a condition around them must not differ between lanes,
/// which the trace checks. If sub-groups are emulated, all work-items of the group must reach them, which is
/// checked when the kernel is compiled for such a device.
inline constexpr int lanes_of_sub_group = 32;

/// The same as a device value.
inline Int sub_group_size() { return Int(lanes_of_sub_group); }

/// The work-item's index in its group, counted through all dimensions, the first varying fastest.
inline Index local_linear_id(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return Index(trace::query(trace::place::local_linear_id, 0, {file, line}));
}
/// The number of work-items in the group.
inline Index local_linear_size(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return Index(trace::query(trace::place::local_linear_size, 0, {file, line}));
}
/// The work-item's index in its sub-group, 0 to 31.
inline Int lane_id() { return cast<int>(local_linear_id()) & (lanes_of_sub_group - 1); }
/// The index of the work-item's sub-group in its group.
inline Int sub_group_id(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return cast<int>(Index(trace::query(trace::place::sub_group_id, 0, {file, line})));
}
/// The number of sub-groups in the group, including a partial one.
inline Int sub_group_count() {
    return cast<int>((local_linear_size() + (lanes_of_sub_group - 1)) / lanes_of_sub_group);
}

/// A mask, with bit k for lane k, of the lanes before this one.
inline UInt lane_mask_lt() { return (UInt(1u) << lane_id()) - 1u; }
/// The lanes before this one, and this one.
inline UInt lane_mask_le() { return (UInt(2u) << lane_id()) - 1u; }
/// This lane alone.
inline UInt lane_mask_eq() { return UInt(1u) << lane_id(); }
/// This lane and the lanes after it, including absent ones.
inline UInt lane_mask_ge() { return ~lane_mask_lt(); }
/// The lanes after this one, including absent ones.
inline UInt lane_mask_gt() { return ~lane_mask_le(); }

/// A mask, with bit k for lane k, of the lanes whose condition is true; 0 for absent lanes.
///
///     UInt mine = ballot(value > limit);
///     Int place = popcount(mine & lane_mask_lt());  // the position of this lane among them
template <operand C>
UInt ballot(C&& condition, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    const trace::node operand = detail::condition_of(static_cast<C&&>(condition));
    return UInt(trace::sub_group(trace::sub_group_op::ballot, &operand, 1, {file, line}));
}
/// Whether the condition is true in any lane of the sub-group.
template <operand C>
Bool vote_any(C&& condition, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return ballot(static_cast<C&&>(condition), file, line) != 0u;
}
/// Whether the condition is true in all present lanes of the sub-group.
template <operand C>
Bool vote_all(C&& condition, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return ballot(!Bool(detail::condition_of(static_cast<C&&>(condition))), file, line) == 0u;
}

namespace detail {

/// The last present lane of this work-item's sub-group.
inline Int last_lane() {
    const Int item = cast<int>(local_linear_id()), items = cast<int>(local_linear_size());
    return min(items - 1 - (item & -lanes_of_sub_group), Int(lanes_of_sub_group - 1));
}

template <trace::sub_group_op What, class V, class L>
auto shuffle(location where, V&& value, L&& lane) {
    constexpr scalar own = strong_scalar<V>();
    static_assert(lanes_in<V>() == 1, "Balm: shuffle the lanes of a vector one by one: shuffle(v.x, lane)");
    static_assert(is_integer(entering_scalar<L>(scalar::i32)), "Balm: a lane index must be an integer");
    constexpr scalar passed = promote(own);  // small types and bool are exchanged as i32
    const node operands[] = {trace::convert(node_of<own>(static_cast<V&&>(value)), passed),
                             trace::read(Int(static_cast<L&&>(lane)).node()),
                             trace::read(last_lane().node())};
    return var_of<own>(trace::convert(trace::sub_group(What, operands, 3, where), own));
}

}  // namespace detail

/// The value of another lane of the sub-group, modulo 32, or the lane's own value if that lane is absent. For
/// all scalar types.
template <device_value V, operand L>
auto shuffle(V&& value, L&& lane, const char* file = __builtin_FILE(),
             std::uint32_t line = __builtin_LINE()) {
    return detail::shuffle<trace::sub_group_op::shuffle>({file, line}, static_cast<V&&>(value),
                                                         static_cast<L&&>(lane));
}
/// The value of lane `lane_id() - distance` (`distance` modulo 32), or the lane's own value if there is none.
template <device_value V, operand L>
auto shuffle_up(V&& value, L&& distance, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::shuffle<trace::sub_group_op::shuffle_up>({file, line}, static_cast<V&&>(value),
                                                            static_cast<L&&>(distance));
}
/// The value of lane `lane_id() + distance` (`distance` modulo 32), or the lane's own value if there is none.
template <device_value V, operand L>
auto shuffle_down(V&& value, L&& distance, const char* file = __builtin_FILE(),
                  std::uint32_t line = __builtin_LINE()) {
    return detail::shuffle<trace::sub_group_op::shuffle_down>({file, line}, static_cast<V&&>(value),
                                                              static_cast<L&&>(distance));
}
/// The value of lane `lane_id() ^ mask`, or the lane's own value if there is none.
template <device_value V, operand L>
auto shuffle_xor(V&& value, L&& mask, const char* file = __builtin_FILE(),
                 std::uint32_t line = __builtin_LINE()) {
    return detail::shuffle<trace::sub_group_op::shuffle_xor>({file, line}, static_cast<V&&>(value),
                                                             static_cast<L&&>(mask));
}

/// Waits for all lanes of the sub-group, and makes their writes to local and global memory visible to each
/// other.
inline void sub_group_barrier(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::sub_group(trace::sub_group_op::barrier, nullptr, 0, {file, line});
}

namespace detail {

template <trace::sub_group_op What, class V>
auto sub_group_collective(location where, V&& value) {
    constexpr scalar own = strong_scalar<V>();
    static_assert(lanes_in<V>() == 1, "Balm: reduce the lanes of a vector one by one");
    static_assert(own != scalar::boolean, "Balm: use vote_any, vote_all or ballot for conditions");
    const node operand = trace::convert(node_of<own>(static_cast<V&&>(value)), promote(own));
    return var_of<own>(trace::convert(trace::sub_group(What, &operand, 1, where), own));
}

/// The exclusive scan. Types exchanged as i32 begin with the identity of their own type.
template <trace::sub_group_op What, class V>
auto sub_group_exclusive_scan(location where, V&& value) {
    using T = typename value_type<std::remove_cvref_t<V>>::type;
    Var<T> result = sub_group_collective<What>(where, static_cast<V&&>(value));
    constexpr bool is_sum = What == trace::sub_group_op::scan_exclusive_add;
    constexpr bool is_min = What == trace::sub_group_op::scan_exclusive_min;
    if constexpr (sizeof(T) < 4 && !is_sum) {
        using limits = std::numeric_limits<T>;
        result = select(lane_id() == 0, Var<T>(is_min ? limits::max() : limits::lowest()), result);
    }
    return result;
}

}  // namespace detail

/// The value of one lane (modulo 32), as shuffle(value, lane).
template <device_value V, operand L>
auto sub_group_broadcast(V&& value, L&& lane, const char* file = __builtin_FILE(),
                         std::uint32_t line = __builtin_LINE()) {
    return shuffle(static_cast<V&&>(value), static_cast<L&&>(lane), file, line);
}

/// sub_group_reduce_…(value): the sum, least or greatest value of the sub-group's lanes, in all of them.
/// sub_group_scan_inclusive_…(value): the same over the lanes up to this one. sub_group_scan_exclusive_…: the
/// same over the lanes before it; in the first lane 0, the type's greatest or its least value (for floats the
/// infinities). Values are combined in a fixed order, so floats have the same bits on every device. Integers
/// wrap; small integers keep their type.
///
///     Float sum = sub_group_reduce_add(x);
#define BALM_SUB_GROUP(name)                                                                              \
    template <device_value V>                                                                             \
    auto sub_group_reduce_##name(V&& value, const char* file = __builtin_FILE(),                          \
                                 std::uint32_t line = __builtin_LINE()) {                                 \
        return detail::sub_group_collective<trace::sub_group_op::reduce_##name>({file, line},             \
                                                                                static_cast<V&&>(value)); \
    }                                                                                                     \
    template <device_value V>                                                                             \
    auto sub_group_scan_inclusive_##name(V&& value, const char* file = __builtin_FILE(),                  \
                                         std::uint32_t line = __builtin_LINE()) {                         \
        return detail::sub_group_collective<trace::sub_group_op::scan_inclusive_##name>(                  \
            {file, line}, static_cast<V&&>(value));                                                       \
    }                                                                                                     \
    template <device_value V>                                                                             \
    auto sub_group_scan_exclusive_##name(V&& value, const char* file = __builtin_FILE(),                  \
                                         std::uint32_t line = __builtin_LINE()) {                         \
        return detail::sub_group_exclusive_scan<trace::sub_group_op::scan_exclusive_##name>(              \
            {file, line}, static_cast<V&&>(value));                                                       \
    }
BALM_SUB_GROUP(add)
BALM_SUB_GROUP(min)
BALM_SUB_GROUP(max)
#undef BALM_SUB_GROUP

// ---- atomics

namespace detail {

/// The properties of an element that decide whether an atomic operation accepts it.
template <class E>
struct atomic_element {
    static constexpr bool is_usable = false;
};
template <class T, trace::access Use, space Where>
struct atomic_element<Element<T, Use, Where>> {
    static constexpr bool is_read_write = Use == trace::access::mixed;
    static constexpr bool is_shared = Where == space::global || Where == space::local;
    static constexpr bool has_words = scalar_type<T> && sizeof(T) >= 4;
    static constexpr bool is_usable = is_read_write && is_shared && has_words;
    using type = T;
};

/// Refuses an unsuitable operand of an atomic operation with a message that says why.
template <class E>
constexpr void check_atomic() {
    using plain = std::remove_cvref_t<E>;
    static_assert(is_element<plain>,
                  "Balm: an atomic operation works on an element of memory, as in atomic_add(counter[0], 1) "
                  "with InOut<int> or Local<int> counter");
    if constexpr (is_element<plain>) {
        using element = atomic_element<plain>;
        static_assert(!std::is_lvalue_reference_v<E>,
                      "Balm: an element (x[i]) cannot be kept with auto; write it where it is used: "
                      "atomic_add(x[i], 1)");
        static_assert(element::is_read_write,
                      "Balm: an atomic operation reads as well as writes; use InOut<T> instead of Out<T>");
        static_assert(element::is_shared,
                      "Balm: atomic operations work in global and local memory, which work-items share");
        static_assert(element::has_words,
                      "Balm: atomic operations work on 32- and 64-bit integers and floats only");
    }
}

template <trace::atomic_op What, class E, class... A>
auto atomic(location where, [[maybe_unused]] E&& element, A&&... values) {
    using known = atomic_element<std::remove_cvref_t<E>>;
    check_atomic<E>();
    if constexpr (known::is_usable && !std::is_lvalue_reference_v<E>) {
        using T = typename known::type;
        const node list[] = {Var<T>(static_cast<A&&>(values)).node()..., node{}};
        return Var<T>(element.balm_place().atomic(What, list, sizeof...(A), where));
    }
}

/// The same for operations on integers only.
template <trace::atomic_op What, class E, class... A>
auto integer_atomic(location where, E&& element, A&&... values) {
    if constexpr (atomic_element<std::remove_cvref_t<E>>::is_usable)
        static_assert(std::integral<typename atomic_element<std::remove_cvref_t<E>>::type>,
                      "Balm: this atomic operation works on integers only");
    return atomic<What>(where, static_cast<E&&>(element), static_cast<A&&>(values)...);
}

/// The same for counters that wrap at a limit, on unsigned integers.
template <trace::atomic_op What, class E, class A>
auto wrapping_atomic(location where, E&& element, A&& limit) {
    if constexpr (atomic_element<std::remove_cvref_t<E>>::is_usable)
        static_assert(std::unsigned_integral<typename atomic_element<std::remove_cvref_t<E>>::type>,
                      "Balm: counting up to a limit works on unsigned integers only");
    return atomic<What>(where, static_cast<E&&>(element), static_cast<A&&>(limit));
}

}  // namespace detail

/// Atomically adds to an element of global or local memory, and returns its old value. All atomic operations
/// are relaxed: they order no other accesses (fences and barriers do). They work on 32- and 64-bit integers
/// and floats unless stated otherwise, and take the element itself:
///
///     Int old = atomic_add(counter[0], 1);
///
/// Integers wrap. Floats are added in unspecified order, so the last digits of their sum may differ between
/// runs; CUDA flushes subnormal f32 in global memory to zero here. 64-bit elements need
/// cl_khr_int64_base_atomics, and for min, max, and, or, xor cl_khr_int64_extended_atomics: on other OpenCL
/// devices the kernel is refused before it is launched.
template <class E, operand A>
auto atomic_add(E&& element, A&& value, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::atomic<trace::atomic_op::add>({file, line}, static_cast<E&&>(element),
                                                 static_cast<A&&>(value));
}
/// Subtracts; returns the old value.
template <class E, operand A>
auto atomic_sub(E&& element, A&& value, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    using element_of = detail::atomic_element<std::remove_cvref_t<E>>;
    if constexpr (element_of::is_usable) {
        using T = typename element_of::type;
        if constexpr (std::floating_point<T>)
            return detail::atomic<trace::atomic_op::add>({file, line}, static_cast<E&&>(element),
                                                         -Var<T>(static_cast<A&&>(value)));
        else
            return detail::atomic<trace::atomic_op::sub>({file, line}, static_cast<E&&>(element),
                                                         static_cast<A&&>(value));
    } else {
        detail::check_atomic<E>();
    }
}
/// Replaces the element by a value; returns the old value.
template <class E, operand A>
auto atomic_exchange(E&& element, A&& value, const char* file = __builtin_FILE(),
                     std::uint32_t line = __builtin_LINE()) {
    return detail::atomic<trace::atomic_op::exchange>({file, line}, static_cast<E&&>(element),
                                                      static_cast<A&&>(value));
}
/// Replaces the element by the value if that is less; returns the old value. A NaN value changes nothing; a
/// NaN element is replaced. Zeros of either sign are equal.
template <class E, operand A>
auto atomic_min(E&& element, A&& value, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::atomic<trace::atomic_op::min>({file, line}, static_cast<E&&>(element),
                                                 static_cast<A&&>(value));
}
/// The same if the value is greater.
template <class E, operand A>
auto atomic_max(E&& element, A&& value, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::atomic<trace::atomic_op::max>({file, line}, static_cast<E&&>(element),
                                                 static_cast<A&&>(value));
}
/// Adds 1 to an integer; returns the old value.
template <class E>
auto atomic_inc(E&& element, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return detail::integer_atomic<trace::atomic_op::add>({file, line}, static_cast<E&&>(element), 1);
}
/// Subtracts 1 from an integer; returns the old value.
template <class E>
auto atomic_dec(E&& element, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return detail::integer_atomic<trace::atomic_op::sub>({file, line}, static_cast<E&&>(element), 1);
}
/// Counts 0, 1 … limit, 0, 1 …: `old >= limit ? 0 : old + 1`, on unsigned integers; CUDA's atomicInc.
template <class E, operand A>
auto atomic_inc(E&& element, A&& limit, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::wrapping_atomic<trace::atomic_op::inc>({file, line}, static_cast<E&&>(element),
                                                          static_cast<A&&>(limit));
}
/// Counts limit … 1, 0, limit …: `old == 0 || old > limit ? limit : old - 1`, on unsigned integers; CUDA's
/// atomicDec.
template <class E, operand A>
auto atomic_dec(E&& element, A&& limit, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::wrapping_atomic<trace::atomic_op::dec>({file, line}, static_cast<E&&>(element),
                                                          static_cast<A&&>(limit));
}
/// `old & value`, on integers; returns the old value.
template <class E, operand A>
auto atomic_and(E&& element, A&& value, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::integer_atomic<trace::atomic_op::bit_and>({file, line}, static_cast<E&&>(element),
                                                             static_cast<A&&>(value));
}
/// `old | value`, on integers; returns the old value.
template <class E, operand A>
auto atomic_or(E&& element, A&& value, const char* file = __builtin_FILE(),
               std::uint32_t line = __builtin_LINE()) {
    return detail::integer_atomic<trace::atomic_op::bit_or>({file, line}, static_cast<E&&>(element),
                                                            static_cast<A&&>(value));
}
/// `old ^ value`, on integers; returns the old value.
template <class E, operand A>
auto atomic_xor(E&& element, A&& value, const char* file = __builtin_FILE(),
                std::uint32_t line = __builtin_LINE()) {
    return detail::integer_atomic<trace::atomic_op::bit_xor>({file, line}, static_cast<E&&>(element),
                                                             static_cast<A&&>(value));
}
/// Replaces the element by `value` if it equals `expected`; returns the old value, which equals `expected` if
/// the exchange happened. Floats are compared by their bits: a NaN equals itself, 0 does not equal -0.
///
///     Int seen = atomic_compare_exchange(slot[0], 0, mine);
///     IF (seen == 0) {…}  // the slot is mine
template <class E, operand A, operand B>
auto atomic_compare_exchange(E&& element, A&& expected, B&& value, const char* file = __builtin_FILE(),
                             std::uint32_t line = __builtin_LINE()) {
    return detail::atomic<trace::atomic_op::compare_exchange>(
        {file, line}, static_cast<E&&>(element), static_cast<A&&>(expected), static_cast<B&&>(value));
}

/// Loads the element as other work-items' atomic operations left it, bypassing registers and non-coherent
/// caches.
template <class E>
auto atomic_load(E&& element, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return detail::atomic<trace::atomic_op::load>({file, line}, static_cast<E&&>(element));
}
/// The same, followed by a device_fence: later accesses see everything that a work-item wrote before it
/// stored this value by atomic_store_release.
template <class E>
auto atomic_load_acquire(E&& element, const char* file = __builtin_FILE(),
                         std::uint32_t line = __builtin_LINE()) {
    auto value = atomic_load(static_cast<E&&>(element), file, line);
    device_fence(file, line);
    return value;
}
/// Stores a value, visible to other work-items' atomic operations.
template <class E, operand A>
void atomic_store(E&& element, A&& value, const char* file = __builtin_FILE(),
                  std::uint32_t line = __builtin_LINE()) {
    detail::atomic<trace::atomic_op::store>({file, line}, static_cast<E&&>(element), static_cast<A&&>(value));
}
/// The same, preceded by a device_fence.
///
///     result[group_id(0)] = sum;
///     atomic_store_release(ready[group_id(0)], 1);
template <class E, operand A>
void atomic_store_release(E&& element, A&& value, const char* file = __builtin_FILE(),
                          std::uint32_t line = __builtin_LINE()) {
    device_fence(file, line);
    atomic_store(static_cast<E&&>(element), static_cast<A&&>(value), file, line);
}

}  // namespace balm::dsl
