// Traces the kernels of reductions along dimensions.

#include "algorithm/along/along_kernels.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "algorithm/reduce/reduce_states.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

int along_plan::count(bool of_reduced) const {
    int n = 0;
    for (int d = 0; d < loops; ++d) n += is_reduced(d) == of_reduced;
    return n;
}

namespace {

using namespace balm::dsl;

/// Terms that are added one after the other, before such sums are.
constexpr std::int32_t run = 64;
/// Rows that a strip takes together, of which it then takes each vector. Of a few vectors eight rows are read
/// in an order that a CPU does not foresee: rows of 32 doubles take twice as long as in pairs. Of more, pairs
/// take 1.4 times as long as eight (PoCL 3.1, Zen 4).
constexpr std::int64_t rows_at_once = 8;
constexpr std::int64_t few_vectors = 4;

Index indexed(trace::node value) { return Index(value); }

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const along_plan& plan, const operations& does,
             const tape& p, const layout& leaves)
        : plan_(plan), does_(does), p_(p), leaves_(leaves), r_(r), given_(given) {
        if (plan.stage != along_stage::whole) slots_.emplace(given["slots"], does.state(), 0);
    }

    std::shared_ptr<const ir::function> traced() {
        if (!plan_.is_finish()) r_.describe(describe(p_, leaves_, given_)[0]);
        switch (plan_.shape) {
            case along_shape::rows_an_item: record_rows(); break;
            case along_shape::strip_an_item: record_strip(); break;
            case along_shape::lanes_behind_rows:
            case along_shape::lanes_of_columns:
                if (plan_.is_narrow)
                    record_tile<Int>();
                else
                    record_tile<Index>();
                break;
        }
        return r_.finish(nullptr);
    }

private:
    /// Whether what is reduced is cut, which only rows are that give parts.
    bool has_segments() const { return plan_.stage == along_stage::parts; }
    Index given(parameter_name name) const { return Index(given_[name]); }
    /// A variable of its own, to add to.
    Index copy_of(parameter_name name) const { return Index(trace::read(given_[name])); }

    // ---- where elements are

    /// The variables of the kept or reduced loops, the slowest first.
    std::vector<trace::node> variables_of(bool of_reduced, const Index& together) const {
        if (plan_.count(of_reduced) == 0) return {};
        std::vector<trace::node> counts;
        for (std::size_t d = 1; d < static_cast<std::size_t>(plan_.count(of_reduced)); ++d)
            counts.push_back(given_[{of_reduced ? "reduced" : "kept", d}]);
        return row_major_coordinates(index_of(together), counts, plan_.is_narrow);
    }
    /// Offset and strides applied to the variables.
    Index placed(bool of_reduced, const Index& together) const {
        if (!plan_.has_strides(of_reduced)) return together;
        const std::vector<trace::node> variables = variables_of(of_reduced, together);
        const char* const word = of_reduced ? "position" : "place";
        Index sum = copy_of(word);
        for (std::size_t d = 0; d < variables.size(); ++d)
            sum += indexed(variables[d]) * given({word, d + 1});
        return sum;
    }

    /// The element r of those that become the result k, whose variables are known; or its part.
    nodes element(const operations& does, const Index& k, const std::vector<trace::node>& kept,
                  const Index& r) const {
        if (plan_.is_finish()) return slots_->load(k * given("reduced") + r);
        const std::vector<trace::node> reduced = variables_of(true, r);
        std::vector<trace::node> loops;
        loops.reserve(static_cast<std::size_t>(plan_.loops));
        std::size_t next[2] = {};
        for (int d = 0; d < plan_.loops; ++d)
            loops.push_back(plan_.is_reduced(d) ? reduced[next[1]++] : kept[next[0]++]);
        const trace::node flat = leaves_.places.flat_index(given_, loops);
        const nodes values = record(p_, leaves_, given_, {flat, loops}, does.style().lanes);
        return does.of_element(values, index_of(placed(true, r)));
    }
    void give(const Index& k, const Index& segment, const nodes& state) const {
        if (plan_.stage == along_stage::parts)
            slots_->store(k * given("segments") + segment, state);
        else
            trace::store(given_["out"], index_of(placed(false, k)), does_.result(state)[plan_.result], {});
    }
    void take(const nodes& into, const nodes& state) const {
        write(into, does_.combined(read(into), state, false));
    }

    // ---- CPUs: some rows, or segments of rows

    void record_rows() const {
        const Index segments = given("segments"), piece = given("piece"), share = given("rows_an_item");
        Index first = named("first", group_id(0) * share);
        Index last = named(
            "last", min(first + share, has_segments() ? Index(given("kept") * segments) : copy_of("kept")));
        for (Index unit : named("unit", range(first, last))) {
            Index k = named("k", has_segments() ? Index(unit / segments) : unit);
            Index s = named("segment", has_segments() ? Index(unit - k * segments) : Index(0));
            Index begin = named("begin", s * piece);
            Index end = named(
                "end", has_segments() ? Index(min(begin + piece, given("reduced"))) : copy_of("reduced"));
            const std::vector<trace::node> kept = variables_of(false, k);
            const auto at = [&](const operations& does, const Index& r) { return element(does, k, kept, r); };
            if (plan_.lanes == 1)
                give(k, s, of_scalars(at, begin, end));
            else
                give(k, s, plan_.is_short ? of_few(at, begin, end) : of_vectors(at, begin, end));
        }
    }
    template <class At>
    nodes of_scalars(const At& at, const Index& begin, const Index& end) const {
        const nodes total = variables("total", does_.identity());
        for (Index from : named("run", range(begin, end, run))) {
            const nodes own = variables("own", does_.identity());
            for (Index r : named("r", range(from, min(from + run, end)))) take(own, at(does_, r));
            take(total, read(own));
        }
        return read(total);
    }
    /// A row of at least as many elements as there are lanes, but not of twice as many.
    template <class At>
    nodes of_few(const At& at, const Index& begin, const Index& end) const {
        const operations wide = does_in(plan_.lanes);
        const nodes total = variables("total", halved(at(wide, begin)));
        for (Index r : named("r", range(begin + plan_.lanes, end))) take(total, at(does_, r));
        return read(total);
    }
    template <class At>
    nodes of_vectors(const At& at, const Index& begin, const Index& end) const {
        const operations wide = does_in(plan_.lanes);
        constexpr int halves = 2;
        const std::int64_t step = halves * plan_.lanes;
        const auto take_wide = [&](const nodes& into, const nodes& state) {
            write(into, wide.combined(read(into), state, false));
        };
        nodes total[halves];
        for (nodes& half : total) half = variables("total", wide.identity());
        Index whole = named("whole", begin + (end - begin) / step * step);
        for (Index from : named("run", range(begin, whole, run * step))) {
            nodes own[halves];
            for (nodes& half : own) half = variables("own", wide.identity());
            for (Index r : named("r", range(from, min(from + run * step, whole), step)))
                for (int h = 0; h < halves; ++h) take_wide(own[h], at(wide, r + h * plan_.lanes));
            for (int h = 0; h < halves; ++h) take_wide(total[h], read(own[h]));
        }
        const nodes sum = variables("sum", halved(wide.combined(read(total[0]), read(total[1]), false)));
        for (Index r : named("r", range(whole, end))) take(sum, at(does_, r));
        return read(sum);
    }

    operations does_in(int lanes) const {
        operation_style style = does_.style();
        style.lanes = lanes;
        return does_.with(style);
    }
    static nodes part(const nodes& state, int first, int count) {
        std::uint64_t order = 0;
        for (int k = count; k-- > 0;) order = order << 4 | static_cast<std::uint64_t>(first + k);
        nodes made;
        for (const trace::node& each : state) made.push_back(trace::swizzle(each, order, count));
        return made;
    }
    /// The lanes' states as one.
    nodes halved(nodes state) const {
        for (int half = plan_.lanes / 2; half > 0; half /= 2)
            state = does_in(half).combined(part(state, 0, half), part(state, half, half), false);
        return state;
    }

    // ---- CPUs: a strip of columns, row by row

    /// The states of a strip's columns, in vectors of lanes; columns that fill none are in the last vectors,
    /// one by one.
    class strip {
    public:
        strip(const char* word, const recorder& in) : wide_(in.does_in(in.plan_.lanes)) {
            const auto vectors = strip_elements / static_cast<std::size_t>(in.plan_.lanes);
            nodes scalars, whole;
            for (std::size_t v = 0; v < wide_.state().size(); ++v) {
                whole.push_back(trace::object(wide_.state()[v], vectors, space::private_, false, {}));
                trace::name(whole.back(), word);
                scalars.push_back(
                    trace::reinterpret(whole[v], trace::pointer_to(in.does_.state()[v], space::private_)));
            }
            vectors_.emplace(whole);
            scalars_.emplace(scalars);
        }
        const state_array& vectors() const { return *vectors_; }
        const state_array& scalars() const { return *scalars_; }

    private:
        operations wide_;
        std::optional<state_array> vectors_, scalars_;
    };

    void record_strip() const {
        const Index segments = given("segments"), piece = given("piece");
        const Index strips = given("strips"), columns = given("columns");
        const std::int64_t lanes = plan_.lanes;
        const operations wide = does_in(plan_.lanes);
        Index unit = named("unit", group_id(0));
        Index s = named("segment", unit % segments), strip_number = named("strip", unit / segments);
        Index outer = named("outer", strip_number / strips);
        Index first = named("first", (strip_number - outer * strips) * std::int64_t{strip_elements});
        Index width = named("width", min(columns - first, Index(std::int64_t{strip_elements})));
        Index vector_count = named("vectors", width / lanes), rest = named("rest", vector_count * lanes);
        Index begin = named("begin", s * piece), end = named("end", min(begin + piece, given("reduced")));
        Index k = named("k", outer * columns + first);
        const Bool is_narrow = vector_count > 0 && vector_count <= few_vectors;
        const std::vector<trace::node> kept = variables_of(false, k);

        const strip total("total", *this), own("own", *this);
        // Calls f(operations, column within the strip, states, number among them) for each vector and column.
        const auto each = [&](const strip& of, auto&& f) {
            for (Index v : named("v", range(vector_count))) f(wide, v * lanes, of.vectors(), v);
            if (lanes > 1)
                for (Index c : named("c", range(rest, width))) f(does_, c, of.scalars(), c);
        };
        each(total, [](const operations& does, const Index&, const state_array& states, const Index& at) {
            states.store(at, does.identity());
        });
        const auto take_rows = [&](const Index& r, std::int64_t count) {
            each(own,
                 [&](const operations& does, const Index& c, const state_array& states, const Index& at) {
                     states.store(
                         at, does.combined(states.load(at), rows(does, k, kept, first + c, r, count), false));
                 });
        };
        for (Index from : named("run", range(begin, end, run * rows_at_once))) {
            Index stop = named("stop", min(from + run * rows_at_once, end));
            Index many = named("many", from + (stop - from) / rows_at_once * rows_at_once);
            Index whole = named("whole", select(is_narrow, from, many));
            Index pairs = named("pairs", whole + (stop - whole) / 2 * 2);
            each(own, [](const operations& does, const Index&, const state_array& states, const Index& at) {
                states.store(at, does.identity());
            });
            for (Index r : named("r", range(from, whole, rows_at_once))) take_rows(r, rows_at_once);
            for (Index r : named("r", range(whole, pairs, 2))) take_rows(r, 2);
            for (Index r : named("r", range(pairs, stop))) take_rows(r, 1);
            each(own,
                 [&](const operations& does, const Index& c, const state_array& states, const Index& at) {
                     const state_array& into = does.style().lanes > 1 ? total.vectors() : total.scalars();
                     static_cast<void>(c);
                     into.store(at, does.combined(into.load(at), states.load(at), false));
                 });
        }
        for (Index c : named("c", range(width))) give(k + c, s, total.scalars().load(c));
    }
    /// Rows r to r + count - 1 at a column, pairwise. The column is the last kept loop's variable.
    nodes rows(const operations& does, const Index& k, std::vector<trace::node> kept, const Index& column,
               const Index& r, std::int64_t count) const {
        kept.back() = index_of(column);
        if (count == 1) return element(does, k, kept, r);
        const nodes a = rows(does, k, kept, column, r, count / 2);
        return does.combined(a, rows(does, k, kept, column, r + count / 2, count / 2), false);
    }

    // ---- GPUs: a group has a tile, some k, each of which some of its work-items share

    /// `width` work-items, a power of two, stand side by side: across a row, or each with a column.
    template <class Number>
    void record_tile() const {
        const state_array shared("shared", does_, along_group, space::local);
        const bool is_rows = plan_.shape == along_shape::lanes_behind_rows;
        const Number bits = given("width_bits"), one = 1;
        Number item = named("item", Number(local_id(0)));
        Number width = named(is_rows ? "across" : "side", one << bits);
        Number height = named(is_rows ? "side" : "across", Number(local_size(0)) >> bits);
        Number near = named(is_rows ? "y" : "x", item & (width - 1));
        Number far = named(is_rows ? "x" : "y", item >> bits);
        const Number &x = is_rows ? far : near, &side = is_rows ? height : width;
        const Number &y = is_rows ? near : far, &across = is_rows ? width : height;
        Number s = named("segment", Number(group_id(1))), piece = given("piece");
        Number k = named("k", Number(group_id(0)) * side + x), kept_count = given("kept");
        Number begin = named("begin", s * piece),
               end = named("end", min(begin + piece, Number(given("reduced"))));
        const nodes total = variables("total", does_.identity());
        IF (k < kept_count) {
            const std::vector<trace::node> kept = variables_of(false, k);
            const auto at = [&](const Number& r) { return element(does_, k, kept, r); };
            record_lane<Number>(total, at, begin + y, end, across);
        }
        halve<Number>(shared, item, y, is_rows ? one : side, across, read(total));
        IF (y == 0 && k < kept_count) {
            give(k, s, shared.load(item));
        }
    }
    template <class Number, class At>
    void record_lane(const nodes& total, const At& at, const Number& first, const Number& end,
                     const Number& stride) const {
        const auto at_once = static_cast<std::int32_t>(plan_.at_once);
        Number r = named("r", first), reach = named("reach", (at_once - 1) * stride);
        WHILE (r + reach < end) {
            const nodes own = variables("own", does_.identity());
            Number run_end = named("run_end", min(r + run * at_once * stride, end));
            WHILE (r + reach < run_end) {
                take(own, several(at, r, stride, 0, plan_.at_once));
                r += at_once * stride;
            }
            take(total, read(own));
        }
        WHILE (r < end) {
            take(total, at(r));
            r += stride;
        }
    }
    /// Elements r + k stride, pairwise.
    template <class Number, class At>
    nodes several(const At& at, const Number& r, const Number& stride, std::size_t first,
                  std::size_t count) const {
        if (count == 1) return at(r + static_cast<std::int32_t>(first) * stride);
        const nodes a = several(at, r, stride, first, count / 2);
        return does_.combined(a, several(at, r, stride, first + count / 2, count / 2), false);
    }
    /// What work-items have whose y differs becomes one state, in shared[item] of the one of y == 0.
    template <class Number>
    void halve(const state_array& shared, const Number& item, const Number& y, const Number& distance,
               const Number& across, const nodes& own) const {
        shared.store(item, own);
        Number half = named("half_way", across >> 1);
        WHILE (half > 0) {
            local_barrier();
            IF (y < half) {
                shared.store(item,
                             does_.combined(shared.load(item), shared.load(item + half * distance), false));
            }
            half >>= 1;
        }
    }

    const along_plan plan_;
    const operations& does_;
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    std::optional<slots> slots_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_along(trace::recording& r, const parameter_list& given,
                                                const along_plan& plan, const operations& does, const tape& p,
                                                const layout& leaves) {
    return recorder(r, given, plan, does, p, leaves).traced();
}

}  // namespace balm::array
