// Lists the devices and chooses among them in the program: a discrete GPU, else a CPU device.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    for (const balm::platform_info& platform : balm::all_platforms()) {
        std::clog << platform.name << ": " << platform.gpus().size() << " GPUs, " << platform.cpus().size()
                  << " CPUs\n";
        for (const balm::device& device : platform.devices) {
            const balm::device_info& d = device.info();
            std::clog << "  " << d.name << ", " << to_string(d.type) << ", " << d.compute_units
                      << " compute units, " << (d.global_memory >> 20) << " MiB, " << d.version << '\n';
        }
    }

    using namespace balm::filter;
    // Best first: discrete GPUs, GPUs that share the host's memory, CPUs. The first match is taken.
    const balm::context one((gpu || cpu) && double_precision && memory_at_least(1 << 20) && count(1));
    std::clog << "chosen: " << one.device().name() << '\n';

    const std::size_t n = 1000;
    balm::vector<double> x(one, n);
    x = 0.5 * balm::element_index();
    std::cout << balm::sum(x) << '\n';

    try {
        const balm::context none(gpu && [](const balm::device_info& d) { return d.name == "no such GPU"; });
    } catch (const balm::no_device_error& why) {  // a line for each device: why it was rejected
        std::clog << why.what() << '\n';
        std::cout << "no such GPU\n";
    }
}
