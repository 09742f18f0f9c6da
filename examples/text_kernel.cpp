// OpenCL C given as text: a function called in a vector expression and in a traced kernel, and a kernel with
// vectors, local memory and a separate file. The same text runs through OpenCL and through CUDA.

#include <balm/balm.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <numeric>
#include <vector>

int main() {
    using namespace balm::dsl;

    auto plus =
        balm::source_function<float(float, float)>("plus", "float plus(float a, float b) { return a + b; }");

    balm::context ctx;
    balm::vector<float> x(ctx, {1, 2, 3}), y(ctx, {10, 20, 30}), z(ctx, 3);
    z = 2.f * plus(x, y);
    for (float value : z.to_host()) std::cout << value << ' ';
    std::cout << '\n';

    auto next = balm::kernel<1>("next(in, out)", [&](In<float> in, Out<float> out) {
        Index i = global_id(0);
        out[i] = plus(in[i], 1.f);
    });

    // A library in a file, and in the program the kernel that uses it.
    std::ofstream("text_kernel_sums.cl") << "float sum4(float4 v) { return dot(v, (float4)(1.0f)); }\n";
    auto sums = balm::source_kernel<1, void(In<float>, Out<float>, Local<float>)>(
        "sums", balm::text_source::from_files({"text_kernel_sums.cl"}), R"(
        kernel void sums(global const float* in, global float* out, local float* parts) {
            size_t i = get_local_id(0);
            parts[i] = sum4(vload4(get_global_id(0), in));
            barrier(CLK_LOCAL_MEM_FENCE);
            float8 all = vload8(0, parts);
            if (i == 0) out[get_group_id(0)] = sum4(all.lo + all.hi);
        })");

    std::remove("text_kernel_sums.cl");  // it has been read

    balm::device dev = ctx.device(0);
    std::vector<float> numbers(64);
    std::iota(numbers.begin(), numbers.end(), 0.f);
    auto in = dev.in_buffer<float>(64);
    auto raised = dev.mixed_buffer<float>(64);
    auto out = dev.out_buffer<float>(2);
    in.write(numbers);
    dev.execute(next(in, raised), {64});
    dev.execute(sums(raised, out, balm::local<float>(8)), {16}, {8});
    for (float value : out.read()) std::cout << value << ' ';  // 1 + … + 32, 33 + … + 64
    std::cout << '\n';

    try {
        balm::source_kernel<1, void(In<int>, Out<float>, Local<float>)>("sums", sums);
    } catch (const balm::usage_error& fault) {
        const std::string words = fault.what();
        std::cout << words.substr(words.rfind(": ") + 2) << '\n';
    }
}
