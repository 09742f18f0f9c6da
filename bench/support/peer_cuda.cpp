// Opens the module of CUDA peers beside the program.

#include "peer_cuda.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace peer {

namespace {

void* module() {
    static void* const opened = [] {
        const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libpeer_cuda.so";
        return dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    }();
    return opened;
}

template <class Functions>
const Functions* functions_of(const char* function) {
    const auto get = reinterpret_cast<const Functions* (*)()>(dlsym(module(), function));
    return get != nullptr ? get() : nullptr;
}

}  // namespace

const cuda_functions* cuda_on(const char* pci_address, const char*& why) {
    if (module() == nullptr) {
        why = "libpeer_cuda.so is not beside the program";
        return nullptr;
    }
    const auto* const functions = functions_of<cuda_functions>("peer_cuda_functions");
    if (functions == nullptr || !functions->select(pci_address)) {
        why = "CUDA has no such device for the peer";
        return nullptr;
    }
    return functions;
}

const void* cuda_functions_on(const char* pci_address, const char* function, const char*& why) {
    if (cuda_on(pci_address, why) == nullptr) return nullptr;
    const void* const found = functions_of<void>(function);
    if (found == nullptr) why = "libpeer_cuda.so is of another version";
    return found;
}

}  // namespace peer
