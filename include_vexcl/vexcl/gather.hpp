#pragma once
// Chosen elements of a vector, gathered into host memory and scattered back: what programs exchange with
// other processes.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "vexcl/vector.hpp"

namespace vex {
namespace detail {

/// Positions of elements, on the devices of the vectors that they are of.
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

/// Copies the elements at some indices to the host, in the order of the indices.
///
///     vex::gather<double> get(ctx, x.size(), indices);
///     get(x, halo);
///
/// Without template arguments it takes vectors of any type.
template <class T = void>
class gather : detail::gathered_positions {
public:
    /// `size` is that of the vectors to gather from.
    gather(const std::vector<command_queue>& queues, std::size_t /*size*/,
           const std::vector<std::size_t>& places)
        : gathered_positions(queues, places) {}

    template <class U, class Host>
    requires(std::is_void_v<T> || std::same_as<T, U>) void operator()(const vector<U>& from,
                                                                      Host&& to) const {
        using D = detail::balm_element<U>;
        if (count() == 0) return;
        const detail::on_queues scope(queues());
        const balm::vector<D> got(balm::expr<D>(from.balm_vector()[positions()]));
        got.read(std::span(reinterpret_cast<D*>(std::addressof(to[0])), count()));
    }
};

/// Copies elements from the host to some indices of a vector. If an index occurs twice, which value wins is
/// unspecified.
///
///     vex::scatter<double> put(ctx, x.size(), indices);
///     put(halo, x);
template <class T = void>
class scatter : detail::gathered_positions {
public:
    scatter(const std::vector<command_queue>& queues, std::size_t /*size*/,
            const std::vector<std::size_t>& places)
        : gathered_positions(queues, places) {}

    template <class Host, class U>
    requires(std::is_void_v<T> || std::same_as<T, U>) void operator()(const Host& from, vector<U>& to) const {
        using D = detail::balm_element<U>;
        if (count() == 0) return;
        const detail::on_queues scope(queues());
        const balm::vector<D> values(*queues().context(),
                                     std::span(reinterpret_cast<const D*>(std::addressof(from[0])), count()));
        to.balm_vector()[positions()] = values;
    }
};

}  // namespace vex
