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

namespace balm {

namespace detail {
struct context_state;

// A callable that takes text, without the weight of <functional>.
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
/// Whether a function pointer or an std::function points nowhere.
template <class F>
bool is_empty(const F& function) {
    if constexpr (std::is_pointer_v<F> || requires { typename F::result_type; })
        return !static_cast<bool>(function);
    else
        return false;
}
}  // namespace detail

/// One or several devices, chosen once. A handle: copies are the same context.
///
///     balm::context best;                                     // a GPU, else a CPU
///     balm::context all_gpus(balm::filter::gpu);
///     balm::context chosen(balm::filter::env && balm::filter::count(1));
class context {
public:
    /// The best device that the environment allows (see filter::env): a GPU, else an accelerator, else a CPU;
    /// with BALM_MAX_DEVICES up to that many of the same type. Throws no_device_error, which says of every
    /// device why it was passed over.
    context();
    /// Every device that the filter accepts, best first: GPUs before CPUs, CUDA before OpenCL. A GPU that is
    /// seen through CUDA and OpenCL is one device. The environment plays no part unless `filter::env` is in
    /// the filter. Throws no_device_error.
    explicit context(const device_filter&);
    /// These devices. One that is named several times has as many parts of each vector, which its queue
    /// computes one after the other: a program for several devices runs on a machine of one. Throws
    /// usage_error for none.
    explicit context(std::vector<balm::device>);

    const std::vector<balm::device>& devices() const&;
    std::vector<balm::device> devices() &&;  // of a temporary, in a range-based for
    /// The i-th device. Throws usage_error if there is none.
    const balm::device& device(std::size_t i = 0) const;
    std::size_t size() const { return devices().size(); }

    /// The same devices, over which vectors are spread in proportion to these weights: one for each device,
    /// at least 0, not all 0. Without them vectors are spread in proportion to the devices' bandwidths, which
    /// are measured once. Throws usage_error.
    ///
    ///     balm::context ctx(balm::filter::any);
    ///     balm::vector<double> x(ctx.weighted({3, 1}), n);  // three quarters on the first device
    context weighted(std::vector<double> weights) const;
    /// The weights that it was given; none where they are measured.
    const std::vector<double>& weights() const { return weights_; }

    /// Where the context's devices print (see dsl::print), std::cout at first: a stream, which outlives the
    /// context, or a function that is given the text of one print at a time. A launch's text is written by
    /// whoever first waits for its event or for something after it, by finish(), and at the latest when the
    /// context's last handle goes. Of several contexts with the same device the one told last counts, while
    /// it lives.
    ///
    ///     std::ostringstream text;
    ///     ctx.print_to(text);
    void print_to(std::ostream&);
    template <std::invocable<std::string_view> F>
    void print_to(F write) {
        print_with(detail::is_empty(write) ? nullptr
                                           : std::make_shared<detail::text_writer_of<F>>(std::move(write)));
    }
    /// The memory for what one launch prints, 1 MiB at first: 12 bytes a print, 4 for each number of up to 4
    /// bytes, 8 for others. What does not fit is dropped, and how much it was is the launch's last line.
    /// Throws usage_error beyond 4 GiB.
    void print_buffer_size(std::size_t bytes);

    /// The same devices in the same order.
    friend bool operator==(const context& a, const context& b) { return a.devices() == b.devices(); }

private:
    void print_with(std::shared_ptr<detail::text_writer>);

    std::shared_ptr<detail::context_state> state_;
    std::vector<double> weights_;
};

/// What `all_devices` gives.
struct device_list {
    std::vector<device_info> devices;  ///< best first: the order that filters count in
    std::vector<std::string> notes;    ///< libraries and platforms that gave no device, and why
};

/// Every device of the machine, the same GPU once for each backend. Starts nothing on them.
///
///     for (const balm::device_info& d : balm::all_devices().devices) std::cout << d.name << '\n';
device_list all_devices();

}  // namespace balm
