#include "array/row_statements.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace balm::array {

namespace {

/// Of a work-item, for all its elements: a kernel whose code exceeds the instruction cache is slower than
/// several.
constexpr std::size_t most_steps_of_item = 4000;

/// Whether positions outside of others are those of views whose elements are in the rows, in order.
bool has_views_of(const tape& p, const shape& rows) {
    int depth = 0;
    return std::all_of(p.steps.begin(), p.steps.end(), [&](const step& s) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        return s.what != step::kind::position || depth > 0 || reshaped(p.maps[s.leaf], rows).has_value();
    });
}
bool has_no_views(const tape& p) {
    int depth = 0;
    return std::none_of(p.steps.begin(), p.steps.end(), [&](const step& s) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        return s.what == step::kind::position && depth == 0;
    });
}

/// Whether what a tape accesses, or for how long it runs, may depend on the values of elements.
bool computes_places(const tape& p) {
    bool computes = !p.functions.empty();
    for (std::size_t k = 1; k < p.steps.size(); ++k) {
        const step::kind index = p.steps[k - 1].what;
        computes = computes || (p.steps[k].what == step::kind::at && index != step::kind::constant &&
                                index != step::kind::position);
    }
    return computes;
}
bool have_common(const std::vector<vector_handle>& a, const std::vector<vector_handle>& b) {
    return std::any_of(a.begin(), a.end(), [&](const vector_handle& each) {
        return std::find(b.begin(), b.end(), each) != b.end();
    });
}

/// Whether statements over both boxes can be in one tape.
bool are_alike(const shape& a, const shape& b) {
    return a == b || a.dimensions() == 1 || b.dimensions() == 1;
}

/// The step that numbers a value.
std::size_t keep_of(const tape& p, std::uint64_t number) {
    const step* const found = std::find_if(p.steps.begin(), p.steps.end(), [&](const step& s) {
        return s.what == step::kind::keep && s.bits == number;
    });
    return static_cast<std::size_t>(found - p.steps.begin());
}

}  // namespace

row_statements::row_statements(const row_box& rows, const fused_statements& first, const shape& box)
    : box_(rows),
      steps_(first.values().steps.size()),
      computes_places_(computes_places(first.values())),
      elements_(first.uses()) {
    parts_.push_back({part_kind::elements, box, first, {}, {}, nullptr});
}
bool row_statements::can_begin_with(const tape& statements, const row_box& rows) {
    return has_views_of(statements, shape(rows.rows, rows.columns));
}

bool row_statements::can_add(const vector_accesses& e, const vector_accesses& r, const tape& p) const {
    const std::size_t each = reductions_.empty() ? 1 : reductions_.front()->elements_of_item();
    // Work-items without a row of their own, or without a last element, compute those of others, which may
    // have overwritten them already: the values are not used, but must not say where to read.
    const bool overwrite = have_common(elements_.here(), elements_.written()) ||
                           have_common(elements_.here(), e.written) ||
                           have_common(e.here, elements_.written()) || have_common(e.here, e.written);
    if (overwrite && (computes_places_ || computes_places(p))) return false;
    return (steps_ + p.steps.size()) * each <= most_steps_of_item && elements_.can_add(e) &&
           rows_.can_add(r) && !rows_.conflict_with(e) && !elements_.conflict_with(r) &&
           !overlap(e.written, r.here) && !overlap(r.written, r.elsewhere);
}

bool row_statements::add(target_list targets, const tape& p, const shape& box) {
    const bool is_of_row = box.count() == box_.rows;
    if (!is_of_row && box.count() != box_.count()) return false;
    if (is_of_row ? !has_no_views(p) : !has_views_of(p, shape(box_.rows, box_.columns))) return false;
    const vector_accesses uses(p, targets);
    vector_accesses of_elements, of_rows;
    if (is_of_row) {
        of_rows = uses;
    } else {
        of_elements = vector_accesses(p, targets, box_.columns);
        of_rows.here = std::exchange(of_elements.of_rows, {});
    }
    if (!can_add(of_elements, of_rows, p)) return false;
    const part_kind what = is_of_row ? part_kind::row : part_kind::elements;
    if (parts_.empty() || parts_.back().what != what || !are_alike(parts_.back().box, box))
        parts_.push_back({what, box, {}, {}, {}, nullptr});
    part& last = parts_.back();
    if (box.dimensions() > 1) last.box = box;
    last.statements.add(targets, p, uses, box.count());
    elements_.add(of_elements);
    rows_.add(of_rows);
    steps_ += p.steps.size();
    computes_places_ = computes_places_ || computes_places(p);
    return true;
}

bool row_statements::add(std::unique_ptr<held_row_reduction>& how, const tape& operand, const tape& own,
                         const vector_handle& result) {
    if (!reductions_.empty() && !reductions_.front()->shares_kernel_with(*how)) return false;
    vector_accesses of_elements(own, {}, box_.columns), of_rows;
    of_rows.here = std::exchange(of_elements.of_rows, {});
    of_rows.written.push_back(result);
    if (!has_views_of(own, shape(box_.rows, box_.columns)) || overlaps(*result, of_rows.here) ||
        overlaps(*result, of_elements.here) || overlaps(*result, of_elements.elsewhere) ||
        (steps_ + own.steps.size()) * how->elements_of_item() > most_steps_of_item ||
        !can_add(of_elements, of_rows, own))
        return false;
    parts_.push_back({part_kind::reduction, shape(box_.rows, box_.columns), {}, operand, own, result});
    reductions_.push_back(std::move(how));
    elements_.add(of_elements);
    rows_.add(of_rows);
    steps_ += own.steps.size();
    computes_places_ = computes_places_ || computes_places(own);
    return true;
}

fused_rows row_statements::fused() const {
    fused_rows all;
    all.box = box_;
    struct value {
        vector_handle in;
        std::uint64_t number;
        std::size_t part;
        bool is_of_row;
    };
    std::vector<value> last;  // what each written vector holds
    const auto value_in = [&](const vector_handle& v, bool is_of_row) {
        return std::find_if(last.begin(), last.end(),
                            [&](const value& each) { return each.in == v && each.is_of_row == is_of_row; });
    };
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        const part& each = parts_[k];
        const bool is_row = each.what == part_kind::row;
        tape own = with_known_values(
            each.what == part_kind::reduction ? each.own_elements : each.statements.values(),
            is_row ? 0 : box_.columns,
            [&](const vector_handle& v, bool is_of_row) -> std::optional<std::uint64_t> {
                const auto known = value_in(v, is_row || is_of_row);
                return known == last.end() ? std::nullopt : std::optional(known->number);
            });
        const auto holds = [&](const vector_handle& v, std::uint64_t number, bool is_of_row) {
            const auto known = value_in(v, is_of_row);
            if (known == last.end())
                last.push_back({v, number, k, is_of_row});
            else
                *known = {v, number, k, is_of_row};
        };
        if (each.what == part_kind::reduction) {
            holds(each.result, own.push_keep(type_of_last(own)), true);
            own.steps.back().detail = static_cast<std::uint32_t>(value_of_statement::last);
        } else {
            for (const vector_handle& v : each.statements.uses().written())
                holds(v, *each.statements.value_in(v), is_row);
        }
        own.size = own.box = -1;  // parts have elements or rows
        if (all.values.steps.empty())
            all.values = std::move(own);
        else
            all.values.append(std::move(own));
        all.parts.push_back({each.what, all.values.steps.size()});
    }
    all.values.size = static_cast<std::int64_t>(box_.count());
    for (const value& each : last)
        if (!parts_[each.part].statements.is_only_computed(each.in))
            all.stores.push_back({each.in, keep_of(all.values, each.number), each.part, each.is_of_row});
    return all;
}

void row_statements::enqueue(const unread_test& is_unread) {
    if (parts_.size() == 1)
        return reductions_.front()->launch(parts_.front().operand, *parts_.front().result);
    fused_rows all = fused();
    // What remains are the handles of whoever can read the vectors.
    parts_.clear();
    elements_ = rows_ = {};
    std::erase_if(all.stores, [&](const fused_rows::store& each) { return is_unread(*each.into); });
    if (!all.stores.empty()) reductions_.front()->launch(all, reductions_);
}

}  // namespace balm::array
