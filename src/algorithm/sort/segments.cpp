// Sorts of segments: on CPUs each by itself, elsewhere all by keys, then stably by segment numbers.

#include "balm/segments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/sort/item_sort.hpp"
#include "algorithm/sort/radix_sort.hpp"
#include "algorithm/sort/segment_sort_kernel.hpp"
#include "algorithm/sort/sort_strategy.hpp"
#include "algorithm/sort/sort_with_values.hpp"
#include "algorithm/sort/spread_sort.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// Elements and segments of a work-item.
constexpr std::size_t sorted_share = 16384;
/// Elements of the longest segment that one work-item sorts; all of them sort each longer one.
constexpr std::size_t longest_of_item = 32768;

using vectors = std::span<const std::shared_ptr<vector_state>>;

/// Whether a CPU has all vectors, which are valid for a sort.
bool are_on_cpu(const vector_state& keys, const vector_state& offsets, vectors values) {
    const auto is_here = [&](const vector_state& v) {
        return !v.is_spread() && &v.device() == &keys.device();
    };
    if (!is_here(keys) || !is_here(offsets)) return false;
    for (std::size_t k = 0; k < values.size(); ++k) {
        const std::shared_ptr<vector_state>& v = values[k];
        if (!v || !is_here(*v) || v->size() != keys.size() || v->overlaps(keys)) return false;
        for (std::size_t j = 0; j < k; ++j)
            if (v->overlaps(*values[j])) return false;
    }
    const forced_sort* const asked = asked_of_sorts();
    return asked != nullptr ? asked->strategy == sort_strategy::chunk_an_item
                            : kernels::facts_for(keys.device()).on_cpu;
}

/// Sorts the segments of up to `longest` elements, each by one work-item.
class sorting_of_segments {
public:
    sorting_of_segments(const key_order& how, const vector_state& keys, const vector_state& offsets,
                        vector_state* values, std::size_t longest)
        : offsets_(offsets),
          device_(keys.device()),
          keys_(bits_of(keys)),
          n_(keys.size()),
          longest_(longest) {
        plan_.how = how;
        plan_.offset = offsets.type().element;
        plan_.has_merges = longest > insertion_run;
        if (values != nullptr) values_ = bits_of(*values);
        if (values != nullptr) plan_.value = values_->type().element;
        if (!plan_.has_merges) return;
        spare_keys_ = made_like(*keys_);
        if (values != nullptr) spare_values_ = made_like(*values_);
    }
    void launch() {
        run_kernel(
            {"sort_segments", device_, kernels::facts_for(device_)}, plan_,
            [&](auto& to) { declare_parameters(to); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_segment_sort(r, given, plan_);
            },
            groups_of(divided_up(segments() + n_, sorted_share), 1));
    }

private:
    static std::shared_ptr<vector_state> made_like(const vector_state& v) {
        return std::make_shared<vector_state>(v.device_handle(), v.type(), v.size());
    }
    std::size_t segments() const { return offsets_.size() - 1; }

    /// The parameters of the kernel.
    template <class List>
    void declare_parameters(List& to) const {
        to.number("n", n_);
        to.number("segments", segments());
        to.number("share_size", sorted_share);
        to.number("longest", longest_);
        to.vector("offsets", offsets_, trace::access::in);
        to.vector("keys", *keys_, trace::access::mixed);
        if (plan_.has_values()) to.vector("values", *values_, trace::access::mixed);
        if (!plan_.has_merges) return;
        to.vector("spare_keys", *spare_keys_, trace::access::mixed);
        if (plan_.has_values()) to.vector("spare_values", *spare_values_, trace::access::mixed);
    }

    const vector_state& offsets_;
    runtime::device_state& device_;
    segment_sort_plan plan_;
    std::shared_ptr<vector_state> keys_, values_, spare_keys_, spare_values_;
    std::size_t n_, longest_;
};

/// Sorts a few neighbouring elements among many.
void sort_part(vector_state& keys, bool is_descending, vector_state* values, std::size_t begin,
               std::size_t size) {
    vector_state part(keys.device_handle(), keys.type(), size);
    copy_elements(part, 0, keys, begin, size);
    std::optional<vector_state> part_of_values;
    if (values != nullptr) {
        part_of_values.emplace(values->device_handle(), values->type(), size);
        copy_elements(*part_of_values, 0, *values, begin, size);
    }
    radix_sort(part, is_descending, values != nullptr ? &*part_of_values : nullptr);
    copy_elements(keys, begin, part, 0, size);
    if (values != nullptr) copy_elements(*values, begin, *part_of_values, 0, size);
}

}  // namespace

bool sort_segments(const sort_key& by, const std::shared_ptr<vector_state>& offsets,
                   const segment_lengths& lengths, std::span<const std::shared_ptr<vector_state>> values) {
    vector_state& keys = *by.elements;
    if (!are_on_cpu(keys, *offsets, values)) return false;
    const auto longest = static_cast<std::size_t>(lengths.longest());
    if (longest < 2) return true;
    const bool is_descending = by.order == sort_order::descending;
    std::vector<std::int64_t> long_ones;
    if (longest > longest_of_item) long_ones = lengths.longer_than(longest_of_item);
    std::shared_ptr<vector_state> own_offsets = offsets;
    const auto is_sorted = [&](const auto& v) { return v->overlaps(*offsets); };
    if (keys.overlaps(*offsets) || std::any_of(values.begin(), values.end(), is_sorted)) {
        own_offsets =
            std::make_shared<vector_state>(offsets->device_handle(), offsets->type(), offsets->size());
        copy_elements(*own_offsets, 0, *offsets, 0, offsets->size());
    }
    sort_with_values(by.elements, values, [&](vector_state* moved) {
        const key_order how{keys.type().element, is_descending};
        sorting_of_segments(how, keys, *own_offsets, moved, std::min(longest, longest_of_item)).launch();
        for (std::size_t k = 0; k + 1 < long_ones.size(); k += 2)
            sort_part(keys, is_descending, moved, static_cast<std::size_t>(long_ones[k]),
                      static_cast<std::size_t>(long_ones[k + 1] - long_ones[k]));
    });
    return true;
}

void sort_segments(const sort_key& by, const std::shared_ptr<vector_state>& segments,
                   std::span<const std::shared_ptr<vector_state>> values) {
    vector_state& keys = *by.elements;
    if (!keys.is_spread() && !segments->is_spread() && &keys.device() != &segments->device())
        throw usage_error(fmt::format(
            "elements on {} are sorted in segments with offsets on {}; both must be on the same device",
            keys.device().words(), segments->device().words()));
    if (values.empty() && !keys.is_spread() && !segments->is_spread()) {
        radix_sort(keys, by.order == sort_order::descending, segments.get());
        return radix_sort(*segments, false, &keys);
    }
    std::shared_ptr<vector_state> beside_keys = segments;
    sort_order order = sort_order::ascending;
    if (keys.is_spread() && keys.size() > 0) {
        beside_keys = make_like(keys, segments->type(), keys.size());
        copy_elements(*beside_keys, 0, *segments, 0, keys.size());
        order = by.order;
        if (order == sort_order::descending) invert(beside_keys);
    }
    const sort_key both[] = {{beside_keys, order}, by};
    sort(both, values);
}

tape one_element(trace::type type, const vector_state& near) {
    auto made = std::make_shared<vector_state>(near.device_handle(), type, 1);
    const std::vector<std::byte> nothing(trace::size_of(type));
    fill(*made, nothing.data());
    tape p;
    p.push_vector(std::move(made));
    return p;
}

void refuse_no_offsets(const char* name) {
    throw usage_error(fmt::format(
        "{} got no offsets; pass one more than there are segments, {{0, size}} for a single one", name));
}
void refuse_offsets(const char* name, std::int64_t first, std::int64_t last, std::size_t size) {
    throw usage_error(fmt::format(
        "{} of {} elements got offsets from {} to {}; they must begin at 0 and end at the number of elements",
        name, size, first, last));
}
void refuse_offsets(const char* name, std::size_t position, std::int64_t offset, std::int64_t next) {
    throw usage_error(fmt::format("{} got offsets that decrease: offsets[{}] is {}, and offsets[{}] is {}",
                                  name, position, offset, position + 1, next));
}

}  // namespace balm::array
