#pragma once
// The kernels that a CUDA programmer writes, in a module of their own (libpeer_cuda.so beside the benchmark),
// so that one binary measures on machines with and without CUDA. It needs no library but the driver.

#include <cstddef>

namespace peer {

/// The module's functions, all on the device chosen last, on the default stream, asynchronous but for
/// `select`, `allocate` and `finish`. A CUDA error ends the process with a message.
struct cuda_functions {
    /// Chooses the device at this PCI address ("0000:18:00.0"; empty: the first); false if CUDA has none.
    bool (*select)(const char* pci_address);
    /// The values are value + 1e-6 (i mod 1,000,003), as those of peer::openmp::allocate.
    double* (*allocate)(std::size_t n, double value);
    void (*release)(double*);
    /// cudaMemcpyDeviceToDevice: moves twice its bytes.
    void (*copy)(double* to, const double* from, std::size_t n);
    void (*finish)();
};

/// The module opened, with this device chosen; null with a reason in `why` where there is none.
const cuda_functions* cuda_on(const char* pci_address, const char*& why);

/// What a function of the module gives, with this device chosen; null with a reason as above.
const void* cuda_functions_on(const char* pci_address, const char* function, const char*& why);
template <class Functions>
const Functions* cuda_functions_on(const char* pci_address, const char* function, const char*& why) {
    return static_cast<const Functions*>(cuda_functions_on(pci_address, function, why));
}

}  // namespace peer
