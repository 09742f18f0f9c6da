// Transforms as materialised operands, one dimension after the other.

#include "balm/fft.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/fft/fft_dimensions.hpp"
#include "algorithm/fft/fft_lengths.hpp"
#include "algorithm/fft/fft_transform.hpp"
#include "algorithm/fft/spread_fft.hpp"
#include "algorithm/fft/transform_producer.hpp"
#include "array/map/overlap.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

class fft_producer : public transform_producer {
public:
    fft_producer(tape&& of, trace::type elements, fft_direction direction, const dimension_list& over,
                 fft_norm norm = fft_norm::backward)
        : fft_producer(box_of(of), vector_near(of, trace::type(elements.element, 2)), std::move(of), elements,
                       {direction == fft_direction::inverse, norm}, dimensions_of(box_of(of), over)) {}

    std::string words() const {
        std::string made = words_of_devices();
        for (const fft_lines& each : dimensions_)
            if (each.size() > 0) made += describe_lines(near()->device(), type().element, each);
        return made;
    }

private:
    struct what {
        bool is_inverse;
        fft_norm norm;
    };
    fft_producer(const shape& extents, std::shared_ptr<vector_state> near, tape&& of, trace::type elements,
                 what kind, const std::vector<fft_lines>& dimensions)
        : fft_producer(extents, std::move(near), std::move(of), elements, kind, dimensions,
                       dimensions.back().outer) {}
    fft_producer(const shape& extents, std::shared_ptr<vector_state> near, tape&& of, trace::type elements,
                 what kind, const std::vector<fft_lines>& dimensions, std::size_t arrays)
        : transform_producer({std::move(of)}, extents, trace::type(elements.element, 2), std::move(near),
                             arrays),
          elements_(elements),
          kind_(kind),
          dimensions_(dimensions) {}

    bool may_overwrite(std::span<const tape> operands, vector_state& into) const override {
        const target in_place{&into};
        return !is_single_pass(into.device(), dimensions_[0]) ||
               !needs_temporary(operands[0], {&in_place, 1}, box_of(operands[0]));
    }
    void write(std::span<const tape> operands, std::size_t arrays, vector_state& into) const override {
        refuse_writing(operands[0]);
        std::vector<fft_lines> lines;
        for (const fft_lines& each : dimensions_) lines.push_back(lines_of(each, arrays));
        transform_dimensions(operands[0], lines, kind_.is_inverse, scale_of(dimensions_), into);
    }

    bool has_exchange(std::size_t devices) const override {
        const fft_lines& slowest = dimensions_.back();
        return slowest.inner > 1 || rows_of_four_steps(slowest.count, devices) > 0;
    }
    void write_exchanged(std::span<const tape> operands, const vector_state& model,
                         vector_state& into) const override {
        const fft_lines& slowest = dimensions_.back();
        const fft_manner manner{kind_.is_inverse, kind_.is_inverse, scale_of({&slowest, 1})};
        refuse_writing(operands[0]);
        if (slowest.inner == 1)
            return transform_in_four_steps(operands[0], elements_, slowest, manner, model, into);
        const auto transform = [&](const auto& block, const fft_lines& lines) {
            return transformed_block(block, lines, manner);
        };
        if (dimensions_.size() == 1)
            return transform_columns(operands[0], elements_, slowest, model, into, transform);
        const fft_producer rows(extents(), near(), tape(operands[0]), elements_, kind_,
                                {dimensions_.begin(), dimensions_.end() - 1}, slowest.outer * slowest.count);
        transform_columns(of_vector(rows.compute()), type(), slowest, model, into, transform);
    }
    std::string words_of_exchange(const vector_state& model) const override {
        const fft_lines& slowest = dimensions_.back();
        return slowest.inner == 1 ? words_of_four_steps(slowest, model) : words_of_columns(slowest, model);
    }

    long double scale_of(std::span<const fft_lines> dimensions) const {
        long double scale = 1;
        for (const fft_lines& each : dimensions) scale *= factor_of(kind_.norm, kind_.is_inverse, each.count);
        return scale;
    }

    trace::type elements_;
    what kind_;
    std::vector<fft_lines> dimensions_;
};

}  // namespace

tape fourier_transformed(tape&& elements, trace::type type, fft_direction direction,
                         const dimension_list& over, const fft_options& options) {
    constexpr const char* name = "a Fourier transform";
    const shape box = with_lengths(name, box_of(elements), over, options.lengths);
    tape p;
    p.push_produced(std::make_shared<fft_producer>(resized(name, std::move(elements), type, box), type,
                                                   direction, over, options.norm));
    return p;
}

namespace {

/// x rotated by `by` positions.
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

std::string fft_words(tape&& elements, trace::type type, const dimension_list& over) {
    return fft_producer(std::move(elements), type, fft_direction::forward, over).words();
}

}  // namespace balm::array
