#pragma once
// The kernels of radix sorts on GPUs: a group ranks the elements of a tile by their digits and moves them
// through local memory, so that neighbours store to neighbouring positions. The positions of a digit's
// elements follow from counts of chunks or, with one kernel per pass, from tiles that look back.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "algorithm/block/exchange.hpp"
#include "algorithm/block/radix_rank.hpp"
#include "algorithm/sort/digit_look_back.hpp"
#include "algorithm/sort/radix_recorder.hpp"

namespace balm::array::radix_sorting {

class tile_sorter : public radix_recorder {
public:
    using radix_recorder::radix_recorder;

    /// The whole row is in one tile.
    void sort_row() const {
        const tile_memory shared = memory_of_tiles();
        const section own = own_row();
        const elements numbers = as_variables("number", loaded_numbers(given_["keys"], own.begin, own.end));
        const elements list =
            has_values() ? as_variables("value", loaded(given_["values"], own.begin, own.end)) : elements();
        for (Int from_bit : named("shift", range(0, plan_.order.bits(), plan_.digit_bits))) {
            const auto digits = digits_of(read(numbers), from_bit);
            const auto counted = shared.rank.count(plan_.each, digits);
            const std::vector<Int> ranks = shared.rank.ranks(plan_.each, digits, counted);
            g_.barrier();
            write(numbers, exchanged(read(numbers), ranks, arranged(g_), shared));
            if (has_values()) write(list, exchanged(read(list), ranks, arranged(g_), shared));
        }
        dsl::barrier();  // all work-items have loaded what others store
        put_back(given_["keys"], keys_of(read(numbers)), own, shared);
        if (has_values()) put_back(given_["values"], read(list), own, shared);
    }
    void count_chunk() const {
        const LocalPtr<unsigned> counters = shared_counters(plan_.digits());
        const section own = own_chunk();
        const node keys = memory_at(state(radix_state::place) == 1, "keys", "spare_keys");
        const Int from_bit = named("shift", shift());
        each_key(keys, own, named("step", Index(tile_size())),
                 [&](const node& key) { atomic_inc(counters[digit(key, from_bit)]); });
        g_.barrier();
        each_digit(
            [&](const Int& d) { counts()[slot(d, own.number)] = cast<std::int64_t>(UInt(counters[d])); });
    }
    void scatter_chunk() const {
        const tile_memory shared = memory_of_tiles();
        const block::arrays next = positions();
        const section own = own_chunk();
        const Int step = step_of_pass();
        BALM_IF (step != radix_state::nothing) {
            each_digit([&](const Int& d) { put(next, d, Index(counts()[slot(d, own.number)])); });
            const memory from = memory_at(step == 1), to = memory_at(step == 0);
            const Int from_bit = named("shift", shift());
            for (Index begin : named("begin", range(own.begin, own.end, Index(tile_size())))) {
                // Each digit's position belongs to one work-item.
                const auto first = [&](const Int& d, const Int& count) {
                    const Index base = position_in(next, d);
                    put(next, d, base + count);
                    return base;
                };
                move_tile(from, to, begin, own.end, from_bit, true, shared,
                          {[](const Int&, const Int&) {}, first});
                g_.barrier();
            }
        }
    }

    // ---- one kernel a pass

    void count_all_digits() const {
        const LocalPtr<unsigned> counters = shared_counters(plan_.passes() * plan_.digits());
        const Index tile = named("tile", Index(tile_size()));
        each_key(given_["keys"], {group_id(0), named("own_begin", group_id(0) * tile), given("n")},
                 named("step", group_count(0) * tile), [&](const node& key) {
                     for (int p = 0; p < plan_.passes(); ++p)
                         atomic_inc(counters[digit(key, Int(p * plan_.digit_bits)) + p * plan_.digits()]);
                 });
        g_.barrier();
        g_.share_out(plan_.passes() * plan_.digits(), [&](const Int& d) {
            const UInt own = counters[d];
            BALM_IF (own > 0u) {
                atomic_add(histograms()[d], cast<std::uint64_t>(own));
            }
        });
    }
    void sweep_tile() const {
        const tile_memory shared = memory_of_tiles();
        const Int step = step_of_pass();
        BALM_IF (step != radix_state::nothing) {
            const bool is_narrow_pair = has_values() && plan_.order.bits() <= 32;
            if (!is_floating(plan_.order.type) || is_narrow_pair) {
                sweep_tile(shared, step, is_floating(plan_.order.type));
            } else {
                // Most vectors do without the comparisons, which cost a sort of f64 15 %, and f32 with values
                // 0.5 %: these take one body, since two need more registers than there are in OpenCL (25 %;
                // H200).
                BALM_IF (ULong(state()[std::int64_t{radix_state::nans}]) == 0u) {
                    sweep_tile(shared, step, false);
                }
                BALM_ELSE { sweep_tile(shared, step, true); }
            }
        }
    }

private:
    struct tile_memory {
        block::room room;
        block::radix_rank rank;
        block::arrays bases;  ///< where a digit's elements go, minus the first one's position in the tile
        block::arrays shift;  ///< of the digit
    };
    block::types counter_types() const { return {scalar::i32}; }
    tile_memory memory_of_tiles() const {
        const std::size_t counters = block::radix_rank::room(g_, plan_.digit_bits);
        std::size_t bytes = block::room::bytes_of(counter_types(), counters);
        const auto fit = [&](const trace::type& moved) {
            const block::types types{moved};
            bytes =
                std::max(bytes, block::room::bytes_of(types, block::exchange_room(g_, types, plan_.each)));
        };
        fit(key_type());
        if (has_values()) fit(value_type());
        const block::room room(bytes);
        return {room, block::radix_rank(g_, plan_.digit_bits, room.of(counter_types(), counters)),
                g_.shared("bases", {place_type()}, static_cast<std::size_t>(plan_.digits())),
                g_.shared("shared_shift", {scalar::i32}, 1)};
    }
    /// The type of positions in vectors.
    scalar place_type() const { return plan_.is_wide ? scalar::i64 : scalar::i32; }
    static arrangement arranged(const block::group& g) { return block::radix_rank::arranged(g); }
    Int tile_size() const { return g_.items() * plan_.each; }

    elements loaded(const node& from, const Index& begin, const Index& end) const {
        return block::load(g_, arranged(g_), plan_.each, begin, end,
                           [&](const Index& i) { return values{element(from, i)}; },
                           {trace::constant(trace::pointee(from.type).element, 0)});
    }
    /// Loads ordered numbers, so that neither the keys nor their digits stay in registers. Positions without
    /// an element get the greatest number, so they rank last.
    elements loaded_numbers(const node& from, const Index& begin, const Index& end) const {
        const auto number = [&](const Index& i) {
            return values{ordered_number(element(from, i), plan_.order)};
        };
        return block::load(
            g_, arranged(g_), plan_.each, begin, end, number,
            {trace::constant(plan_.order.bits_type(), ~std::uint64_t{0} >> (64 - plan_.order.bits()))});
    }
    Int digit_of_number(const values& number, const Int& from_bit, bool has_nans) const {
        return balm::array::digit_of_number(number[0], plan_.order, {from_bit, plan_.digit_bits, has_nans});
    }
    block::radix_rank::digits digits_of(const elements& numbers, const Int& from_bit,
                                        bool has_nans = true) const {
        return [this, numbers, from_bit, has_nans](int k) {
            return digit_of_number(numbers[static_cast<std::size_t>(k)], from_bit, has_nans);
        };
    }
    elements keys_of(const elements& numbers) const {
        elements made;
        for (const values& each : numbers) made.push_back({key_of_number(each[0], plan_.order)});
        return made;
    }
    block::arrays room_of(const block::types& types, const tile_memory& shared) const {
        return shared.room.of(types, block::exchange_room(g_, types, plan_.each));
    }
    elements exchanged(const elements& list, const std::vector<Int>& ranks, arrangement to,
                       const tile_memory& shared) const {
        elements made = block::scatter(g_, list, ranks, to, room_of(block::types_of(list[0]), shared));
        g_.barrier();
        return made;
    }
    /// The number of a tile's elements with a digit, once they are counted.
    Int count_of(const Int& d, const Int& valid, const tile_memory& shared) const {
        Int end = named("end_of_digit", Int(valid));
        BALM_IF (d < plan_.digits() - 1) {
            end = shared.rank.start(d + 1);
        }
        return end - shared.rank.start(d);
    }
    /// Where a tile's elements with the same digit go. `announce` receives their count before they are
    /// ranked.
    struct destination {
        std::function<void(const Int& digit, const Int& count)> announce;
        std::function<Index(const Int& digit, const Int& count)> first;
    };
    void move_tile(const memory& from, const memory& to, const Index& begin, const Index& end,
                   const Int& from_bit, bool has_nans, const tile_memory& shared,
                   const destination& where) const {
        const Int valid = named("valid", cast<int>(min(end - begin, Index(tile_size()))));
        const elements numbers = loaded_numbers(from.keys, begin, end);
        if (plan_.has_sub_groups) shared.shift.store(Int(0), {block::node_of(from_bit)});
        const auto counted = shared.rank.count(plan_.each, digits_of(numbers, from_bit, has_nans));
        // Uses a shift that compilers do not know, so that digits do not stay in registers after the count.
        const Int shift_again = plan_.has_sub_groups ? Int(shared.shift.load(Int(0))[0]) : from_bit;
        const auto digits = digits_of(numbers, shift_again, has_nans);
        each_digit([&](const Int& d) { where.announce(d, count_of(d, valid, shared)); });
        const std::vector<Int> ranks = shared.rank.ranks(plan_.each, digits, counted);
        g_.barrier();
        const block::types types{key_type()};
        const block::arrays room = room_of(types, shared);
        block::put_at_ranks(g_, numbers, ranks, room);
        each_digit([&](const Int& d) {
            const Index base = where.first(d, count_of(d, valid, shared)) - shared.rank.start(d);
            shared.bases.store(d, {trace::convert(block::node_of(base), place_type())});
        });
        g_.barrier();

        const block::positions at(g_, arrangement::striped, plan_.each);
        const elements sorted = block::take(g_, types, plan_.each, arrangement::striped, room);
        values places;
        for (int k = 0; k < plan_.each; ++k) {
            const Int d = digit_of_number(sorted[static_cast<std::size_t>(k)], from_bit, has_nans);
            const node offset = trace::convert(block::node_of(at[k]), place_type());
            places.push_back(trace::apply(builtin::add, shared.bases.load(d)[0], offset));
            trace::name(places.back(), "place");
        }
        store(to.keys, keys_of(sorted), places, at, valid);
        if (!has_values()) return;
        g_.barrier();
        const elements own = loaded(from.values, begin, end);
        store(to.values, exchanged(own, ranks, arrangement::striped, shared), places, at, valid);
    }
    void sweep_tile(const tile_memory& shared, const Int& step, bool has_nans) const {
        const Index tile = named("tile", Index(group_id(0)));
        const Index begin = named("begin", tile * tile_size());
        const Index first = given("pass") * plan_.digits();
        const auto word = [&](const Int& d) { return tile * plan_.digits() + d; };
        const auto announce = [&](const Int& d, const Int& count) {
            announce_count(given_["words"], word(d), count, step);
        };
        const auto first_place = [&](const Int& d, const Int& count) {
            return elements_ahead(given_["words"], word(d), Int(plan_.digits()), count, step) +
                   cast<std::int64_t>(ULong(histograms()[first + d]));
        };
        move_tile(memory_at(step == 1), memory_at(step == 0), begin, given("n"), named("shift", shift()),
                  has_nans, shared, {announce, first_place});
    }
    void store(const node& to, const elements& list, const values& places, const block::positions& at,
               const Int& valid) const {
        BALM_IF (valid == tile_size()) {
            for (std::size_t k = 0; k < list.size(); ++k) trace::store(to, places[k], list[k][0], {});
        }
        BALM_ELSE {
            for (std::size_t k = 0; k < list.size(); ++k) {
                BALM_IF (at[static_cast<int>(k)] < valid) {
                    trace::store(to, places[k], list[k][0], {});
                }
            }
        }
    }
    void put_back(const node& to, const elements& list, const section& own, const tile_memory& shared) const {
        const elements striped = block::exchange(g_, list, arranged(g_), arrangement::striped,
                                                 room_of(block::types_of(list[0]), shared));
        g_.barrier();
        block::store(g_, arrangement::striped, striped, own.begin, own.end,
                     [&](const Index& i, const values& each) { set(to, i, each[0]); });
    }
    static elements as_variables(const char* word, const elements& list) {
        elements made;
        for (const values& each : list) made.push_back(block::variables(word, each));
        return made;
    }
    static elements read(const elements& variables) {
        elements made;
        for (const values& each : variables) made.push_back(block::read(each));
        return made;
    }
    static void write(const elements& variables, const elements& now) {
        for (std::size_t k = 0; k < now.size(); ++k) block::write(variables[k], now[k]);
    }

    /// Counters that a group's work-items increment, zeroed before a barrier.
    LocalPtr<unsigned> shared_counters(int count) const {
        const node made =
            trace::object(scalar::u32, static_cast<std::uint64_t>(count), space::local, false, {});
        trace::name(made, "counters");
        LocalPtr<unsigned> counters(made);
        g_.share_out(count, [&](const Int& d) { counters[d] = 0u; });
        g_.barrier();
        return counters;
    }
    /// Calls take(key) for the keys from own.begin on, one tile after the other, `step` apart.
    void each_key(const node& keys, const section& own, const Index& step,
                  const std::function<void(const node&)>& take) const {
        const block::positions at(g_, arrangement::striped, plan_.each);
        for (Index begin : named("begin", range(own.begin, own.end, step))) {
            const Index first = named("first", begin + at[0]);
            const auto place = [&](int k) { return first + k * g_.items(); };
            BALM_IF (begin + tile_size() <= own.end) {
                elements list;
                for (int k = 0; k < plan_.each; ++k) list.push_back({element(keys, place(k))});
                for (const values& each : list) take(each[0]);
            }
            BALM_ELSE {
                for (int k = 0; k < plan_.each; ++k) {
                    const Index i = place(k);
                    BALM_IF (i < own.end) {
                        take(element(keys, i));
                    }
                }
            }
        }
    }
};

}  // namespace balm::array::radix_sorting
