#pragma once
// Contexts: the devices that a program computes on.

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/device.hpp"
#include "balm/filter.hpp"
#include "balm/shared_state.hpp"

namespace balm {

namespace detail {
struct context_state;

// A callable that takes text, without including <functional>.
struct text_writer {
    virtual ~text_writer() = default;
    virtual void write(std::string_view) = 0;
};
template <class F>
struct text_writer_of final : text_writer {
    explicit text_writer_of(F&& from) : function(std::move(from)) {}
    void write(std::string_view text) override { function(text); }
    F function;
};
/// Whether a function pointer or std::function is empty.
template <class F>
bool is_empty(const F& function) {
    if constexpr (std::is_pointer_v<F> || requires { typename F::result_type; })
        return !static_cast<bool>(function);
    else
        return false;
}
}  // namespace detail

/// One or several devices, chosen once. A handle: copies refer to the same context.
///
///     balm::context best;                                     // a GPU, else a CPU
///     balm::context all_gpus(balm::filter::gpu);
///     balm::context chosen(balm::filter::env && balm::filter::count(1));
class context {
public:
    /// The best device that the environment allows (see filter::env): a GPU, else an accelerator, else a CPU;
    /// with BALM_MAX_DEVICES, up to that many devices of the same type. Throws no_device_error, which states
    /// for each device why it was rejected.
    context();
    /// Every device that the filter accepts, best first: GPUs before CPUs, CUDA before OpenCL. A GPU that
    /// both CUDA and OpenCL expose is one device. The environment is ignored unless the filter contains
    /// `filter::env`. Throws no_device_error.
    explicit context(const device_filter&);
    /// These devices. A device that is listed several times holds as many parts of each vector, which its
    /// queue computes one after another: a program for several devices runs on a machine with one. Throws
    /// usage_error for an empty list.
    explicit context(std::vector<balm::device>);

    const std::vector<balm::device>& devices() const&;
    std::vector<balm::device> devices() &&;  // for a temporary in a range-based for
    /// The i-th device. Throws usage_error if there is none.
    const balm::device& device(std::size_t i = 0) const;
    std::size_t size() const { return devices().size(); }

    /// The same devices, over which vectors are distributed in proportion to these weights: one for each
    /// device, at least 0, not all 0. Without weights, vectors are distributed in proportion to the devices'
    /// bandwidths, which are measured once. Throws usage_error for other weights.
    ///
    ///     balm::context ctx(balm::filter::any);
    ///     balm::vector<double> x(ctx.weighted({3, 1}), n);  // three quarters on the first device
    context weighted(std::vector<double> weights) const;
    /// The weights passed to weighted(); empty if bandwidths determine the distribution.
    const std::vector<double>& weights() const { return weights_; }

    /// Sets the destination of the output of the context's devices (see dsl::print), by default std::cout: a
    /// stream, which must outlive the context, or a function, which is called with the text of one print at a
    /// time. The output of a launch is written by the first wait for its event or a later one, by finish(),
    /// and at the latest when the last handle of the context is destroyed. If several contexts share a
    /// device, the most recent call applies as long as its context lives. Throws usage_error for an empty
    /// function.
    ///
    ///     std::ostringstream text;
    ///     ctx.print_to(text);
    void print_to(std::ostream&);
    template <std::invocable<std::string_view> F>
    void print_to(F write) {
        print_with(detail::is_empty(write) ? nullptr
                                           : std::make_shared<detail::text_writer_of<F>>(std::move(write)));
    }
    /// Sets the size of the print buffer of a launch, by default 1 MiB. A print takes 12 bytes, plus 4 for
    /// each number of up to 4 bytes and 8 for others. Output that does not fit is dropped, and the last line
    /// of the launch's output says how much. Throws usage_error above 4 GiB.
    void print_buffer_size(std::size_t bytes);

    /// Whether both have the same devices in the same order.
    friend bool operator==(const context& a, const context& b) { return a.devices() == b.devices(); }

private:
    void print_with(std::shared_ptr<detail::text_writer>);

    detail::shared_state<detail::context_state> state_;
    std::vector<double> weights_;
};

/// The result of `all_devices`.
struct device_list {
    std::vector<device_info> devices;  ///< best first, the order in which filters count
    std::vector<std::string> notes;    ///< libraries and platforms without a device, and why
};

/// Every device of the machine; a GPU occurs once for each backend. Initialises none of them.
///
///     for (const balm::device_info& d : balm::all_devices().devices) std::cout << d.name << '\n';
device_list all_devices();

}  // namespace balm
