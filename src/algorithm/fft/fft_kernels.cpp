// Traces the passes of transforms.

#include "algorithm/fft/fft_kernels.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "algorithm/block/group.hpp"
#include "algorithm/fft/butterfly.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"

namespace balm::array {

namespace {

/// Quotient and remainder of non-negative numbers, by shifts and masks if the divisor is a power of two.
dsl::Int quotient_of(const dsl::Int& n, int by) {
    const auto divisor = static_cast<unsigned>(by);
    return std::has_single_bit(divisor) ? dsl::Int(n >> std::countr_zero(divisor)) : dsl::Int(n / by);
}
dsl::Int rest_of(const dsl::Int& n, int by) {
    return std::has_single_bit(static_cast<unsigned>(by)) ? dsl::Int(n & (by - 1)) : dsl::Int(n % by);
}

/// The number of 8-byte numbers that the banks of local memory serve at once. One number of padding follows
/// as many numbers, and the pitch of lines avoids bank conflicts between work-items across lines.
constexpr int banks = 16;
int padded(int position) { return position + position / banks; }
int pitch_of(const fft_plan_of_pass& plan) {
    const int wanted = plan.lines >= banks ? 1 : banks / std::max(plan.lines, 1) % banks;
    int pitch = padded(plan.length);
    while (pitch % banks != wanted) ++pitch;
    return pitch;
}

}  // namespace

std::size_t stage_roots(const std::vector<int>& radices) {
    std::size_t count = 0, before = static_cast<std::size_t>(radices[0]);
    for (std::size_t s = 1; s < radices.size(); ++s) {
        count += before * static_cast<std::size_t>(radices[s] - 1);
        before *= static_cast<std::size_t>(radices[s]);
    }
    return count;
}

std::size_t fft_room(const fft_plan_of_pass& plan) {
    return static_cast<std::size_t>(plan.lines) * static_cast<std::size_t>(pitch_of(plan));
}

namespace {

using namespace balm::dsl;
using block::node_of;

/// N is Int or Index, the type of positions.
template <class N>
class recorder {
public:
    /// Of the kernel's pass `number`. `row` is the private memory for a row.
    recorder(const parameter_list& given, const fft_plan_of_kernel& plan, std::size_t number,
             const std::optional<trace::node>& row, const tape& p, const layout& leaves)
        : given_(given),
          plan_(plan.passes[number]),
          number_(number),
          is_first_(number == 0),
          is_last_(number + 1 == plan.passes.size()),
          between_(plan.between == fft_between::memory ? "between" : "out"),
          row_(row),
          p_(p),
          leaves_(leaves) {}

    void record() const {
        if (plan_.shape == fft_shape::tile_a_group) return record_tile();
        const Index lines = given("lines"), share = given("share");
        const Index first = named("first", group_id(0) * share);
        record_lines(first, min(first + share, lines));
    }
    /// Both passes, row by row.
    static void record_rows(const recorder& first_pass, const recorder& second_pass) {
        const Index rows = first_pass.given("rows"), share = first_pass.given("share");
        const Index first = named("first_row", group_id(0) * share);
        for (Index row : named("row", range(first, min(first + share, rows)))) {
            first_pass.record_lines_of(row);
            second_pass.record_lines_of(row);
        }
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }
    /// The name of a parameter that each pass of the kernel has.
    parameter_name own(const char* name) const { return {name, number_}; }
    /// A size in the type of positions.
    N size(parameter_name name) const {
        if constexpr (std::is_same_v<N, Int>)
            return cast<int>(given(name));
        else
            return given(name);
    }
    trace::type pair() const { return {plan_.element, 2}; }

    // ---- lines

    /// A line of the pass: its transform (outer), and where the line and its results begin in that transform.
    struct line_place {
        N outer, begin, out, fine;
        Int turn;  ///< the exponent of the twiddle factor of element 1
    };
    line_place line_of(const N& number) const {
        if (plan_.is_rows) return {number, N(0), N(0), N(0), Int(0)};
        const N distance = size(own("distance"));
        const N outer = named("outer", number / distance);
        const N begin = named("begin", number - outer * distance);
        N out = begin, fine = begin;
        if (!plan_.keeps_places) {
            const N wide = size(own("out_distance"));
            const N coarse = begin / wide;
            fine = begin - coarse * wide;
            out = named("out_begin", coarse * (wide * plan_.length) + fine);
        }
        return {outer, begin, out, fine, turn_of(fine)};
    }
    Int turn_of(const N& fine) const {
        if (!plan_.is_turned) return Int(0);
        const Int narrow = cast<int>(fine);
        return plan_.has_inner ? named("turn", narrow / cast<int>(given("inner"))) : narrow;
    }
    /// Line k after this one, a neighbour in the same transform.
    line_place neighbour(const line_place& of, int k) const {
        const N fine = of.fine + (plan_.out_apart == 1 ? k : 0);
        return {of.outer, of.begin + k, of.out + k * plan_.out_apart, fine, turn_of(fine)};
    }

    // ---- elements in and out

    complex_parts parts_of(const trace::node& value) const {
        if (value.type.lanes == 1)
            return {trace::convert(value, plan_.element), trace::constant(plan_.element, 0)};
        return {trace::swizzle(value, 0, 1), trace::swizzle(value, 1, 1)};
    }
    trace::node pair_of(const complex_parts& value) const {
        const trace::node both[] = {value.re, value.im};
        return trace::compose(pair(), both, 2);
    }
    complex_parts from(parameter_name table, const Int& k) const {
        return parts_of(trace::load(given_[table], node_of(k), {}));
    }
    /// The factor of an element of the dimension.
    complex_parts factor(const char* table, const N& place) const {
        const Int at = cast<int>(place);
        return from(table, plan_.has_inner ? at / cast<int>(given("inner")) : at);
    }
    complex_parts load(const line_place& of, const Int& p) const {
        const N place = plan_.is_rows ? N(p) : N(of.begin + N(p) * size(own("distance")));
        const fft_end& end = plan_.in;
        const N extent = end.is_cut ? size("in_extent") : extent_of_line();
        const N inside = end.is_cut ? min(place, extent - 1) : place;
        complex_parts value = loaded(of.outer * extent, inside);
        if (end.swaps_first) value = swapped(value);
        if (end.has_factors) value = value * factor("in_factors", inside);
        if (end.swaps_last) value = swapped(value);
        if (!end.is_cut) return value;
        const trace::node is_there = node_of(Bool(place < extent)), zero = trace::constant(plan_.element, 0);
        return {trace::select(is_there, value.re, zero), trace::select(is_there, value.im, zero)};
    }
    complex_parts loaded(const N& first, const N& place) const {
        if (!is_first_ && row_) return parts_of(trace::load(*row_, node_of(place), {}));
        const trace::node flat = node_of(Index(first + place));
        if (!is_first_) return parts_of(trace::load(given_[between_], flat, {}));
        return parts_of(array::record(p_, leaves_, given_, coordinates(flat))[0]);
    }
    void keep(const N& first, const N& place, const trace::node& value) const {
        if (!is_last_ && row_) return trace::store(*row_, node_of(place), value, {});
        trace::store(given_[is_last_ ? "out" : between_], node_of(Index(first + place)), value, {});
    }
    N extent_of_line() const { return plan_.is_rows ? N(plan_.length) : size("extent"); }

    void store(const line_place& of, const Int& p, const complex_parts& result) const {
        const N place = plan_.is_rows        ? N(p)
                        : plan_.keeps_places ? N(of.out + N(p) * size(own("distance")))
                                             : N(of.out + N(p) * size(own("out_distance")));
        const fft_end& end = plan_.out;
        const N extent = end.is_cut ? size("out_extent") : extent_of_line();
        const auto give = [&] {
            complex_parts value = result;
            if (end.swaps_first) value = swapped(value);
            if (end.has_factors) value = value * factor("out_factors", place);
            if (end.swaps_last) value = swapped(value);
            if (plan_.is_scaled) value = scaled(value, given_["scale"]);
            keep(of.outer * extent, place, pair_of(value));
        };
        if (!end.is_cut) return give();
        BALM_IF (place < extent) {
            give();
        }
    }

    // ---- roots

    /// exp(-2 π i k / (length * earlier)), as the product of two numbers of a table.
    complex_parts turned_by(const Int& k) const {
        const Int bits = cast<int>(given(own("turn_bits")));
        const Int coarse = k >> bits, fine = k & ((Int(1) << bits) - 1);
        return from(own("turns"), fine) * from(own("turns"), (Int(1) << bits) + coarse);
    }
    /// The twiddle factors of a radix's inputs q in one line, which are `between` elements apart, without the
    /// factor that all have in common. Those of powers of two come from the table, the others are products.
    complex_list turns(const line_place& of, int radix, int between) const {
        return powers(radix, [&](int q) { return turned_by(of.turn * (q * between)); });
    }
    template <class Power>
    static complex_list powers(int count, Power&& power_of_two) {
        complex_list made(1);
        for (int q = 1; q < count; ++q) {
            int highest = 1;
            while (2 * highest <= q) highest *= 2;
            const auto rest = static_cast<std::size_t>(q - highest);
            made.push_back(rest == 0 ? power_of_two(q)
                                     : made[rest] * made[static_cast<std::size_t>(highest)]);
        }
        return made;
    }
    /// Multiplies the inputs of a stage's radix by the roots of the stage.
    void turn_stage(complex_list& x, int before, int first_root, const Int& k) const {
        for (std::size_t q = 1; q < x.size(); ++q)
            x[q] = x[q] * from(own("roots"), k + (first_root + (static_cast<int>(q) - 1) * before));
    }

    // ---- CPUs

    using lanes_of_lines = std::vector<line_place>;

    trace::type lane_type() const { return {plan_.element, static_cast<std::uint8_t>(plan_.lanes)}; }
    template <class Each>
    complex_parts in_lanes(const lanes_of_lines& all, Each&& each) const {
        if (all.size() == 1) return each(all[0]);
        std::vector<trace::node> re, im;
        for (const line_place& one : all) {
            const complex_parts value = each(one);
            re.push_back(value.re);
            im.push_back(value.im);
        }
        return {trace::compose(lane_type(), re.data(), re.size()),
                trace::compose(lane_type(), im.data(), im.size())};
    }
    static complex_parts lane(const complex_parts& value, std::size_t k) {
        if (value.re.type.lanes == 1) return value;
        return {trace::swizzle(value.re, k, 1), trace::swizzle(value.im, k, 1)};
    }

    void record_lines_of(const Index& row) const {
        const Index lines = given(own("distance"));
        record_lines(row * lines, (row + 1) * lines);
    }
    void record_lines(const Index& first, const Index& end) const {
        const block::types both{lane_type(), lane_type()};
        const auto count = static_cast<std::size_t>(plan_.length);
        const bool has_stages = plan_.radices.size() > 1;
        const block::arrays one("one", both, has_stages ? count : 1, space::private_),
            other("other", both, plan_.radices.size() > 2 ? count : 1, space::private_);
        for (Index at : named("at", range(first, end, std::int64_t{plan_.lanes}))) {
            lanes_of_lines all{line_of(narrowed(at))};
            // Lanes beyond the last line repeat the last line.
            for (int k = 1; k < plan_.lanes; ++k)
                all.push_back(plan_.out_apart > 0 ? neighbour(all[0], k)
                                                  : line_of(narrowed(min(at + k, end - 1))));
            record_stages(all, one, other);
        }
    }
    static N narrowed(const Index& number) {
        if constexpr (std::is_same_v<N, Int>)
            return cast<int>(number);
        else
            return number;
    }

    void record_stages(const lanes_of_lines& all, const block::arrays& one,
                       const block::arrays& other) const {
        int before = 1, first_root = 0;
        const std::size_t last = plan_.radices.size() - 1;
        for (std::size_t s = 0; s <= last; ++s) {
            const int radix = plan_.radices[s], between = plan_.length / radix;
            const block::arrays &from = s % 2 == 1 ? one : other, &to = s % 2 == 1 ? other : one;
            complex_list coarse;
            if (s == 0 && plan_.is_turned) coarse = coarse_turns(all, radix, between);
            const auto butterfly = [&](const Int& k, const Int& block_number, const complex_list& roots) {
                const Int j = block_number * before + k;
                complex_list x;
                for (int q = 0; q < radix; ++q)
                    x.push_back(s == 0 ? load_lanes(all, j + q * between)
                                       : parts_in(from.load(Int(j + q * between))));
                if (!coarse.empty()) turn_lanes(x, all, j, coarse);
                for (std::size_t q = 0; q < roots.size(); ++q) x[q + 1] = x[q + 1] * roots[q];
                x = transformed(x);
                for (int q = 0; q < radix; ++q) {
                    const Int place = block_number * (before * radix) + k + q * before;
                    const complex_parts& result = x[static_cast<std::size_t>(q)];
                    if (s == last)
                        store_lanes(all, place, result);
                    else
                        to.store(place, {result.re, result.im});
                }
            };
            for (Int k : named("k", range(before))) {
                complex_list roots;
                if (s > 0)
                    for (int q = 1; q < radix; ++q)
                        roots.push_back(this->from(own("roots"), k + (first_root + (q - 1) * before)));
                for (Int number : named("j", range(between / before))) butterfly(k, number, roots);
            }
            if (s > 0) first_root += before * (radix - 1);
            before *= radix;
        }
    }
    static complex_parts parts_in(const block::values& both) { return {both[0], both[1]}; }
    complex_parts load_lanes(const lanes_of_lines& all, const Int& p) const {
        return in_lanes(all, [&](const line_place& one) { return load(one, p); });
    }
    void store_lanes(const lanes_of_lines& all, const Int& p, const complex_parts& result) const {
        for (std::size_t k = 0; k < all.size(); ++k) store(all[k], p, lane(result, k));
    }
    /// The twiddle factors of element p in all lanes. If lanes have consecutive exponents, they are those of
    /// the first lane times powers of exp(-2 π i p / (length * earlier)) from a table.
    complex_parts turned_lanes(const lanes_of_lines& all, const Int& p) const {
        if (plan_.turns == lane_turns::any)
            return in_lanes(all, [&](const line_place& one) { return turned_by(one.turn * p); });
        const complex_parts first = turned_by(all[0].turn * p),
                            made{trace::compose(lane_type(), &first.re, 1),
                                 trace::compose(lane_type(), &first.im, 1)};
        if (plan_.turns == lane_turns::equal) return made;
        const trace::node table =
            trace::reinterpret(given_[own("lane_turns")], pointer_to(lane_type(), space::global, true));
        return made * complex_parts{trace::load(table, node_of(p * 2), {}),
                                    trace::load(table, node_of(p * 2 + 1), {})};
    }
    complex_list coarse_turns(const lanes_of_lines& all, int radix, int between) const {
        return powers(radix, [&](int q) { return turned_lanes(all, Int(q * between)); });
    }
    void turn_lanes(complex_list& x, const lanes_of_lines& all, const Int& j,
                    const complex_list& coarse) const {
        const complex_parts fine = turned_lanes(all, j);
        x[0] = x[0] * fine;
        for (std::size_t q = 1; q < x.size(); ++q) x[q] = x[q] * (coarse[q] * fine);
    }

    // ---- GPUs

    /// The numbers of a stage that a work-item has: the inputs or results of some radices of its line.
    struct item_share {
        Int line;            ///< in the group
        std::vector<Int> j;  ///< of each radix
        bool is_partial;     ///< the last one may be beyond the line
    };
    item_share share_of(const Int& item, bool is_across, int radix) const {
        item_share made;
        made.line = is_across ? named("line", rest_of(item, plan_.lines))
                              : named("line", quotient_of(item, plan_.items));
        const Int first =
            is_across ? named("t", quotient_of(item, plan_.lines)) : named("t", rest_of(item, plan_.items));
        const int radices = plan_.length / radix, each = (radices + plan_.items - 1) / plan_.items;
        made.is_partial = radices % plan_.items != 0;
        for (int k = 0; k < each; ++k) made.j.push_back(first + k * plan_.items);
        return made;
    }
    /// The number of radix k of the share, clamped to the last one of the line.
    Int within(const item_share& of, std::size_t k, int radix) const {
        const bool is_last = of.is_partial && k + 1 == of.j.size();
        return is_last ? Int(min(of.j[k], plan_.length / radix - 1)) : of.j[k];
    }
    template <class Body>
    void where_within(const item_share& of, std::size_t k, int radix, Body&& body) const {
        if (!of.is_partial || k + 1 < of.j.size()) return body();
        BALM_IF (of.j[k] < plan_.length / radix) {
            body();
        }
    }

    /// The slot in local memory of a position in a line.
    Int slot(const Int& of_line, const Int& position) const {
        return of_line * pitch_of(plan_) + position + quotient_of(position, banks);
    }
    /// The slots of positions first, first + apart, …, at constant distances from the first if the padding
    /// allows it. `first` is a multiple of `step` plus a number below `apart`.
    std::vector<Int> slots(const Int& of_line, const Int& first, int apart, int step, int count) const {
        const bool is_constant =
            apart % banks == 0 || (banks % apart == 0 && (step % banks == 0 || banks % step == 0));
        const Int base = named("slot", slot(of_line, first));
        std::vector<Int> made;
        made.reserve(static_cast<std::size_t>(count));
        for (int q = 0; q < count; ++q)
            made.push_back(is_constant ? base + padded(q * apart) : slot(of_line, first + q * apart));
        return made;
    }

    /// Local memory through which numbers are exchanged: whole, or one part after the other. What the group
    /// has loaded before the first exchange others may overwrite after it, in a transform in place.
    struct exchange_memory {
        const block::group& g;
        block::arrays memory;
        mutable bool is_used = false;
    };
    template <class Put, class Take>
    void exchange(const exchange_memory& through, Put&& put, Take&& take) const {
        const int turns = plan_.splits_parts ? 2 : 1;
        for (int turn = 0; turn < turns; ++turn) {
            if (through.is_used) through.g.barrier();
            put(turn);
            through.is_used ? through.g.barrier() : through.g.barrier_of_all_memory();
            through.is_used = true;
            take(turn);
        }
    }
    void put_number(const exchange_memory& through, const Int& at, const complex_parts& value,
                    int turn) const {
        if (plan_.splits_parts)
            through.memory.store(at, {turn == 0 ? value.re : value.im});
        else
            through.memory.store(at, {pair_of(value)});
    }
    void take_number(const exchange_memory& through, const Int& at, complex_parts& value, int turn) const {
        const trace::node found = through.memory.load(at)[0];
        if (!plan_.splits_parts)
            value = parts_of(found);
        else
            (turn == 0 ? value.re : value.im) = found;
    }

    using numbers = std::vector<complex_list>;  ///< of each radix of a share

    void record_tile() const {
        const block::group g({static_cast<std::size_t>(plan_.group()), true});
        const block::types of{plan_.splits_parts ? trace::type(plan_.element) : pair()};
        const bool needs_memory = plan_.is_staged || plan_.radices.size() > 1;
        const exchange_memory through{g, g.shared("shared", of, needs_memory ? fft_room(plan_) : 1)};
        const Index tile = named("first_line", group_id(0) * plan_.lines);
        const Index lines = given("lines");

        const std::size_t last = plan_.radices.size() - 1;
        item_share own = share_of(g.item(), plan_.loads_across, plan_.radices[0]);
        const line_place in_line = line_of(narrowed(min(tile + own.line, lines - 1)));
        numbers x = plan_.is_staged ? loaded_by_neighbours(through, tile, own)
                                    : loaded(in_line, own, Bool(tile + own.line < lines));
        if (plan_.is_turned) turn(x, in_line, own);
        for (complex_list& each : x) each = transformed(each);

        int before = plan_.radices[0], first_root = 0;
        for (std::size_t s = 1; s <= last; ++s) {
            const int radix = plan_.radices[s];
            item_share next = share_of(g.item(), plan_.stores_across, radix);
            x = exchanged(through, x, own, plan_.radices[s - 1], before, next, radix);
            for (std::size_t k = 0; k < x.size(); ++k) {
                turn_stage(x[k], before, first_root, rest_of(within(next, k, radix), before));
                x[k] = transformed(x[k]);
            }
            first_root += before * (radix - 1);
            before *= radix;
            own = std::move(next);
        }

        if (plan_.is_staged) return store_by_neighbours(through, tile, own, x);
        const bool is_same = last == 0 || plan_.loads_across == plan_.stores_across;
        const Index number = tile + own.line;
        const line_place out_line = is_same ? in_line : line_of(narrowed(min(number, lines - 1)));
        BALM_IF (number < lines) {
            store_all(out_line, own, x);
        }
    }

    /// The numbers that the body loads; zeros in work-items without a line. The last line, which they would
    /// load instead, may be overwritten meanwhile by the work-items that transform it in place.
    template <class Body>
    complex_list loaded_if(const Bool& has_line, std::size_t count, Body&& body) const {
        if (plan_.lines == 1) return body();
        const trace::node zero = trace::constant(plan_.element, 0);
        const block::values kept = block::variables("loaded", block::values(2 * count, zero));
        BALM_IF (has_line) {
            block::values found;
            for (const complex_parts& each : body()) {
                found.push_back(each.re);
                found.push_back(each.im);
            }
            block::write(kept, found);
        }
        const block::values now = block::read(kept);
        complex_list made;
        for (std::size_t k = 0; k < count; ++k) made.push_back({now[2 * k], now[2 * k + 1]});
        return made;
    }
    numbers loaded(const line_place& of, const item_share& own, const Bool& has_line) const {
        const int radix = plan_.radices[0];
        const auto each = static_cast<std::size_t>(radix);
        const complex_list all = loaded_if(has_line, own.j.size() * each, [&] {
            complex_list x;
            for (std::size_t k = 0; k < own.j.size(); ++k) {
                const Int j = within(own, k, radix);
                for (int q = 0; q < radix; ++q) x.push_back(load(of, j + q * (plan_.length / radix)));
            }
            return x;
        });
        numbers made;
        for (auto at = all.begin(); at != all.end(); at += radix) made.emplace_back(at, at + radix);
        return made;
    }
    void turn(numbers& x, const line_place& of, const item_share& own) const {
        const int radix = plan_.radices[0];
        const complex_list coarse = turns(of, radix, plan_.length / radix);
        for (std::size_t k = 0; k < x.size(); ++k) {
            const complex_parts fine = turned_by(of.turn * within(own, k, radix));
            x[k][0] = x[k][0] * fine;
            for (std::size_t q = 1; q < x[k].size(); ++q) x[k][q] = x[k][q] * (coarse[q] * fine);
        }
    }
    /// Exchanges a stage's results for the inputs of the next one. `before`: the product of the radices so
    /// far.
    numbers exchanged(const exchange_memory& through, const numbers& x, const item_share& own, int radix,
                      int before, const item_share& next, int next_radix) const {
        numbers made(next.j.size(), complex_list(static_cast<std::size_t>(next_radix)));
        exchange(
            through,
            [&](int turn) {
                for (std::size_t k = 0; k < x.size(); ++k)
                    where_within(own, k, radix, [&] { put_results(through, x[k], own, k, before, turn); });
            },
            [&](int turn) {
                for (std::size_t k = 0; k < made.size(); ++k) take_inputs(through, made[k], next, k, turn);
            });
        return made;
    }
    /// Loads a radix's inputs from their positions in the line.
    void take_inputs(const exchange_memory& through, complex_list& x, const item_share& own, std::size_t k,
                     int turn) const {
        const int radix = static_cast<int>(x.size()), apart = plan_.length / radix;
        const std::vector<Int> at = slots(own.line, within(own, k, radix), apart, apart, radix);
        for (std::size_t q = 0; q < x.size(); ++q) take_number(through, at[q], x[q], turn);
    }
    /// Stores a radix's results at their positions in the line.
    void put_results(const exchange_memory& through, const complex_list& x, const item_share& own,
                     std::size_t k, int before, int turn) const {
        const int radix = static_cast<int>(x.size()), apart = before / radix;
        const Int& j = own.j[k];
        const Int first =
            apart == 1 ? Int(j * radix) : Int(quotient_of(j, apart) * before + rest_of(j, apart));
        const std::vector<Int> at = slots(own.line, first, apart, before, radix);
        for (std::size_t q = 0; q < x.size(); ++q) put_number(through, at[q], x[q], turn);
    }
    void store_all(const line_place& to, const item_share& own, const numbers& x) const {
        for (std::size_t k = 0; k < x.size(); ++k) {
            const int radix = static_cast<int>(x[k].size());
            where_within(own, k, radix, [&] {
                for (int q = 0; q < radix; ++q)
                    store(to, own.j[k] + q * (plan_.length / radix), x[k][static_cast<std::size_t>(q)]);
            });
        }
    }

    // ---- short rows: neighbouring work-items load and store neighbouring elements

    /// Calls body(row in the group, position in the row, k) for each element k of the work-item in a tile.
    template <class Body>
    void for_each_neighbour(const Int& item, bool is_clamped, Body&& body) const {
        const int count = plan_.lines * plan_.length, group = plan_.group();
        for (int k = 0; k * group < count; ++k) {
            const bool is_partial = (k + 1) * group > count;
            Int e = item + k * group;
            const auto give = [&](const Int& at) {
                body(quotient_of(at, plan_.length), rest_of(at, plan_.length), static_cast<std::size_t>(k));
            };
            if (!is_partial) {
                give(e);
            } else if (is_clamped) {
                give(min(e, count - 1));
            } else {
                BALM_IF (e < count) {
                    give(e);
                }
            }
        }
    }
    numbers loaded_by_neighbours(const exchange_memory& through, const Index& tile,
                                 const item_share& own) const {
        const int radix = plan_.radices[0];
        complex_list raw;
        for_each_neighbour(through.g.item(), true, [&](const Int& row, const Int& p, std::size_t) {
            const Index number = tile + row;
            const complex_list one = loaded_if(Bool(number < given("lines")), 1, [&] {
                return complex_list{load(line_of(narrowed(number)), p)};
            });
            raw.push_back(one[0]);
        });
        numbers made(own.j.size(), complex_list(static_cast<std::size_t>(radix)));
        exchange(
            through,
            [&](int turn) {
                for_each_neighbour(through.g.item(), false, [&](const Int& row, const Int& p, std::size_t k) {
                    put_number(through, slot(row, p), raw[k], turn);
                });
            },
            [&](int turn) {
                for (std::size_t k = 0; k < made.size(); ++k) take_inputs(through, made[k], own, k, turn);
            });
        return made;
    }
    void store_by_neighbours(const exchange_memory& through, const Index& tile, const item_share& own,
                             const numbers& x) const {
        complex_list raw;
        for_each_neighbour(through.g.item(), true,
                           [&](const Int&, const Int&, std::size_t) { raw.emplace_back(); });
        const int radix = static_cast<int>(x[0].size());
        exchange(
            through,
            [&](int turn) {
                for (std::size_t k = 0; k < x.size(); ++k)
                    where_within(own, k, radix,
                                 [&] { put_results(through, x[k], own, k, plan_.length, turn); });
            },
            [&](int turn) {
                for_each_neighbour(through.g.item(), true, [&](const Int& row, const Int& p, std::size_t k) {
                    take_number(through, slot(row, p), raw[k], turn);
                });
            });
        for_each_neighbour(through.g.item(), false, [&](const Int& row, const Int& p, std::size_t k) {
            const Index number = tile + row;
            BALM_IF (number < given("lines")) {
                store(line_of(narrowed(number)), p, raw[k]);
            }
        });
    }

    const parameter_list& given_;
    const fft_plan_of_pass& plan_;
    const std::size_t number_;
    const bool is_first_, is_last_;
    const char* const between_;  ///< the memory between passes, unless it is private
    const std::optional<trace::node> row_;
    const tape& p_;
    const layout& leaves_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_fft(trace::recording& r, const parameter_list& given,
                                              const fft_plan_of_kernel& plan, const tape& p,
                                              const layout& leaves) {
    int length = 1;
    for (const fft_plan_of_pass& each : plan.passes) length *= each.length;
    r.describe("transforms of " + std::to_string(length) + " numbers of " + describe(p, leaves, given)[0]);
    std::optional<trace::node> row;
    if (plan.between == fft_between::item) {
        row = trace::object({plan.passes[0].element, 2}, static_cast<std::uint64_t>(length), space::private_,
                            false, {});
        trace::name(*row, "row_values");
    }
    const auto record = [&]<class N>() {
        const recorder<N> first(given, plan, 0, row, p, leaves);
        if (!plan.is_of_rows()) return first.record();
        recorder<N>::record_rows(first, recorder<N>(given, plan, 1, row, p, leaves));
    };
    if (plan.passes[0].is_narrow)
        record.template operator()<Int>();
    else
        record.template operator()<Index>();
    return r.finish(nullptr);
}

}  // namespace balm::array
