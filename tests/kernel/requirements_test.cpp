// What a kernel asks of a device is refused in a sentence where the device lacks it.

#include "kernel/launch/requirements.hpp"

#include <gtest/gtest.h>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

void check(const ir::function& kernel, const device_info& on) {
    const bool is_cuda = on.api == backend::cuda;
    kernels::check_requirements(
        kernel, emit::dialect_of(is_cuda ? runtime::dialect::cuda_cpp : runtime::dialect::opencl_c), on);
}
std::string refused(const ir::function& kernel, const device_info& on) {
    return message_of<usage_error>([&] { check(kernel, on); });
}

TEST(A4_atomics, of_64_bits_are_refused_where_the_device_has_none) {
    const auto add = balm::kernel<1>("add_wide", [](Mixed<long> x) { atomic_add(x[0], 1); });
    const std::string line = line_of(__FILE__, __LINE__ - 1);
    const auto most = balm::kernel<1>("max_wide", [](Local<std::uint64_t> x) { atomic_max(x[0], 1); });
    const auto small = balm::kernel<1>("add_small", [](Mixed<int> x) { atomic_add(x[0], 1); });
    device_info old;
    old.name = "Old";
    old.api = backend::opencl;
    old.extensions = "cl_khr_int64_base_atomics_of_old cl_khr_fp64";
    EXPECT_THAT(refused(*add.function(), old),
                AllOf(HasSubstr(line), HasSubstr("'add_wide'"), HasSubstr("'Old'"),
                      HasSubstr("cl_khr_int64_base_atomics"), HasSubstr("32-bit")));
    old.extensions = "cl_khr_fp64 cl_khr_int64_base_atomics";
    check(*add.function(), old);
    EXPECT_THAT(refused(*most.function(), old), HasSubstr("cl_khr_int64_extended_atomics"));
    check(*small.function(), old);
}

TEST(A4_atomics, of_double_are_refused_on_an_old_CUDA_device) {
    const auto add = balm::kernel<1>("add_double", [](Mixed<double> x) { atomic_add(x[0], 1); });
    device_info card;
    card.name = "Maxwell";
    card.api = backend::cuda;
    card.has_double = true;
    card.version = "5.2";
    EXPECT_THAT(refused(*add.function(), card), AllOf(HasSubstr("6.0"), HasSubstr("5.2")));
    card.version = "12.0";
    check(*add.function(), card);
}

TEST(C17_local_memory, in_arrays_beyond_what_CUDA_gives_them_is_refused) {
    const auto fits = balm::kernel<1>("fits", [](Out<float> out) {
        LocalArray<float, 12 * 1024> room;
        room[local_id(0)] = 1.f;
        out[global_id(0)] = room[local_id(0)];
    });
    const auto exceeds = balm::kernel<1>("exceeds", [](Out<float> out) {
        LocalArray<float, 12 * 1024 + 1> room;
        room[local_id(0)] = 1.f;
        out[global_id(0)] = room[local_id(0)];
    });
    device_info card;
    card.name = "Hopper";
    card.api = backend::cuda;
    card.local_memory = 232448;
    check(*fits.function(), card);
    EXPECT_THAT(refused(*exceeds.function(), card),
                AllOf(HasSubstr("'exceeds'"), HasSubstr("49156"), HasSubstr("49152"), HasSubstr("Local"),
                      HasSubstr("232448")));
    card.api = backend::opencl;
    check(*exceeds.function(), card);
}

TEST(C21_double_precision, is_refused_before_the_compiler_where_the_device_lacks_it) {
    const auto half = balm::function("half_of(x)", [](Double x) { return x / 2; });
    const auto direct = balm::kernel<1>(
        "direct", [](In<float> in, Out<float> out) { out[0] = cast<float>(sin(cast<double>(in[0]))); });
    const auto called =
        balm::kernel<1>("called", [&](In<float> in, Out<float> out) { out[0] = cast<float>(half(in[0])); });
    const auto folded =
        balm::kernel<1>("folded", [](Out<float> out) { out[0] = cast<float>(Double(1.5) * 2.0); });
    device_info single;
    single.name = "Single";
    single.api = backend::opencl;
    EXPECT_THAT(refused(*direct.function(), single),
                AllOf(HasSubstr("'direct'"), HasSubstr("double precision"), HasSubstr("'Single'")));
    EXPECT_THAT(refused(*called.function(), single), HasSubstr("double precision"));
    check(*folded.function(), single);  // nothing of it is left
}

}  // namespace
}  // namespace balm::test
