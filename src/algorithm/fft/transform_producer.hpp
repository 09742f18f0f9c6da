#pragma once
// The common base of transforms, which are materialised operands.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithm/fft/fft_transform.hpp"
#include "algorithm/fft/row_exchange.hpp"
#include "array/layout.hpp"

namespace balm::array {

/// A materialised operand that is computed from expressions. If their vectors are over several devices:
///
/// * each device transforms the arrays of a batch of which it holds most elements, with copies of the others,
/// * if there are fewer arrays than devices, large ones are exchanged between devices, if has_exchange(),
/// * otherwise the first device computes all, with copies of the elements.
class transform_producer : public producer {
public:
    bool compute_into(vector_state&) const override;
    std::shared_ptr<vector_state> compute() const override;

    /// A line that says how the work is divided among devices; empty if all is on one device.
    std::string words_of_devices() const;

protected:
    /// `arrays`: the number of arrays to transform alike, consecutive in the result and in each operand.
    transform_producer(std::vector<tape>&& of, const shape& extents, trace::type type,
                       std::shared_ptr<vector_state> near, std::size_t arrays = 1)
        : producer(extents, type, std::move(near)), of_(std::move(of)), arrays_(arrays) {}

    /// Whether write() may overwrite a vector that the operands read: no by default.
    virtual bool may_overwrite(std::span<const tape>, vector_state&) const { return false; }
    /// Computes this number of arrays, which are not empty. The operands are on the vector's device.
    virtual void write(std::span<const tape> operands, std::size_t arrays, vector_state& into) const = 0;
    /// Whether devices can exchange parts of one array, as write_exchanged() does.
    virtual bool has_exchange(std::size_t /*devices*/) const { return false; }
    /// Computes all arrays that way. `model` determines the share of each device.
    virtual void write_exchanged(std::span<const tape> /*operands*/, const vector_state& /*model*/,
                                 vector_state& /*into*/) const {}
    /// A description of the exchange.
    virtual std::string words_of_exchange(const vector_state& /*model*/) const { return {}; }

    std::size_t arrays() const { return arrays_; }

    /// The lines of all arrays, for another number of arrays.
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

/// Real numbers as pairs; null if their count is odd or they are not aligned for pairs.
std::shared_ptr<vector_state> as_pairs(const vector_state&);

}  // namespace balm::array
