#pragma once
// Gathers elements of a vector into host memory and scatters them back, for example to exchange halos between
// processes.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "vexcl/vector.hpp"
#include "vexcl/vector_view.hpp"

namespace vex {
namespace detail {

/// The indices of elements, in device memory.
class gathered_positions {
public:
    gathered_positions(const std::vector<command_queue>& queues, const std::vector<std::size_t>& places)
        : indices_(queues, places) {}

protected:
    const balm::vector<std::uint64_t>& positions() const { return indices_.balm_vector(); }
    std::size_t count() const { return indices_.size(); }
    const detail::queue_list& queues() const { return indices_.queues(); }

private:
    vector<std::size_t> indices_;
};

}  // namespace detail

/// Copies the elements at the given indices to the host, in the order of the indices.
///
///     vex::gather get(ctx, x.size(), indices);
///     get(x, halo);
class gather : detail::gathered_positions {
public:
    /// `size`, the size of the vectors in VexCL, is ignored.
    gather(const std::vector<command_queue>& queues, std::size_t /*size*/,
           const std::vector<std::size_t>& places)
        : gathered_positions(queues, places) {}

    template <class U, class Host>
    void operator()(const vector<U>& from, Host&& to) const {
        using D = detail::balm_element<U>;
        if (count() == 0) return;
        const detail::on_queues scope(queues());
        const balm::vector<D> got(balm::expr<D>(from.balm_vector()[positions()]));
        got.read(std::span(reinterpret_cast<D*>(std::addressof(to[0])), count()));
    }
};

/// Copies elements from the host to the given indices of a vector. If an index repeats, which value wins is
/// unspecified.
///
///     vex::scatter put(ctx, x.size(), indices);
///     put(halo, x);
class scatter : detail::gathered_positions {
public:
    scatter(const std::vector<command_queue>& queues, std::size_t /*size*/,
            const std::vector<std::size_t>& places)
        : gathered_positions(queues, places) {}

    template <class Host, class U>
    void operator()(const Host& from, vector<U>& to) const {
        using D = detail::balm_element<U>;
        if (count() == 0) return;
        const detail::on_queues scope(queues());
        const balm::vector<D> values(*queues().context(),
                                     std::span(reinterpret_cast<const D*>(std::addressof(from[0])), count()));
        to.balm_vector()[positions()] = values;
    }
};

}  // namespace vex
