// Traces the kernels of radix sorts.

#include "algorithm/sort/radix_kernels.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "algorithm/block/exchange.hpp"
#include "algorithm/block/radix_rank.hpp"
#include "algorithm/block/scan.hpp"
#include "algorithm/block/tile.hpp"
#include "algorithm/sort/digit_look_back.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using block::arrangement;
using block::elements;
using block::values;
using dsl::atomic_add;
using dsl::atomic_inc;
using dsl::Bool;
using dsl::cast;
using dsl::global_barrier;
using dsl::global_id;
using dsl::global_size;
using dsl::group_count;
using dsl::group_id;
using dsl::Index;
using dsl::Int;
using dsl::LocalPtr;
using dsl::min;
using dsl::named;
using dsl::Ptr;
using dsl::range;
using dsl::select;
using dsl::UInt;
using dsl::ULong;
using trace::node;

/// Counts that a work-item of a CPU keeps of a digit, each of every so-manieth key: adding to one count twice
/// waits for the first sum to be stored.
constexpr int tables_of_item = 4;

block::operation sum_of_counts() { return block::sums(scalar::i64); }

node element(const node& memory, const Index& i) { return trace::load(memory, block::node_of(i), {}); }
void set(const node& memory, const Index& i, const node& value) {
    trace::store(memory, block::node_of(i), value, {});
}
Int count_in(const block::arrays& counters, const Int& at) { return Int(counters.load(at)[0]); }
Index position_in(const block::arrays& positions, const Int& at) { return Index(positions.load(at)[0]); }
void put(const block::arrays& to, const Int& at, const Int& count) { to.store(at, {block::node_of(count)}); }
void put(const block::arrays& to, const Int& at, const Index& place) {
    to.store(at, {block::node_of(place)});
}

class radix_recorder {
public:
    radix_recorder(trace::recording& r, const parameter_list& given, const radix_plan& plan)
        : plan_(plan), r_(r), given_(given), g_({plan.group, plan.is_exact, plan.has_sub_groups}) {}

    std::shared_ptr<const ir::function> traced() {
        switch (plan_.stage) {
            case radix_stage::whole: plan_.on_item() ? sort_row_of_item() : sort_row_of_group(); break;
            case radix_stage::count: plan_.on_item() ? count_chunk_of_item() : count_chunk_of_group(); break;
            case radix_stage::scan: scan_counts(); break;
            case radix_stage::scatter:
                plan_.on_item() ? scatter_chunk_of_item() : scatter_chunk_of_group();
                break;
            case radix_stage::histograms: count_all_digits(); break;
            case radix_stage::scan_histograms: scan_histograms(); break;
            case radix_stage::sweep: sweep_tile(); break;
            case radix_stage::settle: settle(); break;
        }
        return r_.finish(nullptr);
    }

private:
    // ---- what is given

    Index given(parameter_name name) const { return Index(given_[name]); }
    Int shift() const { return cast<int>(given("pass")) * plan_.digit_bits; }
    Ptr<std::uint64_t> state() const { return Ptr<std::uint64_t>(given_["state"]); }
    Int state(std::size_t word) const { return cast<int>(ULong(state()[static_cast<std::int64_t>(word)])); }
    Int step_of_pass() const {
        return named("step", cast<int>(ULong(state()[given("pass") + std::int64_t{radix_state::step(0)}])));
    }
    bool has_values() const { return plan_.value_bytes > 0; }
    trace::type key_type() const { return plan_.order.bits_type(); }
    trace::type value_type() const { return unsigned_of_bytes(plan_.value_bytes); }
    Int digit(const node& key, const Int& from_bit) const {
        return digit_of(key, plan_.order, from_bit, plan_.digit_bits);
    }

    /// The vector's memory, or the spare one's.
    struct memory {
        node keys, values;
    };
    node memory_at(const Bool& is_spare, parameter_name own, parameter_name spare) const {
        const values chosen = block::variables(own.word, {given_[own]});
        IF (is_spare) {
            block::write(chosen, {given_[spare]});
        }
        return block::read(chosen)[0];
    }
    memory memory_at(const Bool& is_spare) const {
        return {memory_at(is_spare, "keys", "spare_keys"),
                has_values() ? memory_at(is_spare, "values", "spare_values") : node{}};
    }

    struct section {
        Index number, begin, end;
    };
    section own_chunk() const {
        const Index number = named("chunk", group_id(0));
        const Index begin = named("begin", number * given("chunk_size"));
        return {number, begin, named("end", min(begin + given("chunk_size"), given("n")))};
    }
    section own_row() const {
        const Index number = named("row", group_id(0)), begin = named("begin", number * given("n"));
        return {number, begin, named("end", begin + given("n"))};
    }
    /// Where the count of a digit in a chunk is, or where its elements go.
    Index slot(const Int& of_digit, const Index& chunk) const { return of_digit * given("chunks") + chunk; }
    Ptr<std::int64_t> counts() const { return Ptr<std::int64_t>(given_["counts"]); }

    // ---- CPUs: a work-item has a chunk or row

    block::arrays counters_of_item() const {
        return g_.shared("counters", {scalar::i32},
                         static_cast<std::size_t>(tables_of_item * plan_.digits()));
    }
    block::arrays positions() const {
        return g_.shared("positions", {scalar::i64}, static_cast<std::size_t>(plan_.digits()));
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
    void copy(const section& own, const memory& from, const memory& to) const {
        for (Index i : named("i", range(own.begin, own.end))) {
            set(to.keys, i, element(from.keys, i));
            if (has_values()) set(to.values, i, element(from.values, i));
        }
    }

    void sort_row_of_item() const {
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
            IF (!is_shared) {
                scatter(own, from, to, from_bit, next);
                place = 1 - place;
            }
        }
        IF (place == 1) {
            copy(own, memory_at(Bool(true)), memory_at(Bool(false)));
        }
    }
    void count_chunk_of_item() const {
        const block::arrays counters = counters_of_item();
        const section own = own_chunk();
        count(own, memory_at(state(radix_state::place) == 1, "keys", "spare_keys"), shift(), counters);
        for (Int d : named("d", range(plan_.digits())))
            counts()[slot(d, own.number)] = cast<std::int64_t>(count_in(counters, d));
    }
    void scatter_chunk_of_item() const {
        const block::arrays next = positions();
        const section own = own_chunk();
        const Int step = step_of_pass();
        IF (step != radix_state::nothing) {
            for (Int d : named("d", range(plan_.digits())))
                put(next, d, Index(counts()[slot(d, own.number)]));
            scatter(own, memory_at(step == 1), memory_at(step == 0), shift(), next);
        }
    }

    // ---- counts of chunks, in one work-item or group

    /// Whether the condition is true in any work-item of the group. `flag` has one element.
    Bool in_any_item(const Bool& condition, const block::arrays& flag) const {
        if (g_.is_single()) return Bool(condition);
        IF (g_.item() == 0) {
            put(flag, Int(0), Int(0));
        }
        g_.barrier();
        IF (condition) {
            put(flag, Int(0), Int(1));
        }
        g_.barrier();
        return named("in_any_item", count_in(flag, Int(0)) != 0);
    }

    void scan_counts() const {
        const block::arrays flag = g_.shared("flag", {scalar::i32}, 1);
        const block::arrays shared = g_.shared("totals", {scalar::i64}, block::scan_room(g_));
        Index before = named("before", Index(0));
        Bool is_shared = named("is_shared", Bool(false));
        const Index chunks = given("chunks"), n = given("n");
        const Index all = named("all", plan_.digits() * chunks);
        // A digit's counts are read before they become positions.
        each_digit([&](const Int& d) {
            Index own = named("own", Index(0));
            for (Index c : named("c", range(chunks))) own += counts()[slot(d, c)];
            is_shared = is_shared || own == n;
        });
        const Bool is_any_shared = in_any_item(is_shared, flag);
        if (!g_.is_single()) global_barrier();
        const Index each = named("each", (all + (g_.items() - 1)) / g_.items());
        const Index begin = named("begin", min(g_.item() * each, all)),
                    end = named("end", min(begin + each, all));
        if (!g_.is_single()) {
            Index own = named("own", Index(0));
            for (Index k : named("k", range(begin, end))) own += counts()[k];
            before = Index(block::scan_exclusive(g_, sum_of_counts(), {block::node_of(own)}, shared)[0]);
        }
        for (Index k : named("k", range(begin, end))) {
            const Index own = counts()[k];
            counts()[k] = before;
            before += own;
        }
        IF (g_.item() == 0) {
            const Int place = state(radix_state::place);
            state()[given("pass") + std::int64_t{radix_state::step(0)}] =
                cast<std::uint64_t>(select(is_any_shared, radix_state::nothing, place));
            state()[std::int64_t{radix_state::place}] =
                cast<std::uint64_t>(select(is_any_shared, place, 1 - place));
        }
    }

    // ---- GPUs: tiles

    struct tile_memory {
        block::room room;
        block::radix_rank rank;
        block::arrays bases;  ///< where elements of a digit go, less the first one's position in the tile
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
    /// Of places in vectors.
    scalar place_type() const { return plan_.is_wide ? scalar::i64 : scalar::i32; }
    static arrangement arranged(const block::group& g) { return block::radix_rank::arranged(g); }
    Int tile_size() const { return g_.items() * plan_.each; }

    elements loaded(const node& from, const Index& begin, const Index& end) const {
        return block::load(g_, arranged(g_), plan_.each, begin, end,
                           [&](const Index& i) { return values{element(from, i)}; },
                           {trace::constant(trace::pointee(from.type).element, 0)});
    }
    /// Ordered numbers: neither the keys nor their digits stay in registers. Positions without an element
    /// have the greatest number, so that their ranks are the last ones.
    elements loaded_numbers(const node& from, const Index& begin, const Index& end) const {
        const auto number = [&](const Index& i) {
            return values{ordered_number(element(from, i), plan_.order)};
        };
        return block::load(
            g_, arranged(g_), plan_.each, begin, end, number,
            {trace::constant(plan_.order.bits_type(), ~std::uint64_t{0} >> (64 - plan_.order.bits()))});
    }
    Int digit_of_number(const values& number, const Int& from_bit) const {
        return digit_of(number[0], {plan_.order.bits_type()}, from_bit, plan_.digit_bits);
    }
    block::radix_rank::digits digits_of(const elements& numbers, const Int& from_bit) const {
        return [this, numbers, from_bit](int k) {
            return digit_of_number(numbers[static_cast<std::size_t>(k)], from_bit);
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
    template <class F>
    void each_digit(F&& body) const {
        g_.share_out(plan_.digits(), body);
    }
    /// How many of a tile's elements have a digit, once they are counted.
    Int count_of(const Int& d, const Int& valid, const tile_memory& shared) const {
        Int end = named("end_of_digit", Int(valid));
        IF (d < plan_.digits() - 1) {
            end = shared.rank.start(d + 1);
        }
        return end - shared.rank.start(d);
    }
    /// Where the elements of a tile that have the same digit go: told their number ahead of their ranks.
    struct destination {
        std::function<void(const Int& digit, const Int& count)> announce;
        std::function<Index(const Int& digit, const Int& count)> first;
    };
    void move_tile(const memory& from, const memory& to, const Index& begin, const Index& end,
                   const Int& from_bit, const tile_memory& shared, const destination& where) const {
        const Int valid = named("valid", cast<int>(min(end - begin, Index(tile_size()))));
        const elements numbers = loaded_numbers(from.keys, begin, end);
        if (plan_.has_sub_groups) shared.shift.store(Int(0), {block::node_of(from_bit)});
        const auto counted = shared.rank.count(plan_.each, digits_of(numbers, from_bit));
        // From a shift that compilers do not know, so that digits do not stay in registers from the count on.
        const Int shift_again = plan_.has_sub_groups ? Int(shared.shift.load(Int(0))[0]) : from_bit;
        const auto digits = digits_of(numbers, shift_again);
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
            const Int d = digit_of_number(sorted[static_cast<std::size_t>(k)], from_bit);
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
    void store(const node& to, const elements& list, const values& places, const block::positions& at,
               const Int& valid) const {
        IF (valid == tile_size()) {
            for (std::size_t k = 0; k < list.size(); ++k) trace::store(to, places[k], list[k][0], {});
        }
        ELSE {
            for (std::size_t k = 0; k < list.size(); ++k) {
                IF (at[static_cast<int>(k)] < valid) {
                    trace::store(to, places[k], list[k][0], {});
                }
            }
        }
    }

    /// All of a row is in one tile.
    void sort_row_of_group() const {
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
        dsl::barrier();  // all have loaded what others store
        put_back(given_["keys"], keys_of(read(numbers)), own, shared);
        if (has_values()) put_back(given_["values"], read(list), own, shared);
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

    /// Counters that a group's work-items add to, zeroed behind a barrier.
    LocalPtr<unsigned> shared_counters(int count) const {
        const node made =
            trace::object(scalar::u32, static_cast<std::uint64_t>(count), space::local, false, {});
        trace::name(made, "counters");
        LocalPtr<unsigned> counters(made);
        g_.share_out(count, [&](const Int& d) { counters[d] = 0u; });
        g_.barrier();
        return counters;
    }
    /// Calls take(key) for the keys of own.begin …, a tile after the other, `step` apart.
    void each_key(const node& keys, const section& own, const Index& step,
                  const std::function<void(const node&)>& take) const {
        const block::positions at(g_, arrangement::striped, plan_.each);
        for (Index begin : named("begin", range(own.begin, own.end, step))) {
            const Index first = named("first", begin + at[0]);
            const auto place = [&](int k) { return first + k * g_.items(); };
            IF (begin + tile_size() <= own.end) {
                elements list;
                for (int k = 0; k < plan_.each; ++k) list.push_back({element(keys, place(k))});
                for (const values& each : list) take(each[0]);
            }
            ELSE {
                for (int k = 0; k < plan_.each; ++k) {
                    const Index i = place(k);
                    IF (i < own.end) {
                        take(element(keys, i));
                    }
                }
            }
        }
    }
    void count_chunk_of_group() const {
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
    void scatter_chunk_of_group() const {
        const tile_memory shared = memory_of_tiles();
        const block::arrays next = positions();
        const section own = own_chunk();
        const Int step = step_of_pass();
        IF (step != radix_state::nothing) {
            each_digit([&](const Int& d) { put(next, d, Index(counts()[slot(d, own.number)])); });
            const memory from = memory_at(step == 1), to = memory_at(step == 0);
            const Int from_bit = named("shift", shift());
            for (Index begin : named("begin", range(own.begin, own.end, Index(tile_size())))) {
                // A digit's position is its work-item's own.
                const auto first = [&](const Int& d, const Int& count) {
                    const Index base = position_in(next, d);
                    put(next, d, base + count);
                    return base;
                };
                move_tile(from, to, begin, own.end, from_bit, shared, {[](const Int&, const Int&) {}, first});
                g_.barrier();
            }
        }
    }

    // ---- one kernel a pass

    Ptr<std::uint64_t> histograms() const { return state() + std::int64_t{radix_state::histograms}; }

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
            IF (own > 0u) {
                atomic_add(histograms()[d], cast<std::uint64_t>(own));
            }
        });
    }
    /// Groups have a work-item for each digit.
    void scan_histograms() const {
        const block::arrays flag = g_.shared("flag", {scalar::i32}, 1);
        const block::arrays shared = g_.shared("totals", {scalar::i64}, block::scan_room(g_));
        Int place = named("place", Int(0));
        for (Int pass : named("pass", range(plan_.passes()))) {
            const Int at = pass * plan_.digits() + g_.item();
            Index own = named("own", Index(0));
            IF (g_.item() < plan_.digits()) {
                own = cast<std::int64_t>(ULong(histograms()[at]));
            }
            const Bool is_shared = in_any_item(own == given("n"), flag);
            const Index before(block::scan_exclusive(g_, sum_of_counts(), {block::node_of(own)}, shared)[0]);
            IF (g_.item() < plan_.digits()) {
                histograms()[at] = cast<std::uint64_t>(before);
            }
            IF (g_.item() == 0) {
                state()[pass + static_cast<int>(radix_state::step(0))] =
                    cast<std::uint64_t>(select(is_shared, radix_state::nothing, place));
            }
            place = select(is_shared, place, 1 - place);
            g_.barrier();
        }
        IF (g_.item() == 0) {
            state()[std::int64_t{radix_state::place}] = cast<std::uint64_t>(place);
        }
    }
    void sweep_tile() const {
        const tile_memory shared = memory_of_tiles();
        const block::arrays started = g_.shared("started", {scalar::i64}, 1);
        const Int step = step_of_pass();
        IF (step != radix_state::nothing) {
            IF (g_.item() == 0) {
                const ULong before =
                    atomic_add(state()[given("pass") + std::int64_t{radix_state::started(0)}], 1);
                put(started, Int(0), cast<std::int64_t>(before));
            }
            g_.barrier();
            const Index tile = named("tile", position_in(started, Int(0)));
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
                      shared, {announce, first_place});
        }
    }
    void settle() const {
        IF (state(radix_state::place) == 1) {
            const memory from = memory_at(Bool(true)), to = memory_at(Bool(false));
            if (plan_.on_item()) {
                copy(own_chunk(), from, to);
            } else {
                for (Index i : named("i", range(global_id(0), given("n"), global_size(0)))) {
                    set(to.keys, i, element(from.keys, i));
                    if (has_values()) set(to.values, i, element(from.values, i));
                }
            }
        }
    }

    const radix_plan plan_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_radix_sort(trace::recording& r, const parameter_list& given,
                                                     const radix_plan& plan) {
    return radix_recorder(r, given, plan).traced();
}

}  // namespace balm::array
