// Merges and set operations of two sorted arrays: divides them into tiles, finds or traces the kernels, and
// launches them.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/merge/combine_kernels.hpp"
#include "algorithm/result_targets.hpp"
#include "algorithm/scan/look_back.hpp"
#include "algorithm/sort/merge_tile.hpp"
#include "algorithm/sort/sort_strategy.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/scan.hpp"
#include "balm/set_operations.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

using vector_handle = std::shared_ptr<vector_state>;
using handles = std::vector<vector_handle>;

/// CPUs: tiles per compute unit, and the minimum number of elements of a tile.
constexpr std::size_t tiles_per_core = 4, least_cpu_tile = 16384;
/// Work-items of the groups that find splits.
constexpr std::size_t split_group = 64;

/// The two lists on one device.
struct pair_on_device {
    explicit pair_on_device(const sorted_pair& p) : of(p) {
        for (const vector_handle& v : p.first) first.push_back(here(v, p));
        for (const vector_handle& v : p.second) second.push_back(here(v, p));
        check_sizes(first);
        check_sizes(second);
        for (const vector_handle& v : p.second) check_same_devices(*p.first[0], *v);
        for (const vector_handle& v : p.first) check_same_devices(*p.first[0], *v);
    }
    std::size_t first_size() const { return first[0]->size(); }
    std::size_t second_size() const { return second[0]->size(); }
    std::size_t size() const { return first_size() + second_size(); }
    bool has_none() const { return first_size() == 0 || second_size() == 0; }
    const std::shared_ptr<runtime::device_state>& device() const { return first[0]->device_handle(); }

    const sorted_pair& of;
    handles first, second;

private:
    static vector_handle here(const vector_handle& v, const sorted_pair& p) {
        if (v == nullptr)
            throw usage_error(fmt::format(
                "{} got a vector that has no device; make it with balm::vector<T>(context, size)", p.name));
        if (!v->is_spread()) return v;
        auto made = std::make_shared<vector_state>(v->device_handle(), v->type(), v->size());
        copy_elements(*made, 0, *v, 0, v->size());
        return made;
    }
    void check_sizes(const handles& list) const {
        for (const vector_handle& v : list)
            if (v->size() != list[0]->size())
                throw usage_error(fmt::format(
                    "{} got arrays of {} and {} elements that are sorted together; their sizes must be equal",
                    of.name, list[0]->size(), v->size()));
    }
};

handles made_like(const pair_on_device& from, std::size_t size) {
    handles made;
    for (const vector_handle& v : from.first)
        made.push_back(std::make_shared<vector_state>(from.device(), v->type(), size));
    return made;
}
/// Combines two arrays, neither of which is empty.
class combining {
public:
    combining(const pair_on_device& from, std::optional<block::set_operation> what)
        : from_(from),
          device_(from.device()),
          facts_(kernels::facts_for(*device_)),
          first_(as_kernels_take(from.first, from.of.keys, from.of.by)),
          second_(as_kernels_take(from.second, from.of.keys, from.of.by)) {
        plan_.what = what;
        for (std::size_t k = 0; k < from.first.size(); ++k)
            (k < from.of.keys ? plan_.keys.types.push_back(from.first[k]->type())
                              : plan_.values.push_back(from.first[k]->type()));
        plan_.keys.take(from.of.by);
        cut();
    }

    void find_counts() {
        split();
        counts_ = std::make_shared<vector_state>(device_, scalar::i64, tiles_ + 1);
        launch(combine_stage::count, tiles_);
        tape counts;
        counts.push_vector(counts_);
        assign(*counts_, scanned(std::move(counts), {{reduction_kind::sum, scalar::i64}, false}));
    }
    /// Whether one kernel can count the results of a set operation and store them.
    bool can_sweep() const {
        const forced_sort* const asked = asked_of_sorts();
        if (asked != nullptr) return asked->strategy == sort_strategy::tiles_look_back;
        return plan_.has_sub_groups;
    }
    /// Stores the results, as many as there is room for, and the number of all.
    void sweep(const handles& into, vector_state& count) {
        split();
        into_ = as_kernels_take(into, from_.of.keys, from_.of.by);
        count_ = &count;
        plan_.is_bounded = true;
        announcements_.emplace(device_, tiles_, block::types{scalar::i64}, bits_of_set_counts);
        launch(combine_stage::sweep, tiles_);
    }
    /// The number of results, which follows the scanned counts.
    std::size_t read_count() const {
        std::int64_t found = 0;
        read(*counts_, tiles_, &found, 1);
        return static_cast<std::size_t>(found);
    }
    void give_count(vector_state& to) const { copy_elements(to, 0, *counts_, tiles_, 1); }

    /// `is_bounded`: the targets of a set operation may be too small for all results.
    void move(const handles& into, bool is_bounded) {
        if (!plan_.what) split();
        into_ = as_kernels_take(into, from_.of.keys, from_.of.by);
        plan_.is_bounded = is_bounded;
        launch(combine_stage::move, tiles_);
    }

private:
    void cut() {
        const forced_sort* const asked = asked_of_sorts();
        const bool on_items =
            asked != nullptr ? asked->strategy == sort_strategy::chunk_an_item : facts_.on_cpu;
        const std::size_t n = from_.size();
        if (on_items) {
            const std::size_t units = std::max<std::size_t>(device_->info().compute_units, 1);
            const std::size_t tiles = std::min(units * tiles_per_core, divided_up(n, least_cpu_tile));
            tile_ = asked != nullptr && asked->chunk != 0 ? asked->chunk : divided_up(n, tiles);
        } else {
            const merge_tile tile =
                merge_tile_of(bytes_of_element(plan_), device_->info().max_work_group_size);
            plan_.group = tile.group;
            plan_.each = tile.each;
            plan_.has_sub_groups = kernels::features_of(*device_).has_sub_groups;
            tile_ = tile.size();
        }
        tiles_ = divided_up(n, tile_);
    }
    void split() {
        if (plan_.on_item()) return;
        splits_ = std::make_shared<vector_state>(device_, scalar::i64, 2 * (tiles_ + 1));
        launch(combine_stage::split, tiles_ + 1);
    }

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const combine_plan& plan) {
        using trace::access;
        to.number("a_size", from_.first_size());
        to.number("b_size", from_.second_size());
        to.number("tile_size", tile_);
        const bool is_sweep = plan.stage == combine_stage::sweep;
        if (!plan.moves() || is_sweep) to.number("tiles", tiles_);
        if (!plan.on_item())
            to.vector("splits", *splits_, plan.stage == combine_stage::split ? access::out : access::in);
        if (is_sweep) {
            announcements_->declare_parameters(to);
            to.vector("count", *count_, access::out);
        } else if (plan.what && plan.stage != combine_stage::split) {
            to.vector("counts", *counts_, plan.moves() ? access::in : access::out);
        }
        if (plan.moves() && plan.is_bounded) to.number("room", into_[0]->size());
        declare_arrays(to, plan, "a_keys", "a_values", first_, access::in);
        declare_arrays(to, plan, "b_keys", "b_values", second_, access::in);
        if (plan.moves()) declare_arrays(to, plan, "keys", "values", into_, access::out);
    }
    template <class List>
    static void declare_arrays(List& to, const combine_plan& plan, const char* keys, const char* values,
                               const handles& arrays, trace::access use) {
        const std::size_t count = plan.keys.types.size();
        for (std::size_t k = 0; k < count; ++k) to.vector({keys, k}, *arrays[k], use);
        for (std::size_t k = 0; plan.moves() && k < plan.values.size(); ++k)
            to.vector({values, k}, *arrays[count + k], use);
    }

    /// `count`: groups, or the work-items that split.
    void launch(combine_stage stage, std::size_t count) {
        combine_plan plan = plan_;
        plan.stage = stage;
        if (!plan.moves()) plan.values.clear();
        run_kernel(
            {from_.of.name, *device_, facts_}, plan, [&](auto& to) { declare_parameters(to, plan); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_combination(r, given, plan, from_.of.by.is_ahead);
            },
            [&](const kernels::device_kernel& kernel) {
                return stage == combine_stage::split ? items_in_groups(count, split_group, kernel)
                                                     : groups_of(count, plan.group);
            });
    }

    const pair_on_device& from_;
    const std::shared_ptr<runtime::device_state> device_;
    const ir::launch_facts facts_;
    const handles first_, second_;
    handles into_;
    combine_plan plan_;
    std::size_t tile_ = 1, tiles_ = 0;
    vector_handle splits_, counts_;
    vector_state* count_ = nullptr;  ///< of the results, if they are swept
    std::optional<announcement_memory> announcements_;
};

result_targets targets_of(const sorted_pair& p, vector_list into, const pair_on_device& from) {
    result_targets all{p.name, *from.device(), {}, {}};
    for (const vector_handle& each : into) all.into.push_back(each.get());
    for (const vector_list& list : {p.first, p.second})
        for (const vector_handle& each : list) all.read.push_back(each.get());
    return all;
}

void copy_all(const handles& into, std::size_t place, const handles& from, std::size_t count) {
    for (std::size_t k = 0; count > 0 && k < into.size(); ++k)
        copy_elements(*into[k], place, *from[k], 0, count);
}

void merge_on_device(const pair_on_device& from, const handles& into) {
    if (!from.has_none()) return combining(from, std::nullopt).move(into, false);
    copy_all(into, 0, from.first, from.first_size());
    copy_all(into, 0, from.second, from.second_size());
}
/// The results if one of the arrays is empty: the other array, or nothing.
const handles* results_without_pairs(const pair_on_device& from, set_operation what) {
    if (from.size() == 0 || what == set_operation::intersect) return nullptr;
    if (from.second_size() == 0) return &from.first;
    return what == set_operation::subtract ? nullptr : &from.second;
}

handles on_this_device(vector_list list) { return handles(list.begin(), list.end()); }

}  // namespace

void merge(const sorted_pair& p, vector_handle* made) {
    const pair_on_device from(p);
    const handles into = made_like(from, from.size());
    merge_on_device(from, into);
    std::copy(into.begin(), into.end(), made);
}
void merge_into(vector_list into, const sorted_pair& p) {
    const pair_on_device from(p);
    check(targets_of(p, into, from));
    if (into[0]->size() != from.size())
        throw usage_error(
            fmt::format("{} of {} and {} elements has a target of {}; it keeps all of them, so the target's "
                        "size must be their sum",
                        p.name, from.first_size(), from.second_size(), into[0]->size()));
    merge_on_device(from, on_this_device(into));
}

std::size_t combine_sets(set_operation what, const sorted_pair& p, vector_handle* made) {
    const pair_on_device from(p);
    const auto give = [&](const handles& list) { std::copy(list.begin(), list.end(), made); };
    if (from.has_none()) {
        const handles* const all = results_without_pairs(from, what);
        const std::size_t count = all == nullptr ? 0 : (*all)[0]->size();
        const handles into = made_like(from, count);
        if (all != nullptr) copy_all(into, 0, *all, count);
        give(into);
        return count;
    }
    combining sets(from, what);
    sets.find_counts();
    const std::size_t count = sets.read_count();
    const handles into = made_like(from, count);
    if (count > 0) sets.move(into, false);
    give(into);
    return count;
}

void combine_sets_into(set_operation what, vector_list into, vector_state* count_target,
                       const sorted_pair& p) {
    const pair_on_device from(p);
    const result_targets targets = targets_of(p, into, from);
    check(targets);
    check_count(count_target, targets);
    vector_state& count = *count_target;
    const std::size_t room = into[0]->size();
    if (from.has_none()) {
        const handles* const all = results_without_pairs(from, what);
        const std::uint64_t found = all == nullptr ? 0 : (*all)[0]->size();
        fill(count, &found);
        if (all != nullptr) copy_all(on_this_device(into), 0, *all, std::min<std::size_t>(found, room));
        return;
    }
    combining sets(from, what);
    if (room > 0 && sets.can_sweep()) return sets.sweep(on_this_device(into), count);
    sets.find_counts();
    sets.give_count(count);
    // Arrays that are not sorted may have more results than elements.
    if (room > 0) sets.move(on_this_device(into), true);
}

}  // namespace balm::array
