// Traces the kernels of scans along a dimension that is not the last one.

#include "algorithm/scan/columns_kernels.hpp"

#include <optional>

#include "algorithm/block/reduce.hpp"
#include "algorithm/reduce/slots.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using block::elements;
using block::values;

class columns_recorder {
public:
    columns_recorder(trace::recording& r, const parameter_list& given, const columns_plan& plan,
                     const operations& does, const tape& p, const layout& leaves)
        : plan_(plan),
          does_(does),
          combines_(does.operation(true)),
          p_(p),
          leaves_(leaves),
          r_(r),
          given_(given) {
        if (plan.has_partials()) partials_.emplace(given["partials"], does.state(), 0);
    }

    std::shared_ptr<const ir::function> traced() {
        if (!plan_.of_parts()) r_.describe(describe(p_, leaves_, given_)[0]);
        if (plan_.on_cpu())
            record_strip();
        else if (plan_.is_narrow)
            record_tile<Int>();
        else
            record_tile<Index>();
        return r_.finish(nullptr);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }

    values element(const Index& place) const {
        if (plan_.of_parts()) return partials_->load(place);
        const trace::node flat = block::node_of(place);
        return does_.of_element(record(p_, leaves_, given_, coordinates(flat)), flat);
    }
    /// The scan of a column before a chunk's rows.
    values ahead_of(const Index& chunk, const Index& column) const {
        if (plan_.stage == columns_stage::chunks) return partials_->load(chunk * given("columns") + column);
        return plan_.begins_with_init() ? does_.beginning_with({{given_["init"], plan_.has_init}})
                                        : does_.identity();
    }
    void give_total(const Index& chunk, const Index& column, const values& total) const {
        if (plan_.stage == columns_stage::chunk_totals)
            partials_->store(chunk * given("columns") + column, total);
    }
    void give(const Index& place, const values& exclusive, const values& inclusive) const {
        if (plan_.of_parts()) return partials_->store(place, exclusive);
        const values made = does_.result(plan_.is_inclusive ? inclusive : exclusive);
        trace::store(given_["out"], block::node_of(place), made[0], {});
    }
    bool gives_elements() const { return plan_.gives_results() || plan_.of_parts(); }

    // ---- CPUs: a strip of columns, row by row

    void record_strip() const {
        const Index rows = given("rows"), inner = given("inner"), strips = given("strips");
        const Index unit = named("unit", group_id(0));
        const Index rest = named("rest", unit / given("chunks")),
                    chunk = named("chunk", unit - rest * given("chunks"));
        const Index outer = named("outer", rest / strips);
        const Index first = named("first", (rest - outer * strips) * given("strip"));
        const Index width = named("width", min(inner - first, given("strip")));
        const Index begin = named("begin", chunk * given("piece")),
                    end = named("end", min(begin + given("piece"), rows));
        const Index column = named("column", outer * inner + first);
        const block::arrays own("own", does_.state(), most_of_strip(does_.bytes_of_state()), space::private_);
        for (Index c : named("c", range(width))) own.store(c, ahead_of(chunk, column + c));
        for (Index r : named("r", range(begin, end))) {
            const Index row = named("row", (outer * rows + r) * inner + first);
            for (Index c : named("c", range(width))) {
                const values ahead = own.load(c), sum = combines_.combined(ahead, element(row + c));
                own.store(c, sum);
                if (gives_elements()) give(row + c, ahead, sum);
            }
        }
        if (plan_.stage != columns_stage::chunk_totals) return;
        for (Index c : named("c", range(width))) give_total(chunk, column + c, own.load(c));
    }

    // ---- GPUs: neighbouring work-items have neighbouring columns

    /// The rows of a work-item: `at_once` of them from `first` on, as far as they are before `end`.
    template <class Number>
    struct own_rows {
        Number base, inner, first, end;
        Index place(const Number& r) const { return cast<std::int64_t>(base + r * inner); }
    };
    /// Calls f(k, row) for the rows that exist.
    template <class Number, class F>
    void for_each_row(const own_rows<Number>& own, F&& f) const {
        IF (own.first + plan_.at_once <= own.end) {
            for (int k = 0; k < plan_.at_once; ++k) f(k, own.first + k);
        }
        ELSE {
            for (int k = 0; k < plan_.at_once; ++k) {
                IF (own.first + k < own.end) {
                    f(k, own.first + k);
                }
            }
        }
    }
    template <class Number>
    elements loaded(const own_rows<Number>& own, const Bool& is_there) const {
        elements list;
        for (int k = 0; k < plan_.at_once; ++k)
            list.push_back(block::variables("element", combines_.identity()));
        IF (is_there) {
            for_each_row(own, [&](int k, const Number& r) {
                block::write(list[static_cast<std::size_t>(k)], element(own.place(r)));
            });
        }
        for (values& each : list) each = block::read(each);
        return list;
    }
    template <class Number>
    void store(const own_rows<Number>& own, const Bool& is_there, const elements& list,
               const values& ahead) const {
        elements exclusive{ahead};
        for (const values& each : list) exclusive.push_back(combines_.combined(exclusive.back(), each));
        IF (is_there) {
            for_each_row(own, [&](int k, const Number& r) {
                const auto number = static_cast<std::size_t>(k);
                give(own.place(r), exclusive[number], exclusive[number + 1]);
            });
        }
    }

    /// A group has `side` neighbouring columns, each of which `across` work-items share.
    template <class Number>
    void record_tile() const {
        const bool is_shared = plan_.shape == columns_shape::shared_columns;
        const block::group g({.most = is_shared ? shared_columns_group : columns_group,
                              .is_power_of_two = true,
                              .is_row = true});
        std::optional<block::arrays> shared;
        if (is_shared) shared.emplace(g.shared("shared", does_.state(), shared_columns_group));
        const Int bits = is_shared ? cast<int>(given("side_bits")) : Int(0);
        const Int side = is_shared ? named("side", Int(1) << bits) : Int(g.items());
        const Int x = is_shared ? named("x", g.item() & (side - 1)) : Int(g.item());
        const Int y = is_shared ? named("y", g.item() >> bits) : Int(0);
        const Int across = is_shared ? named("across", g.items() >> bits) : Int(1);
        const Number inner = given("inner"), rows = given("rows"), columns = given("columns");
        const Number column = named("column", Number(group_id(0)) * side + x);
        const Number chunk = named("chunk", Number(group_id(1)));
        const Number begin = named("begin", chunk * Number(given("piece"))),
                     end = named("end", min(begin + Number(given("piece")), rows));
        const Bool is_there = named("is_there", column < columns);
        const Number base = named("base", column + column / inner * ((rows - 1) * inner));
        const Index place_of_column = cast<std::int64_t>(column), number = cast<std::int64_t>(chunk);
        const values sum = block::variables("sum", combines_.identity());
        IF (is_there) {
            block::write(sum, ahead_of(number, place_of_column));
        }
        for (Number from : named("from", range(begin, end, Number(across * plan_.at_once)))) {
            const own_rows<Number> own{base, inner, from + y * plan_.at_once, end};
            const elements list = loaded(own, is_there);
            const values total = block::reduce(combines_, list);
            const values ahead = block::variables("ahead", block::read(sum));
            if (is_shared) {
                shared->store(g.item(), total);
                g.barrier();
                for (Int q : named("q", range(across))) {
                    IF (q == y) {
                        block::write(ahead, block::read(sum));
                    }
                    block::write(sum, combines_.combined(block::read(sum), shared->load(q * side + x)));
                }
            } else {
                block::write(sum, combines_.combined(block::read(sum), total));
            }
            if (gives_elements()) store(own, is_there, list, block::read(ahead));
            if (is_shared) g.barrier();
        }
        IF (is_there && y == 0) {
            give_total(number, place_of_column, block::read(sum));
        }
    }

    const columns_plan plan_;
    const operations& does_;
    const block::operation combines_;
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    std::optional<slots> partials_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_columns(trace::recording& r, const parameter_list& given,
                                                  const columns_plan& plan, const operations& does,
                                                  const tape& p, const layout& leaves) {
    return columns_recorder(r, given, plan, does, p, leaves).traced();
}

}  // namespace balm::array
