#pragma once
// How filters judge: the verdict and its phrase, and the state that a selection keeps between devices.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "balm/filter.hpp"
#include "runtime/choice/exclusive.hpp"

namespace balm::detail {

/// Whether a device is accepted, and a phrase about it that explains the verdict: "is not a GPU".
struct verdict {
    bool accepted = false;
    std::string words;
};

/// One pass over the devices of a machine.
struct selection {
    std::unordered_map<const filter_node*, std::vector<device_info>> counted;  ///< by each counting filter
    std::optional<device_filter> environment;                                  ///< created on first use
    runtime::file_lock choosing;  ///< of `exclusive`: held from the first device on
    std::vector<std::shared_ptr<runtime::device_lock>> locks;  ///< of the devices accepted so far
};

class filter_node {
public:
    explicit filter_node(detail::turn when = turn::first) : turn_(when) {}
    virtual ~filter_node() = default;
    virtual verdict judge(const device_info&, selection&) const = 0;
    detail::turn turn() const { return turn_; }

private:
    detail::turn turn_;
};

}  // namespace balm::detail

namespace balm {

/// The filter that the environment describes, as in filter::env, without a default.
struct environment_filter {
    std::optional<device_filter> choice;     ///< BALM_DEVICE, BALM_PLATFORM, BALM_TYPE, BALM_BACKEND
    std::optional<std::size_t> position;     ///< BALM_POSITION
    std::optional<std::size_t> max_devices;  ///< BALM_MAX_DEVICES
    std::string words;                       ///< "BALM_TYPE=gpu, BALM_POSITION=1"; empty if nothing is set
};
/// The user's text as messages show it: control characters are escaped, and long texts truncated.
std::string shown(std::string_view);
/// Throws a usage_error that names the variable and the allowed values.
environment_filter read_environment_filter();

}  // namespace balm
