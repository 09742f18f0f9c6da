#pragma once
// Transforms as leaves of expressions: what all of them share.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithm/fft/fft_transform.hpp"
#include "algorithm/fft/row_exchange.hpp"
#include "array/layout.hpp"

namespace balm::array {

/// A leaf that is computed as a whole from some expressions. Of vectors over several devices:
///
/// * each device transforms the arrays of a batch most of whose elements it has, with copies of the others,
/// * of fewer arrays than devices, large ones are exchanged between devices, where the transform says how,
/// * otherwise the first device computes all, with copies of the elements.
class transform_producer : public producer {
public:
    bool compute_into(vector_state&) const override;
    std::shared_ptr<vector_state> compute() const override;

    /// How the work is divided between devices, a line; nothing, where all is on one device.
    std::string words_of_devices() const;

protected:
    /// `arrays`: how many arrays are transformed alike, consecutive in the result and in each operand.
    transform_producer(std::vector<tape>&& of, const shape& extents, trace::type type,
                       std::shared_ptr<vector_state> near, std::size_t arrays = 1)
        : producer(extents, type, std::move(near)), of_(std::move(of)), arrays_(arrays) {}

    /// Whether write() may be given a vector that the operands read: no, unless a transform says so.
    virtual bool may_overwrite(std::span<const tape>, vector_state&) const { return false; }
    /// Computes so many arrays, which have some elements. The operands are on the vector's device.
    virtual void write(std::span<const tape> operands, std::size_t arrays, vector_state& into) const = 0;
    /// Whether devices can exchange parts of one array, as write_exchanged() does.
    virtual bool has_exchange(std::size_t /*devices*/) const { return false; }
    /// Computes all so. `model` says how much each device gets.
    virtual void write_exchanged(std::span<const tape> /*operands*/, const vector_state& /*model*/,
                                 vector_state& /*into*/) const {}
    /// What is exchanged, in words.
    virtual std::string words_of_exchange(const vector_state& /*model*/) const { return {}; }

    std::size_t arrays() const { return arrays_; }

    /// Lines of all arrays, as those of another number of arrays.
    fft_lines lines_of(const fft_lines& all, std::size_t arrays) const {
        return {arrays_ > 0 ? all.outer / arrays_ * arrays : 0, all.count, all.inner};
    }

private:
    enum class way : std::uint8_t { own_arrays, exchange, first_device };
    struct division {
        std::shared_ptr<vector_state> model;
        unit_ranges arrays;
        way how;
    };
    division divided(std::span<const tape> operands) const;
    std::shared_ptr<vector_state> computed(std::span<const tape> operands,
                                           const std::shared_ptr<runtime::device_state>&) const;
    void write_spread(std::span<const tape> operands, const division&, vector_state& into) const;
    void write_own_arrays(std::span<const tape> operands, const unit_ranges&, vector_state& into) const;
    void write_on_first_device(std::span<const tape> operands, vector_state& into) const;

    std::vector<tape> of_;
    std::size_t arrays_;
};

/// Real numbers as pairs; null where these would not lie as devices want them.
std::shared_ptr<vector_state> as_pairs(const vector_state&);

}  // namespace balm::array
