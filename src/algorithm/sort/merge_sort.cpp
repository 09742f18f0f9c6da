// Merge sorts: chooses tiles, finds or traces the kernels, launches them.

#include "algorithm/sort/merge_sort.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "algorithm/divided_up.hpp"
#include "algorithm/sort/item_sort.hpp"
#include "algorithm/sort/merge_kernels.hpp"
#include "algorithm/sort/merge_tile.hpp"
#include "algorithm/sort/sort_strategy.hpp"
#include "array/layout.hpp"
#include "array/run_kernel.hpp"
#include "ir/ir.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// Elements of a tile that a work-item of a CPU sorts: few, so that tiles are merged in the core's cache.
constexpr std::size_t cpu_tile = 16384;
/// Work-items of groups that search for splits.
constexpr std::size_t split_group = 64;

class merging {
public:
    merging(vector_state& keys, const std::shared_ptr<const ir::function>& is_ahead, vector_state* values)
        : device_(keys.device()),
          facts_(kernels::facts_for(device_)),
          is_ahead_(is_ahead),
          keys_(&keys),
          values_(values),
          n_(keys.size()) {
        plan_.key = keys.type();
        if (values != nullptr) plan_.value = values->type();
        plan_.comparison = is_ahead->identity;
        const forced_sort* const asked = asked_of_sorts();
        const bool on_items =
            asked != nullptr ? asked->strategy == sort_strategy::chunk_an_item : facts_.on_cpu;
        if (on_items)
            tile_ = sorted_ = asked != nullptr && asked->chunk != 0 ? asked->chunk : cpu_tile;
        else
            take_groups();
    }

    void sort() {
        if (n_ < 2) return;
        std::size_t passes = 0;
        for (std::size_t width = sorted_; width < n_; width *= 2) ++passes;
        spare_keys_ = made_like(*keys_);
        if (values_ != nullptr) spare_values_ = made_like(*values_);
        const std::size_t tiles = divided_up(n_, tile_);
        splits_ = std::make_shared<vector_state>(keys_->device_handle(), scalar::i64, tiles);
        rounds_ = 0;
        while ((insertion_run << rounds_) < std::min(tile_, n_)) ++rounds_;
        plan_.is_in_place = passes % 2 == 0;
        launch(merge_stage::sort_tiles, divided_up(n_, sorted_));
        bool is_in_vector = plan_.is_in_place;
        plan_.is_in_place = true;
        for (width_ = sorted_; width_ < n_; width_ *= 2) {
            from_vector_ = is_in_vector;
            launch(merge_stage::split, tiles);
            launch(merge_stage::merge, tiles);
            is_in_vector = !is_in_vector;
        }
    }

private:
    void take_groups() {
        const std::size_t bytes =
            trace::size_of(plan_.key) + (plan_.has_values() ? trace::size_of(plan_.value) : 0);
        const merge_tile tile = merge_tile_of(bytes, device_.info().max_work_group_size);
        const merge_tile sorted =
            sorted_tile_of(tile, bytes, device_.info().max_work_group_size, device_.info().local_memory);
        plan_.group = tile.group;
        plan_.each = tile.each;
        tile_ = tile.size();
        sort_group_ = sorted.group;
        sorted_ = sorted.size();
    }
    static std::shared_ptr<vector_state> made_like(const vector_state& v) {
        return std::make_shared<vector_state>(v.device_handle(), v.type(), v.size());
    }

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, merge_stage stage) const {
        using trace::access;
        to.number("n", n_);
        if (stage == merge_stage::sort_tiles) {
            if (plan_.on_item()) to.number("tile_size", tile_);
            if (plan_.on_item()) to.number("rounds", rounds_);
            return declare_arrays(to, {"keys", "values"}, true, access::mixed,
                                  {"spare_keys", "spare_values"});
        }
        to.number("tile_size", tile_);
        to.number("width", width_);
        to.number("tiles_of_runs", 2 * width_ / tile_);
        if (stage == merge_stage::split) to.number("tiles", splits_->size());
        to.vector("splits", *splits_, stage == merge_stage::split ? access::out : access::in);
        if (stage == merge_stage::split)
            return declare_array(to, {"from_keys", "from_values"}, from_vector_, access::in);
        declare_array(to, {"from_keys", "from_values"}, from_vector_, access::in);
        declare_array(to, {"keys", "values"}, !from_vector_, access::out);
    }
    struct names {
        parameter_name keys, values;
    };
    template <class List>
    void declare_array(List& to, const names& called, bool is_vector, trace::access use) const {
        to.vector(called.keys, is_vector ? *keys_ : *spare_keys_, use);
        if (values_ != nullptr) to.vector(called.values, is_vector ? *values_ : *spare_values_, use);
    }
    template <class List>
    void declare_arrays(List& to, const names& own, bool is_vector, trace::access use,
                        const names& spare) const {
        declare_array(to, own, is_vector, use);
        declare_array(to, spare, !is_vector, use);
    }

    /// `count`: groups, or the work-items that split.
    void launch(merge_stage stage, std::size_t count) {
        merge_plan plan = plan_;
        plan.stage = stage;
        if (stage == merge_stage::sort_tiles) plan.group = sort_group_;
        // A group that sorts is so large that the registers of its work-items must be limited to fit the
        // compute unit.
        ir::launch_facts facts = facts_;
        if (plan.group > tuned_merges.group)
            facts.max_registers = tuned_merges.registers / static_cast<std::uint32_t>(plan.group);
        run_kernel(
            {"merge_sort", device_, facts}, plan, [&](auto& to) { declare_parameters(to, stage); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_merge_sort(r, given, plan, is_ahead_);
            },
            [&](const kernels::device_kernel& kernel) {
                return stage == merge_stage::split ? items_in_groups(count, split_group, kernel)
                                                   : groups_of(count, plan.group);
            });
    }

    runtime::device_state& device_;
    ir::launch_facts facts_;
    const std::shared_ptr<const ir::function>& is_ahead_;
    vector_state *keys_, *values_;
    std::size_t n_;
    merge_plan plan_;
    std::size_t tile_ = 1, width_ = 0, rounds_ = 0;
    std::size_t sort_group_ = 1, sorted_ = 1;  ///< work-items that sort a tile, and its elements
    bool from_vector_ = true;
    std::shared_ptr<vector_state> spare_keys_, spare_values_, splits_;
};

}  // namespace

void merge_sort(vector_state& keys, const std::shared_ptr<const ir::function>& is_ahead,
                vector_state* values) {
    merging(keys, is_ahead, values).sort();
}

}  // namespace balm::array
