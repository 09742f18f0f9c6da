// Radix sorts: decides how elements are distributed, finds or traces the kernels, and launches them.

#include "algorithm/sort/radix_sort.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "algorithm/divided_up.hpp"
#include "algorithm/sort/digit_look_back.hpp"
#include "algorithm/sort/radix_kernels.hpp"
#include "algorithm/sort/sort_strategy.hpp"
#include "array/run_kernel.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

std::atomic<const forced_sort*> forced{nullptr};

/// Maximum number of elements that one work-item sorts on a CPU.
constexpr std::size_t most_of_cpu_item = 65536;
/// Chunks per compute unit of a CPU, and the minimum elements of a chunk.
constexpr std::size_t chunks_per_core = 4, least_cpu_chunk = 16384;
/// Work-items of CPUs count digits in 32 bits.
constexpr std::size_t most_counted_by_item = std::numeric_limits<std::int32_t>::max();
/// Chunks per compute unit of a GPU.
constexpr std::size_t chunks_per_unit = 8;
/// Groups that count digits, per compute unit of a GPU.
constexpr std::size_t counting_groups_per_unit = 8;

/// How many work-items of a GPU share a tile, and how many elements of it each has.
struct sort_tile {
    std::size_t group;
    int each;
    std::uint32_t max_registers = 0;  ///< per work-item; 0: no limit
};
/// Tiles of sweeps: over keys and over pairs, of up to 4 bytes each; the same for 8 bytes. On an H200
/// (NVRTC 13.0) 2^28 u32 take 5.33 ms (384 x 24 with 80 registers: 5.91, 256 x 32 with 80: 5.45, 384 x 24
/// with 64: 6.07), pairs of u32 7.96 (384 x 20 with 80: 8.30, 512 x 16 with 64: 8.41); 2^27 u64 7.29 (384 x
/// 14 with 80: 8.40, 256 x 18 with 64: 7.40), pairs of u64 12.15 (384 x 14: 12.31, 256 x 14 with 64: 16.1).
constexpr sort_tile sweep_tile{320, 36, 96}, pair_sweep_tile{320, 28, 96}, wide_sweep_tile{256, 22, 80},
    wide_pair_sweep_tile{384, 15, 80};
/// Up to this many elements a device has too few large tiles to be busy, and a small one takes less time: on
/// an H200 2^16 u32 take 54 µs with it, 70 with the large one; 2^20 take 80 with both.
constexpr std::size_t most_of_short_tiles = std::size_t{1} << 19;
constexpr sort_tile short_sweep_tile{256, 16, 80};
/// Without sub-groups: each work-item has its own counters for 4-bit digits.
constexpr sort_tile plain_tile{256, 8};
/// For rows that one group sorts: the smallest tile that fits a row.
constexpr sort_tile row_tiles[] = {{64, 4}, {128, 8}, {256, 16}};
constexpr sort_tile plain_row_tiles[] = {{64, 4}, {256, 8}};

sort_strategy strategy_for(bool is_cpu, bool has_sub_groups) {
    if (is_cpu) return sort_strategy::chunk_an_item;
    return has_sub_groups ? sort_strategy::tiles_look_back : sort_strategy::chunk_a_group;
}

/// The sorting strategy of a device.
struct device_strategy {
    explicit device_strategy(const runtime::device_state& device) {
        const forced_sort* const asked = forced.load();
        has_sub_groups = kernels::features_of(device).has_sub_groups;
        strategy = strategy_for(kernels::facts_for(device).on_cpu, has_sub_groups);
        if (asked != nullptr) {
            how = *asked;
            strategy = asked->strategy;
            has_sub_groups |= asked->has_sub_groups;
        }
        has_sub_groups = has_sub_groups && !on_items();
    }
    bool on_items() const { return strategy == sort_strategy::chunk_an_item; }
    int digit_bits() const { return on_items() || has_sub_groups ? 8 : 4; }
    /// The smallest tile that fits a row; null if there is none.
    const sort_tile* row_tile(std::size_t row) const {
        const auto find = [&](const auto& shapes) {
            const auto found = std::find_if(std::begin(shapes), std::end(shapes), [&](const sort_tile& t) {
                return row <= t.group * static_cast<std::size_t>(t.each);
            });
            return found == std::end(shapes) ? nullptr : &*found;
        };
        return has_sub_groups ? find(row_tiles) : find(plain_row_tiles);
    }

    sort_strategy strategy;
    bool has_sub_groups;
    forced_sort how{};
};

class sorting_by_digits {
public:
    sorting_by_digits(vector_state& keys, bool is_descending, vector_state* values)
        : device_(keys.device()),
          facts_(kernels::facts_for(device_)),
          how_(device_),
          n_(keys.size()),
          keys_(bits_of(keys)),
          values_(values == nullptr ? nullptr : bits_of(*values)) {
        plan_.order = {keys.type().element, is_descending};
        plan_.value_bytes = values == nullptr ? 0 : values->element_size();
        plan_.digit_bits = how_.digit_bits();
        plan_.has_sub_groups = how_.has_sub_groups;
    }

    void sort() {
        if (n_ < 2) return;
        if (n_ <= most_of_one()) return sort_rows(n_);
        make_spare();
        const bool looks_back = how_.strategy == sort_strategy::tiles_look_back;
        state_ = zeros(scalar::u64,
                       radix_state::histograms +
                           (looks_back ? static_cast<std::size_t>(plan_.passes() * plan_.digits()) : 0));
        if (looks_back)
            sweep();
        else
            move_chunks();
        settle();
    }

    void sort_rows(std::size_t row) {
        if (how_.on_items())
            make_spare();
        else
            take(*how_.row_tile(row));
        count_ = row;
        launch(radix_stage::whole, n_ / row);
    }

private:
    std::size_t most_of_one() const {
        const std::size_t most = how_.on_items() ? most_of_cpu_item : most_of_a_group();
        return std::min(most, how_.how.most_of_one);
    }
    std::size_t most_of_a_group() const {
        const sort_tile& largest =
            how_.has_sub_groups ? *std::rbegin(row_tiles) : *std::rbegin(plain_row_tiles);
        return largest.group * static_cast<std::size_t>(largest.each);
    }

    void take(const sort_tile& tile) {
        plan_.group = std::min(tile.group, std::bit_floor(device_.info().max_work_group_size));
        plan_.each = tile.each * static_cast<int>(tile.group / plan_.group);
    }
    std::size_t tile_size() const { return plan_.group * static_cast<std::size_t>(plan_.each); }
    std::size_t units() const { return std::max<std::size_t>(device_.info().compute_units, 1); }
    const sort_tile& tile_of_sweep() const {
        if (n_ <= most_of_short_tiles) return short_sweep_tile;
        if (has_wide_elements()) return values_ ? wide_pair_sweep_tile : wide_sweep_tile;
        return values_ ? pair_sweep_tile : sweep_tile;
    }
    bool has_wide_elements() const { return std::max(keys_->element_size(), plan_.value_bytes) > 4; }

    std::shared_ptr<vector_state> made(trace::type type, std::size_t count) const {
        return std::make_shared<vector_state>(keys_->device_handle(), type, count);
    }
    std::shared_ptr<vector_state> zeros(scalar type, std::size_t count) const {
        std::shared_ptr<vector_state> words = made(type, count);
        constexpr std::uint64_t nothing = 0;
        fill(*words, &nothing);
        return words;
    }
    void make_spare() {
        spare_keys_ = made(keys_->type(), n_);
        if (values_) spare_values_ = made(values_->type(), n_);
    }

    // ---- counts of chunks, their scan, and the chunks

    void cut() {
        std::size_t chunks = 0;
        if (how_.on_items()) {
            chunks = std::max(std::min(units() * chunks_per_core, divided_up(n_, least_cpu_chunk)),
                              divided_up(n_, most_counted_by_item));
        } else {
            plan_.is_wide = true;
            take(plain_tile);
            chunks = std::min(units() * chunks_per_unit, divided_up(n_, tile_size()));
        }
        chunk_ = how_.how.chunk != 0 ? how_.how.chunk : divided_up(n_, chunks);
        if (!how_.on_items()) chunk_ = divided_up(chunk_, tile_size()) * tile_size();
        chunks_ = divided_up(n_, chunk_);
    }
    void move_chunks() {
        cut();
        counts_ = made(scalar::i64, chunks_ * static_cast<std::size_t>(plan_.digits()));
        for (pass_ = 0; pass_ < static_cast<std::size_t>(plan_.passes()); ++pass_) {
            launch(radix_stage::count, chunks_);
            launch(radix_stage::scan, 1);
            launch(radix_stage::scatter, chunks_);
        }
    }

    // ---- one kernel a pass

    void sweep() {
        const auto digits = static_cast<std::size_t>(plan_.digits());
        const sort_tile& tile = how_.has_sub_groups ? tile_of_sweep() : plain_tile;
        take(plain_tile);
        launch(radix_stage::histograms,
               std::min(divided_up(n_, tile_size()), units() * counting_groups_per_unit));
        launch(radix_stage::scan_histograms, 1);

        take(tile);
        max_registers_ = tile.max_registers;
        const std::size_t tiles = divided_up(n_, tile_size());
        plan_.is_wide = n_ >> narrow_count_bits != 0 || how_.how.has_wide_words;
        words_ = zeros(plan_.is_wide ? scalar::u64 : scalar::u32, tiles * digits);
        for (pass_ = 0; pass_ < static_cast<std::size_t>(plan_.passes()); ++pass_)
            launch(radix_stage::sweep, tiles);
    }

    /// Brings back elements that end in the spare vector.
    void settle() {
        if (how_.on_items()) return launch(radix_stage::settle, chunks_);
        take(plain_tile);
        launch(radix_stage::settle, std::min(divided_up(n_, plan_.group), units() * chunks_per_unit));
    }

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const radix_plan& plan) const {
        using enum radix_stage;
        const auto is = [&](auto... stage) { return ((plan.stage == stage) || ...); };
        to.number("n", plan.stage == whole ? count_ : n_);
        if (is(count, scan, scatter, sweep)) to.number("pass", pass_);
        const bool in_chunks = is(count, scatter) || (is(settle) && plan.on_item());
        if (in_chunks) to.number("chunk_size", chunk_);
        if (is(count, scan, scatter)) {
            to.number("chunks", chunks_);
            to.vector("counts", *counts_, is(count) ? trace::access::out : trace::access::mixed);
        }
        if (!is(whole)) to.vector("state", *state_, trace::access::mixed);
        if (is(sweep)) to.vector("words", *words_, trace::access::mixed);
        if (is(scan, scan_histograms)) return;
        const bool has_spare = !is(histograms) && !(is(whole) && !plan.on_item());
        to.vector("keys", *keys_, trace::access::mixed);
        if (has_spare) to.vector("spare_keys", *spare_keys_, trace::access::mixed);
        if (!plan.moves_elements() || !values_) return;
        to.vector("values", *values_, trace::access::mixed);
        if (has_spare) to.vector("spare_values", *spare_values_, trace::access::mixed);
    }

    void launch(radix_stage stage, std::size_t groups) {
        radix_plan plan = plan_;
        plan.stage = stage;
        if (!plan.moves_elements()) plan.value_bytes = 0;
        if (stage == radix_stage::scan || stage == radix_stage::scan_histograms)
            plan.order.is_descending = false;
        ir::launch_facts facts = facts_;
        if (stage == radix_stage::sweep) facts.max_registers = max_registers_;
        run_kernel(
            {"sort", device_, facts}, plan, [&](auto& to) { declare_parameters(to, plan); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_radix_sort(r, given, plan);
            },
            groups_of(groups, plan.group));
    }

    runtime::device_state& device_;
    ir::launch_facts facts_;
    device_strategy how_;
    std::size_t n_;
    radix_plan plan_;
    std::uint32_t max_registers_ = 0;  ///< of sweeps
    std::shared_ptr<vector_state> keys_, values_, spare_keys_, spare_values_;
    std::shared_ptr<vector_state> state_, counts_, words_;
    std::size_t count_ = 0;  ///< elements of a row
    std::size_t chunk_ = 0, chunks_ = 0, pass_ = 0;
};

}  // namespace

void force_sorts(const forced_sort* asked) { forced = asked; }
const forced_sort* asked_of_sorts() { return forced.load(); }

void radix_sort(vector_state& keys, bool is_descending, vector_state* values) {
    sorting_by_digits(keys, is_descending, values).sort();
}
void radix_sort_rows(vector_state& keys, bool is_descending, vector_state* values, std::size_t row) {
    if (row < 2 || keys.size() == 0) return;
    sorting_by_digits(keys, is_descending, values).sort_rows(row);
}
bool can_sort_rows(runtime::device_state& device, std::size_t row) {
    const device_strategy how(device);
    return how.on_items() ? row <= most_counted_by_item : how.row_tile(row) != nullptr;
}

}  // namespace balm::array
