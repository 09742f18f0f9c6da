#pragma once
// Device filters: which devices a context takes. They combine with &&, || and !, any lambda on device_info
// joins in, and each can say why it passed a device over.
//
//     using namespace balm::filter;
//     balm::context two(gpu && double_precision && count(2));
//     balm::context big(gpu && [](const balm::device_info& d) { return d.global_memory > 40e9; });

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/device_info.hpp"

namespace balm {

class device_filter;

namespace detail {
struct selection;
struct verdict;
class filter_node;

/// A user's function on device_info, without <functional>.
class device_predicate {
public:
    virtual ~device_predicate() = default;
    virtual bool accepts(const device_info&) const = 0;
};
/// A function on device_info that is no filter already.
template <class F>
concept device_test = !std::same_as<std::remove_cvref_t<F>, device_filter> &&
                      std::is_invocable_r_v<bool, const std::remove_cvref_t<F>&, const device_info&>;
std::shared_ptr<const filter_node> predicate_node(std::shared_ptr<const device_predicate>);
}  // namespace detail

/// A condition on devices. Cheap to copy.
class device_filter {
public:
    /// Any function on device_info that gives bool.
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
    constexpr explicit device_filter(judge_function* function, bool depends_on_others = false)
        : judge_(function), counts_(depends_on_others) {}
    explicit device_filter(std::shared_ptr<const detail::filter_node> node);

    /// Both accept; filters that count (count, position) see only what the others accept.
    friend device_filter operator&&(const device_filter& a, const device_filter& b) { return both(a, b); }
    /// One accepts.
    friend device_filter operator||(const device_filter& a, const device_filter& b) { return either(a, b); }
    friend device_filter operator!(const device_filter& a) { return inverse(a); }

    /// For the runtime: whether the device is accepted, and the words for it.
    detail::verdict judge(const device_info&, detail::selection&) const;
    /// Whether the verdict depends on the devices seen before.
    bool counts() const { return counts_; }

private:
    static device_filter both(const device_filter&, const device_filter&);
    static device_filter either(const device_filter&, const device_filter&);
    static device_filter inverse(const device_filter&);

    judge_function* judge_ = nullptr;
    bool counts_ = false;
    std::shared_ptr<const detail::filter_node> node_;
};

namespace detail {
device_filter::judge_function judge_any, judge_gpu, judge_cpu, judge_accelerator, judge_double_precision,
    judge_environment;
}

namespace filter {

/// Every device.
inline constinit const device_filter any{detail::judge_any};
/// GPUs.
inline constinit const device_filter gpu{detail::judge_gpu};
/// CPUs.
inline constinit const device_filter cpu{detail::judge_cpu};
/// What OpenCL calls an accelerator.
inline constinit const device_filter accelerator{detail::judge_accelerator};
/// Devices that compute in double precision.
inline constinit const device_filter double_precision{detail::judge_double_precision};
/// What the environment asks for: BALM_DEVICE (part of the name), BALM_PLATFORM (part of the platform's
/// name), BALM_TYPE (gpu, cpu, accelerator), BALM_BACKEND (opencl, cuda), BALM_MAX_DEVICES (a count) and
/// BALM_POSITION (a number, from 0, in the order of `balm devices`). Throws usage_error for a value that is
/// none of these.
inline constinit const device_filter env{detail::judge_environment, true};

/// Devices whose name contains this text, in upper or lower case.
device_filter name(std::string_view part);
/// Devices whose platform's name contains this text ("CUDA", "NVIDIA", "Portable").
device_filter platform(std::string_view part);
/// Devices whose vendor's name contains this text.
device_filter vendor(std::string_view part);
/// Devices reached through this driver interface.
device_filter backend(balm::backend api);
/// The first n of the devices that the other filters accept.
device_filter count(std::size_t n);
/// The n-th, from 0, of the devices that the other filters accept.
device_filter position(std::size_t n);

}  // namespace filter

}  // namespace balm
