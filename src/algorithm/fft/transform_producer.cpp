#include "algorithm/fft/transform_producer.hpp"

#include <algorithm>

#include "array/spread/parts.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

bool any_is_spread(std::span<const tape> operands) {
    return std::any_of(operands.begin(), operands.end(), [](const tape& p) { return is_spread(p); });
}
bool any_reads(std::span<const tape> operands, const vector_state& memory) {
    return std::any_of(operands.begin(), operands.end(), [&](const tape& p) {
        return std::any_of(p.vectors.begin(), p.vectors.end(),
                           [&](const auto& v) { return v->overlaps(memory); });
    });
}

}  // namespace

bool transform_producer::compute_into(vector_state& into) const {
    if (any_is_spread(of_) || into.is_spread() || &into.device() != &near()->device()) return false;
    std::vector<tape> operands = of_;
    materialise(operands);
    if (any_reads(operands, into) && !may_overwrite(operands, into)) return false;
    if (into.size() > 0) write(operands, into);
    return true;
}

std::shared_ptr<vector_state> transform_producer::compute() const {
    std::vector<tape> operands = of_;
    materialise(operands);
    const std::shared_ptr<runtime::device_state>& first = near()->device_handle();
    const auto spread = std::find_if(operands.begin(), operands.end(), is_spread);
    if (spread == operands.end()) return computed(operands, first);
    std::shared_ptr<vector_state> made = make_like(*vector_near(*spread, type()), type(), extents().count());
    if (extents().count() == 0) return made;
    localizer here(first);
    for (std::size_t k = 0; k < operands.size(); ++k) {
        const shape box = box_of(of_[k]);
        tape local = std::move(here.pieces(operands[k], box, 0, box.count())[0].values);
        operands[k] = std::move(local);
    }
    const std::shared_ptr<vector_state> result = computed(operands, first);
    copy_elements(*made, 0, *result, 0, extents().count());
    return made;
}

std::shared_ptr<vector_state> transform_producer::computed(
    std::span<const tape> operands, const std::shared_ptr<runtime::device_state>& on) const {
    auto made = std::make_shared<vector_state>(on, type(), extents().count());
    if (made->size() > 0) write(operands, *made);
    return made;
}

std::shared_ptr<vector_state> as_pairs(const vector_state& v) {
    const trace::type pair(v.type().element, 2);
    if (v.offset() % trace::size_of(pair) != 0 || v.size() % 2 != 0) return nullptr;
    return std::make_shared<vector_state>(v.memory(), pair, v.size() / 2, v.offset());
}

}  // namespace balm::array
