#pragma once
// Device filters: conditions by which a context chooses devices. They combine with &&, || and !, and with any
// lambda on device_info; each reports why it rejected a device.
//
//     using namespace balm::filter;
//     balm::context two(gpu && double_precision && count(2));
//     balm::context big(gpu && [](const balm::device_info& d) { return d.global_memory > 40e9; });

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/device_info.hpp"
#include "balm/shared_state.hpp"

namespace balm {

class device_filter;

namespace detail {
struct selection;
struct verdict;
class filter_node;

/// When a filter is evaluated: first, by the device's properties; then the filters that lock it; last those
/// that count the devices that all others accept.
enum class turn : unsigned char { first, locks, counts };

/// A user's function on device_info, without <functional>.
class device_predicate {
public:
    virtual ~device_predicate() = default;
    virtual bool accepts(const device_info&) const = 0;
};
/// A function on device_info that is not already a filter.
template <class F>
concept device_test = !std::same_as<std::remove_cvref_t<F>, device_filter> &&
                      std::is_invocable_r_v<bool, const std::remove_cvref_t<F>&, const device_info&>;
std::shared_ptr<const filter_node> predicate_node(std::shared_ptr<const device_predicate>);
}  // namespace detail

/// A condition on devices. Cheap to copy.
class device_filter {
public:
    /// Any function on device_info that returns bool.
    template <detail::device_test F>
    device_filter(F&& f) {
        struct own final : detail::device_predicate {
            explicit own(F&& given) : function(std::forward<F>(given)) {}
            bool accepts(const device_info& info) const override { return function(info); }
            std::remove_cvref_t<F> function;
        };
        node_ = detail::predicate_node(std::make_shared<own>(std::forward<F>(f)));
    }

    using judge_function = detail::verdict(const device_info&, detail::selection&);
    constexpr explicit device_filter(judge_function* function, detail::turn when = detail::turn::first)
        : judge_(function), turn_(when) {}
    explicit device_filter(std::shared_ptr<const detail::filter_node> node);

    /// Both accept. The order does not matter: `exclusive` sees only devices that the other filters accept,
    /// and filters that count (`count`, `position`, `env`) only those that all of these accept.
    friend device_filter operator&&(const device_filter& a, const device_filter& b) { return both(a, b); }
    /// One accepts.
    friend device_filter operator||(const device_filter& a, const device_filter& b) { return either(a, b); }
    friend device_filter operator!(const device_filter& a) { return inverse(a); }

    /// For the runtime: whether the device is accepted, and the reason.
    detail::verdict judge(const device_info&, detail::selection&) const;
    /// For the runtime: when it is evaluated, of two that must both accept.
    detail::turn turn() const { return turn_; }

private:
    static device_filter both(const device_filter&, const device_filter&);
    static device_filter either(const device_filter&, const device_filter&);
    static device_filter inverse(const device_filter&);

    judge_function* judge_ = nullptr;
    detail::turn turn_ = detail::turn::first;
    detail::shared_state<const detail::filter_node> node_;
};

namespace detail {
device_filter::judge_function judge_any, judge_gpu, judge_cpu, judge_accelerator, judge_double_precision,
    judge_half_precision, judge_images, judge_sub_groups, judge_exclusive, judge_environment;
}

namespace filter {

// Destroying these has no effect.
// NOLINTBEGIN(clang-diagnostic-exit-time-destructors)

/// Every device.
inline constinit const device_filter any{detail::judge_any};
/// GPUs.
inline constinit const device_filter gpu{detail::judge_gpu};
/// CPUs.
inline constinit const device_filter cpu{detail::judge_cpu};
/// Accelerators, in OpenCL's sense.
inline constinit const device_filter accelerator{detail::judge_accelerator};
/// Devices that support double precision.
inline constinit const device_filter double_precision{detail::judge_double_precision};
/// Devices that support half precision.
inline constinit const device_filter half_precision{detail::judge_half_precision};
/// Devices that support images.
inline constinit const device_filter images{detail::judge_images};
/// Devices with hardware sub-groups; on others Balm emulates them.
inline constinit const device_filter sub_groups{detail::judge_sub_groups};
/// Devices that no other process has claimed through this filter. A claim lasts until the last handle of the
/// context is destroyed or the process has ended, in any way; contexts of one process share its claims.
/// Programs that do not use the filter are not locked out.
///
///     balm::context mine(balm::filter::gpu && balm::filter::exclusive && balm::filter::count(1));
///
/// A device is identified by its uuid, else by its PCI address, else by its name, whichever driver reports
/// it. The claim is an advisory lock on a file in $BALM_LOCK_DIR, else in /run/lock or /tmp; processes that
/// share a device but not that directory (containers) need $BALM_LOCK_DIR. Throws usage_error if the file
/// cannot be created or locked, and no_device_error if another process has been choosing devices for ten
/// seconds. A device that `||` accepts through its other operand is not claimed.
inline constinit const device_filter exclusive{detail::judge_exclusive, detail::turn::locks};
/// Devices that the environment allows: BALM_DEVICE (part of the name), BALM_PLATFORM (part of the platform's
/// name), BALM_TYPE (gpu, cpu, accelerator), BALM_BACKEND (opencl, cuda), BALM_MAX_DEVICES (a count) and
/// BALM_POSITION (a number, from 0, in the order of `balm devices`). Throws usage_error for an invalid value.
inline constinit const device_filter env{detail::judge_environment, detail::turn::counts};

// NOLINTEND(clang-diagnostic-exit-time-destructors)

/// Devices whose name contains this text, ignoring case.
device_filter name(std::string_view part);
/// Devices whose platform's name contains this text ("CUDA", "NVIDIA", "Portable").
device_filter platform(std::string_view part);
/// Devices whose vendor's name contains this text.
device_filter vendor(std::string_view part);
/// Devices of this driver interface.
device_filter backend(balm::backend api);
/// Devices of at least this version: the OpenCL version through OpenCL, the compute capability through CUDA.
///
///     (version_at_least(7) && backend(balm::backend::cuda)) || backend(balm::backend::opencl)
device_filter version_at_least(unsigned major, unsigned minor = 0);
/// Devices that have the OpenCL extension of this name, "cl_khr_fp16". Throws usage_error for an empty name.
device_filter extension(std::string_view name);
/// Devices with at least this much global memory.
device_filter memory_at_least(std::uint64_t bytes);
/// Devices with at least this many compute units.
device_filter compute_units_at_least(std::uint32_t n);
/// The device with this uuid, as `balm devices` and nvidia-smi write it. Throws usage_error if the text is
/// not a uuid.
device_filter uuid(std::string_view text);
/// The first n of the devices that the other filters accept.
device_filter count(std::size_t n);
/// The n-th, from 0, of the devices that the other filters accept.
device_filter position(std::size_t n);

}  // namespace filter

}  // namespace balm
