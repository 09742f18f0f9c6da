// Traces the kernels of reductions along dimensions.

#include "algorithm/along/along_kernels.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "algorithm/block/reduce.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/reduce/wide_states.hpp"
#include "array/expression_recorder.hpp"
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
using block::accumulate;
using block::elements;
using block::node_of;
using block::read;
using block::variables;

/// Terms that are added sequentially, before such sums are added.
constexpr int run = 64;
/// Rows that a strip combines at once, for each of its vectors. With few vectors, eight rows are read in an
/// order that a CPU does not predict: rows of 32 doubles take twice as long as in pairs. With more, pairs
/// take 1.4 times as long as eight (PoCL 3.1, Zen 4).
constexpr std::int64_t rows_at_once = 8;
constexpr std::int64_t few_vectors = 4;

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const along_plan& plan, const operations& does,
             const tape& p, const layout& leaves)
        : plan_(plan),
          does_(does),
          has_vector_functions_(plan.has_vector_functions() && calls_vector_functions(p)),
          in_any_order_(does.operation(false)),
          p_(p),
          leaves_(leaves),
          r_(r),
          given_(given),
          statements_(statement_count(p)),
          next_number_(statements_ + 1) {
        if (plan.stage != along_stage::whole) partials_.emplace(given["slots"], does.state(), 0);
    }

    std::shared_ptr<const ir::function> traced() {
        if (has_vector_functions_) r_.use_vector_functions();
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
    /// Whether rows are cut into segments, which is only the case if the kernel stores partial results.
    bool has_segments() const { return plan_.stage == along_stage::partials; }
    Index given(parameter_name name) const { return Index(given_[name]); }
    /// A new variable with this value, to add to.
    Index copy_of(parameter_name name) const { return Index(trace::read(given_[name])); }

    // ---- positions of elements

    /// The variables of the kept or reduced loops, the slowest first.
    std::vector<trace::node> variables_of(bool of_reduced, const Index& together) const {
        if (plan_.count(of_reduced) == 0) return {};
        std::vector<trace::node> counts;
        for (std::size_t d = 1; d < static_cast<std::size_t>(plan_.count(of_reduced)); ++d)
            counts.push_back(given_[{of_reduced ? "reduced" : "kept", d}]);
        return row_major_coordinates(node_of(together), counts, plan_.is_narrow);
    }
    /// Applies offset and strides to the variables.
    Index placed(bool of_reduced, const Index& together) const {
        if (!plan_.has_strides(of_reduced)) return together;
        const std::vector<trace::node> variables = variables_of(of_reduced, together);
        const char* const word = of_reduced ? "position" : "place";
        Index sum = copy_of(word);
        for (std::size_t d = 0; d < variables.size(); ++d) sum += Index(variables[d]) * given({word, d + 1});
        return sum;
    }

    /// Element r of those that are reduced to result k, whose variables are `kept`; in the finish kernel, its
    /// partial result.
    values element(const operations& does, const Index& k, const std::vector<trace::node>& kept,
                   const Index& r) const {
        if (plan_.is_finish()) return partials_->load(k * given("reduced") + r);
        const std::vector<trace::node> reduced = variables_of(true, r);
        std::vector<trace::node> loops;
        loops.reserve(static_cast<std::size_t>(plan_.loops));
        std::size_t next[2] = {};
        for (int d = 0; d < plan_.loops; ++d)
            loops.push_back(plan_.is_reduced(d) ? reduced[next[1]++] : kept[next[0]++]);
        const trace::node flat = leaves_.places.flat_index(given_, loops);
        const coordinates at(flat, std::move(loops));
        return does.of_element(has_vector_functions_ && does.style().lanes == 1
                                   ? record_as_in_lanes(p_, leaves_, given_, at)
                                   : recorded(at, does.style().lanes),
                               node_of(placed(true, r)));
    }
    values recorded(const coordinates& at, int lanes) const {
        expression_recorder one(p_, leaves_, given_, at, lanes);
        one.number_statements(next_number_, statements_);
        next_number_ += statements_;
        return one.record_until(p_.steps.size());
    }
    void give(const Index& k, const Index& segment, const values& state) const {
        if (plan_.stage == along_stage::partials)
            partials_->store(k * given("segments") + segment, state);
        else
            trace::store(given_["out"], node_of(placed(false, k)), does_.result(state)[plan_.result], {});
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
            give(k, s, plan_.lanes == 1 ? of_scalars(at, begin, end) : of_lanes(at, begin, end));
        }
    }
    template <class At>
    values of_scalars(const At& at, const Index& begin, const Index& end) const {
        const values total = variables("total", does_.identity());
        for (Index from : named("run", range(begin, end, std::int64_t{run})))
            accumulate(in_any_order_, total, of_rest(at, does_.identity(), from, min(from + run, end)));
        return read(total);
    }
    template <class At>
    values of_lanes(const At& at, const Index& begin, const Index& end) const {
        if (plan_.is_short) {
            const values first = at(does_.with_lanes(plan_.lanes), begin);
            return of_rest(at, does_.of_lanes(plan_.lanes, first), begin + plan_.lanes, end);
        }
        const wide_states total("total", does_, plan_.lanes);
        const std::int64_t step = total.count();
        Index whole = named("whole", begin + (end - begin) / step * step);
        for (Index from : named("run", range(begin, whole, run * step))) {
            const wide_states own("own", does_, plan_.lanes);
            for (Index r : named("r", range(from, min(from + run * step, whole), step)))
                own.take_elements([&](const operations& does, int first) { return at(does, r + first); });
            total.take(own);
        }
        return of_rest(at, total.reduced(), whole, end);
    }
    template <class At>
    values of_rest(const At& at, const values& start, const Index& begin, const Index& end) const {
        return block::reduce(in_any_order_, start, begin, end, [&](const Index& r) { return at(does_, r); });
    }

    // ---- CPUs: a strip of columns, row by row

    /// The states of a strip's columns.
    struct columns_of_strip {
        const operations& does;
        block::arrays total, own;
    };

    void record_strip() const {
        const Index segments = given("segments"), piece = given("piece");
        const Index strips = given("strips"), columns = given("columns");
        const std::int64_t lanes = plan_.lanes;
        const operations wide = does_.with_lanes(plan_.lanes);
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

        const std::size_t most = strip_elements / static_cast<std::size_t>(plan_.lanes);
        const columns_of_strip vectors{wide,
                                       {"total", wide.state(), most, space::private_},
                                       {"own", wide.state(), most, space::private_}};
        // Columns that do not fill a vector come last, one by one.
        const columns_of_strip scalars{does_, vectors.total.as(does_.state()), vectors.own.as(does_.state())};
        // Calls f(columns, index among them, column within the strip) for each vector and each such column.
        const auto each = [&](auto&& f) {
            for (Index v : named("v", range(vector_count))) f(vectors, v, v * lanes);
            if (lanes > 1)
                for (Index c : named("c", range(rest, width))) f(scalars, c, c);
        };
        each([](auto&& of, auto&& at, auto&&) { of.total.store(at, of.does.identity()); });
        const auto take_rows = [&](const Index& r, std::int64_t count) {
            each([&](auto&& of, auto&& at, auto&& c) {
                const values more = rows(of.does, k, kept, first + c, r, count);
                of.own.store(at, of.does.combined(of.own.load(at), more, false));
            });
        };
        for (Index from : named("run", range(begin, end, run * rows_at_once))) {
            Index stop = named("stop", min(from + run * rows_at_once, end));
            Index many = named("many", from + (stop - from) / rows_at_once * rows_at_once);
            Index whole = named("whole", select(is_narrow, from, many));
            Index pairs = named("pairs", whole + (stop - whole) / 2 * 2);
            each([](auto&& of, auto&& at, auto&&) { of.own.store(at, of.does.identity()); });
            for (Index r : named("r", range(from, whole, rows_at_once))) take_rows(r, rows_at_once);
            for (Index r : named("r", range(whole, pairs, 2))) take_rows(r, 2);
            for (Index r : named("r", range(pairs, stop))) take_rows(r, 1);
            each([](auto&& of, auto&& at, auto&&) {
                of.total.store(at, of.does.combined(of.total.load(at), of.own.load(at), false));
            });
        }
        for (Index c : named("c", range(width))) give(k + c, s, scalars.total.load(c));
    }
    /// Combines rows r to r + count - 1 at a column, pairwise. The column is the last kept loop's variable.
    values rows(const operations& does, const Index& k, std::vector<trace::node> kept, const Index& column,
                const Index& r, std::int64_t count) const {
        kept.back() = node_of(column);
        elements all;
        for (std::int64_t j = 0; j < count; ++j) all.push_back(element(does, k, kept, r + j));
        return block::reduce(does.operation(false), all);
    }

    // ---- GPUs: a group has a tile of several k, each of which some of its work-items share

    /// `width` adjacent work-items, a power of two, share a row, or have a column each.
    template <class Number>
    void record_tile() const {
        const block::group g({.most = along_group, .is_power_of_two = true, .is_row = true});
        const block::arrays shared = g.shared("shared", does_.state(), along_group);
        const bool is_rows = plan_.shape == along_shape::lanes_behind_rows;
        const Int bits = cast<int>(given("width_bits"));
        Int width = named(is_rows ? "across" : "side", Int(1) << bits);
        Int height = named(is_rows ? "side" : "across", g.items() >> bits);
        Int near = named(is_rows ? "y" : "x", g.item() & (width - 1));
        Int far = named(is_rows ? "x" : "y", g.item() >> bits);
        const Int &x = is_rows ? far : near, &side = is_rows ? height : width;
        const Int &y = is_rows ? near : far, &across = is_rows ? width : height;
        Number s = named("segment", Number(group_id(1))), piece = given("piece");
        Number k = named("k", Number(group_id(0)) * side + x), kept_count = given("kept");
        Number begin = named("begin", s * piece),
               end = named("end", min(begin + piece, Number(given("reduced"))));
        const values total = variables("total", does_.identity());
        IF (k < kept_count) {
            const std::vector<trace::node> kept = variables_of(false, k);
            accumulate(in_any_order_, total, begin + y, end, Number(across),
                       {static_cast<int>(plan_.at_once), run}, [&](std::span<const Number> positions) {
                           elements all;
                           for (const Number& r : positions) all.push_back(element(does_, k, kept, r));
                           return all;
                       });
        }
        const values result =
            block::reduce(g, in_any_order_, read(total), shared, {y, across, is_rows ? Int(1) : Int(side)});
        IF (y == 0 && k < kept_count) {
            give(k, s, result);
        }
    }

    const along_plan plan_;
    const operations& does_;
    const bool has_vector_functions_;
    const block::operation in_any_order_;
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    const std::uint32_t statements_;  ///< before the operand
    mutable std::uint32_t next_number_;
    std::optional<slots> partials_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_along(trace::recording& r, const parameter_list& given,
                                                const along_plan& plan, const operations& does, const tape& p,
                                                const layout& leaves) {
    return recorder(r, given, plan, does, p, leaves).traced();
}

}  // namespace balm::array
