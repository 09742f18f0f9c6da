// How images are spelt in OpenCL C and in CUDA C++.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "balm/kernel.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using runtime::dialect;
using testing::HasSubstr;
using testing::Not;

template <class Kernel>
std::string printed(const Kernel& k, dialect language) {
    const std::string text = emit::print(ir::lower(*k.function(), {}).kernel, language);
    if (language == dialect::cuda_cpp) also_compile_with_nvrtc(text);
    return text.substr(text.find('\n') + 1);
}

const auto& blend() {
    static const auto kernel = balm::kernel<2>(
        "blend(photo, mask, out)",
        [](Sampled<float4, 2> photo, InImage<std::uint8_t, 2> mask, OutImage<normalised<uchar4>, 2> out) {
            Index x = global_id(0), y = global_id(1);
            Float u = cast<float>(x) + 0.5f, v = cast<float>(y) + 0.5f;
            IF (mask(y, x) > 0) {
                out(y, x) = photo(u, v) * 0.5f;
            }
        });
    return kernel;
}

}  // namespace

TEST(G3_images, are_types_and_functions_of_opencl_c) {
    const std::string text = printed(blend(), dialect::opencl_c);
    EXPECT_THAT(
        text,
        HasSubstr("        read_only image2d_t photo,\n        sampler_t photo_sampler,\n        read_only "
                  "image2d_t mask,\n        write_only image2d_t out)"));
    EXPECT_THAT(text, HasSubstr("CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;"));
    EXPECT_THAT(text, HasSubstr("read_imageui(mask, balm_by_position, (int2)("));
    EXPECT_THAT(text, HasSubstr("read_imagef(photo, photo_sampler, (float2)("));
    EXPECT_THAT(text, HasSubstr("write_imagef(image, (int2)(x, y), value);"));
    EXPECT_THAT(text, Not(HasSubstr("asm")));
}

TEST(G3_images, are_textures_and_surfaces_in_cuda) {
    const std::string text = printed(blend(), dialect::cuda_cpp);
    EXPECT_THAT(text, HasSubstr("const balm_image photo, const balm_image mask, const balm_image out"));
    EXPECT_THAT(text, HasSubstr("tex.2d.v4.f32.f32"));
    EXPECT_THAT(text, HasSubstr("tex.2d.v4.u32.f32"));
    EXPECT_THAT(text, HasSubstr("sust.b.2d.v4.b8.zero [%0, {%1, %2}], {%3, %4, %5, %6};"));
    EXPECT_THAT(text, HasSubstr("\"r\"(x * 4)"));
}

namespace {

/// Reads, samples and writes images of T in every number of dimensions.
template <class T>
void compiles_for_cuda() {
    using value = decltype(balm::detail::image_value<T>());
    const auto kernel = balm::kernel<1>(
        "all", [](InImage<T, 1> a, InImage<T, 2> b, InImage<T, 3> c, Sampled<T, 1> d, Sampled<T, 2> e,
                  Sampled<T, 3> f, OutImage<T, 1> g, OutImage<T, 2> h, OutImage<T, 3> k) {
            Index i = global_id(0);
            Float x = cast<float>(i);
            g(i) = Var<value>(a(i));
            g(i + 1) = Var<value>(d(x));
            h(i, i) = Var<value>(b(i, i + 1));
            h(i + 1, i) = Var<value>(e(x, x + 1.f));
            k(i, i, i) = Var<value>(c(i, i + 1, i + 2));
            k(i + 1, i, i) = Var<value>(f(x, x + 1.f, x + 2.f));
        });
    const std::string text = printed(kernel, dialect::cuda_cpp);
    for (const char* name : {"tex.1d.v4", "tex.2d.v4", "tex.3d.v4", "sust.b.1d", "sust.b.2d", "sust.b.3d"})
        EXPECT_THAT(text, HasSubstr(name));
}
template <class T>
void compile_for_cuda() {
    compiles_for_cuda<T>();
    compiles_for_cuda<vec<T, 2>>();
    compiles_for_cuda<vec<T, 4>>();
}
template <class T>
void compile_fractions_for_cuda() {
    compiles_for_cuda<normalised<T>>();
    compiles_for_cuda<normalised<vec<T, 2>>>();
    compiles_for_cuda<normalised<vec<T, 4>>>();
}

}  // namespace

TEST(G3_images, of_every_element_compile_for_cuda) {
    compile_for_cuda<float>();
    compile_for_cuda<half>();
    compile_for_cuda<std::int8_t>();
    compile_for_cuda<std::uint8_t>();
    compile_for_cuda<std::int16_t>();
    compile_for_cuda<std::uint16_t>();
    compile_for_cuda<std::int32_t>();
    compile_for_cuda<std::uint32_t>();
    compile_fractions_for_cuda<std::int8_t>();
    compile_fractions_for_cuda<std::uint8_t>();
    compile_fractions_for_cuda<std::int16_t>();
    compile_fractions_for_cuda<std::uint16_t>();
}

TEST(G3_images, of_3_dimensions_are_written_by_an_extension_of_opencl) {
    const auto kernel = balm::kernel<1>("fill(out, sizes)", [](OutImage<float, 3> out, Out<int> sizes) {
        out(0, 1, global_id(0)) = 1.f;
        sizes[0] = out.depth();
    });
    const std::string text = printed(kernel, dialect::opencl_c);
    EXPECT_THAT(text, HasSubstr("#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable"));
    EXPECT_THAT(text, HasSubstr("get_image_depth(out)"));
    EXPECT_THAT(printed(kernel, dialect::cuda_cpp), HasSubstr("sizes[0] = out.depth;"));
}

TEST(G3_images, are_read_once_where_they_are_read_twice_at_one_place) {
    const auto kernel = balm::kernel<1>("twice(in, out)", [](InImage<float, 1> in, OutImage<float, 1> out) {
        Index i = global_id(0);
        out(i) = in(i)*in(i);
        out(i + 1) = in(i);
    });
    const std::string text = printed(kernel, dialect::opencl_c);
    const std::size_t first = text.find("read_imagef");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(text.find("read_imagef", first + 1), std::string::npos) << text;
}

}  // namespace balm::test
