// NVRTC for the fake CUDA driver, built as libnvrtc.so.12: a program's binary is its source.

#include <cstring>
#include <string>

#include "fake_drivers/faults.hpp"

namespace {

struct program : balm::test::driver_object {
    std::string source;
};

}  // namespace

using nvrtcProgram = program*;
enum nvrtcResult : unsigned { success = 0, out_of_memory = 1 };

namespace {

template <class Body>
nvrtcResult call(const char* name, Body&& body) {
    const balm::test::in_driver inside;
    if (balm::test::driver_call_fails(name)) return out_of_memory;
    body();
    return success;
}

}  // namespace

extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {
    *major = 12;
    *minor = 4;
    return success;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
    *count = 1;
    return success;
}
nvrtcResult nvrtcGetSupportedArchs(int* list) {
    *list = 80;
    return success;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* made, const char* source, const char*, int, const char* const*,
                               const char* const*) {
    return call(__func__, [&] {
        *made = new program;
        (*made)->source = source;
    });
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* gone) {
    const balm::test::in_driver inside;
    delete *gone;
    *gone = nullptr;
    return success;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram, int, const char* const*) {
    return call(__func__, [] {});
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram of, std::size_t* size) {
    return call(__func__, [&] { *size = of->source.size() + 1; });
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram of, char* into) {
    return call(__func__, [&] { std::memcpy(into, of->source.c_str(), of->source.size() + 1); });
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram of, std::size_t* size) { return nvrtcGetCUBINSize(of, size); }
nvrtcResult nvrtcGetPTX(nvrtcProgram of, char* into) { return nvrtcGetCUBIN(of, into); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram, std::size_t* size) {
    *size = 1;
    return success;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram, char* into) {
    *into = '\0';
    return success;
}
const char* nvrtcGetErrorString(nvrtcResult) { return "a fault that a test asked for"; }

}  // extern "C"
