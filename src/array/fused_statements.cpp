#include "array/fused_statements.hpp"

#include <optional>
#include <utility>

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

}  // namespace

vector_accesses::vector_accesses(const tape& p, target_list targets) {
    int depth = 0;  // 0 for steps that are computed at the element's own index
    for (const step& s : p.steps) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (s.what == step::kind::vector && depth == 0)
            here.push_back(p.vectors[s.leaf]);
        else if (s.what == step::kind::vector || s.what == step::kind::memory)
            elsewhere.push_back(p.vectors[s.leaf]);
    }
    for (const target& t : targets) written.push_back(t.vector->shared_from_this());
}

bool fused_statements::can_add(const vector_accesses& s) const {
    return !overlap_others(s.here, written_) && !overlap(s.elsewhere, written_) &&
           !overlap_others(s.written, written_) && !overlap(s.written, elsewhere_) &&
           !overlap_others(s.written, here_) && !overlap_others(s.written, s.here);
}

template <class AfterValue>
tape fused_statements::rewritten(const tape& p, const AfterValue& after_value) const {
    tape own = p;
    own.steps.clear();
    own.vectors.clear();
    std::size_t value = 0;
    int depth = 0;
    const std::vector<std::size_t> ends = ends_of_values(p);
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        step s = p.steps[k];
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        std::optional<std::uint64_t> known;
        if (s.what == step::kind::vector || s.what == step::kind::memory) {
            const vector_handle& read = p.vectors[s.leaf];
            const auto at = static_cast<std::size_t>(std::find(written_.begin(), written_.end(), read) -
                                                     written_.begin());
            if (depth == 0 && at < written_.size() && last_values_[at] != in_memory) known = last_values_[at];
            if (!known) own.vectors.push_back(read);
            s.leaf = static_cast<std::uint16_t>(own.vectors.size() - 1);
        }
        if (known)
            own.push_kept(p.vectors[p.steps[k].leaf]->type(), *known);
        else
            own.push(s);
        if (k + 1 == ends[value]) after_value(own, value++);
    }
    return own;
}

void fused_statements::add_reads(const vector_accesses& s) {
    for (const vector_handle& v : s.here)
        if (std::find(written_.begin(), written_.end(), v) == written_.end()) here_.push_back(v);
    elsewhere_.insert(elsewhere_.end(), s.elsewhere.begin(), s.elsewhere.end());
}

tape fused_statements::add_operand(const tape& p, const vector_accesses& s) {
    add_reads(s);
    return rewritten(p, [](tape&, std::size_t) {});
}

void fused_statements::add_written(const std::vector<vector_handle>& vectors) {
    written_.insert(written_.end(), vectors.begin(), vectors.end());
    last_values_.resize(written_.size(), in_memory);
}

void fused_statements::add(target_list targets, const tape& p, const vector_accesses& s,
                           std::size_t elements) {
    std::vector<std::uint64_t> numbers;
    tape own = rewritten(p, [&](tape& to, std::size_t value) {
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
    add_reads(s);
    for (std::size_t k = 0; k < targets.size(); ++k) {
        const auto known = std::find(written_.begin(), written_.end(), s.written[k]);
        if (known != written_.end()) {
            last_values_[static_cast<std::size_t>(known - written_.begin())] = numbers[k];
        } else {
            written_.push_back(s.written[k]);
            last_values_.push_back(numbers[k]);
        }
    }
}

fused_statements::stored_values fused_statements::stored() const {
    stored_values all{values_, {}};
    for (std::size_t k = 0; k < written_.size(); ++k) {
        const vector_handle& v = written_[k];
        if (last_values_[k] == in_memory || is_dead(v)) continue;
        all.values.push_kept(v->type(), last_values_[k]);
        if (all.targets.empty()) all.values.push_within(v->type());
        all.targets.push_back({v.get()});
    }
    return all;
}

bool is_dead(const vector_handle& v) { return v.use_count() == 1 && v->memory().use_count() == 1; }

}  // namespace balm::array
