// Traces the kernel of convolutions.
//
// On GPUs a work-item computes several results in a row along the convolution, and keeps as many values in
// registers: a step of one weight loads one value and one weight from local memory for all of them. Steps are
// unrolled until the values are back where they began, so that none is moved between registers. The number of
// results is odd, so that neighbours access different banks.
//
// On CPUs results are in memory, too: a pass over them adds the products of several weights, which compilers
// vectorise.

#include "algorithm/stencil/convolution_kernels.hpp"

#include <fmt/format.h>

#include <optional>
#include <tuple>

#include "algorithm/block/group.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

bool convolution_plan::has_exchange() const { return columns < most_columns; }

namespace {

auto tied(const convolution_plan& p) {
    return std::tuple(p.terms.value, p.terms.weight, p.terms.result, p.terms.product->record,
                      p.terms.sum->record, p.terms.zero->record, p.beyond, p.has_constant, p.is_narrow,
                      p.is_part, p.columns, p.each, p.rest, p.group, p.room, p.values, p.results,
                      p.most_chunk);
}

}  // namespace

bool operator==(const convolution_plan& a, const convolution_plan& b) { return tied(a) == tied(b); }
void convolution_plan::add_to(runtime::table_hash& hash) const {
    hash.add(terms.value, terms.weight, terms.result, beyond, has_constant, is_narrow, is_part, columns, each,
             rest, group, room, values, results, most_chunk);
}

namespace {

using namespace balm::dsl;
using block::values;
using trace::node;

/// `Number` is the type of positions.
template <class Number>
class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const convolution_plan& plan, const tape& p,
             const layout& leaves)
        : plan_(plan),
          p_(p),
          leaves_(leaves),
          r_(r),
          given_(given),
          g_({plan.group, true}),
          tile_(small("tile")),
          chunk_(small("chunk")),
          values_of_row_(named("values_of_row", (tile_ + chunk_ - 1) * plan.columns)),
          length_(number("length")),
          inner_(plan.columns == 1 ? Number(1) : number("inner")) {}

    std::shared_ptr<const ir::function> traced() {
        r_.describe(fmt::format("{}", fmt::join(describe(p_, leaves_, given_), ", ")));
        Number group = named("group", Number(group_id(0))), tiles = number("tiles"),
               across = number("across");
        Number rest = named("rest", group / tiles);
        row_.emplace(named("row", number("first_row") + rest / across * number("rows")));
        first_.emplace(named("first", number("first_result") + (group - rest * tiles) * tile_));
        column_.emplace(named("column", rest % across * plan_.columns));
        if (plan_.is_of_cpus())
            record_item();
        else
            record_group();
        return r_.finish(nullptr);
    }

private:
    Number number(parameter_name name) const { return Number(Index(given_[name])); }
    Int small(const char* name) const { return named(name, cast<int>(Index(given_[name]))); }
    static Int narrow(const Number& n) {
        if constexpr (std::same_as<Number, Int>)
            return n;
        else
            return cast<int>(n);
    }

    // ---- terms

    node zero() const { return trace::read(plan_.terms.zero->record(nullptr)); }
    node with_term(const node& sum, const node& weight, const node& value) const {
        const node factors[] = {weight, value};
        const node terms[] = {sum, trace::read(plan_.terms.product->record(factors))};
        return trace::read(plan_.terms.sum->record(terms));
    }
    node weight(const Number& k) const { return trace::load(given_["weights"], block::node_of(k), {}); }

    // ---- values of a chunk

    /// A position along the length of a row, mapped back into the row.
    Number brought_back(const Number& at) const {
        const auto wrapped = [&](const Number& count) {
            Number rest = named("rest", at % count);
            return Number(select(rest < 0, rest + count, rest));
        };
        switch (plan_.beyond) {
            case border::wrap: return wrapped(length_);
            case border::mirror: {
                Number rest = named("mirrored", wrapped(length_ * 2));
                return min(rest, length_ * 2 - 1 - rest);
            }
            default: return max(min(at, length_ - 1), Number(0));
        }
    }
    /// Tiles at the ends of a part have results that belong to others; the values of those are any.
    Number held(const Number& at) const {
        return plan_.is_part ? Number(max(min(at, number("held") - 1), Number(0))) : at;
    }
    node value_at(const Number& row, const Number& at, const Number& column, bool is_inside) const {
        const Number there = is_inside ? Number(at) : brought_back(at);
        Number flat = row * length_ + there;
        if (plan_.columns > 1) flat = flat * inner_ + column;
        const values found = record(p_, leaves_, given_, block::node_of(Index(held(flat - number("base")))));
        const node value = as_element(found[0], plan_.terms.value);
        if (is_inside || !plan_.has_constant) return value;
        return block::chosen(at >= 0 && at < length_, {value}, {as_element(found[1], plan_.terms.value)})[0];
    }
    /// Stores the values for `count` weights. Value m of a row is at `lowest` + m along the length.
    void stage_values(const block::arrays& to, const Number& lowest, const Int& count) const {
        Int from = named("from", chunk_ - count);
        Int end = named("end", tile_ + chunk_ - 1);
        const auto stage_rows = [&](bool is_inside) {
            Int rows = plan_.is_of_cpus() ? Int(1) : small("rows");
            for (Int q : named("q", range(rows))) {
                Number row = named("own_row", *row_ + q);
                IF (row < number("end_row")) {
                    stage_row(to, row, q * values_of_row_, lowest, from, end, is_inside);
                }
            }
        };
        IF (lowest + from >= 0 && lowest + end <= length_) {
            stage_rows(true);
        }
        ELSE { stage_rows(false); }
    }
    void stage_row(const block::arrays& to, const Number& row, const Int& home, const Number& lowest,
                   const Int& from, const Int& end, bool is_inside) const {
        const int columns = plan_.columns;
        if (plan_.is_of_cpus()) {
            Int own = named("own_columns", columns_of_tile());
            for (Int m : named("m", range(from, end)))
                for (Int c : named("c", range(own)))
                    to.store(home + m * columns + c, {value_at(row, lowest + m, *column_ + c, is_inside)});
            return;
        }
        for (Int s : named("s", range(from * columns + g_.item(), end * columns, g_.items()))) {
            if (columns == 1) {
                to.store(home + s, {value_at(row, lowest + s, Number(0), is_inside)});
                continue;
            }
            Int m = named("m", s / columns);
            Number column = named("own_column", *column_ + (s - m * columns));
            IF (column < inner_) {
                to.store(home + s, {value_at(row, lowest + m, column, is_inside)});
            }
        }
    }
    /// The number of the tile's columns that are inside the array.
    Int columns_of_tile() const {
        if (plan_.columns == 1) return Int(1);
        return narrow(min(inner_ - *column_, Number(plan_.columns)));
    }
    /// Calls f(first weight, number of weights, whether it is the last one) for each chunk.
    template <class F>
    void for_each_chunk(F&& f) const {
        Number all = number("weight_count");
        for (Number k : named("k", range(Number(0), all, Number(chunk_)))) {
            Int count = named("count", narrow(min(Number(chunk_), all - k)));
            f(k, count, k + count >= all);
        }
    }
    Number lowest_of(const Number& k) const {
        return named("lowest", *first_ + number("centre") - k - (chunk_ - 1));
    }

    void store(const Number& flat, const node& result) const {
        trace::store(given_["out"], block::node_of(Index(flat - number("begin"))),
                     as_element(result, plan_.terms.result), {});
    }
    Number flat_of(const Number& row, const Number& at, const Number& column) const {
        Number flat = row * length_ + at;
        return plan_.columns == 1 ? Number(flat) : Number(flat * inner_ + column);
    }

    // ---- GPUs

    void record_group() {
        const int each = plan_.each, columns = plan_.columns;
        const block::room room(plan_.room);
        const block::arrays staged = room.of({plan_.terms.value}, 1), left = room.of({plan_.terms.result}, 1),
                            weights("weights", {plan_.terms.weight}, plan_.most_chunk, space::local);
        const Int& item = g_.item();
        Int strips = small("strips"), unit = named("unit", item / columns);
        Int c = named("c", columns == 1 ? Int(0) : Int(item - unit * columns));
        Int q = named("q", unit / strips), strip = named("strip", unit - q * strips);
        const Bool has_work = named("has_work", q < small("rows"));
        Int home = named("home", q * values_of_row_ + (strip * each + chunk_ - 1) * columns + c);
        const values sums = block::variables("sum", values(static_cast<std::size_t>(each), zero()));
        for_each_chunk([&](const Number& k, const Int& count, const Bool& is_last) {
            g_.barrier();
            for (Int j : named("j", range(Int(item), count, g_.items()))) weights.store(j, {weight(k + j)});
            stage_values(staged, lowest_of(k), count);
            g_.barrier();
            IF (has_work) {
                add_chunk(sums, staged, weights, home, count, is_last);
            }
        });
        if (!plan_.has_exchange()) {
            IF (has_work) {
                for (int e = 0; e < each; ++e)
                    store_inside(*row_ + q, strip * each + e, c,
                                 trace::read(sums[static_cast<std::size_t>(e)]));
            }
            return;
        }
        g_.barrier();
        Int results_of_row = named("results_of_row", tile_ * columns);
        IF (has_work) {
            for (int e = 0; e < each; ++e)
                left.store(q * results_of_row + (strip * each + e) * columns + c,
                           {trace::read(sums[static_cast<std::size_t>(e)])});
        }
        g_.barrier();
        for (Int own : named("own", range(small("rows"))))
            for (Int s : named("s", range(Int(item), results_of_row, g_.items()))) {
                Int at = named("at", s / columns);
                store_inside(*row_ + own, at, s - at * columns, left.load(own * results_of_row + s)[0]);
            }
    }
    void add_chunk(const values& sums, const block::arrays& staged, const block::arrays& weights,
                   const Int& home, const Int& count, const Bool& is_last) const {
        const auto each = static_cast<std::size_t>(plan_.each);
        const int columns = plan_.columns;
        values first;
        for (std::size_t e = 0; e < each; ++e)
            first.push_back(staged.load(home + static_cast<int>(e) * columns)[0]);
        const values own = block::variables("value", first);
        // In step s the value of result e is in variable e - s, modulo their number.
        const auto step = [&](const Int& at, const Int& j, std::size_t s) {
            trace::write(own[(each - s) % each], staged.load(at - static_cast<int>(s) * columns)[0]);
            const node factor = weights.load(j + static_cast<int>(s))[0];
            for (std::size_t e = 0; e < each; ++e)
                trace::write(sums[e], with_term(trace::read(sums[e]), factor,
                                                trace::read(own[(e + each - s) % each])));
        };
        Int whole = named("whole", count / plan_.each * plan_.each);
        for (Int j : named("j", range(Int(0), whole, plan_.each))) {
            Int at = named("at", home - j * columns);
            for (std::size_t s = 0; s < each; ++s) step(at, j, s);
        }
        if (plan_.rest == 0) return;
        IF (is_last) {
            Int at = named("at", home - whole * columns);
            for (std::size_t s = 0; s < static_cast<std::size_t>(plan_.rest); ++s) step(at, whole, s);
        }
    }
    void store_inside(const Number& row, const Int& at, const Int& column, const node& result) const {
        const Number along = *first_ + at, across = *column_ + column;
        const Number flat = flat_of(row, along, across);
        Bool is_inside = row < number("end_row") && along < number("last") && flat >= number("begin") &&
                         flat < number("end");
        if (plan_.columns > 1) is_inside = is_inside && across < inner_;
        IF (is_inside) {
            store(flat, result);
        }
    }

    // ---- CPUs

    void record_item() {
        const int columns = plan_.columns;
        const block::arrays staged("value", {plan_.terms.value}, plan_.values, space::private_),
            sums("sum", {plan_.terms.result}, plan_.results, space::private_);
        Int size = named("size", tile_ * columns);
        for (Int u : named("u", range(size))) sums.store(u, {zero()});
        for_each_chunk([&](const Number& k, const Int& count, const Bool& is_last) {
            stage_values(staged, lowest_of(k), count);
            const auto add = [&](const Int& j, int some) {
                values factors;
                for (int s = 0; s < some; ++s) factors.push_back(weight(k + (j + s)));
                Int home = named("home", (chunk_ - 1 - j) * columns);
                for (Int u : named("u", range(size))) {
                    node sum = sums.load(u)[0];
                    for (int s = 0; s < some; ++s)
                        sum = with_term(sum, factors[static_cast<std::size_t>(s)],
                                        staged.load(home + u - s * columns)[0]);
                    sums.store(u, {sum});
                }
            };
            Int whole = named("whole", count / plan_.each * plan_.each);
            for (Int j : named("j", range(Int(0), whole, plan_.each))) add(j, plan_.each);
            if (plan_.rest > 0) {
                IF (is_last) {
                    add(whole, plan_.rest);
                }
            }
        });
        Int rows_of_tile = named("own_tile", narrow(min(number("last") - *first_, Number(tile_))));
        Number start = named("start", flat_of(*row_, *first_, *column_));
        const auto bounded = [&](const Number& from, const Int& count) {
            const auto within = [&](const Number& at) {
                return narrow(max(min(at - from, Number(count)), Number(0)));
            };
            return std::pair(Int(named("low", within(number("begin")))),
                             Int(named("high", within(number("end")))));
        };
        if (columns == 1) {
            const auto [low, high] = bounded(start, rows_of_tile);
            for (Int a : named("a", range(low, high))) store(start + a, sums.load(a)[0]);
            return;
        }
        Int own = named("own_columns", columns_of_tile());
        for (Int a : named("a", range(rows_of_tile))) {
            Number from = named("from", start + inner_ * a);
            const auto [low, high] = bounded(from, own);
            for (Int c : named("c", range(low, high))) store(from + c, sums.load(a * columns + c)[0]);
        }
    }

    const convolution_plan plan_;
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
    const Int tile_, chunk_;   ///< results of a tile's row, along the length; weights of a chunk
    const Int values_of_row_;  ///< staged per row
    const Number length_, inner_;
    std::optional<Number> row_, first_, column_;  ///< of the tile's first result
};

}  // namespace

std::shared_ptr<const ir::function> trace_convolution(trace::recording& r, const parameter_list& given,
                                                      const convolution_plan& plan, const tape& p,
                                                      const layout& leaves) {
    if (plan.is_narrow) return recorder<Int>(r, given, plan, p, leaves).traced();
    return recorder<Index>(r, given, plan, p, leaves).traced();
}

}  // namespace balm::array
