// Histograms as materialised operands: chooses the memory of the tables, finds or traces the kernel, launches
// it and adds up the tables.

#include "balm/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <limits>
#include <memory>

#include "algorithm/divided_up.hpp"
#include "algorithm/histogram/even_bins.hpp"
#include "algorithm/histogram/histogram_kernels.hpp"
#include "algorithm/histogram/histogram_strategy.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/along.hpp"
#include "balm/error.hpp"
#include "balm/view.hpp"
#include "ir/ir.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

std::atomic<bool> of_gpus{false};

/// CPUs: the minimum number of elements of a chunk, and the maximum number of chunks per compute unit.
constexpr std::size_t cpu_chunk = 65536, cpu_chunks_per_unit = 4;
/// CPUs: neighbours are counted in different tables, up to `most_cpu_copies`, since a counter that was just
/// stored can be loaded again only some cycles later. Tables of `cpu_table_bytes` in total stay in the
/// first-level cache.
constexpr std::size_t most_cpu_copies = 8, cpu_table_bytes = 16384;
/// Work-items per group, and the bytes that each loads at once.
constexpr std::size_t group_items = 512, tile_bytes_of_item = 64, most_elements_of_item = 16,
                      vector_bytes = 16;
/// Bytes of local memory for the tables of a group: for a single one, and for copies of it, which are divided
/// among sub-groups. 4 groups of 16 KiB fit on one compute unit of an H200.
constexpr std::size_t local_bytes = 32768, local_bytes_of_copies = 16384;
constexpr std::size_t groups_per_unit = 4, groups_per_unit_of_large_tables = 2;

/// Counts the elements of an expression on one device.
class computation {
public:
    computation(const binning& how, const tape& p, std::shared_ptr<runtime::device_state> on)
        : how_(how),
          p_(p),
          n_(element_count(p)),
          size_(how.bins * how.channels),
          device_(std::move(on)),
          facts_(kernels::facts_for(*device_)),
          leaves_(p) {
        refuse_writing(p);
        plan_.channels = how.channels;
        plan_.has_weights = how.has_weights;
        plan_.are_checked = how.are_checked;
        plan_.even = how.even;
        plan_.sum =
            how.has_weights
                ? how.sum
                : trace::type(n_ > std::numeric_limits<std::uint32_t>::max() ? scalar::u64 : scalar::u32);
        if (facts_.on_cpu && !of_gpus)
            cut_for_items();
        else
            cut_for_groups();
    }

    /// The tables' counters, added up.
    tape sums() {
        tables_ = std::make_shared<vector_state>(device_, plan_.sum, table_count_ * size_);
        constexpr std::uint64_t nothing = 0;
        if (n_ == 0 || plan_.place == table_place::shared) fill(*tables_, &nothing);
        if (n_ > 0) launch();
        tape all;
        all.push_vector(tables_);
        tape table_by_table = read(viewed(std::move(all), shape{table_count_, size_}));
        tape added = reduced_along(std::move(table_by_table), {reduction_kind::sum, how_.sum}, along(0));
        if (how_.channels == 1) return added;
        return read(viewed(std::move(added), shape{how_.channels, how_.bins}));
    }

private:
    void cut_for_items() {
        const std::size_t units = std::max<std::size_t>(device_->info().compute_units, 1);
        // Tables larger than their chunks would take most of the time, and of the memory.
        const std::size_t chunks = std::clamp<std::size_t>(divided_up(n_, std::max(cpu_chunk, size_)), 1,
                                                           units * cpu_chunks_per_unit);
        chunk_ = divided_up(std::max<std::size_t>(n_, 1), chunks);
        groups_ = divided_up(std::max<std::size_t>(n_, 1), chunk_);
        plan_.copies = std::bit_floor(std::clamp<std::size_t>(
            cpu_table_bytes / (size_ * trace::size_of(plan_.sum)), 1, most_cpu_copies));
        table_count_ = groups_ * plan_.copies;
    }
    void cut_for_groups() {
        plan_.group = std::bit_floor(std::min(group_items, device_->info().max_work_group_size));
        plan_.loads_vectors = leaves_.has_whole_vectors();
        std::size_t widest = 1;
        for (const vector_state* each : leaves_.vectors) widest = std::max(widest, each->element_size());
        const std::size_t length = std::max<std::size_t>(vector_bytes / std::bit_ceil(widest), 1);
        const std::size_t most =
            std::clamp<std::size_t>(tile_bytes_of_item / widest, length, most_elements_of_item);
        plan_.tile = {static_cast<int>(most / length), static_cast<int>(length)};

        const std::size_t bytes = size_ * trace::size_of(plan_.sum);
        plan_.place = bytes <= local_bytes ? table_place::local : table_place::shared;
        const std::size_t tile = plan_.group * static_cast<std::size_t>(plan_.tile.elements());
        const std::size_t units = std::max<std::size_t>(device_->info().compute_units, 1);
        const std::size_t of_unit =
            bytes <= local_bytes_of_copies ? groups_per_unit : groups_per_unit_of_large_tables;
        groups_ = std::clamp<std::size_t>(divided_up(n_, tile), 1, units * of_unit);
        table_count_ = plan_.place == table_place::local ? groups_ : 1;
        if (plan_.place == table_place::shared) return;
        // The room is a power of two, so that few kernels serve all numbers of bins.
        plan_.room = std::bit_ceil(size_);
        plan_.copies = std::clamp<std::size_t>(
            local_bytes_of_copies / (plan_.room * trace::size_of(plan_.sum)), 1, plan_.group / block::lanes);
    }

    /// The parameters of the kernel.
    template <class List>
    void declare_parameters(List& to) const {
        to.number("n", n_);
        to.number("bins", how_.bins);
        if (plan_.place != table_place::shared) to.number("size", size_);
        if (plan_.place == table_place::own) to.number("chunk_size", chunk_);
        with_floating(how_.even,
                      [&]<class T>(std::type_identity<T>) { even_bins<T>(how_).declare_parameters(to); });
        to.vector("tables", *tables_,
                  plan_.place == table_place::local ? trace::access::out : trace::access::mixed);
        declare_leaves(to, p_, leaves_);
    }
    void launch() const {
        run_kernel(
            {"histogram", *device_, facts_, p_, leaves_}, plan_, [&](auto& to) { declare_parameters(to); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_histogram(r, given, plan_, p_, leaves_);
            },
            groups_of(groups_, plan_.group));
    }

    const binning& how_;
    const tape& p_;
    const std::size_t n_, size_;
    const std::shared_ptr<runtime::device_state> device_;
    const ir::launch_facts facts_;
    const layout leaves_;
    histogram_plan plan_;
    std::size_t chunk_ = 0, groups_ = 0, table_count_ = 0;
    std::shared_ptr<vector_state> tables_;
};

shape extents_of(const binning& how) {
    return how.channels == 1 ? shape(how.bins) : shape{how.channels, how.bins};
}

class histogram_producer : public producer {
public:
    histogram_producer(tape&& of, const binning& how)
        : producer(extents_of(how), how.sum, vector_near(of, how.sum)), of_(std::move(of)), how_(how) {}

    bool compute_into(vector_state& into) const override {
        if (into.is_spread()) return false;
        tape p = of_;
        materialise(p);
        store_slow_values(p);
        write(p, into.device_handle(), into);
        return true;
    }

    std::shared_ptr<vector_state> compute() const override {
        tape p = of_;
        materialise(p);
        store_slow_values(p);
        const std::shared_ptr<runtime::device_state>& first = near()->device_handle();
        auto made = std::make_shared<vector_state>(first, type(), extents().count());
        if (!is_spread(p)) {
            write(p, first, *made);
            return made;
        }
        // The first device counts all elements.
        const shape box = box_of(p);
        if (box.count() > 0) p = std::move(localizer(first).pieces(p, box, 0, box.count())[0].values);
        write(p, first, *made);
        auto spread = make_like(*near(), type(), extents().count());
        copy_elements(*spread, 0, *made, 0, extents().count());
        return spread;
    }

private:
    void write(const tape& p, const std::shared_ptr<runtime::device_state>& on, vector_state& into) const {
        if (into.size() > 0) assign(into, computation(how_, p, on).sums());
    }

    tape of_;
    binning how_;
};

}  // namespace

void force_histograms_of_gpus(bool everywhere) { of_gpus = everywhere; }

void check_bins(std::size_t bins, std::size_t channels) {
    constexpr std::size_t most = std::size_t{1} << 31;
    if (bins == 0 || bins >= most / channels)
        throw usage_error(fmt::format(
            "a histogram cannot have {} bins: all channels together may have 1 to 2^31 - 1", bins));
}
tape binned(tape&& elements, const binning& how) {
    check_bins(how.bins, how.channels);
    tape p;
    p.push_produced(std::make_shared<histogram_producer>(std::move(elements), how));
    return p;
}

binning even_binning(scalar numbers, std::size_t bins, double low, double high) {
    binning how{bins};
    how.even = numbers;
    how.low = low;
    how.high = high;
    with_floating(numbers, [&]<class T>(std::type_identity<T>) { static_cast<void>(even_bins<T>(how)); });
    return how;
}

void refuse_bins(double low, double high) {
    throw usage_error(fmt::format(
        "a histogram cannot have bins from {} to {}: in the type of its elements, the first edge "
        "must be less than the last one, both must be finite, and the difference of integers must "
        "be below 2^64",
        low, high));
}
void refuse_edges(std::size_t count) {
    throw usage_error(
        fmt::format("a histogram cannot have {} edges: it needs at least two, each the end of one bin and "
                    "the beginning of the next",
                    count));
}

}  // namespace balm::array
