#pragma once
// The kernels of radix sorts on CPUs: one chunk or row per work-item.

#include <cstddef>

#include "algorithm/sort/radix_recorder.hpp"

namespace balm::array::radix_sorting {

/// Counters that a work-item of a CPU keeps for each digit. Consecutive keys use different ones: an increment
/// of the same counter would wait for the previous store.
constexpr int tables_of_item = 4;

class item_sorter : public radix_recorder {
public:
    using radix_recorder::radix_recorder;

    void sort_row() const {
        const block::arrays counters = counters_of_item(), next = positions();
        const section own = own_row();
        const Index n = own.end - own.begin;
        Int place = named("place", Int(0));
        for (Int from_bit : named("shift", range(0, plan_.order.bits(), plan_.digit_bits))) {
            const memory from = memory_at(place == 1), to = memory_at(place == 0);
            count(own, from.keys, from_bit, counters);
            Bool is_shared = named("is_shared", Bool(false));
            Index sum = named("sum", own.begin);
            for (Int d : named("d", range(plan_.digits()))) {
                const Int own_count = count_in(counters, d);
                is_shared = is_shared || cast<std::int64_t>(own_count) == n;
                put(next, d, Index(sum));
                sum += own_count;
            }
            BALM_IF (!is_shared) {
                scatter(own, from, to, from_bit, next);
                place = 1 - place;
            }
        }
        BALM_IF (place == 1) {
            copy(own, memory_at(Bool(true)), memory_at(Bool(false)));
        }
    }
    void count_chunk() const {
        const block::arrays counters = counters_of_item();
        const section own = own_chunk();
        count(own, memory_at(state(radix_state::place) == 1, "keys", "spare_keys"), shift(), counters);
        for (Int d : named("d", range(plan_.digits())))
            counts()[slot(d, own.number)] = cast<std::int64_t>(count_in(counters, d));
    }
    void scatter_chunk() const {
        const block::arrays next = positions();
        const section own = own_chunk();
        const Int step = step_of_pass();
        BALM_IF (step != radix_state::nothing) {
            for (Int d : named("d", range(plan_.digits())))
                put(next, d, Index(counts()[slot(d, own.number)]));
            scatter(own, memory_at(step == 1), memory_at(step == 0), shift(), next);
        }
    }

private:
    block::arrays counters_of_item() const {
        return g_.shared("counters", {scalar::i32},
                         static_cast<std::size_t>(tables_of_item * plan_.digits()));
    }
    /// Counts the digits of keys into the first table.
    void count(const section& own, const node& keys, const Int& from_bit,
               const block::arrays& counters) const {
        for (Int d : named("d", range(tables_of_item * plan_.digits()))) put(counters, d, Int(0));
        const auto take = [&](const Index& i, int table) {
            const Int at = digit(element(keys, i), from_bit) + table * plan_.digits();
            put(counters, at, count_in(counters, at) + 1);
        };
        const Index whole =
            named("whole", own.begin + (own.end - own.begin) / tables_of_item * tables_of_item);
        for (Index i : named("i", range(own.begin, whole, tables_of_item)))
            for (int k = 0; k < tables_of_item; ++k) take(i + k, k);
        for (Index i : named("i", range(whole, own.end))) take(i, 0);
        for (Int d : named("d", range(plan_.digits()))) {
            Int sum = count_in(counters, d);
            for (int k = 1; k < tables_of_item; ++k) sum += count_in(counters, d + k * plan_.digits());
            put(counters, d, sum);
        }
    }
    void scatter(const section& own, const memory& from, const memory& to, const Int& from_bit,
                 const block::arrays& next) const {
        for (Index i : named("i", range(own.begin, own.end))) {
            const node key = element(from.keys, i);
            const Int d = named("d", digit(key, from_bit));
            const Index place = position_in(next, d);
            put(next, d, place + 1);
            set(to.keys, place, key);
            if (has_values()) set(to.values, place, element(from.values, i));
        }
    }
};

}  // namespace balm::array::radix_sorting
