#include "algorithm/along/row_kernels.hpp"

#include <algorithm>
#include <bit>

#include "algorithm/block/reduce.hpp"
#include "array/expression_recorder.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using block::elements;
using block::node_of;
using block::values;
using block::variables;

std::uint32_t statements_of(const tape& p) {
    return static_cast<std::uint32_t>(std::count_if(p.steps.begin(), p.steps.end(), ends_statement));
}

/// Of a state for each work-item of a group, for the largest of the reductions.
std::size_t bytes_of_states(const std::vector<row_reduction>& reductions) {
    std::size_t most = 0;
    for (const row_reduction& each : reductions)
        most = std::max(most, block::room::bytes_of(operations(&each.what, 1, {}).state(), along_group));
    return most;
}

class rows_recorder {
public:
    rows_recorder(const parameter_list& given, const rows_plan& plan, const fused_rows& of,
                  const std::vector<row_reduction>& reductions, const layout& leaves)
        : given_(given),
          plan_(plan),
          of_(of),
          reductions_(reductions),
          group_({.most = along_group,
                  .is_exact = true,
                  .has_sub_groups = plan.has_sub_groups,
                  .is_power_of_two = true,
                  .is_row = true}),
          y_(named("y", group_.item() & (plan.across - 1))),
          k_(named("k", group_id(0) * (along_group / plan.across) +
                            cast<std::int64_t>(group_.item() >> std::countr_zero(unsigned(plan.across))))),
          is_row_(k_ < given_rows()),
          row_(named("row", min(k_, given_rows() - 1))),
          columns_(given["columns"]),
          has_last_(column(plan.count - 1) < columns_),
          statements_(statements_of(of.values)),
          next_number_(statements_),
          of_row_(of.values, leaves, given, coordinates(node_of(row_))),
          room_(bytes_of_states(reductions)) {
        for (int j = 0; j < plan.count; ++j) {
            // The last element of a work-item may not exist: it is computed as that of the last column.
            const bool is_sure = plan.is_even || j + 1 < plan.count;
            const Index at = is_sure ? column(j) : Index(min(column(j), columns_ - 1));
            std::vector<trace::node> loops{node_of(row_), node_of(at)};
            const trace::node flat = leaves.places.flat_index(given, loops);
            of_elements_.emplace_back(of.values, leaves, given, coordinates(flat, std::move(loops)));
            of_elements_.back().number_statements(next_number_, statements_);
            next_number_ += statements_;
            flat_.push_back(flat);
        }
    }

    void record() {
        std::size_t reduction = 0, begin = 0;
        for (std::size_t p = 0; p < of_.parts.size(); ++p) {
            const fused_rows::part& part = of_.parts[p];
            switch (part.what) {
                case fused_rows::part_kind::elements:
                    for (expression_recorder& each : of_elements_) each.record_until(part.end);
                    of_row_.skip_until(part.end);
                    break;
                case fused_rows::part_kind::row:
                    of_row_.record_until(part.end);
                    share_values(begin, part.end);
                    break;
                case fused_rows::part_kind::reduction: reduce(begin, part.end, reduction++); break;
            }
            begin = part.end;
            store_elements(p);
        }
        store_of_rows();
    }

private:
    Index given_rows() const { return Index(given_["rows"]); }
    Index column(int j) const { return cast<std::int64_t>(y_) + std::int64_t{j} * plan_.across; }

    /// The values of the row that statements have numbered are those of its elements, too.
    void share_values(std::size_t begin, std::size_t end) {
        for (expression_recorder& each : of_elements_) each.skip_until(end);
        for (std::size_t k = begin; k < end; ++k) {
            const step& s = of_.values.steps[k];
            if (s.what != step::kind::keep ||
                s.detail == static_cast<std::uint32_t>(value_of_statement::none))
                continue;
            for (expression_recorder& each : of_elements_) each.keep(s.bits, of_row_.kept(s.bits));
        }
    }

    void reduce(std::size_t begin, std::size_t end, std::size_t number) {
        const row_reduction& how = reductions_[number];
        const operations does(&how.what, 1, {});
        if (!plan_.is_even) load_for(begin, end);
        const values own =
            plan_.is_even ? of_item(how, end, of_elements_.size()) : of_uneven_item(how, does, end);
        const values state = block::reduce_for_all(group_, does.operation(false), own,
                                                   room_.of(does.state(), along_group), plan_.across, y_);
        const trace::node result = does.result(state)[how.result];
        const std::uint64_t name = of_.values.steps[end - 1].bits;
        of_row_.skip_until(end);
        of_row_.keep(name, result);
        for (expression_recorder& each : of_elements_) {
            each.skip_until(end);
            each.keep(name, result);
        }
    }
    values of_uneven_item(const row_reduction& how, const operations& does, std::size_t end) {
        const values total = variables("total", does.identity());
        IF (has_last_) {
            block::write(total, of_item(how, end, of_elements_.size()));
        }
        ELSE { block::write(total, of_item(how, end, of_elements_.size() - 1)); }
        return block::read(total);
    }
    /// The state of the work-item's first `count` elements: trees of some at once, then those left over, one
    /// by one. As in the reduction's own kernel, each tree and what adds it are contracted as one statement.
    values of_item(const row_reduction& how, std::size_t end, std::size_t count) {
        const values identity = operations(&how.what, 1, {}).identity();
        const std::size_t whole = count / how.at_once * how.at_once;
        values total = identity;
        if (whole > 0) {
            values of_trees = identity;
            for (std::size_t j = 0; j < whole; j += how.at_once)
                of_trees = with_tree(of_trees, how, end, j, how.at_once);
            total = operations(&how.what, 1, {}).combined(total, of_trees, false);
        }
        for (std::size_t j = whole; j < count; ++j) total = with_tree(total, how, end, j, 1);
        return total;
    }
    /// A state with the elements from `first` on.
    values with_tree(const values& before, const row_reduction& how, std::size_t end, std::size_t first,
                     std::size_t count) {
        reduction what = how.what;
        what.statement = next_number_++;
        const operations does(&what, 1, {});
        elements all;
        for (std::size_t j = first; j < first + count; ++j) {
            expression_recorder operand = of_elements_[j];
            operand.number_statements(what.statement, 1);
            all.push_back(
                does.of_element({operand.record_until(end).back()}, node_of(column(static_cast<int>(j)))));
        }
        return does.combined(before, block::reduce(does.operation(false), all), false);
    }
    /// Loads what the part loads for each element before a branch, so that later parts need not load it
    /// again.
    void load_for(std::size_t begin, std::size_t end) const {
        const auto& steps = of_.values.steps;
        int depth = 0;
        for (std::size_t k = begin; k < end; ++k) {
            depth += (steps[k].what == step::kind::at) - (steps[k].what == step::kind::end);
            if (depth > 0 || steps[k].what != step::kind::vector) continue;
            for (const trace::node& flat : flat_)
                trace::load(given_[*of_.values.vectors[steps[k].leaf]], flat, {});
        }
    }

    void store_elements(std::size_t part) {
        std::vector<const fused_rows::store*> all;
        for (const fused_rows::store& each : of_.stores)
            if (each.after == part && !each.is_of_row) all.push_back(&each);
        if (all.empty()) return;
        const std::size_t sure = of_elements_.size() - (plan_.is_even ? 0 : 1);
        IF (is_row_) {
            store(all, 0, sure);
        }
        if (plan_.is_even) return;
        IF (is_row_ && has_last_) {
            store(all, sure, of_elements_.size());
        }
    }
    void store(const std::vector<const fused_rows::store*>& all, std::size_t begin, std::size_t end) const {
        for (const fused_rows::store* each : all)
            for (std::size_t j = begin; j < end; ++j)
                trace::store(given_[*each->into], flat_[j], value_of(*each, of_elements_[j]), {});
    }
    void store_of_rows() const {
        if (std::none_of(of_.stores.begin(), of_.stores.end(),
                         [](const auto& each) { return each.is_of_row; }))
            return;
        if (plan_.reads_results) barrier();
        IF (y_ == 0 && is_row_) {
            for (const fused_rows::store& each : of_.stores)
                if (each.is_of_row)
                    trace::store(given_[*each.into], node_of(row_), value_of(each, of_row_), {});
        }
    }
    trace::node value_of(const fused_rows::store& s, const expression_recorder& in) const {
        return as_element(in.kept(of_.values.steps[s.keep].bits), s.into->type());
    }

    const parameter_list& given_;
    const rows_plan& plan_;
    const fused_rows& of_;
    const std::vector<row_reduction>& reductions_;
    const block::group group_;
    const Int y_;
    const Index k_;
    const Bool is_row_;
    const Index row_, columns_;
    const Bool has_last_;
    std::vector<trace::node> flat_;  ///< of the work-item's elements
    std::vector<expression_recorder> of_elements_;
    const std::uint32_t statements_;  ///< of the tape
    std::uint32_t next_number_;       ///< of a statement
    expression_recorder of_row_;
    const block::room room_;  ///< which the reductions use in turn
};

}  // namespace

std::shared_ptr<const ir::function> trace_rows(trace::recording& r, const parameter_list& given,
                                               const rows_plan& plan, const fused_rows& of,
                                               const std::vector<row_reduction>& reductions,
                                               const layout& leaves) {
    r.describe(describe(of.values, leaves, given)[0]);
    rows_recorder(given, plan, of, reductions, leaves).record();
    return r.finish(nullptr);
}

}  // namespace balm::array
