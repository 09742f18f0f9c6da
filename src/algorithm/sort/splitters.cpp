// Selection in several sorted parts: narrows the range of every splitter in every part, round by round.

#include "algorithm/sort/splitters.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "algorithm/divided_up.hpp"
#include "algorithm/sort/splitter_kernels.hpp"
#include "array/run_kernel.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

using vector_handle = std::shared_ptr<vector_state>;

/// Pivots per round for each rank. With 1,024, 2^28 elements per device take 3 rounds; a round waits for each
/// device twice.
constexpr std::size_t pivots_of_round = 1024;
constexpr std::size_t group_items = 64;

/// A pivot: an element of a part, for a rank.
struct pivot {
    std::size_t rank, part, position;
};

/// The range of a rank's splitter: between low[d] and high[d] elements of part d precede it.
class search {
public:
    search(std::size_t rank, std::span<const device_arrays> parts) : rank_(rank) {
        for (const device_arrays& each : parts) {
            low_.push_back(0);
            high_.push_back(each[0]->size());
        }
        settle();
    }
    bool is_done() const { return low_ == high_; }
    std::size_t low(std::size_t part) const { return low_[part]; }
    std::size_t high(std::size_t part) const { return high_[part]; }

    /// Adds equidistant pivots from the part with the widest range.
    void add_pivots(std::size_t number, std::vector<pivot>& list) const {
        if (is_done()) return;
        std::size_t part = 0;
        for (std::size_t d = 1; d < low_.size(); ++d)
            if (high_[d] - low_[d] > high_[part] - low_[part]) part = d;
        const std::size_t length = high_[part] - low_[part], count = std::min(length, pivots_of_round);
        const std::size_t step = length / (count + 1), more = length % (count + 1);
        for (std::size_t k = 0; k < count; ++k)
            list.push_back(
                {number, part,
                 count == length ? low_[part] + k : low_[part] + (k + 1) * step + std::min(k + 1, more)});
    }
    /// Decides whether a pivot is among the first elements of all, from how many elements of each part
    /// precede it. Ranges stay valid whatever the counts are, so a comparison that is not an ordering does no
    /// harm.
    void learn(const pivot& p, std::span<const std::size_t> ahead) {
        if (p.position < low_[p.part] || p.position >= high_[p.part]) return;
        std::vector<std::size_t> counts;
        for (std::size_t d = 0; d < low_.size(); ++d)
            counts.push_back(d == p.part ? p.position : std::clamp(ahead[d], low_[d], high_[d]));
        if (sum(counts) >= rank_) {
            high_ = std::move(counts);
        } else {
            low_ = std::move(counts);
            ++low_[p.part];
        }
        settle();
    }

private:
    static std::size_t sum(const std::vector<std::size_t>& list) {
        return std::accumulate(list.begin(), list.end(), std::size_t{0});
    }
    void settle() {
        if (sum(low_) == rank_) high_ = low_;
        if (sum(high_) == rank_) low_ = high_;
    }

    std::size_t rank_;
    std::vector<std::size_t> low_, high_;
};

/// A device's part, with the memory for a round.
class ranked_part {
public:
    ranked_part(const device_arrays& part, std::size_t keys, const ordering& by, std::size_t most)
        : device_(part[0]->device_handle()),
          facts_(kernels::facts_for(*device_)),
          is_ahead_(by.is_ahead),
          keys_(as_kernels_take({part.data(), keys}, keys, by)),
          table_(std::make_shared<vector_state>(device_, scalar::i64,
                                                static_cast<std::size_t>(numbers_of_pivot) * most)) {
        for (std::size_t k = 0; k < keys; ++k) {
            plan_.keys.types.push_back(part[k]->type());
            pivots_.push_back(std::make_shared<vector_state>(device_, keys_[k]->type(), most));
        }
        plan_.keys.take(by);
    }

    std::size_t bytes_of_key(std::size_t key) const { return keys_[key]->element_size(); }

    void begin_to_pick(std::span<const std::int64_t> positions) {
        write(*table_, 0, positions.data(), positions.size());
        launch(splitter_stage::pick, positions.size());
    }
    /// Reads one key of the pivots.
    void read_picked(std::size_t key, std::byte* into, std::size_t count) const {
        read(*pivots_[key], 0, into, count);
    }
    void begin_to_rank(std::span<const std::vector<std::byte>> pivots, std::span<const std::int64_t> table) {
        const std::size_t count = table.size() / numbers_of_pivot;
        for (std::size_t k = 0; k < pivots_.size(); ++k) write(*pivots_[k], 0, pivots[k].data(), count);
        write(*table_, 0, table.data(), table.size());
        launch(splitter_stage::rank, count);
    }
    std::vector<std::int64_t> ranks(std::size_t count) const {
        std::vector<std::int64_t> table(count * numbers_of_pivot);
        read(*table_, 0, table.data(), table.size());
        return table;
    }

private:
    template <class List>
    void declare_parameters(List& to, splitter_stage stage, std::size_t count) const {
        using trace::access;
        const bool picks = stage == splitter_stage::pick;
        to.number("count", count);
        to.vector("table", *table_, picks ? access::in : access::mixed);
        for (std::size_t k = 0; k < keys_.size(); ++k) to.vector({"keys", k}, *keys_[k], access::in);
        for (std::size_t k = 0; k < keys_.size(); ++k)
            to.vector({"pivots", k}, *pivots_[k], picks ? access::out : access::in);
    }
    void launch(splitter_stage stage, std::size_t count) {
        splitter_plan plan = plan_;
        plan.stage = stage;
        run_kernel(
            {"splitters", *device_, facts_}, plan, [&](auto& to) { declare_parameters(to, stage, count); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_splitters(r, given, plan, is_ahead_);
            },
            [&](const kernels::device_kernel& kernel) {
                return items_in_groups(count, group_items, kernel);
            });
        device_->default_queue().flush();
    }

    const std::shared_ptr<runtime::device_state> device_;
    const ir::launch_facts facts_;
    const comparison& is_ahead_;
    const device_arrays keys_;
    splitter_plan plan_;
    vector_handle table_;
    device_arrays pivots_;
};

class splitting {
public:
    splitting(std::span<const device_arrays> parts, std::size_t keys, const ordering& by,
              std::span<const std::size_t> ranks)
        : keys_(keys) {
        for (const std::size_t each : ranks) searches_.emplace_back(each, parts);
        for (const device_arrays& each : parts)
            parts_.emplace_back(each, keys, by, pivots_of_round * ranks.size());
    }

    std::vector<std::vector<std::size_t>> splits() {
        for (std::vector<pivot> pivots = next_pivots(); !pivots.empty(); pivots = next_pivots()) {
            bring(pivots);
            rank(pivots);
        }
        std::vector<std::vector<std::size_t>> made;
        for (const search& each : searches_) {
            made.emplace_back();
            for (std::size_t d = 0; d < parts_.size(); ++d) made.back().push_back(each.low(d));
        }
        return made;
    }

private:
    /// The next pivots, ordered by part.
    std::vector<pivot> next_pivots() const {
        std::vector<pivot> list;
        for (std::size_t j = 0; j < searches_.size(); ++j) searches_[j].add_pivots(j, list);
        std::stable_sort(list.begin(), list.end(),
                         [](const pivot& a, const pivot& b) { return a.part < b.part; });
        return list;
    }
    template <class F>
    void for_each_part(const std::vector<pivot>& pivots, const F& f) {
        for (std::size_t first = 0, end = 0; first < pivots.size(); first = end) {
            while (end < pivots.size() && pivots[end].part == pivots[first].part) ++end;
            f(parts_[pivots[first].part], first, end);
        }
    }
    /// Reads the pivots' keys to the host. All devices get their work before any is waited for.
    void bring(const std::vector<pivot>& pivots) {
        for_each_part(pivots, [&](ranked_part& part, std::size_t first, std::size_t end) {
            std::vector<std::int64_t> positions;
            for (std::size_t k = first; k < end; ++k)
                positions.push_back(static_cast<std::int64_t>(pivots[k].position));
            part.begin_to_pick(positions);
        });
        brought_.assign(keys_, {});
        for (std::size_t key = 0; key < keys_; ++key)
            brought_[key].resize(pivots.size() * parts_[0].bytes_of_key(key));
        for_each_part(pivots, [&](ranked_part& part, std::size_t first, std::size_t end) {
            for (std::size_t key = 0; key < keys_; ++key)
                part.read_picked(key, brought_[key].data() + first * part.bytes_of_key(key), end - first);
        });
    }
    void rank(const std::vector<pivot>& pivots) {
        for (std::size_t d = 0; d < parts_.size(); ++d) {
            std::vector<std::int64_t> table;
            for (const pivot& each : pivots) {
                table.push_back(static_cast<std::int64_t>(searches_[each.rank].low(d)));
                table.push_back(static_cast<std::int64_t>(searches_[each.rank].high(d)));
                table.push_back(d < each.part ? 1 : 0);
            }
            parts_[d].begin_to_rank(brought_, table);
        }
        std::vector<std::vector<std::int64_t>> tables;
        for (const ranked_part& each : parts_) tables.push_back(each.ranks(pivots.size()));
        std::vector<std::size_t> ahead(parts_.size());
        for (std::size_t k = 0; k < pivots.size(); ++k) {
            for (std::size_t d = 0; d < parts_.size(); ++d)
                ahead[d] = static_cast<std::size_t>(tables[d][k * numbers_of_pivot]);
            searches_[pivots[k].rank].learn(pivots[k], ahead);
        }
    }

    std::size_t keys_;
    std::vector<search> searches_;
    std::vector<ranked_part> parts_;
    std::vector<std::vector<std::byte>> brought_;  ///< the pivots, one array per key
};

}  // namespace

std::vector<std::vector<std::size_t>> splits_of(std::span<const device_arrays> parts, std::size_t keys,
                                                const ordering& by, std::span<const std::size_t> ranks) {
    return splitting(parts, keys, by, ranks).splits();
}

}  // namespace balm::array
