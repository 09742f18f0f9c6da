#pragma once
// Offsets of segments in kernels, and how work-items of CPUs divide segments of any lengths evenly: by the
// number of elements and segments together (Merrill and Garland, Merge-based parallel sparse matrix-vector
// multiplication, 2016).

#include "algorithm/block/values.hpp"
#include "balm/dsl/control.hpp"

namespace balm::array {

class segment_offsets {
public:
    using Index = block::Index;

    /// `offsets` points to one integer more than there are segments.
    segment_offsets(const trace::node& offsets, const Index& segments, const Index& elements)
        : offsets_(offsets), segments_(segments), elements_(elements) {}

    /// The position of segment k's first element.
    Index operator[](const Index& k) const {
        return Index(trace::convert(trace::load(offsets_, block::node_of(k), {}), scalar::i64));
    }

    /// A boundary between work-items: the segments before `segment`, and of that one the elements before
    /// `element`, belong to the earlier ones.
    struct place {
        Index segment, element;
    };
    /// The boundary after `work` elements and segments. It is never at the end of a segment that has
    /// elements: that is the beginning of the next one.
    place split(const Index& work) const {
        const Index limit = dsl::named("work", dsl::min(work, segments_ + elements_));
        Index ended = leading([&](const Index& k) { return (*this)[k + 1] + k < limit; });
        const Index element = dsl::named("element", limit - ended);
        BALM_IF (ended < segments_) {
            BALM_IF (element == (*this)[ended + 1] && element > (*this)[ended]) {
                ended += 1;
            }
        }
        return {ended, element};
    }
    /// The number of segments that begin before so many elements and segments.
    Index begun_before(const Index& work) const {
        return leading([&](const Index& k) { return (*this)[k] + k < work; });
    }

private:
    /// The number of leading segments for which is_before(k) holds.
    template <class F>
    Index leading(F&& is_before) const {
        Index first = dsl::named("segment", Index(0)), count = dsl::named("candidates", segments_ + 0);
        BALM_WHILE (count > 0) {
            const Index half = (count + 1) >> 1;
            first += dsl::select(is_before(first + half - 1), half, std::int64_t{0});
            count -= half;
        }
        return first;
    }

    trace::node offsets_;
    Index segments_, elements_;
};

}  // namespace balm::array
