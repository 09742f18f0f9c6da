#pragma once
// Images as kernel parameters: InImage and OutImage by position, Sampled through a sampler.
//
//     auto shrink = balm::kernel<2>("shrink", [](Sampled<balm::float4, 2> photo,
//                                                OutImage<balm::float4, 2> small) {
//         Index column = global_id(0), row = global_id(1);
//         Float x = (cast<float>(column) + 0.5f) / cast<float>(small.width());
//         Float y = (cast<float>(row) + 0.5f) / cast<float>(small.height());
//         small(row, column) = photo(x, y);
//     });
//     device.execute(shrink(photo.sampled({.filter = balm::image_filter::linear,
//                                          .coordinates = balm::image_coordinates::normalised}),
//                           small), {width, height});
//
// Positions are integers in the order of the image's shape, as in host arrays: (row, column), (plane, row,
// column). Coordinates are floats in the order of samplers: x along a row, y across rows, z across planes. A
// launch that writes an image cannot read it.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "balm/dsl/lanes.hpp"
#include "balm/dsl/value.hpp"
#include "balm/image_element.hpp"

namespace balm::dsl {

namespace detail {

template <class T>
using image_var = Var<decltype(balm::detail::image_value<T>())>;

/// Converts positions in the order of the shape to the device's order, x first.
template <int N>
struct image_position {
    template <class... I>
    explicit image_position(const I&... i)
        : at{trace::convert(i.value, scalar::i32)...}, where(first(i...).where) {
        for (int d = 0; d < N / 2; ++d) {
            const node swapped = at[d];
            at[d] = at[N - 1 - d];
            at[N - 1 - d] = swapped;
        }
    }
    node at[N];
    location where;

private:
    template <class... I>
    static const located_index& first(const located_index& i, const I&...) {
        return i;
    }
};

/// A parameter that is an image of T in N dimensions.
template <class T, int N, trace::access Use>
class image_parameter {
    static_assert(balm::detail::check_image_element<T>());
    static_assert(N >= 1 && N <= 3, "Balm: an image has 1, 2 or 3 dimensions");

public:
    using value_type = T;
    static constexpr trace::access use = Use;
    static constexpr int dimensions = N;

    explicit image_parameter(trace::node image) : image_(image) {}
    const trace::node& node() const { return image_; }

    /// Elements in a row.
    Int width() const { return Int(trace::image_size(image_, 0)); }
    /// Rows.
    Int height() const {
        static_assert(N >= 2, "Balm: an image of 1 dimension has no height");
        return Int(trace::image_size(image_, 1));
    }
    /// Planes.
    Int depth() const {
        static_assert(N >= 3, "Balm: an image of 1 or 2 dimensions has no depth");
        return Int(trace::image_size(image_, 2));
    }

private:
    trace::node image_;
};

/// The proxy `image(row, column)` of an OutImage.
template <class T, int N>
class image_place {
public:
    image_place(node image, const image_position<N>& position) : image_(image), position_(position) {}
    image_place(const image_place&) = delete;
    void operator=(const image_place&) = delete;
    template <operand A>
    void operator=(A&& a) && {
        const image_var<T> value(static_cast<A&&>(a));
        trace::write_image(image_, position_.at, trace::read(value.node()), position_.where);
    }

private:
    node image_;
    image_position<N> position_;
};

}  // namespace detail

/// An image that the kernel reads by position: `image(row, column)`. Reads outside the image return zeros.
/// Bound to a balm::image<T, N>.
template <class T, int N = 2>
class InImage : public detail::image_parameter<T, N, trace::access::in_image> {
public:
    using detail::image_parameter<T, N, trace::access::in_image>::image_parameter;

    detail::image_var<T> operator()(located_index column) const requires(N == 1) { return at(column); }
    detail::image_var<T> operator()(located_index row, located_index column) const requires(N == 2) {
        return at(row, column);
    }
    detail::image_var<T> operator()(located_index plane, located_index row, located_index column) const
        requires(N == 3) {
        return at(plane, row, column);
    }

private:
    template <class... I>
    detail::image_var<T> at(const I&... i) const {
        const detail::image_position<N> position(i...);
        return detail::image_var<T>(trace::read_image(this->node(), position.at, position.where));
    }
};

/// An image that the kernel writes by position: `image(row, column) = value`. Writes outside the image are
/// ignored. Bound to a balm::image<T, N>.
template <class T, int N = 2>
class OutImage : public detail::image_parameter<T, N, trace::access::out_image> {
    using place = detail::image_place<T, N>;

public:
    using detail::image_parameter<T, N, trace::access::out_image>::image_parameter;

    place operator()(located_index column) const requires(N == 1) {
        return place(this->node(), detail::image_position<N>(column));
    }
    place operator()(located_index row, located_index column) const requires(N == 2) {
        return place(this->node(), detail::image_position<N>(row, column));
    }
    place operator()(located_index plane, located_index row, located_index column) const requires(N == 3) {
        return place(this->node(), detail::image_position<N>(plane, row, column));
    }
};

/// An image that the kernel reads through a sampler: `image(x, y)`, in the sampler's coordinates. Bound to
/// `image.sampled(sampler)`; one kernel works with every sampler.
template <class T, int N = 2>
class Sampled : public detail::image_parameter<T, N, trace::access::sampled_image> {
public:
    using detail::image_parameter<T, N, trace::access::sampled_image>::image_parameter;

    detail::image_var<T> operator()(const Float& x, const char* file = __builtin_FILE(),
                                    std::uint32_t line = __builtin_LINE()) const requires(N == 1) {
        const trace::node at[] = {trace::read(x.node())};
        return detail::image_var<T>(trace::read_image(this->node(), at, {file, line}));
    }
    detail::image_var<T> operator()(const Float& x, const Float& y, const char* file = __builtin_FILE(),
                                    std::uint32_t line = __builtin_LINE()) const requires(N == 2) {
        const trace::node at[] = {trace::read(x.node()), trace::read(y.node())};
        return detail::image_var<T>(trace::read_image(this->node(), at, {file, line}));
    }
    detail::image_var<T> operator()(const Float& x, const Float& y, const Float& z,
                                    const char* file = __builtin_FILE(),
                                    std::uint32_t line = __builtin_LINE()) const requires(N == 3) {
        const trace::node at[] = {trace::read(x.node()), trace::read(y.node()), trace::read(z.node())};
        return detail::image_var<T>(trace::read_image(this->node(), at, {file, line}));
    }
};

}  // namespace balm::dsl
