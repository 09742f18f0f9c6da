// Programs and kernels of the fake OpenCL: a program's binary is its source.

#include <algorithm>

#include "fake_drivers/opencl/objects.hpp"

namespace {

using namespace balm::test;

bool has_word(std::string_view text, std::string_view word) {
    const auto is_letter = [&](std::size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1))
        if (!is_letter(at + word.size()) && (at == 0 || !is_letter(at - 1))) return true;
    return false;
}

_cl_kernel::parameter declared(std::string_view text) {
    _cl_kernel::parameter found;
    found.is_opaque = text.find("image") != text.npos || has_word(text, "sampler_t");
    if (has_word(text, "global") || text.find("image") != text.npos)
        found.space = CL_KERNEL_ARG_ADDRESS_GLOBAL;
    if (has_word(text, "constant")) found.space = CL_KERNEL_ARG_ADDRESS_CONSTANT;
    if (has_word(text, "local")) found.space = CL_KERNEL_ARG_ADDRESS_LOCAL;
    return found;
}

/// Those of `void name(...)`.
bool find_parameters(std::string_view text, const std::string& name,
                     std::vector<_cl_kernel::parameter>& found) {
    const std::size_t at = text.find("void " + name + "(");
    if (at == text.npos) return false;
    text.remove_prefix(text.find('(', at) + 1);
    text = text.substr(0, text.find(')'));
    if (std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; })) return true;
    for (std::size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? 0 : end + 1)) {
        end = text.find(',');
        found.push_back(declared(text.substr(0, end)));
    }
    return true;
}

cl_int set(_cl_kernel::parameter& to, std::size_t bytes, const void* value) {
    const bool is_local = to.space == CL_KERNEL_ARG_ADDRESS_LOCAL;
    if (is_local != (value == nullptr) || bytes == 0) return CL_INVALID_ARG_VALUE;
    to.bytes = bytes;
    if (is_local || to.is_opaque) return CL_SUCCESS;
    if (to.space == CL_KERNEL_ARG_ADDRESS_PRIVATE) {
        std::memcpy(&to.value, value, std::min(bytes, sizeof to.value));
        return CL_SUCCESS;
    }
    std::memcpy(&to.memory, value, sizeof to.memory);
    return bytes == sizeof to.memory ? CL_SUCCESS : CL_INVALID_ARG_SIZE;
}

}  // namespace

extern "C" {

cl_program CL_API_CALL clCreateProgramWithSource(cl_context in, cl_uint count, const char** texts,
                                                 const size_t* lengths, cl_int* code) {
    return making_call(__func__, code, [&](cl_int&) {
        auto* const made = new _cl_program;
        made->context = reference(in);
        for (cl_uint k = 0; k < count; ++k) made->text.append(texts[k], lengths[k]);
        return made;
    });
}
cl_program CL_API_CALL clCreateProgramWithBinary(cl_context in, cl_uint, const cl_device_id*,
                                                 const size_t* lengths, const unsigned char** binaries,
                                                 cl_int* status, cl_int* code) {
    return making_call(__func__, code, [&](cl_int&) {
        auto* const made = new _cl_program;
        made->context = reference(in);
        made->text.assign(reinterpret_cast<const char*>(*binaries), *lengths);
        *status = CL_SUCCESS;
        return made;
    });
}
cl_int CL_API_CALL clBuildProgram(cl_program of, cl_uint, const cl_device_id*, const char*,
                                  void(CL_CALLBACK*)(cl_program, void*), void*) {
    return call(__func__, [&] { of->is_built = true; });
}
cl_int CL_API_CALL clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, size_t size,
                                         void* to, size_t* needed) {
    return answer_text("", size, to, needed);
}
cl_int CL_API_CALL clGetProgramInfo(cl_program of, cl_program_info what, size_t size, void* to,
                                    size_t* needed) {
    return call(__func__, [&] {
        if (what == CL_PROGRAM_BINARY_SIZES) return answer(of->text.size(), size, to, needed);
        if (what != CL_PROGRAM_BINARIES) return CL_INVALID_VALUE;
        std::memcpy(*static_cast<void**>(to), of->text.data(), of->text.size());
        return CL_SUCCESS;
    });
}
cl_int CL_API_CALL clReleaseProgram(cl_program gone) { return release(gone); }

cl_kernel CL_API_CALL clCreateKernel(cl_program of, const char* name, cl_int* code) {
    return making_call(__func__, code, [&](cl_int& own) -> cl_kernel {
        std::vector<_cl_kernel::parameter> parameters;
        own = !of->is_built                                  ? CL_INVALID_PROGRAM_EXECUTABLE
              : !find_parameters(of->text, name, parameters) ? CL_INVALID_KERNEL_NAME
                                                             : CL_SUCCESS;
        if (own != CL_SUCCESS) return nullptr;
        auto* const made = new _cl_kernel;
        made->program = reference(of);
        made->known = find_kernel(name);
        made->parameters = std::move(parameters);
        return made;
    });
}
cl_int CL_API_CALL clGetKernelInfo(cl_kernel of, cl_kernel_info what, size_t size, void* to, size_t* needed) {
    return call(__func__, [&] {
        return what == CL_KERNEL_NUM_ARGS
                   ? answer(static_cast<cl_uint>(of->parameters.size()), size, to, needed)
                   : CL_INVALID_VALUE;
    });
}
cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_kernel_work_group_info what,
                                            size_t size, void* to, size_t* needed) {
    return call(__func__, [&] {
        switch (what) {
            case CL_KERNEL_WORK_GROUP_SIZE: return answer(std::size_t{1024}, size, to, needed);
            case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
                return answer(std::array<std::size_t, 3>{}, size, to, needed);
            default: return CL_INVALID_VALUE;
        }
    });
}
cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel of, cl_uint number, cl_kernel_arg_info what, size_t size,
                                      void* to, size_t* needed) {
    return call(__func__, [&] {
        return what == CL_KERNEL_ARG_ADDRESS_QUALIFIER
                   ? answer(of->parameters.at(number).space, size, to, needed)
                   : CL_INVALID_VALUE;
    });
}
cl_int CL_API_CALL clSetKernelArg(cl_kernel of, cl_uint number, size_t bytes, const void* value) {
    return call(__func__, [&] {
        return number < of->parameters.size() ? set(of->parameters[number], bytes, value)
                                              : CL_INVALID_ARG_INDEX;
    });
}
cl_int CL_API_CALL clReleaseKernel(cl_kernel gone) { return release(gone); }

}  // extern "C"
