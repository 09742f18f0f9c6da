// Matrix products as materialised operands, on one device or divided among several.

#include "algorithm/contract/product.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "algorithm/contract/product_computation.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "array/spread/units.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

product_extents sizes_of(const product_letters& letters, const letter_extents& extents) {
    return {extents.of(letters.batch).count(), extents.of(letters.rows).count(),
            extents.of(letters.columns).count(), extents.of(letters.inner).count()};
}

/// If the operands are over several devices, each device computes a range of the result along its slowest
/// axis, with copies of the operands' elements that it does not hold.
class product_producer : public producer {
public:
    product_producer(labelled a, labelled b, const product_letters& letters, const letter_extents& extents,
                     trace::type element, bool by_library, std::shared_ptr<vector_state> near)
        : producer(extents.of(letters.output), element, std::move(near)),
          a_(std::move(a)),
          b_(std::move(b)),
          letters_(letters),
          extents_(extents),
          by_library_(by_library) {}

    bool compute_into(vector_state& into) const override {
        if (reads(a_.values, into) || reads(b_.values, into) || !are_on_same_devices(into, *near()))
            return false;
        const operands both = computed_operands();
        if (is_spread(both) != into.is_spread()) return false;
        if (into.is_spread())
            write_parts(both, into);
        else
            write(both, extents_, into);
        return true;
    }

    std::shared_ptr<vector_state> compute() const override {
        const operands both = computed_operands();
        const std::size_t count = extents().count();
        if (!is_spread(both)) {
            auto made = std::make_shared<vector_state>(near()->device_handle(), type(), count);
            write(both, extents_, *made);
            return made;
        }
        const vector_state& model = *model_of(both);
        if (count == 0) return make_like(model, type(), count);
        auto made = made_of_units(model, units_like(model, units()), count / units(), type());
        write_parts(both, *made);
        return made;
    }

private:
    using operands = std::array<labelled, 2>;

    operands computed_operands() const {
        std::array<tape, 2> both{a_.values, b_.values};
        materialise(both);
        return {labelled{std::move(both[0]), a_.letters}, labelled{std::move(both[1]), b_.letters}};
    }
    static bool is_spread(const operands& both) {
        return array::is_spread(both[0].values) || array::is_spread(both[1].values);
    }
    /// The axis of the result with the largest stride, of those with several elements; 0 if the result has no
    /// axes.
    char slowest_letter() const {
        const std::string& output = letters_.output;
        if (output.empty()) return 0;
        const auto found =
            std::find_if(output.begin(), output.end(), [&](char c) { return extents_[c] != 1; });
        return found == output.end() ? output.front() : *found;
    }
    /// The extent of this axis.
    std::size_t units() const { return slowest_letter() == 0 ? 1 : extents_[slowest_letter()]; }
    /// A vector over several devices, if possible of the operand that has the slowest axis.
    std::shared_ptr<vector_state> model_of(const operands& both) const {
        const bool is_first = has(both[0].letters, slowest_letter());
        const tape &has_axis = both[is_first ? 0 : 1].values, &other = both[is_first ? 1 : 0].values;
        return vector_near(array::is_spread(has_axis) ? has_axis : other, type());
    }

    void write_parts(const operands& both, vector_state& into) const {
        if (into.size() == 0) return;
        const char slowest = slowest_letter();
        const unit_ranges own = units_like(*model_of(both), units());
        const std::size_t size = into.size() / units();
        std::vector<std::shared_ptr<vector_state>> apart(own.size());
        for (std::size_t d = 0; d < own.size(); ++d) {
            if (own[d].count == 0) continue;
            const vector_state::part& part = into.parts()[d];
            localizer here(part.elements->device_handle());
            const letter_extents extents = extents_.with(slowest, own[d].count);
            operands local;
            for (std::size_t k = 0; k < 2; ++k) {
                const labelled some = has(both[k].letters, slowest)
                                          ? part_of(both[k], slowest, own[d].first, extents)
                                          : both[k];
                const shape box = some.map().box;
                local[k] = {
                    box.count() > 0 ? here.pieces(some.values, box, 0, box.count())[0].values : some.values,
                    some.letters};
            }
            const share wanted{part.elements->device_handle(), own[d].first * size, own[d].count * size};
            const bool is_part = share_of(part) == wanted;
            if (!is_part) apart[d] = std::make_shared<vector_state>(wanted.device, type(), wanted.count);
            write(local, extents, is_part ? *part.elements : *apart[d]);
            part.elements->device().default_queue().flush();
        }
        for (std::size_t d = 0; d < own.size(); ++d)
            if (apart[d] != nullptr) copy_elements(into, own[d].first * size, *apart[d], 0, apart[d]->size());
    }
    void write(const operands& both, const letter_extents& extents, vector_state& into) const {
        if (into.size() == 0) return;
        const product_extents sizes = sizes_of(letters_, extents);
        if (sizes.inner == 0) {
            constexpr std::array<std::uint64_t, 2> nothing{};
            return fill(into, nothing.data());
        }
        multiply(both[0], both[1], letters_, extents, sizes, by_library_, into);
    }

    labelled a_, b_;
    product_letters letters_;
    letter_extents extents_;
    bool by_library_;
};

}  // namespace

tape batched_product(labelled a, labelled b, const product_letters& letters, const letter_extents& extents,
                     trace::type element, bool by_library, std::shared_ptr<vector_state> near) {
    tape p;
    p.push_produced(std::make_shared<product_producer>(std::move(a), std::move(b), letters, extents, element,
                                                       by_library, std::move(near)));
    return p;
}

}  // namespace balm::array
