// Choosing devices: filters and what they say, contexts, the environment, one card through two backends.

#include "balm/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backend/null/device.hpp"
#include "balm/error.hpp"
#include "runtime/device_state.hpp"
#include "runtime/filter_judge.hpp"
#include "runtime/platform.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

device_info made_up(const char* name, device_type type, backend api, std::uint8_t card) {
    device_info info;
    info.name = name;
    info.type = type;
    info.api = api;
    info.platform = api == backend::cuda ? "CUDA" : "NVIDIA CUDA";
    info.vendor = "NVIDIA Corporation";
    info.uuid[0] = card;
    info.has_double = card != 2;
    return info;
}

const device_info first_card = made_up("NVIDIA H100", device_type::gpu, backend::cuda, 1);
const device_info second_card = made_up("NVIDIA L4", device_type::gpu, backend::cuda, 2);
const device_info first_again = made_up("NVIDIA H100", device_type::gpu, backend::opencl, 1);
const device_info second_again = made_up("NVIDIA L4", device_type::gpu, backend::opencl, 2);
const device_info processor = made_up("pthread-skylake", device_type::cpu, backend::opencl, 3);
const std::vector<device_info> machine{first_card, second_card, first_again, second_again, processor};

// The numbers of the made-up machine's devices that a filter accepts.
std::vector<int> accepted(const device_filter& filter) {
    detail::selection state;
    std::vector<int> numbers;
    for (int i = 0; i < 5; ++i)
        if (filter.judge(machine[static_cast<std::size_t>(i)], state).accepted) numbers.push_back(i);
    return numbers;
}

std::string words(const device_filter& filter, const device_info& info) {
    detail::selection state;
    return filter.judge(info, state).words;
}

using numbers = std::vector<int>;

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

template <class Error, class Body>
std::string message_of(Body&& body) {
    try {
        body();
    } catch (const Error& fault) {
        return fault.what();
    }
    return "nothing was thrown";
}

}  // namespace

TEST(V1_filters, accept_by_type_name_platform_vendor_and_backend) {
    EXPECT_EQ(accepted(filter::any), (numbers{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(filter::gpu), (numbers{0, 1, 2, 3}));
    EXPECT_EQ(accepted(filter::cpu), (numbers{4}));
    EXPECT_EQ(accepted(filter::accelerator), numbers{});
    EXPECT_EQ(accepted(filter::name("h100")), (numbers{0, 2}));
    EXPECT_EQ(accepted(filter::platform("NVIDIA")), (numbers{2, 3, 4}));
    EXPECT_EQ(accepted(filter::vendor("nvidia")), (numbers{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(filter::backend(backend::opencl)), (numbers{2, 3, 4}));
    EXPECT_EQ(accepted(filter::double_precision), (numbers{0, 2, 4}));
}

TEST(V1_filters, combine_with_and_or_not_and_lambdas) {
    EXPECT_EQ(accepted(filter::gpu && filter::name("L4")), (numbers{1, 3}));
    EXPECT_EQ(accepted(filter::cpu || filter::name("L4")), (numbers{1, 3, 4}));
    EXPECT_EQ(accepted(!filter::gpu), (numbers{4}));
    EXPECT_EQ(accepted(!(filter::gpu && filter::double_precision)), (numbers{1, 3, 4}));
    const auto third = [](const device_info& d) { return d.uuid[0] == 3; };
    EXPECT_EQ(accepted(third), (numbers{4}));
    EXPECT_EQ(accepted(filter::gpu || third), (numbers{0, 1, 2, 3, 4}));
    EXPECT_EQ(accepted(third && filter::gpu), numbers{});
}

TEST(V1_filters, count_cards_not_ways_to_them_and_whatever_the_order) {
    EXPECT_EQ(accepted(filter::gpu && filter::count(1)), (numbers{0}));
    EXPECT_EQ(accepted(filter::count(1) && filter::cpu), (numbers{4}));
    EXPECT_EQ(accepted(filter::gpu && filter::count(9)), (numbers{0, 1}));
    EXPECT_EQ(accepted(filter::gpu && filter::position(1)), (numbers{1}));
    EXPECT_EQ(accepted(filter::position(2) && filter::any), (numbers{4}));
    EXPECT_EQ(accepted(filter::backend(backend::opencl) && filter::position(0)), (numbers{2}));
}

TEST(V1_filters, start_afresh_for_each_selection) {
    const device_filter one = filter::gpu && filter::count(1);
    EXPECT_EQ(accepted(one), (numbers{0}));
    EXPECT_EQ(accepted(one), (numbers{0}));
}

TEST(V1_filters, say_why) {
    EXPECT_EQ(words(filter::gpu, processor), "is not a GPU");
    EXPECT_EQ(words(!filter::gpu, first_card), "is a GPU");
    EXPECT_EQ(words(filter::name("H100"), second_card), "its name 'NVIDIA L4' does not contain 'H100'");
    EXPECT_EQ(words(filter::gpu && filter::name("H100"), processor), "is not a GPU");
    EXPECT_EQ(words(filter::cpu || filter::accelerator, first_card),
              "is not a CPU and is not an accelerator");
    EXPECT_EQ(words(filter::backend(backend::cuda), processor), "is not reached through cuda");
    EXPECT_EQ(words(filter::count(0), first_card), "is not among the first 0 that fit");
}

TEST(V1_filters, follow_the_environment) {
    const environment set{{"BALM_TYPE", "gpu"}, {"BALM_BACKEND", "OpenCL"}, {"BALM_POSITION", "1"}};
    EXPECT_EQ(accepted(filter::env), (numbers{3}));
    EXPECT_EQ(accepted(filter::env || filter::cpu), (numbers{3, 4}));
}

TEST(V1_filters, take_an_empty_environment_for_any) {
    const environment none{{"BALM_DEVICE", ""}};
    EXPECT_EQ(accepted(filter::env), (numbers{0, 1, 2, 3, 4}));
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
}

TEST(V1_filters, tell_a_card_by_uuid_else_by_address) {
    EXPECT_TRUE(runtime::is_same_card(first_card, first_again));
    EXPECT_FALSE(runtime::is_same_card(first_card, second_again));
    EXPECT_FALSE(runtime::is_same_card(first_card, first_card)) << "a backend tells its own devices apart";
    device_info a, b;
    a.api = backend::cuda;
    b.api = backend::opencl;
    EXPECT_FALSE(runtime::is_same_card(a, b));
    a.pci_address = b.pci_address = "0000:18:00.0";
    EXPECT_TRUE(runtime::is_same_card(a, b));
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
        for (const device& b : all.devices()) EXPECT_FALSE(runtime::is_same_card(a.info(), b.info()));
}

TEST(V1_contexts, are_made_of_given_devices) {
    const device null(runtime::device_state::make(null::make_null_device(runtime::dialect::opencl_c)));
    const context of({null});
    EXPECT_EQ(of.device(0), null);
    EXPECT_THAT(message_of<usage_error>([&] { of.device(1); }),
                HasSubstr("Device 1 was asked of a context that has 1"));
    EXPECT_THAT(message_of<usage_error>([&] { context({null, null}); }), HasSubstr("twice"));
    EXPECT_THROW(context(std::vector<device>{}), usage_error);
}

TEST(C1_devices, are_listed_with_nothing_started_on_them) {
    const auto null = null::make_null_device(runtime::dialect::opencl_c);
    const device handle(runtime::device_state::make(null));
    EXPECT_EQ(handle.name(), "null");
    EXPECT_EQ(null->counts().queues, 0u);
    EXPECT_EQ(null->counts().allocations, 0u);
}

}  // namespace balm::test
