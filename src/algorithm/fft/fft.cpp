// Transforms as leaves of expressions: takes one dimension after the other.

#include "balm/fft.hpp"

#include <memory>
#include <vector>

#include "algorithm/fft/fft_dimensions.hpp"
#include "algorithm/fft/fft_transform.hpp"
#include "algorithm/fft/transform_producer.hpp"
#include "array/map/overlap.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

class fft_producer : public transform_producer {
public:
    fft_producer(tape&& of, scalar precision, fft_direction direction, const dimension_list& over)
        : fft_producer(box_of(of), vector_near(of, trace::type(precision, 2)), std::move(of), precision,
                       direction, over) {}

private:
    fft_producer(const shape& extents, std::shared_ptr<vector_state> near, tape&& of, scalar precision,
                 fft_direction direction, const dimension_list& over)
        : transform_producer({std::move(of)}, extents, trace::type(precision, 2), std::move(near)),
          is_inverse_(direction == fft_direction::inverse),
          dimensions_(dimensions_of(extents, over)) {}

    bool may_overwrite(std::span<const tape> operands, vector_state& into) const override {
        const target in_place{&into};
        return !is_single_pass(into.device(), dimensions_[0]) ||
               !needs_temporary(operands[0], {&in_place, 1}, extents());
    }
    void write(std::span<const tape> operands, vector_state& into) const override {
        refuse_writing(operands[0]);
        long double scale = 1;
        if (is_inverse_)
            for (const fft_lines& each : dimensions_) scale /= static_cast<long double>(each.count);
        transform_dimensions(operands[0], dimensions_, is_inverse_, scale, into);
    }

    bool is_inverse_;
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
