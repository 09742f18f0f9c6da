#include "algorithm/sort/spread_sort.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "array/spread/parts.hpp"

namespace balm::array {

namespace {

std::size_t size_of(const device_arrays& arrays) { return arrays[0]->size(); }

/// The arrays of each device that holds elements.
std::vector<device_arrays> parts_with_elements(vector_list all) {
    std::vector<device_arrays> parts;
    for (std::size_t d = 0; d < all[0]->parts().size(); ++d) {
        if (all[0]->parts()[d].elements->size() == 0) continue;
        parts.emplace_back();
        for (const auto& each : all) parts.back().push_back(each->parts()[d].elements);
    }
    return parts;
}

device_arrays made_on(const device_arrays& near, const device_arrays& types, std::size_t size) {
    device_arrays made;
    for (const auto& each : types)
        made.push_back(std::make_shared<vector_state>(near[0]->device_handle(), each->type(), size));
    return made;
}

class exchange {
public:
    exchange(std::vector<device_arrays> parts, std::size_t keys, const ordering& by)
        : parts_(std::move(parts)), keys_(keys), by_(by), pieces_(parts_.size()) {
        std::vector<std::size_t> ranks{0};
        for (const device_arrays& each : parts_) ranks.push_back(ranks.back() + size_of(each));
        splits_ = splits_of(parts_, keys, by, ranks);
    }

    void run() {
        if (!is_possible()) return;
        // Pieces are copied before any part is written.
        for (std::size_t j = 0; j < parts_.size(); ++j) get(j);
        for (std::size_t j = 0; j < parts_.size(); ++j) merge_pieces(j);
    }

private:
    /// Whether splitters ascend. If the comparison is not an ordering they may not; the parts then stay as
    /// they are.
    bool is_possible() const {
        for (std::size_t j = 0; j < parts_.size(); ++j)
            for (std::size_t d = 0; d < parts_.size(); ++d)
                if (splits_[j + 1][d] < splits_[j][d]) return false;
        return true;
    }
    std::size_t count(std::size_t j, std::size_t d) const { return splits_[j + 1][d] - splits_[j][d]; }

    /// Copies the elements of device j's positions to it: those of other devices on a queue of its own, while
    /// the device copies those that it holds itself. A device that keeps all of its own gets nothing.
    void get(std::size_t j) {
        if (count(j, j) == size_of(parts_[j])) return;
        runtime::device_state& device = parts_[j][0]->device();
        runtime::queue_state& link = *links_.emplace_back(device.make_queue());
        for (std::size_t d = 0; d < parts_.size(); ++d) {
            if (count(j, d) == 0) continue;
            runtime::queue_state& queue = d == j ? device.default_queue() : link;
            pieces_[j].push_back(made_on(parts_[j], parts_[d], count(j, d)));
            for (std::size_t k = 0; k < parts_[d].size(); ++k)
                copy_elements(queue, *pieces_[j].back()[k], 0, *parts_[d][k], splits_[j][d], count(j, d));
        }
        link.flush();
    }

    /// Merges neighbouring runs in pairs, the last pair into the part. The memory of merged runs is free for
    /// the next pair.
    void merge_pieces(std::size_t j) {
        std::vector<device_arrays> runs = std::move(pieces_[j]);
        if (runs.size() == 1)
            for (std::size_t k = 0; k < runs[0].size(); ++k)
                copy_elements(*parts_[j][k], 0, *runs[0][k], 0, size_of(runs[0]));
        while (runs.size() > 1) {
            std::vector<device_arrays> merged;
            for (std::size_t k = 0; k < runs.size(); k += 2) {
                if (k + 1 == runs.size()) {
                    merged.push_back(std::move(runs[k]));
                    break;
                }
                merged.push_back(runs.size() == 2
                                     ? parts_[j]
                                     : made_on(parts_[j], runs[k], size_of(runs[k]) + size_of(runs[k + 1])));
                merge_into(merged.back(), {"merge", runs[k], runs[k + 1], keys_, by_});
                runs[k].clear();
                runs[k + 1].clear();
            }
            runs = std::move(merged);
        }
    }

    const std::vector<device_arrays> parts_;
    const std::size_t keys_;
    const ordering& by_;
    std::vector<std::vector<std::size_t>> splits_;    ///< of each device's first position, in each part
    std::vector<std::vector<device_arrays>> pieces_;  ///< per device: sorted runs, in the order of parts
    std::vector<std::shared_ptr<runtime::queue_state>> links_;  ///< of devices that copy from others
};

}  // namespace

void sort_parts(vector_list all, std::size_t keys, const ordering& by,
                const std::function<void(const device_arrays&)>& sort_part) {
    std::vector<device_arrays> parts = parts_with_elements(all);
    for (const device_arrays& each : parts) {
        if (size_of(each) > 1) sort_part(each);
        each[0]->device().default_queue().flush();
    }
    if (parts.size() > 1) exchange(std::move(parts), keys, by).run();
}

std::shared_ptr<vector_state> parted_like(const vector_state& model, const std::shared_ptr<vector_state>& v) {
    const auto is_alike = [](const vector_state::part& a, const vector_state::part& b) {
        return a.first == b.first && a.elements->size() == b.elements->size();
    };
    const auto own = v->parts(), wanted = model.parts();
    if (std::equal(own.begin(), own.end(), wanted.begin(), wanted.end(), is_alike)) return v;
    auto made = make_like(model, v->type(), v->size());
    copy_elements(*made, 0, *v, 0, v->size());
    return made;
}

std::shared_ptr<vector_state> in_whole_rows(const vector_state& model, std::size_t row) {
    const auto begin_of_row = [&](std::size_t k) {
        return k == model.parts().size() ? model.size() : (model.parts()[k].first + row / 2) / row * row;
    };
    std::vector<vector_state::part> parts;
    for (std::size_t k = 0; k < model.parts().size(); ++k)
        parts.push_back({begin_of_row(k), std::make_shared<vector_state>(
                                              model.parts()[k].elements->device_handle(), model.type(),
                                              begin_of_row(k + 1) - begin_of_row(k))});
    return std::make_shared<vector_state>(std::move(parts), model.type(), model.size());
}

void invert(const std::shared_ptr<vector_state>& integers) {
    tape p;
    p.push_vector(integers);
    step& s = p.push(step::kind::apply);
    s.type = integers->type();
    s.detail = static_cast<std::uint32_t>(builtin::bit_not);
    s.arity = 1;
    assign(*integers, std::move(p));
}

}  // namespace balm::array
