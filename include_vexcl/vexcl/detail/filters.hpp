#pragma once
// Device filters: conditions on a device, combined with &&, || and !.

#include "vexcl/detail/opencl.hpp"

#include <algorithm>
#include <concepts>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <balm/context.hpp>
#include <balm/filter.hpp>

#include "vexcl/backend/context.hpp"

namespace vex {

/// Conditions on devices. Any function that takes a backend::device and returns bool is a condition, too.
///
///     vex::Context ctx(vex::Filter::GPU && vex::Filter::DoublePrecision && vex::Filter::Count(2));
namespace Filter {

/// The base class of filters; the operators below combine filters and functions.
struct filter_base {};

/// A type-erased filter, for programs that choose one at run time.
class General : public filter_base {
public:
    template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, General> &&
             std::is_invocable_r_v<bool, F, const backend::device&>) General(F&& accepts)  // NOLINT
        : accepts_(std::forward<F>(accepts)) {}
    bool operator()(const backend::device& d) const { return accepts_(d); }

private:
    std::function<bool(const backend::device&)> accepts_;
};

#define VEX_FILTER_BY_TEXT(Name, field)                             \
    class Name : public filter_base {                               \
    public:                                                         \
        explicit Name(std::string part) : part_(std::move(part)) {} \
        bool operator()(const backend::device& d) const {           \
            return d.info().field.find(part_) != std::string::npos; \
        }                                                           \
                                                                    \
    private:                                                        \
        std::string part_;                                          \
    };
/// Devices whose name, vendor, platform or list of extensions contains the text.
VEX_FILTER_BY_TEXT(Name, name)
VEX_FILTER_BY_TEXT(Vendor, vendor)
VEX_FILTER_BY_TEXT(Platform, platform)
VEX_FILTER_BY_TEXT(Extension, extensions)
#undef VEX_FILTER_BY_TEXT

/// Devices of the type with this name ("CPU", "GPU", "ACCELERATOR"; any other text accepts all types), or of
/// the types in a set of CL_DEVICE_TYPE_… bits.
class Type : public filter_base {
public:
    constexpr explicit Type(cl_device_type types) : types_(types) {}
    explicit Type(const std::string& name) : types_(CL_DEVICE_TYPE_ALL) {
        const auto names = [&](const char* type) { return name.find(type) != std::string::npos; };
        if (names("CPU"))
            types_ = CL_DEVICE_TYPE_CPU;
        else if (names("GPU"))
            types_ = CL_DEVICE_TYPE_GPU;
        else if (names("ACCELERATOR"))
            types_ = CL_DEVICE_TYPE_ACCELERATOR;
    }
    bool operator()(const backend::device& d) const {
        switch (d.info().type) {
            case balm::device_type::cpu: return (types_ & CL_DEVICE_TYPE_CPU) != 0;
            case balm::device_type::gpu: return (types_ & CL_DEVICE_TYPE_GPU) != 0;
            case balm::device_type::accelerator: return (types_ & CL_DEVICE_TYPE_ACCELERATOR) != 0;
            case balm::device_type::other: break;
        }
        return types_ == CL_DEVICE_TYPE_ALL;
    }

private:
    cl_device_type types_;
};

/// Every device.
struct AnyFilter : filter_base {
    bool operator()(const backend::device&) const { return true; }
};
/// Devices that support double precision.
struct DoublePrecisionFilter : filter_base {
    bool operator()(const backend::device& d) const { return d.info().has_double; }
};
/// Devices that can share memory with OpenGL (cl_khr_gl_sharing).
struct GLSharingFilter : filter_base {
    bool operator()(const backend::device& d) const { return d.info().has_extension("cl_khr_gl_sharing"); }
};
/// OpenCL devices of this version or a later one.
class CLVersion : public filter_base {
public:
    CLVersion(int major, int minor) : wanted_(major, minor) {}
    bool operator()(const backend::device& d) const {
        std::pair<int, int> has;
        return std::sscanf(d.info().version.c_str(), "OpenCL %d.%d", &has.first, &has.second) == 2 &&
               has >= wanted_;
    }

private:
    std::pair<int, int> wanted_;
};
/// CUDA devices of this compute capability or a later one.
class CC : public filter_base {
public:
    CC(int major, int minor) : wanted_(major, minor) {}
    bool operator()(const backend::device& d) const {
        std::pair<int, int> has;
        return std::sscanf(d.info().version.c_str(), "%d.%d", &has.first, &has.second) == 2 && has >= wanted_;
    }

private:
    std::pair<int, int> wanted_;
};
/// Accepts the first n devices on which it is evaluated: put it last.
class Count : public filter_base {
public:
    explicit Count(int n) : left_(n) {}
    bool operator()(const backend::device&) const { return left_-- > 0; }

private:
    mutable int left_;
};
/// Accepts the n-th device, from 0, on which it is evaluated: put it last.
class Position : public filter_base {
public:
    explicit Position(int n) : before_(n) {}
    bool operator()(const backend::device&) const { return before_-- == 0; }

private:
    mutable int before_;
};

/// Devices of Balm's backend with this name: "opencl" or "cuda".
class Backend : public filter_base {
public:
    explicit Backend(std::string name) : name_(std::move(name)) {}
    bool operator()(const backend::device& d) const { return name_ == balm::to_string(d.info().api); }

private:
    std::string name_;
};

/// What OCL_PLATFORM, OCL_VENDOR, OCL_DEVICE, OCL_TYPE, OCL_EXTENSION and Balm's BALM_BACKEND ask of devices
/// at present: a function for each that is set.
inline std::vector<std::function<bool(const backend::device&)>> backend_env_filters() {
    std::vector<std::function<bool(const backend::device&)>> all;
    if (const char* s = vex::getenv("OCL_PLATFORM")) all.push_back(Platform(s));
    if (const char* s = vex::getenv("OCL_VENDOR")) all.push_back(Vendor(s));
    if (const char* s = vex::getenv("OCL_DEVICE")) all.push_back(Name(s));
    if (const char* s = vex::getenv("OCL_TYPE")) all.push_back(Type(std::string(s)));
    if (const char* s = vex::getenv("OCL_EXTENSION")) all.push_back(Extension(s));
    if (const char* s = vex::getenv("BALM_BACKEND")) all.push_back(Backend(s));
    return all;
}
/// Devices that the environment allows, read when the filter is evaluated: OCL_PLATFORM, OCL_VENDOR,
/// OCL_DEVICE and OCL_EXTENSION (part of the text), OCL_TYPE (CPU, GPU, ACCELERATOR), OCL_MAX_DEVICES,
/// OCL_POSITION, and BALM_BACKEND (opencl, cuda).
class EnvFilter : public filter_base {
public:
    bool operator()(const backend::device& d) const {
        const auto all = backend_env_filters();
        return std::all_of(all.begin(), all.end(), [&](const auto& each) { return each(d); }) &&
               passes(d, most_, "OCL_MAX_DEVICES") && passes(d, at_, "OCL_POSITION");
    }

private:
    /// Whether a filter that counts devices, made at first use, accepts this one.
    template <class F>
    static bool passes(const backend::device& d, std::optional<F>& count, const char* variable) {
        if (!count)
            if (const char* n = vex::getenv(variable)) count.emplace(std::stoi(n));
        return !count || (*count)(d);
    }
    mutable std::optional<Count> most_;
    mutable std::optional<Position> at_;
};

inline const AnyFilter Any, All;
inline const DoublePrecisionFilter DoublePrecision;
inline constexpr Type CPU(CL_DEVICE_TYPE_CPU), GPU(CL_DEVICE_TYPE_GPU),
    Accelerator(CL_DEVICE_TYPE_ACCELERATOR);
inline const GLSharingFilter GLSharing;
inline const EnvFilter Env;

template <class F>
concept filter = std::derived_from<std::remove_cvref_t<F>, filter_base>;
template <class F>
concept condition = std::is_invocable_r_v<bool, const F&, const backend::device&>;

/// A function on devices, as a filter.
template <class F>
class combined : public filter_base {
public:
    explicit combined(F accepts) : accepts_(std::move(accepts)) {}
    bool operator()(const backend::device& d) const { return accepts_(d); }

private:
    F accepts_;
};

/// Accepts devices that both accept; the second is evaluated only if the first accepts.
template <condition L, condition R>
requires(filter<L> || filter<R>) auto operator&&(const L& l, const R& r) {
    return combined([l, r](const backend::device& d) { return l(d) && r(d); });
}
/// Accepts devices that either accepts; the second is evaluated only if the first rejects.
template <condition L, condition R>
requires(filter<L> || filter<R>) auto operator||(const L& l, const R& r) {
    return combined([l, r](const backend::device& d) { return l(d) || r(d); });
}
template <filter F>
auto operator!(const F& f) {
    return combined([f](const backend::device& d) { return !f(d); });
}

/// Devices that the filter accepts and that no other process has claimed through this filter or
/// balm::filter::exclusive. The claim lasts until the program ends.
template <condition F>
auto Exclusive(const F& accepts) {
    return combined([accepts](const backend::device& d) {
        if (!accepts(d)) return false;
        static auto& held = *new std::vector<balm::context>;  // never destroyed
        const auto is_it = [&](const balm::device_info& i) {
            return i.name == d.info().name && i.platform == d.info().platform && i.uuid == d.info().uuid &&
                   i.pci_address == d.info().pci_address;
        };
        try {
            held.emplace_back(balm::filter::exclusive && balm::device_filter(is_it));
            return true;
        } catch (const balm::no_device_error&) {
            return false;
        }
    });
}

}  // namespace Filter
}  // namespace vex
