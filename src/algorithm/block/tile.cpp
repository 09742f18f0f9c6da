#include "algorithm/block/tile.hpp"

#include "balm/dsl/control.hpp"

namespace balm::block {

using namespace dsl;

namespace {

/// Indices of a work-item's elements in the whole.
class indices {
public:
    indices(const group& g, arrangement how, int each, const Index& begin)
        : at_(g, how, each), base_(named("base", begin + at_.first)) {}
    Index operator[](int k) const { return base_ + k * at_.stride; }

private:
    positions at_;
    Index base_;
};

Bool is_whole(const group& g, int each, const Index& begin, const Index& end) {
    return named("is_whole", begin + g.items() * each <= end);
}

/// A pointer to the vector that a work-item's elements begin with.
trace::node vectors_at(const group& g, const trace::node& pointer, int each, int width, const Index& begin) {
    const trace::type scalar_type = trace::pointee(pointer.type);
    const trace::type vector(scalar_type.element, static_cast<std::uint8_t>(width));
    return trace::reinterpret(trace::offset(pointer, node_of(begin + g.item() * each)),
                              trace::pointer_to(vector, space::global, pointer.type.is_const));
}

}  // namespace

elements load(const group& g, arrangement how, int each, const Index& begin,
              const std::function<values(const Index&)>& at) {
    const indices index(g, how, each, begin);
    elements made;
    for (int k = 0; k < each; ++k) made.push_back(at(index[k]));
    return made;
}

elements load(const group& g, arrangement how, int each, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at, const values& otherwise) {
    const indices index(g, how, each, begin);
    elements made;
    for (int k = 0; k < each; ++k) made.push_back(variables("element", otherwise));
    IF (is_whole(g, each, begin, end)) {
        for (int k = 0; k < each; ++k) write(made[static_cast<std::size_t>(k)], at(index[k]));
    }
    ELSE {
        for (int k = 0; k < each; ++k) {
            const Index i = index[k];
            IF (i < end) {
                write(made[static_cast<std::size_t>(k)], at(i));
            }
        }
    }
    for (values& each_made : made) each_made = read(each_made);
    return made;
}

void store(const group& g, arrangement how, const elements& list, const Index& begin, const Index& end,
           const std::function<void(const Index&, const values&)>& give) {
    const auto each = static_cast<int>(list.size());
    const indices index(g, how, each, begin);
    IF (is_whole(g, each, begin, end)) {
        for (int k = 0; k < each; ++k) give(index[k], list[static_cast<std::size_t>(k)]);
    }
    ELSE {
        for (int k = 0; k < each; ++k) {
            const Index i = index[k];
            IF (i < end) {
                give(i, list[static_cast<std::size_t>(k)]);
            }
        }
    }
}

int vector_lanes(const trace::type& type, int each) {
    int width = 1;
    while (width < 16 && each % (2 * width) == 0 &&
           trace::size_of(type) * static_cast<std::size_t>(width) < 16)
        width *= 2;
    return width;
}

elements load_vectors(const group& g, int each, const trace::node& pointer, const Index& begin) {
    const int width = vector_lanes(trace::pointee(pointer.type), each);
    const trace::node vectors = vectors_at(g, pointer, each, width, begin);
    elements made;
    for (int v = 0; v < each / width; ++v) {
        const trace::node vector = trace::load(vectors, node_of(v), {});
        for (int k = 0; k < width; ++k)
            made.push_back({width == 1 ? vector : trace::swizzle(vector, static_cast<std::uint64_t>(k), 1)});
    }
    return made;
}

void store_vectors(const group& g, const elements& list, const trace::node& pointer, const Index& begin) {
    const auto each = static_cast<int>(list.size());
    const int width = vector_lanes(trace::pointee(pointer.type), each);
    const trace::node vectors = vectors_at(g, pointer, each, width, begin);
    for (int v = 0; v < each / width; ++v) {
        values scalars;
        for (int k = 0; k < width; ++k) scalars.push_back(list[static_cast<std::size_t>(v * width + k)][0]);
        const trace::type vector = trace::pointee(vectors.type);
        trace::store(vectors, node_of(v),
                     width == 1 ? scalars[0] : trace::compose(vector, scalars.data(), scalars.size()), {});
    }
}

}  // namespace balm::block
