// Choosing devices: filters and what they say, contexts, the environment, one card through two backends.

#include "balm/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "balm/error.hpp"
#include "balm/platform.hpp"
#include "null_driver/device.hpp"
#include "runtime/choice/filter_judge.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/platform.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

device_info made_up_device(const char* name, device_type type, backend api, std::uint8_t card) {
    device_info info;
    info.name = name;
    info.type = type;
    info.api = api;
    info.platform = api == backend::cuda ? "CUDA" : "NVIDIA CUDA";
    info.vendor = "NVIDIA Corporation";
    info.uuid[0] = card;
    info.has_double = card != 2;
    info.has_half = info.has_images = type == device_type::gpu;
    info.sub_group_size = type == device_type::gpu ? 32 : 0;
    info.global_memory = card == 1 ? 80'000'000'000 : 24'000'000'000;
    info.compute_units = card == 1 ? 132 : 58;
    info.version = api == backend::cuda ? (card == 1 ? "9.0" : "8.9") : "OpenCL 3.0 CUDA";
    info.extensions = api == backend::cuda ? "" : "cl_khr_fp64 cl_khr_fp16_extra";
    return info;
}

const device_info first_card = made_up_device("NVIDIA H100", device_type::gpu, backend::cuda, 1);
const device_info second_card = made_up_device("NVIDIA L4", device_type::gpu, backend::cuda, 2);
const device_info first_again = made_up_device("NVIDIA H100", device_type::gpu, backend::opencl, 1);
const device_info second_again = made_up_device("NVIDIA L4", device_type::gpu, backend::opencl, 2);
const device_info processor = made_up_device("pthread-skylake", device_type::cpu, backend::opencl, 3);
const std::vector<device_info> machine{first_card, second_card, first_again, second_again, processor};

// The positions of the made-up machine's devices that a filter accepts.
std::vector<int> accepted(const device_filter& filter) {
    detail::selection state;
    std::vector<int> positions;
    for (int i = 0; i < 5; ++i)
        if (filter.judge(machine[static_cast<std::size_t>(i)], state).accepted) positions.push_back(i);
    return positions;
}

std::string judgement(const device_filter& filter, const device_info& info) {
    detail::selection state;
    return filter.judge(info, state).words;
}

using positions = std::vector<int>;

/// The variables of the environment for a scope; those not named are unset.
class environment {
public:
    environment(std::initializer_list<std::pair<const char*, const char*>> values) {
        clear();
        for (const auto& [name, value] : values) ::setenv(name, value, 1);
    }
    ~environment() { clear(); }
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;

private:
    static void clear() {
        for (const char* name : {"BALM_DEVICE", "BALM_PLATFORM", "BALM_TYPE", "BALM_BACKEND",
                                 "BALM_MAX_DEVICES", "BALM_POSITION"})
            ::unsetenv(name);
    }
};

}  // namespace

TEST(V1_filters, accept_by_type_name_platform_vendor_and_backend) {
    EXPECT_EQ(accepted(filter::any), (positions{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(filter::gpu), (positions{0, 1, 2, 3}));
    EXPECT_EQ(accepted(filter::cpu), (positions{4}));
    EXPECT_EQ(accepted(filter::accelerator), positions{});
    EXPECT_EQ(accepted(filter::name("h100")), (positions{0, 2}));
    EXPECT_EQ(accepted(filter::platform("NVIDIA")), (positions{2, 3, 4}));
    EXPECT_EQ(accepted(filter::vendor("nvidia")), (positions{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(filter::backend(backend::opencl)), (positions{2, 3, 4}));
    EXPECT_EQ(accepted(filter::double_precision), (positions{0, 2, 4}));
}

TEST(V1_filters, combine_with_and_or_not_and_lambdas) {
    EXPECT_EQ(accepted(filter::gpu && filter::name("L4")), (positions{1, 3}));
    EXPECT_EQ(accepted(filter::cpu || filter::name("L4")), (positions{1, 3, 4}));
    EXPECT_EQ(accepted(!filter::gpu), (positions{4}));
    EXPECT_EQ(accepted(!(filter::gpu && filter::double_precision)), (positions{1, 3, 4}));
    const auto third = [](const device_info& d) { return d.uuid[0] == 3; };
    EXPECT_EQ(accepted(third), (positions{4}));
    EXPECT_EQ(accepted(filter::gpu || third), (positions{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(third && filter::gpu), positions{});
}

TEST(V1_filters, count_cards_not_ways_to_them_and_whatever_the_order) {
    EXPECT_EQ(accepted(filter::gpu && filter::count(1)), (positions{0}));
    EXPECT_EQ(accepted(filter::count(1) && filter::cpu), (positions{4}));
    EXPECT_EQ(accepted(filter::gpu && filter::count(9)), (positions{0, 1}));
    EXPECT_EQ(accepted(filter::gpu && filter::position(1)), (positions{1}));
    EXPECT_EQ(accepted(filter::position(2) && filter::any), (positions{4}));
    EXPECT_EQ(accepted(filter::backend(backend::opencl) && filter::position(0)), (positions{2}));
}

TEST(V1_filters, accept_by_what_a_device_can_do) {
    EXPECT_EQ(accepted(filter::half_precision), (positions{0, 1, 2, 3}));
    EXPECT_EQ(accepted(!filter::images), (positions{4}));
    EXPECT_EQ(accepted(filter::sub_groups && filter::double_precision), (positions{0, 2}));
}

TEST(V1_filters, accept_by_version_as_a_number) {
    EXPECT_EQ(accepted(filter::version_at_least(9)), (positions{0}));
    EXPECT_EQ(accepted(filter::version_at_least(8, 9)), (positions{0, 1}));
    EXPECT_EQ(accepted(filter::version_at_least(8, 10)), (positions{0})) << "8.10 is later than 8.9";
    EXPECT_EQ(accepted(filter::version_at_least(3)), (positions{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(filter::version_at_least(3, 1)), (positions{0, 1}));
    EXPECT_EQ(accepted((filter::version_at_least(9) && filter::backend(backend::cuda)) ||
                       (filter::version_at_least(1, 2) && filter::backend(backend::opencl))),
              (positions{0, 2, 3, 4}));
    const auto fits = [](const char* version, unsigned major, unsigned minor) {
        device_info info;
        info.version = version;
        detail::selection state;
        return filter::version_at_least(major, minor).judge(info, state).accepted;
    };
    EXPECT_TRUE(fits("1", 1, 0));
    EXPECT_FALSE(fits("1", 1, 1));
    EXPECT_TRUE(fits("OpenCL 1.10", 1, 9));
    EXPECT_TRUE(fits("OpenCL 1.", 1, 0));
    for (const char* none : {"", "OpenCL", "OpenCL 99999999999999999999.0"}) EXPECT_FALSE(fits(none, 0, 0));
}

TEST(V1_filters, accept_by_whole_names_of_extensions) {
    EXPECT_EQ(accepted(filter::extension("cl_khr_fp64")), (positions{2, 3, 4}));
    EXPECT_EQ(accepted(filter::extension("cl_khr_fp16")), positions{}) << "only a longer name is there";
    EXPECT_EQ(accepted(filter::extension("khr_fp64")), positions{});
    EXPECT_EQ(accepted(filter::extension("cl_khr_fp16_extra")), (positions{2, 3, 4}));
    EXPECT_THAT(message_of<usage_error>([] { filter::extension(""); }), HasSubstr("an empty name"));
}

TEST(V1_filters, accept_by_size) {
    EXPECT_EQ(accepted(filter::memory_at_least(24'000'000'001)), (positions{0, 2}));
    EXPECT_EQ(accepted(filter::memory_at_least(24'000'000'000)), (positions{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(filter::compute_units_at_least(59)), (positions{0, 2}));
    EXPECT_EQ(accepted(filter::compute_units_at_least(58)), (positions{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(filter::memory_at_least(40'000'000'000) && filter::gpu && filter::count(1)),
              (positions{0}));
}

TEST(V1_filters, accept_by_uuid_however_it_is_written) {
    const std::string second = "02000000-0000-0000-0000-000000000000";
    EXPECT_EQ(second_card.uuid_text(), second);
    EXPECT_EQ(accepted(filter::uuid(second)), (positions{1, 3}));
    EXPECT_EQ(accepted(filter::uuid("GPU-" + second)), (positions{1, 3}));
    EXPECT_EQ(accepted(filter::uuid("03000000000000000000000000000000")), (positions{4}));
    device_info mixed;
    mixed.uuid = {0xAB, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xff};
    detail::selection state;
    EXPECT_TRUE(filter::uuid("ABCDEF01-0203-0405-0607-08090a0b0CFF").judge(mixed, state).accepted);
    EXPECT_FALSE(filter::uuid(second).judge(device_info{}, state).accepted) << "an unknown uuid is none";
    for (const char* wrong :
         {"", "GPU-", "02", "02000000-0000-0000-0000-00000000000g", "+2000000000000000000000000000000",
          "020000000000000000000000000000000", " 2000000000000000000000000000000"})
        EXPECT_THAT(message_of<usage_error>([&] { filter::uuid(wrong); }), HasSubstr("32 hexadecimal digits"))
            << wrong;
}

TEST(V1_filters, start_afresh_for_each_selection) {
    const device_filter one = filter::gpu && filter::count(1);
    EXPECT_EQ(accepted(one), (positions{0}));
    EXPECT_EQ(accepted(one), (positions{0}));
}

TEST(V1_filters, say_why) {
    EXPECT_EQ(judgement(filter::gpu, processor), "is not a GPU");
    EXPECT_EQ(judgement(!filter::gpu, first_card), "is a GPU");
    EXPECT_EQ(judgement(filter::name("H100"), second_card), "its name 'NVIDIA L4' does not contain 'H100'");
    EXPECT_EQ(judgement(filter::gpu && filter::name("H100"), processor), "is not a GPU");
    EXPECT_EQ(judgement(filter::cpu || filter::accelerator, first_card),
              "is not a CPU and is not an accelerator");
    EXPECT_EQ(judgement(filter::backend(backend::cuda), processor), "is not reached through cuda");
    EXPECT_EQ(judgement(filter::count(0), first_card), "is not among the first 0 that match");
    EXPECT_EQ(judgement(filter::half_precision, processor), "has no half precision");
    EXPECT_EQ(judgement(filter::images, processor), "has no images");
    EXPECT_EQ(judgement(filter::sub_groups, processor), "has no native sub-groups");
    EXPECT_EQ(judgement(filter::version_at_least(4), processor), "its version is 3.0, which is below 4.0");
    EXPECT_EQ(judgement(!filter::version_at_least(8, 9), first_card),
              "its version is 9.0, which is at least 8.9");
    EXPECT_EQ(judgement(filter::version_at_least(1), device_info{}), "its version '' has no number");
    EXPECT_EQ(judgement(filter::extension("cl_khr_fp16"), processor), "lacks the extension 'cl_khr_fp16'");
    EXPECT_EQ(judgement(filter::memory_at_least(1ull << 40), processor),
              "has 24000000000 bytes of global memory, less than 1099511627776");
    EXPECT_EQ(judgement(filter::compute_units_at_least(100), processor),
              "has 58 compute units, fewer than 100");
    EXPECT_EQ(judgement(filter::uuid("01000000-0000-0000-0000-000000000000"), processor),
              "its uuid is 03000000-0000-0000-0000-000000000000, not 01000000-0000-0000-0000-000000000000");
    EXPECT_EQ(judgement(filter::name("no\x1b[31m\n"), second_card),
              "its name 'NVIDIA L4' does not contain 'no\\x1b[31m\\x0a'")
        << "messages end up in terminals";
}

TEST(V1_filters, follow_the_environment) {
    const environment set{{"BALM_TYPE", "gpu"}, {"BALM_BACKEND", "OpenCL"}, {"BALM_POSITION", "1"}};
    EXPECT_EQ(accepted(filter::env), (positions{3}));
    EXPECT_EQ(accepted(filter::env || filter::cpu), (positions{3, 4}));
}

TEST(V1_filters, take_an_empty_environment_for_any) {
    const environment none{{"BALM_DEVICE", ""}};
    EXPECT_EQ(accepted(filter::env), (positions{0, 1, 2, 3, 4}));
}

TEST(V1_filters, name_the_values_that_a_variable_may_have) {
    const auto fault_with = [](const char* name, const char* value) {
        const environment set{{name, value}};
        return message_of<usage_error>([] { accepted(filter::env); });
    };
    EXPECT_EQ(fault_with("BALM_TYPE", "tpu"), "BALM_TYPE is 'tpu', but must be gpu, cpu or accelerator.");
    EXPECT_EQ(fault_with("BALM_BACKEND", "hip"), "BALM_BACKEND is 'hip', but must be opencl or cuda.");
    EXPECT_THAT(fault_with("BALM_MAX_DEVICES", "0"), HasSubstr("a whole number, 1 or more"));
    EXPECT_THAT(fault_with("BALM_POSITION", "-1"), HasSubstr("a whole number, 0 or more"));
    EXPECT_THAT(fault_with("BALM_POSITION", "1x"), HasSubstr("1x"));
    EXPECT_THAT(fault_with("BALM_POSITION", "99999999999999999999"), HasSubstr("whole number"));
    for (const char* wrong : {" 1", "+1", "1 ", "0x1", "1e3", "-0", "nan", "1\n"})
        EXPECT_THAT(fault_with("BALM_MAX_DEVICES", wrong), HasSubstr("a whole number, 1 or more")) << wrong;
    EXPECT_EQ(fault_with("BALM_TYPE", "\x1b[2Jcpu\n"),
              "BALM_TYPE is '\\x1b[2Jcpu\\x0a', but must be gpu, cpu or accelerator.");
    EXPECT_EQ(fault_with("BALM_BACKEND", std::string(100'000, 'x').c_str()),
              "BALM_BACKEND is '" + std::string(80, 'x') + "...', but must be opencl or cuda.");
}

TEST(V1_filters, tell_a_card_by_uuid_else_by_address) {
    EXPECT_TRUE(is_same_card(first_card, first_again));
    EXPECT_FALSE(is_same_card(first_card, second_again));
    EXPECT_FALSE(is_same_card(first_card, first_card)) << "a backend tells its own devices apart";
    device_info a, b;
    a.api = backend::cuda;
    b.api = backend::opencl;
    EXPECT_FALSE(is_same_card(a, b));
    a.pci_address = b.pci_address = "0000:18:00.0";
    EXPECT_TRUE(is_same_card(a, b));
}

TEST(C2_contexts, take_the_best_device) {
    const environment none{};
    if (all_devices().devices.empty()) GTEST_SKIP() << "no device";
    const context best;
    ASSERT_EQ(best.size(), 1u);
    EXPECT_EQ(best.device(0).info().name, all_devices().devices.front().name);
    EXPECT_EQ(best.device().state(), context().device(0).state()) << "a device is one in the whole process";
    EXPECT_EQ(best, context());
}

TEST(C2_contexts, take_a_gpu_and_where_there_is_none_a_cpu) {
    if (all_devices().devices.empty()) GTEST_SKIP() << "no device";
    const context either((filter::gpu || filter::cpu) && filter::count(1));
    EXPECT_EQ(either.size(), 1u);
    bool has_gpu = false;
    for (const device_info& info : all_devices().devices) has_gpu = has_gpu || info.type == device_type::gpu;
    EXPECT_EQ(either.device().info().type, has_gpu ? device_type::gpu : device_type::cpu);
}

TEST(C2_contexts, prefer_gpus) {
    device_type last = device_type::gpu;
    const auto rank = [](device_type type) {
        return type == device_type::gpu           ? 0
               : type == device_type::accelerator ? 1
               : type == device_type::cpu         ? 2
                                                  : 3;
    };
    for (const device_info& info : all_devices().devices) {
        EXPECT_LE(rank(last), rank(info.type));
        last = info.type;
    }
}

TEST(V1_contexts, honour_the_environment) {
    const auto all = all_devices().devices;
    if (all.empty()) GTEST_SKIP() << "no device";
    const environment set{{"BALM_DEVICE", all.back().name.c_str()}, {"BALM_MAX_DEVICES", "7"}};
    const context chosen;
    EXPECT_EQ(chosen.device(0).name(), all.back().name);
}

TEST(V1_contexts, say_of_each_device_why_it_does_not_fit) {
    if (all_devices().devices.empty()) GTEST_SKIP() << "no device";
    const environment set{{"BALM_DEVICE", "no such device"}};
    const std::string environment_text = message_of<no_device_error>([] { context{}; });
    EXPECT_THAT(environment_text, HasSubstr("BALM_DEVICE=no such device"));
    const std::string text = message_of<no_device_error>([] { context{filter::name("no such device")}; });
    EXPECT_THAT(text, HasSubstr("balm devices"));
    for (const device_info& each : all_devices().devices) {
        EXPECT_THAT(text, HasSubstr("its name '" + each.name + "' does not contain 'no such device'"));
        EXPECT_THAT(environment_text, HasSubstr(each.name));
    }
    for (const std::string& note : all_devices().notes) EXPECT_THAT(text, HasSubstr(note));
}

TEST(V1_contexts, see_each_card_once) {
    if (all_devices().devices.empty()) GTEST_SKIP() << "no device";
    const context all(filter::any);
    for (const device& a : all.devices())
        for (const device& b : all.devices()) EXPECT_FALSE(is_same_card(a.info(), b.info()));
}

TEST(V1_contexts, are_made_of_given_devices) {
    const device null(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    const context of({null});
    EXPECT_EQ(of.device(0), null);
    EXPECT_THAT(message_of<usage_error>([&] { of.device(1); }),
                HasSubstr("Device 1 is out of range for a context that has 1"));
    const context twice({null, null});
    EXPECT_EQ(twice.size(), 2u);
    EXPECT_EQ(twice.device(1), null);
    EXPECT_FALSE(twice == of);
    EXPECT_THROW(context(std::vector<device>{}), usage_error);
}

TEST(C13_errors, print_their_message) {
    std::ostringstream text;
    text << usage_error("a sentence") << '|' << build_error("refused", "log", "source");
    EXPECT_EQ(text.str(), "a sentence|refused");
    try {
        context(std::vector<device>{});
    } catch (const error& fault) {
        text.str("");
        text << fault;
        EXPECT_EQ(text.str(), fault.what());
    }
}

TEST(C1_platforms, hold_every_device_once) {
    std::vector<device> in_platforms;
    for (const platform_info& platform : all_platforms()) {
        for (const device& each : platform.devices) {
            EXPECT_EQ(each.info().platform, platform.name);
            EXPECT_EQ(each.info().api, platform.api);
            in_platforms.push_back(each);
        }
        std::size_t gpus = 0, cpus = 0;
        for (const device& each : platform.devices) {
            gpus += each.info().type == device_type::gpu ? 1 : 0;
            cpus += each.info().type == device_type::cpu ? 1 : 0;
        }
        EXPECT_EQ(platform.gpus().size(), gpus);
        EXPECT_EQ(platform.cpus().size(), cpus);
        for (const device& each : platform.gpus()) EXPECT_EQ(each.info().type, device_type::gpu);
        for (const device& each : platform.cpus()) EXPECT_EQ(each.info().type, device_type::cpu);
    }
    const auto& all = runtime::platforms().devices;
    ASSERT_EQ(in_platforms.size(), all.size());
    for (const auto& each : all) EXPECT_THAT(in_platforms, testing::Contains(device(each)));
    if (!all.empty()) {
        EXPECT_EQ(context({in_platforms.front()}).device(), in_platforms.front());
    }
}

TEST(C1_devices, are_listed_with_nothing_started_on_them) {
    const auto null = null::make_null_device(runtime::dialect::opencl_c);
    const device handle(runtime::device_state::make(null));
    EXPECT_EQ(handle.name(), "null");
    EXPECT_EQ(null->counts().queues, 0u);
    EXPECT_EQ(null->counts().allocations, 0u);
}

}  // namespace balm::test
