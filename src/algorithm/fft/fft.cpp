// Transforms as leaves of expressions: takes one dimension after the other.

#include "balm/fft.hpp"

#include <memory>
#include <vector>

#include "algorithm/fft/fft_dimensions.hpp"
#include "algorithm/fft/fft_transform.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

class fft_producer : public producer {
public:
    fft_producer(tape&& of, scalar precision, fft_direction direction, const dimension_list& over)
        : producer(box_of(of), trace::type(precision, 2), vector_near(of, trace::type(precision, 2))),
          of_(std::move(of)),
          direction_(direction),
          dimensions_(dimensions_of(extents(), over)) {}

    bool compute_into(vector_state& into) const override {
        if (is_spread(of_) || into.is_spread() || &into.device() != &near()->device()) return false;
        tape p = of_;
        materialise(p);
        const target in_place{&into};
        if (extents().count() > 0 && is_single_pass(into.device(), dimensions_[0]) &&
            needs_temporary(p, {&in_place, 1}, extents()))
            return false;
        write(p, into);
        return true;
    }

    std::shared_ptr<vector_state> compute() const override {
        tape p = of_;
        materialise(p);
        if (!is_spread(p)) return computed(p, device_of(p));
        // The first device computes all of it.
        const std::shared_ptr<runtime::device_state>& first = near()->device_handle();
        std::shared_ptr<vector_state> made = make_like(*p.vectors[0], type(), extents().count());
        if (extents().count() == 0) return made;
        localizer here(first);
        const std::vector<piece> whole = here.pieces(p, extents(), 0, extents().count());
        const std::shared_ptr<vector_state> result = computed(whole[0].values, first);
        copy_elements(*made, 0, *result, 0, extents().count());
        return made;
    }

private:
    std::shared_ptr<vector_state> computed(const tape& p,
                                           const std::shared_ptr<runtime::device_state>& on) const {
        auto made = std::make_shared<vector_state>(on, type(), extents().count());
        write(p, *made);
        return made;
    }
    void write(const tape& p, vector_state& into) const {
        if (into.size() == 0) return;
        refuse_writing(p);
        const bool is_inverse = direction_ == fft_direction::inverse;
        long double scale = 1;
        if (is_inverse)
            for (const fft_lines& each : dimensions_) scale /= static_cast<long double>(each.count);
        tape from = p;
        for (std::size_t k = 0; k < dimensions_.size(); ++k) {
            const bool is_first = k == 0, is_last = k + 1 == dimensions_.size();
            transform_lines(from, dimensions_[k],
                            {is_inverse && is_first, is_inverse && is_last, is_last ? scale : 1}, into);
            if (is_last) break;
            from = tape();
            from.push_vector({std::shared_ptr<void>(), &into});  // which outlives this
        }
    }

    tape of_;
    fft_direction direction_;
    std::vector<fft_lines> dimensions_;
};

}  // namespace

tape fourier_transformed(tape&& elements, scalar precision, fft_direction direction,
                         const dimension_list& over) {
    tape p;
    p.push_produced(std::make_shared<fft_producer>(std::move(elements), precision, direction, over));
    return p;
}

namespace {

/// x rotated by some positions.
expr<std::int64_t> rotated(const expr<std::int64_t>& x, std::int64_t by, std::int64_t count) {
    return (x + by) % count;
}

}  // namespace

tape shifted(tape&& elements, bool is_inverse, const dimension_list& over) {
    const shape box = box_of(elements);
    if (box.count() == 0) return std::move(elements);
    const auto at = element_index(0, box.count());
    expr<std::int64_t> from = at;
    for (const fft_lines& each : dimensions_of(box, over)) {
        const auto count = static_cast<std::int64_t>(each.count),
                   inner = static_cast<std::int64_t>(each.inner);
        const std::int64_t half = count / 2;
        const expr<std::int64_t> own = at / inner % count;
        from = from + (rotated(own, is_inverse ? half : count - half, count) - own) * inner;
    }
    const selection all = viewed(std::move(elements), shape(box.count()));
    return read(viewed(read(picked(all, from.tape())), box));
}

std::string fft_words(tape&& elements, scalar precision, const dimension_list& over) {
    std::string words;
    const std::shared_ptr<vector_state> near = vector_near(elements, trace::type(precision, 2));
    for (const fft_lines& each : dimensions_of(box_of(elements), over))
        if (each.size() > 0) words += describe_lines(near->device(), precision, each);
    return words;
}

}  // namespace balm::array
