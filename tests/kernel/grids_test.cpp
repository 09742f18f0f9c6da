// Grids that the driver does not take as they are: of sizes that no good work-group divides, and of more
// work-groups than the hardware counts. Kernels see the grid that the user launched.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "balm/device.hpp"
#include "balm/error.hpp"
#include "balm/user_event.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "null_driver/device.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::AllOf;
using testing::HasSubstr;

/// A device of this machine that says it takes few work-groups at once.
class limited_device final : public runtime::driver_device {
public:
    limited_device(const device& real, std::array<std::size_t, 3> groups, std::size_t together)
        : real_(real), info_(real.info()) {
        info_.max_group_counts = groups;
        info_.max_groups = together;
        info_.name += " of few groups";  // programs and messages of its own
    }
    void set_type(device_type kind) { info_.type = kind; }
    const device_info& info() const override { return info_; }
    runtime::dialect language() const override { return driver().language(); }
    std::string compile_options() const override { return driver().compile_options(); }
    std::unique_ptr<runtime::driver_queue> make_queue(const runtime::queue_options& options) override {
        return driver().make_queue(options);
    }
    runtime::memory allocate(std::size_t bytes) override { return driver().allocate(bytes); }
    void free(runtime::memory memory) noexcept override { driver().free(memory); }
    runtime::pinned_memory allocate_pinned(std::size_t bytes) override {
        return driver().allocate_pinned(bytes);
    }
    void free_pinned(runtime::pinned_memory memory) noexcept override { driver().free_pinned(memory); }
    std::unique_ptr<runtime::driver_program> compile(const std::string& source,
                                                     const std::string& options) override {
        return driver().compile(source, options);
    }
    std::unique_ptr<runtime::driver_program> load(std::span<const std::byte> binary) override {
        return driver().load(binary);
    }
    void* native_context() override { return driver().native_context(); }
    void* native_device() override { return driver().native_device(); }

private:
    runtime::driver_device& driver() const { return real_.state()->driver(); }

    device real_;
    device_info info_;
};

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

device limited(const device& real, std::array<std::size_t, 3> groups, std::size_t together = no_limit) {
    return device(
        std::make_shared<runtime::device_state>(std::make_shared<limited_device>(real, groups, together)));
}

/// The launches that a body's kernels are compiled for.
template <class Body>
std::vector<ir::launch_facts> launches_of(Body&& body) {
    static std::vector<ir::launch_facts> seen;
    seen.clear();
    kernels::observe_compilations([](const ir::function& f, const ir::launch_facts& facts) {
        seen.push_back(facts);
        ir::launch_facts gpu = facts;
        gpu.on_cpu = gpu.loops_over_items = false;
        also_compile_with_nvrtc(f, gpu);
    });
    body();
    compile_kernels_with_nvrtc_again();
    return seen;
}

constexpr std::size_t facts_of_an_item = 7;

/// What a work-item of a grid of three dimensions knows of its place without asking for its group.
auto places_kernel() {
    const auto reach = balm::function("reach", [](Long factor) { return factor * global_size(0); });
    return balm::kernel<3>("places", [reach](Mixed<std::int64_t> out) {
        Index at = 0;
        for (int d = 2; d >= 0; --d) at = at * global_size(d) + global_id(d) - global_offset(d);
        at *= static_cast<std::int64_t>(facts_of_an_item);
        for (int d = 0; d < 3; ++d) out[at + d] += global_id(d);
        for (int d = 0; d < 3; ++d) out[at + 3 + d] += global_size(d);
        out[at + 6] += reach(Long(2)) + global_offset(1);
    });
}

void expect_places(const host_array<std::int64_t>& got, std::array<std::size_t, 3> size,
                   std::array<std::int64_t, 3> offset) {
    for (std::size_t at = 0; at < size[0] * size[1] * size[2]; ++at) {
        const std::int64_t id[] = {static_cast<std::int64_t>(at % size[0]),
                                   static_cast<std::int64_t>(at / size[0] % size[1]),
                                   static_cast<std::int64_t>(at / size[0] / size[1])};
        const std::int64_t* found = &got[at * facts_of_an_item];
        for (std::size_t d = 0; d < 3; ++d) {
            ASSERT_EQ(found[d], id[d] + offset[d]) << at << ' ' << d;
            ASSERT_EQ(found[3 + d], static_cast<std::int64_t>(size[d])) << at << ' ' << d;
        }
        ASSERT_EQ(found[6], 2 * static_cast<std::int64_t>(size[0]) + offset[1]) << at;
    }
}

void run_places(const device& on, std::array<std::size_t, 3> size, std::array<std::int64_t, 3> offset) {
    const auto kernel = places_kernel();
    auto out = on.mixed_buffer<std::int64_t>(size[0] * size[1] * size[2] * facts_of_an_item);
    out.fill(0);
    on.execute(kernel(out), size, balm::offset(offset[0], offset[1], offset[2]));
    SCOPED_TRACE(testing::Message() << size[0] << " x " << size[1] << " x " << size[2]);
    expect_places(out.read(), size, offset);
}

TEST(C14_execute, takes_grids_that_no_work_group_divides) {
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        for (const std::array<std::size_t, 3> size :
             {std::array<std::size_t, 3>{1009, 1, 1}, {127, 13, 1}, {7, 11, 13}, {257, 3, 5}, {1, 1009, 1}}) {
            run_places(on, size, {0, 0, 0});
            run_places(
                on, size,
                {static_cast<std::int64_t>(random() % 1000), -static_cast<std::int64_t>(random() % 1000), 3});
        }
        const std::size_t prime = 100003;
        const auto kernel = balm::kernel<1>(
            "prime", [](Out<std::int32_t> out) { out[global_id(0)] = cast<int>(global_id(0)) + 1; });
        expect_each(run<std::int32_t>(on, kernel, prime), [](std::size_t i) { return i + 1; });
    });
}

TEST(C14_execute, fills_up_the_last_groups_of_a_GPU_and_parts_the_rows_of_a_CPU) {
    on_all_devices([&](const device& on) {
        const bool is_cpu = on.info().type == device_type::cpu;
        const auto plain = balm::kernel<1>("plain_grid", [](Out<int> out) { out[global_id(0)] = 1; });
        const auto grouped = balm::kernel<1>("grouped_grid", [](Out<int> out) {
            out[global_id(0)] = cast<int>(local_size(0) * group_count(0));
        });
        const auto facts = launches_of([&] {
            (void)run<int>(on, plain, 1009);
            (void)run<int>(on, plain, 1024);
            expect_each(run<int>(on, grouped, 1009), [](std::size_t) { return 1009; });
        });
        ASSERT_EQ(facts.size(), 3u);
        EXPECT_EQ(facts[0].grid.is_padded, !is_cpu);
        EXPECT_EQ(facts[0].grid.is_subgrid, is_cpu);
        EXPECT_FALSE(facts[1].grid.any());
        EXPECT_FALSE(facts[2].grid.any());
    });
    // The text of both, whatever devices there are.
    const auto kernel = balm::kernel<1>("one(out)", [](Out<int> out) { out[global_id(0)] = 1; });
    ir::launch_facts facts;
    facts.grid.is_padded = true;
    also_compile_with_nvrtc(*kernel.function(), facts);
    const std::string filled =
        emit::print(ir::lower(*kernel.function(), facts).kernel, runtime::dialect::cuda_cpp);
    EXPECT_THAT(filled, AllOf(HasSubstr("one(int* __restrict__ out, long long size)"),
                              HasSubstr("if (gid >= size) {\n        return;"), HasSubstr("out[gid] = 1;")));
    facts.grid = {};
    facts.grid.is_subgrid = true;
    EXPECT_THAT(emit::print(ir::lower(*kernel.function(), facts).kernel, runtime::dialect::opencl_c),
                HasSubstr("out[(long)get_global_id(0) + first] = 1;"));
}

void run_grids_in_parts(const device& on) {
    for (const bool has_offset : {false, true}) {
        const std::array<std::int64_t, 3> offset = {has_offset ? 5 : 0, has_offset ? -7 : 0, 0};
        for (const std::array<std::size_t, 3> size :
             {std::array<std::size_t, 3>{2000, 1, 1}, {1009, 3, 1}, {70, 50, 9}, {1, 1, 601}})
            run_places(on, size, offset);
    }
    // What kernels see of their groups, with a local size that the launch gives; 7 x 5 groups in 3 x 3
    // launches.
    const auto groups =
        balm::kernel<2>("groups_in_parts", [](Mixed<std::int64_t> out, Local<std::int64_t> sums) {
            sums[local_linear_id()] = global_id(0) + 1000 * global_id(1);
            barrier();
            IF (local_linear_id() == 0) {
                Index sum = 0;
                for (Index k : range(local_linear_size())) sum += sums[k];
                Index at = (group_id(1) * group_count(0) + group_id(0)) * 3;
                out[at] += sum;
                out[at + 1] += group_count(0) + 100 * group_count(1);
                out[at + 2] += global_size(0) + 100 * global_size(1);
            }
        });
    auto out = on.mixed_buffer<std::int64_t>(7 * 5 * 3);
    out.fill(0);
    on.execute(groups(out, balm::local<std::int64_t>(8)), {28, 10}, {4, 2});
    const auto got = out.read();
    for (std::size_t g = 0; g < 35; ++g) {
        std::int64_t sum = 0;
        for (std::size_t item = 0; item < 8; ++item)
            sum += static_cast<std::int64_t>(g % 7 * 4 + item % 4 + 1000 * (g / 7 * 2 + item / 4));
        ASSERT_EQ(got[g * 3], sum) << g;
        ASSERT_EQ(got[g * 3 + 1], 7 + 500) << g;
        ASSERT_EQ(got[g * 3 + 2], 28 + 1000) << g;
    }
    // An event of many launches is that of the last.
    const auto count = balm::kernel<1>("count_in_parts", [](Mixed<int> n) { atomic_add(n[0], 1); });
    auto n = on.mixed_buffer<int>(1);
    event cleared = n.fill(0);
    event done = on.execute(count(n), {8 * 1000}, {8}, cleared);
    EXPECT_EQ(n.read(done)[0], 8000);
}

TEST(G1_grids, beyond_what_the_hardware_counts_are_launched_in_parts) {
    on_all_devices([&](const device& real) {
        run_grids_in_parts(limited(real, {3, 2, 2}));
        run_grids_in_parts(limited(real, {no_limit, no_limit, no_limit}, 6));
    });
}

TEST(G1_grids, are_handed_to_the_driver_in_no_more_groups_than_it_counts) {
    const auto null = null::make_null_device(runtime::dialect::opencl_c);
    const device base(std::make_shared<runtime::device_state>(null));
    const auto launches_over = [&](const device& on, const extent<3>& size, const extent<3>& group) {
        const auto kernel = balm::kernel<3>("mark", [](Out<int> out) { out[global_id(0)] = 1; });
        auto out = on.out_buffer<int>(1);
        const std::uint64_t before = null->counts().launches;
        on.execute(kernel(out), size, group);
        return null->counts().launches - before;
    };
    const device of_few = limited(base, {no_limit, no_limit, no_limit}, 10);
    EXPECT_EQ(launches_over(of_few, {80, 1, 1}, {8, 1, 1}), 1u);
    EXPECT_EQ(launches_over(of_few, {88, 1, 1}, {8, 1, 1}), 2u);
    EXPECT_EQ(launches_over(of_few, {16, 5, 1}, {8, 1, 1}), 1u);
    EXPECT_EQ(launches_over(of_few, {16, 6, 1}, {8, 1, 1}), 2u) << "2 x 5 groups, 2 x 1";
    EXPECT_EQ(launches_over(of_few, {1, 4, 7}, {1, 1, 1}), 4u) << "4 x 2 groups each";
    EXPECT_EQ(launches_over(of_few, {11, 1, 2}, {1, 1, 1}), 4u) << "10 and 1, twice";
    const std::size_t many = std::size_t{1} << 33;
    const device of_31_bits = limited(base, {no_limit, no_limit, no_limit}, std::size_t{1} << 31);
    EXPECT_EQ(launches_over(of_31_bits, {many, 1, 1}, {1, 1, 1}), 4u);
    EXPECT_EQ(launches_over(of_31_bits, {many, 1, 1}, {4, 1, 1}), 1u);
    EXPECT_EQ(launches_over(of_31_bits, {1 << 16, 1 << 16, 1}, {1, 1, 1}), 2u);
}

TEST(G1_grids, of_arrays_of_many_elements_are_no_larger_than_a_device_counts) {
    for (const device_type kind : {device_type::cpu, device_type::gpu}) {
        const auto null = null::make_null_device(runtime::dialect::opencl_c);
        const device base(runtime::device_state::make(null));
        auto limits = std::make_shared<limited_device>(base, std::array<std::size_t, 3>{}, 0);
        limits->set_type(kind);
        const context ctx({device(runtime::device_state::make(limits))});
        constexpr std::size_t n = (std::size_t{1} << 34) + 6, rows = n / 2;
        balm::vector<float> a(ctx, n), b(ctx, n), sums(ctx, rows);
        a = b + 1.f;
        a = sin(b) * a;
        a(slice(0, n, 2)) = 2.f;
        view(a, {rows, 2}) = view(b, {2, rows}).transpose() + 1.f;
        view(a, {rows, 2}) = view(sums, {rows, 1}).broadcast({rows, 2});
        (void)sum(a * b);
        sums = sum(view(a, {rows, 2}), along(1));
        EXPECT_GE(null->counts().launches, 7u);
        EXPECT_LT(null->counts().most_groups, std::uint64_t{1} << 31) << to_string(kind);
    }
}

TEST(G1_grids, of_PoCL_have_no_more_groups_than_it_counts) {
    on_all_devices([](const device& on) {
        if (on.info().platform != "Portable Computing Language") GTEST_SKIP() << "not PoCL";
        EXPECT_LT(on.info().max_groups, std::size_t{1} << 32);
    });
}

TEST(G1_grids, in_parts_are_one_command_to_the_profile) {
    const auto slow = balm::kernel<1>("slow_in_parts", [](Mixed<float> out) {
        Float x = out[global_id(0)];
        for (Int k : range(2000)) x = x * 0.5f + cast<float>(k);
        out[global_id(0)] = x;
    });
    on_all_devices([&](const device& real) {
        const device on = limited(real, {1000, 1, 1});
        auto out = on.mixed_buffer<float>(256 * 1000 + 1);
        out.fill(1.f);
        // Of the whole alone the shortest of some: the parts are no less work.
        std::uint64_t shortest = ~std::uint64_t{0};
        for (int k = 0; k < 5; ++k) {
            const event whole = on.execute(slow(out), {256 * 1000},
                                           {std::min<std::size_t>(256, on.info().max_work_group_size)});
            shortest = std::min(shortest, whole.profile().duration());
        }
        const event parted = on.execute(slow(out), {256 * 1000 + 1});  // the last work-item by itself
        const timestamps times = parted.profile();
        EXPECT_GT(2 * times.duration(), shortest);
        EXPECT_LE(times.queued, times.started);
    });
}

TEST(G1_grids, that_cannot_be_parted_are_refused) {
    on_all_devices([&](const device& real) {
        const device on = limited(real, {4, 4, 4});
        const auto walks = balm::kernel<1>("walks", [](Int n, Out<int> out) {
            for (Index i : grid_range(n)) out[i] = 1;
        });
        auto out = on.out_buffer<int>(100);
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(walks(100, out), {100}, {10}); }),
                    AllOf(HasSubstr("'walks'"), HasSubstr("grid_range"), HasSubstr("of few groups")));
        const auto text = balm::source_kernel<1, void(Out<int>)>(
            "ones", "kernel void ones(global int* out) { out[get_global_id(0)] = 1; }");
        EXPECT_THAT(message_of<usage_error>([&] { on.execute(text(out), {100}, {10}); }),
                    AllOf(HasSubstr("'ones'"), HasSubstr("text")));
    });
}

TEST(C14_execute, runs_no_part_of_a_grid_when_what_it_waits_for_fails) {
    on_all_devices([](const device& real) {
        const device on = limited(real, {4, 2, 2});
        const auto kernel = balm::kernel<1>("mark", [](Out<int> out) { out[global_id(0)] = 1; });
        auto out = on.out_buffer<int>(64 * 20);
        const user_event go;
        const event done = on.execute(kernel(out), {out.size()}, {64}, go);
        go.fail(usage_error("not today"));
        EXPECT_THROW(done.wait(), usage_error) << "the last of them";
        on.execute(kernel(out), {out.size()}, {64});
        EXPECT_EQ(out.read(), std::vector<int>(out.size(), 1));
    });
}

}  // namespace

}  // namespace balm::test
