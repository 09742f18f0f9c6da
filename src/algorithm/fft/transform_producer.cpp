#include "algorithm/fft/transform_producer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "algorithm/fft/fft_strategy.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

using vector_handle = std::shared_ptr<vector_state>;

bool any_is_spread(std::span<const tape> operands) {
    return std::any_of(operands.begin(), operands.end(), [](const tape& p) { return is_spread(p); });
}
bool any_reads(std::span<const tape> operands, const vector_state& memory) {
    return std::any_of(operands.begin(), operands.end(), [&](const tape& p) { return reads(p, memory); });
}

/// The largest of the vectors over several devices: those of the operands, and those where operands without
/// vectors were placed.
vector_handle largest_spread(std::span<const tape> operands) {
    vector_handle largest;
    const auto consider = [&](const vector_handle& v) {
        if (v && v->is_spread() && (largest == nullptr || v->size() > largest->size())) largest = v;
    };
    for (const tape& p : operands) {
        consider(p.near);
        for (const auto& v : p.vectors) consider(v);
    }
    return largest;
}

/// Arrays that a device transforms.
struct local_arrays {
    std::vector<tape> operands;
    std::size_t first = 0, count = 0;  ///< elements of the result
    std::size_t arrays = 0;
    vector_handle part;   ///< the device's part of the target, if these arrays are all of it
    vector_handle apart;  ///< otherwise, memory for the results
};

}  // namespace

bool transform_producer::compute_into(vector_state& into) const {
    std::vector<tape> operands = of_;
    materialise(operands);
    if (into.is_spread() != any_is_spread(operands)) return false;
    if (into.is_spread()) {
        const division how = divided(operands);
        if (!are_on_same_devices(into, *how.model)) return false;
        if (into.size() > 0) write_spread(operands, how, into);
        return true;
    }
    if (any_reads(operands, into) && !may_overwrite(operands, into)) return false;
    if (into.size() > 0) write(operands, arrays_, into);
    return true;
}

vector_handle transform_producer::compute() const {
    std::vector<tape> operands = of_;
    materialise(operands);
    if (!any_is_spread(operands)) return computed(operands, near()->device_handle());
    const division how = divided(operands);
    const std::size_t count = extents().count();
    if (count == 0) return make_like(*how.model, type(), count);
    vector_handle made = how.how == way::own_arrays
                             ? made_of_units(*how.model, how.arrays, count / arrays_, type())
                             : make_like(*how.model, type(), count);
    write_spread(operands, how, *made);
    return made;
}

vector_handle transform_producer::computed(std::span<const tape> operands,
                                           const std::shared_ptr<runtime::device_state>& on) const {
    auto made = std::make_shared<vector_state>(on, type(), extents().count());
    if (made->size() > 0) write(operands, arrays_, *made);
    return made;
}

// ---- over several devices

transform_producer::division transform_producer::divided(std::span<const tape> operands) const {
    division made{largest_spread(operands), {}, way::own_arrays};
    made.arrays = units_like(*made.model, arrays_);
    const std::size_t devices = devices_with_elements(*made.model);
    if (arrays_ >= devices) return made;
    made.how =
        extents().count() >= least_exchanged() && has_exchange(devices) ? way::exchange : way::first_device;
    return made;
}

void transform_producer::write_spread(std::span<const tape> operands, const division& how,
                                      vector_state& into) const {
    switch (how.how) {
        case way::own_arrays: return write_own_arrays(operands, how.arrays, into);
        case way::exchange: return write_exchanged(operands, *how.model, into);
        case way::first_device: return write_on_first_device(operands, into);
    }
}

void transform_producer::write_own_arrays(std::span<const tape> operands, const unit_ranges& arrays,
                                          vector_state& into) const {
    // Elements are copied before any device writes the target, which may contain them.
    std::vector<local_arrays> all;
    const std::size_t size = into.size() / arrays_;
    for (std::size_t d = 0; d < arrays.size(); ++d) {
        if (arrays[d].count == 0) continue;
        const vector_state::part& part = into.parts()[d];
        localizer here(part.elements->device_handle());
        const std::size_t begin = all.size();
        for (const tape& p : operands) {
            const shape box = box_of(p);
            const std::size_t own = box.count() / arrays_;
            std::vector<piece> pieces = here.pieces(p, box, arrays[d].first * own, arrays[d].count * own);
            all.resize(begin + pieces.size());
            for (std::size_t k = 0; k < pieces.size(); ++k) {
                local_arrays& some = all[begin + k];
                some.arrays = pieces[k].box.count() / own;
                some.first = pieces[k].first / own * size;
                some.count = some.arrays * size;
                some.operands.push_back(std::move(pieces[k].values));
            }
        }
        for (std::size_t k = begin; k < all.size(); ++k) {
            local_arrays& some = all[k];
            const auto& device = part.elements->device_handle();
            if (share_of(part) == share{device, some.first, some.count} &&
                (!any_reads(some.operands, *part.elements) || may_overwrite(some.operands, *part.elements)))
                some.part = part.elements;
            else
                some.apart = std::make_shared<vector_state>(device, type(), some.count);
        }
    }
    for (const local_arrays& some : all) {
        vector_state& to = some.part != nullptr ? *some.part : *some.apart;
        write(some.operands, some.arrays, to);
        to.device().default_queue().flush();
    }
    for (const local_arrays& some : all)
        if (some.apart != nullptr) copy_elements(into, some.first, *some.apart, 0, some.count);
}

void transform_producer::write_on_first_device(std::span<const tape> operands, vector_state& into) const {
    localizer here(into.device_handle());
    std::vector<tape> local;
    for (const tape& p : operands) {
        const shape box = box_of(p);
        local.push_back(std::move(here.pieces(p, box, 0, box.count())[0].values));
    }
    copy_elements(into, 0, *computed(local, into.device_handle()), 0, into.size());
}

std::string transform_producer::words_of_devices() const {
    if (!any_is_spread(of_)) return {};
    const division how = divided(of_);
    const std::size_t devices = how.model->parts().size();
    switch (how.how) {
        case way::own_arrays:
            return fmt::format("{} devices transform {} of {} arrays\n", devices, words_of(how.arrays),
                               arrays_);
        case way::exchange: return words_of_exchange(*how.model);
        default: return fmt::format("the first of {} devices transforms all\n", devices);
    }
}

// ---- pairs

vector_handle as_pairs(const vector_state& v) {
    const trace::type pair(v.type().element, 2);
    if (v.offset() % trace::size_of(pair) != 0 || v.size() % 2 != 0) return nullptr;
    return std::make_shared<vector_state>(v.memory(), pair, v.size() / 2, v.offset());
}

}  // namespace balm::array
