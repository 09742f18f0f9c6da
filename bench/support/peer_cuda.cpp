// Opens the module of CUDA peers beside the program.

#include "peer_cuda.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace peer {

const cuda_functions* cuda_on(const char* pci_address, const char*& why) {
    static void* const module = [] {
        const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "libpeer_cuda.so";
        return dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    }();
    if (module == nullptr) {
        why = "libpeer_cuda.so is not beside the program";
        return nullptr;
    }
    const auto get = reinterpret_cast<const cuda_functions* (*)()>(dlsym(module, "peer_cuda_functions"));
    const cuda_functions* const functions = get != nullptr ? get() : nullptr;
    if (functions == nullptr || !functions->select(pci_address)) {
        why = "CUDA has no such device for the peer";
        return nullptr;
    }
    return functions;
}

}  // namespace peer
