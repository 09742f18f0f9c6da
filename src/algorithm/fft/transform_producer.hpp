#pragma once
// Transforms as leaves of expressions: what all of them share.

#include <memory>
#include <span>
#include <vector>

#include "array/layout.hpp"

namespace balm::array {

/// A leaf that one device computes as a whole from some expressions: of vectors over several devices the
/// first one does, with copies of their elements.
class transform_producer : public producer {
public:
    bool compute_into(vector_state&) const override;
    std::shared_ptr<vector_state> compute() const override;

protected:
    transform_producer(std::vector<tape>&& of, const shape& extents, trace::type type,
                       std::shared_ptr<vector_state> near)
        : producer(extents, type, std::move(near)), of_(std::move(of)) {}

    /// Whether write() may be given a vector that the operands read: no, unless a transform says so.
    virtual bool may_overwrite(std::span<const tape>, vector_state&) const { return false; }
    /// Computes the elements, of which there are some. The operands are on the vector's device.
    virtual void write(std::span<const tape> operands, vector_state& into) const = 0;

private:
    std::shared_ptr<vector_state> computed(std::span<const tape> operands,
                                           const std::shared_ptr<runtime::device_state>&) const;

    std::vector<tape> of_;
};

/// Real numbers as pairs; null where these would not lie as devices want them.
std::shared_ptr<vector_state> as_pairs(const vector_state&);

}  // namespace balm::array
