#include "array/fused_statements.hpp"

#include <utility>

#include "array/map/overlap.hpp"
#include "ir/ir.hpp"
#include "ir/lower/widen.hpp"

namespace balm::array {

namespace {

/// Whether v shares elements with one of them without being it.
bool overlaps_another(const vector_handle& v, const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const vector_handle& each) { return each != v && each->overlaps(*v); });
}
bool overlap_others(const auto& a, const auto& b) {
    return std::any_of(a.begin(), a.end(), [&](const vector_handle& v) { return overlaps_another(v, b); });
}

/// The map by which a vector is read from step k on, outside of other positions, as views are; null if none
/// is.
const affine_map* view_from(const tape& p, std::size_t k, int depth) {
    constexpr std::size_t length = 4;
    const bool is_read = depth == 0 && k + length <= p.steps.size() &&
                         p.steps[k].what == step::kind::position && p.steps[k + 1].what == step::kind::at &&
                         p.steps[k + 2].what == step::kind::vector && p.steps[k + 3].what == step::kind::end;
    return is_read ? &p.maps[p.steps[k].leaf] : nullptr;
}

/// The length of the rows of which a map has the number for each element, if it has.
std::size_t length_of_rows(const affine_map& m) {
    std::size_t repeated = 1;
    for (int d = m.box.dimensions() - 1; d >= 0 && m.strides[static_cast<std::size_t>(d)] == 0; --d)
        repeated *= m.box[d];
    return repeated;
}
/// Whether a map has the number of the row for each element of rows of this length.
bool is_row_number(const affine_map& m, std::size_t columns) {
    int d = m.box.dimensions() - 1;
    const auto stride = [&](int of) { return m.strides[static_cast<std::size_t>(of)]; };
    std::size_t repeated = 1;
    for (; d >= 0 && repeated < columns && (stride(d) == 0 || m.box[d] == 1); --d) repeated *= m.box[d];
    std::int64_t row = 1;
    bool is_it = repeated == columns && m.offset == 0;
    for (; d >= 0; --d) {
        is_it = is_it && (m.box[d] == 1 || stride(d) == row);
        row *= static_cast<std::int64_t>(m.box[d]);
    }
    return is_it;
}
bool is_read_by_row(const affine_map& m, const vector_state& v, std::size_t columns) {
    return columns > 0 && v.size() * columns == m.box.count() && is_row_number(m, columns);
}

/// Whether a function of the library is one that vectors and scalars may round differently.
bool is_inexact(builtin what, trace::type of) {
    const ir::builtin_info& row = ir::info(what);
    return is_floating(of.element) && row.ulp != 0 && row.symbol == nullptr;
}
bool calls_inexact_functions(const ir::function& f) {
    const auto all = ir::with_callees(f);
    return std::any_of(all.begin(), all.end(), [](const ir::function* each) {
        return std::any_of(each->code.begin(), each->code.end(), [](const ir::instruction& i) {
            return i.op == ir::opcode::builtin && is_inexact(static_cast<builtin>(i.detail), i.result);
        });
    });
}

}  // namespace

bool calls_inexact_functions(const tape& p) {
    return std::any_of(p.steps.begin(), p.steps.end(),
                       [](const step& s) {
                           return s.what == step::kind::apply &&
                                  is_inexact(static_cast<builtin>(s.detail), s.type);
                       }) ||
           std::any_of(p.functions.begin(), p.functions.end(),
                       [](const auto& f) { return calls_inexact_functions(*f); });
}

vector_accesses::vector_accesses(const tape& p, target_list targets, std::size_t columns) {
    int depth = 0;  // 0 for steps that are computed at the element's own index
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const step& s = p.steps[k];
        const affine_map* const view = view_from(p, k, depth);
        if (view != nullptr && is_read_by_row(*view, *p.vectors[p.steps[k + 2].leaf], columns)) {
            of_rows.push_back(p.vectors[p.steps[k + 2].leaf]);
            k += 3;
            continue;
        }
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (s.what == step::kind::vector && depth == 0)
            here.push_back(p.vectors[s.leaf]);
        else if (s.what == step::kind::vector || s.what == step::kind::memory)
            elsewhere.push_back(p.vectors[s.leaf]);
    }
    for (const target& t : targets) {
        written.push_back(t.vector->shared_from_this());
        if (t.where != nullptr) scattered.push_back(written.back());
    }
}

const char* fused_accesses::conflict_of(const vector_accesses& s) const {
    if (overlap(s.elsewhere, written_)) return "it reads at other positions what the kernel before writes";
    if (overlap(s.written, elsewhere_))
        return "it overwrites what the kernel before reads at other positions";
    if (overlap_others(s.here, written_) || overlap_others(s.written, written_) ||
        overlap_others(s.written, here_) || overlap_others(s.written, s.here))
        return "its vectors share memory with others in part";
    const auto meets = [](const auto& views, const auto& here, const auto& elsewhere, const auto& written) {
        return overlap(views, here) || overlap(views, elsewhere) || overlap(views, written);
    };
    if (meets(s.scattered, here_, elsewhere_, written_) || meets(scattered_, s.here, s.elsewhere, s.written))
        return "it uses a vector of which a view is assigned in the kernel before, or the other way round";
    return nullptr;
}

void fused_accesses::add(const vector_accesses& s) {
    for (const vector_handle& v : s.here)
        if (place_of(v) == written_.size()) here_.push_back(v);
    elsewhere_.insert(elsewhere_.end(), s.elsewhere.begin(), s.elsewhere.end());
    scattered_.insert(scattered_.end(), s.scattered.begin(), s.scattered.end());
    for (const vector_handle& v : s.written)
        if (place_of(v) == written_.size()) written_.push_back(v);
}

tape with_known_values(const tape& p, std::size_t columns, const known_values& known,
                       const std::function<void(tape&, std::size_t)>& after_value) {
    tape own = p;
    own.steps.clear();
    own.vectors.clear();
    std::size_t value = 0;
    int depth = 0;
    const std::vector<std::size_t> ends = ends_of_values(p);
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        step s = p.steps[k];
        const affine_map* const view = view_from(p, k, depth);
        std::optional<std::uint64_t> number;
        if (view != nullptr) {
            const vector_handle& read = p.vectors[p.steps[k + 2].leaf];
            if (is_read_by_row(*view, *read, columns)) number = known(read, true);
            if (number) {
                k += 3;
                own.push_kept(read->type(), *number);
            }
        } else if (s.what == step::kind::vector || s.what == step::kind::memory) {
            const vector_handle& read = p.vectors[s.leaf];
            if (depth == 0 && s.what == step::kind::vector) number = known(read, false);
            if (number) {
                own.push_kept(read->type(), *number);
            } else {
                own.vectors.push_back(read);
                s.leaf = static_cast<std::uint16_t>(own.vectors.size() - 1);
            }
        }
        if (!number) {
            depth += (s.what == step::kind::at) - (s.what == step::kind::end);
            own.push(s);
        }
        if (k + 1 == ends[value]) {
            if (after_value) after_value(own, value);
            ++value;
        }
    }
    return own;
}

tape with_own_elements(const tape& p, const shape& box) {
    tape own = p;
    own.steps.clear();
    int depth = 0;
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const affine_map* const view = view_from(p, k, depth);
        if (view != nullptr && p.vectors[p.steps[k + 2].leaf]->size() == box.count() &&
            view->box.count() == box.count() && is_same_map(*view, row_major(view->box))) {
            own.push(p.steps[k + 2]);
            k += 3;
            continue;
        }
        depth += (p.steps[k].what == step::kind::at) - (p.steps[k].what == step::kind::end);
        own.push(p.steps[k]);
    }
    return own;
}

std::optional<tape> in_one_loop(const tape& p, const shape& box) {
    tape own = p;
    own.steps.clear();
    own.box = -1;
    own.size = static_cast<std::int64_t>(box.count());
    int depth = 0;
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const step& s = p.steps[k];
        if (s.what == step::kind::position && depth == 0) {
            const affine_map* const view = view_from(p, k, depth);
            const std::size_t columns = view != nullptr ? length_of_rows(*view) : 0;
            if (columns < 2 || columns % ir::most_lanes != 0 || view->box.count() != box.count() ||
                !is_row_number(*view, columns))
                return std::nullopt;
            own.push(s).detail = from_flat_index;
            continue;
        }
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        own.push(s);
    }
    return own;
}

known_values fused_statements::known() const {
    return [this](const vector_handle& v, bool is_of_row) { return is_of_row ? std::nullopt : value_in(v); };
}

std::optional<std::uint64_t> fused_statements::value_in(const vector_handle& v) const {
    const std::size_t at = uses_.place_of(v);
    if (at == last_values_.size() || last_values_[at].value == in_memory) return std::nullopt;
    return last_values_[at].value;
}

tape fused_statements::with_values(const tape& p) const { return with_known_values(p, 0, known()); }

tape fused_statements::add_operand(const tape& p, const vector_accesses& s) {
    tape own = with_values(p);
    uses_.add(s);
    return own;
}

fused_statements fused_statements::again() const {
    fused_statements made = *this;
    for (written_value& each : made.last_values_) each.is_stored = false;
    return made;
}

bool fused_statements::is_only_computed(const vector_handle& v) const {
    const std::size_t at = uses_.place_of(v);
    return at < last_values_.size() && !last_values_[at].is_stored;
}

void fused_statements::add_written(const std::vector<vector_handle>& vectors) {
    vector_accesses all;
    all.written = vectors;
    uses_.add(all);
    last_values_.resize(uses_.written().size());
}

void fused_statements::add(target_list targets, const tape& p, const vector_accesses& s,
                           std::size_t elements) {
    std::vector<std::uint64_t> numbers;  // of the values, then of positions
    tape own = with_known_values(p, 0, known(), [&](tape& to, std::size_t value) {
        if (value >= targets.size()) {
            numbers.push_back(to.push_keep(scalar::i64));
            return to.push_within(scalar::i64);
        }
        const trace::type element = targets[value].vector->type();
        const step& last = to.steps.back();
        if (element.is_scalar() && (last.what == step::kind::end || last.type != element))
            push_convert(to, element);
        numbers.push_back(to.push_keep(element));
        const bool is_last = value + 1 == targets.size();
        to.steps.back().detail =
            static_cast<std::uint32_t>(is_last ? value_of_statement::last : value_of_statement::earlier);
        if (value > 0 || !is_empty()) to.push_within(element);
    });
    own.size = static_cast<std::int64_t>(elements);
    if (is_empty())
        values_ = std::move(own);
    else
        values_.append(std::move(own));
    ++count_;
    uses_.add(s);
    last_values_.resize(uses_.written().size());
    std::size_t position = targets.size();
    for (std::size_t k = 0; k < targets.size(); ++k) {
        written_value& last = last_values_[uses_.place_of(s.written[k])];
        last = {numbers[k], 0, nullptr, true};
        if (targets[k].where == nullptr) continue;
        last.position = numbers[position++];
        last.where = std::make_shared<const tape>(*targets[k].where);
    }
}

fused_statements::stored_values fused_statements::stored(const unread_test& is_unread) const {
    stored_values all{values_, {}};
    std::vector<std::uint64_t> positions;
    for (std::size_t k = 0; k < last_values_.size(); ++k) {
        const vector_handle& v = uses_.written()[k];
        const written_value& last = last_values_[k];
        if (last.value == in_memory || !last.is_stored || is_unread(*v)) continue;
        all.values.push_kept(v->type(), last.value);
        if (all.targets.empty()) all.values.push_within(v->type());
        all.targets.push_back({v.get(), last.where.get()});
        if (last.where != nullptr) positions.push_back(last.position);
    }
    for (const std::uint64_t each : positions) all.values.push_kept(scalar::i64, each);
    return all;
}

bool is_dead(const vector_state& v, long handles) {
    return v.weak_from_this().use_count() == handles && v.memory().use_count() == 1;
}

}  // namespace balm::array
