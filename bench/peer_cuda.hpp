#pragma once
// Hand-written CUDA kernels, in a separate module (libpeer_cuda.so beside the benchmark), so that one binary
// runs on machines with and without CUDA. The module needs no library except the driver.

#include <cstddef>

namespace peer {

/// The module's functions, all on the device chosen last, on the default stream, asynchronous except
/// `select`, `allocate` and `finish`. A CUDA error aborts the process with a message.
struct cuda_functions {
    /// Chooses the device at this PCI address ("0000:18:00.0"; empty: the first one); false if CUDA has none.
    bool (*select)(const char* pci_address);
    /// The values are value + 1e-6 (i mod 1,000,003), as in peer::openmp::allocate.
    double* (*allocate)(std::size_t n, double value);
    void (*release)(double*);
    /// cudaMemcpyDeviceToDevice: reads and writes n elements.
    void (*copy)(double* to, const double* from, std::size_t n);
    void (*finish)();
};

/// Opens the module and chooses this device; null, with the reason in `why`, if there is none.
const cuda_functions* cuda_on(const char* pci_address, const char*& why);

/// The result of a function of the module, with this device chosen; null, with a reason as above.
const void* cuda_functions_on(const char* pci_address, const char* function, const char*& why);
template <class Functions>
const Functions* cuda_functions_on(const char* pci_address, const char* function, const char*& why) {
    return static_cast<const Functions*>(cuda_functions_on(pci_address, function, why));
}

}  // namespace peer
