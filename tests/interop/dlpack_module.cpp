// What dlpack_python.py loads: functions in C that take tensors from Python's libraries and hand tensors out.

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "balm/balm.hpp"
#include "balm/dlpack.hpp"

namespace {

using balm::dlpack::managed_tensor;

std::string fault;  // of the last call that failed

/// The vector that Python looks into.
std::unique_ptr<balm::vector<double>> shown;

template <class T>
managed_tensor* doubled(managed_tensor* given) {
    const balm::context ctx;
    const balm::shape extents = balm::dlpack_extents(given);
    balm::vector<T> x = balm::from_dlpack<T>(ctx, given);
    x = 2 * x + 1;
    return balm::to_dlpack(balm::view(x, extents).to_host());
}

/// The call's result, or null.
template <class F>
auto guarded(F call) -> decltype(call()) {
    try {
        fault.clear();
        return call();
    } catch (const std::exception& e) {
        fault = e.what();
        return {};
    }
}

}  // namespace

extern "C" {

const char* module_fault() { return fault.c_str(); }

/// 2 * x + 1, computed on a device, in the same extents; the tensor is given back.
managed_tensor* module_doubled(managed_tensor* given) {
    return guarded([&] {
        const balm::dlpack::data_type type = given->dl_tensor.dtype;
        if (type.code == balm::dlpack::is_int) return doubled<std::int64_t>(given);
        return type.bits == 32 ? doubled<float>(given) : doubled<double>(given);
    });
}

/// The elements 0, 1, …, count - 1 of a vector, where the host sees them.
managed_tensor* module_show(std::int64_t count) {
    return guarded([&] {
        const balm::context ctx;
        shown = std::make_unique<balm::vector<double>>(ctx, static_cast<std::size_t>(count));
        *shown = balm::cast<double>(balm::element_index());
        return balm::to_dlpack(shown->map());
    });
}
/// The sum of that vector's elements; -1 as long as Python has them.
double module_sum_of_shown() {
    const auto sum = guarded([&] { return std::make_unique<double>(balm::sum(*shown)); });
    return sum ? *sum : -1;
}

}  // extern "C"
