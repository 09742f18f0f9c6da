// Plans: what a search tries and takes, and what is kept of it. Stored files are written here too, whole and
// damaged in every way that comes to mind.

#include "plan.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <balm/balm.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "generate.hpp"
#include "golden.hpp"
#include "plan_search.hpp"
#include "plan_store.hpp"
#include "programs.hpp"
#include "reference.hpp"
#include "step.hpp"
#include "support/scratch_directory.hpp"

namespace {

balm::device_info made_up_gpu() {
    balm::device_info device;
    device.name = "A GPU\nof tests";
    device.platform = "a platform";
    device.driver_version = "1.2";
    device.api = balm::backend::opencl;
    device.type = balm::device_type::gpu;
    device.local_memory = 48 * 1024;
    device.max_work_group_size = 1024;
    device.compute_units = 3;
    return device;
}

balm::device_info made_up_cpu() {
    balm::device_info device = made_up_gpu();
    device.type = balm::device_type::cpu;
    device.local_memory = 1 << 20;
    return device;
}

bool is_in(const heat::plan& plan, const std::vector<heat::plan>& all) {
    return std::find(all.begin(), all.end(), plan) != all.end();
}

TEST(H4_plans, candidates_are_a_few_dozen_that_fit_the_device) {
    for (const balm::device_info& device : {made_up_gpu(), made_up_cpu()}) {
        const std::vector<heat::plan> all = heat::candidate_plans(device);
        ASSERT_GE(all.size(), 12u);
        ASSERT_LE(all.size(), 48u);
        EXPECT_EQ(all.front(), heat::plan_for(device)) << "the table's plan comes first";
        EXPECT_TRUE(is_in(heat::single_plan(device.type), all));
        for (std::size_t i = 0; i < all.size(); ++i)
            EXPECT_EQ(std::count(all.begin(), all.end(), all[i]), 1) << heat::describe(all[i]);
    }
    balm::device_info nvidia = made_up_gpu();
    nvidia.sub_group_size = 32;
    const std::vector<heat::plan> of_nvidia = heat::candidate_plans(nvidia);
    EXPECT_LE(of_nvidia.size(), 48u);
    EXPECT_EQ(of_nvidia.front().method, heat::method::sweep);
    std::set<std::string> words;
    for (const heat::plan& each : of_nvidia) EXPECT_TRUE(words.insert(heat::describe(each)).second);
    for (const heat::plan& each : heat::candidate_plans(made_up_gpu()))
        EXPECT_NE(each.method, heat::method::sweep) << "sub-groups would be emulated";
    balm::device_info small = made_up_gpu();
    small.local_memory = 20 * 1024;
    small.max_work_group_size = 128;
    const auto of_small = heat::candidate_plans(small), of_large = heat::candidate_plans(made_up_gpu());
    EXPECT_LT(of_small.size(), of_large.size());
    for (std::size_t i = 1; i < of_small.size(); ++i)
        if (of_small[i].method == heat::method::tile) {
            EXPECT_LE(of_small[i].tile_width * of_small[i].tile_height / 4 / of_small[i].item_height, 128u)
                << heat::describe(of_small[i]);
        }
}

TEST(H4_plans, results_are_the_same_with_every_candidate) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const heat::world start = heat::make_random(301, 157, 0.2f, seed);
    heat::world serial = start;
    heat::step_serial(serial, 0.3f, 29);
    balm::context context;
    std::vector<heat::plan> some = heat::candidate_plans(context.device(0).info());
    std::shuffle(some.begin(), some.end(), random);
    some.resize(2);  // others next time: a kernel takes about a second to compile
    for (const heat::plan& each : some) {
        heat::stepper stepper(start, 0.3f, context, each);
        stepper.advance(29);
        EXPECT_LE(heat::max_difference(stepper.state(), serial.state), 5e-6) << heat::describe(each);
    }
}

TEST(H4_plans, a_search_takes_the_fastest_that_runs) {
    const std::vector<heat::plan> candidates = heat::candidate_plans(made_up_cpu());
    const heat::plan fastest = candidates[5], broken = candidates[7];
    std::size_t measured = 0, told = 0;
    const auto measure = [&](const heat::plan& plan) -> double {
        ++measured;
        if (plan == broken) throw std::runtime_error("it does not run");
        return plan == fastest ? 2e9 : 1e9;
    };
    const heat::plan_search found =
        heat::search_plans(candidates, measure, {1e6, [&](std::size_t, std::size_t all) {
                                                     EXPECT_EQ(all, candidates.size());
                                                     ++told;
                                                 }});
    EXPECT_EQ(found.fastest.plan, fastest);
    EXPECT_EQ(found.fastest.cells_per_second, 2e9);
    ASSERT_EQ(found.trials.size(), candidates.size());
    EXPECT_EQ(found.trials[7].fault, "it does not run");
    EXPECT_EQ(found.trials[7].cells_per_second, 0);
    EXPECT_EQ(told, candidates.size() + 1);
    EXPECT_GT(measured, candidates.size()) << "the last few are measured again";
}

TEST(H4_plans, a_search_keeps_the_tables_plan_unless_another_is_clearly_faster) {
    const std::vector<heat::plan> candidates = heat::candidate_plans(made_up_cpu());
    for (const auto& [rate, is_clear] : {std::pair{1.01e9, false}, {1.03e9, true}}) {
        const auto found = heat::search_plans(
            candidates,
            [&, other = rate](const heat::plan& plan) { return plan == candidates[2] ? other : 1e9; },
            {1e6, {}});
        EXPECT_EQ(found.fastest.plan, candidates[is_clear ? 2 : 0]);
    }
    // Noise of one measurement is found out by the next ones of the table's plan.
    int times = 0;
    const auto found = heat::search_plans(
        candidates,
        [&](const heat::plan& plan) { return plan == candidates[0] && ++times == 1 ? 0.9e9 : 1e9; },
        {1e6, {}});
    EXPECT_EQ(found.fastest.plan, candidates[0]);
}

TEST(H4_plans, a_search_ends_in_time_or_when_nothing_runs) {
    const std::vector<heat::plan> candidates = heat::candidate_plans(made_up_cpu());
    const auto found = heat::search_plans(candidates, [](const heat::plan&) { return 1e9; }, {-1, {}});
    EXPECT_EQ(found.trials.size(), 1u);
    EXPECT_EQ(found.fastest.plan, candidates[0]);
    const auto fails = [](const heat::plan&) -> double { throw std::runtime_error("no such luck"); };
    EXPECT_THROW(heat::search_plans(candidates, fails, {1e6, {}}), std::runtime_error);
    EXPECT_THROW(heat::search_plans({}, fails, {1e6, {}}), std::runtime_error);
}

class H4_stored_plans : public testing::Test {
protected:
    const std::filesystem::path& folder() const { return folder_.path(); }
    std::filesystem::path file() const { return folder() / heat::plan_file_name(device); }
    void write(const std::string& text) const {
        std::filesystem::remove(file());
        std::ofstream(file(), std::ios::binary) << text;
    }
    heat::chosen_plan chosen() const { return heat::choose_plan(folder(), device); }
    void expect_ignored(const std::string& what) const {
        const heat::chosen_plan plan = chosen();
        EXPECT_EQ(plan.plan, heat::plan_for(device)) << what;
        EXPECT_NE(plan.warning.find("is ignored"), std::string::npos) << what;
        EXPECT_NE(plan.warning.find(file().string()), std::string::npos) << what;
        EXPECT_EQ(plan.warning.find('\n'), std::string::npos) << what;
    }

    balm::device_info device = made_up_gpu();

private:
    balm::test::scratch_directory folder_;
};

TEST_F(H4_stored_plans, come_back_for_the_same_device_and_driver_alone) {
    const std::vector<heat::plan> all = heat::candidate_plans(device);
    EXPECT_EQ(chosen().plan, all.front()) << "nothing is there yet";
    EXPECT_EQ(chosen().warning, "");
    for (const heat::plan& each : all) {
        EXPECT_EQ(heat::store_plan(folder(), device, each, 1.25e12), file());
        const heat::chosen_plan plan = chosen();
        EXPECT_EQ(plan.plan, each);
        EXPECT_EQ(plan.warning, "");
        EXPECT_EQ(plan.origin, "\"" + file().string() + "\", measured at 1.25 Tcell/s");
    }
    for (auto change : {+[](balm::device_info& d) { d.driver_version = "1.3"; },
                        +[](balm::device_info& d) { d.name = "another"; },
                        +[](balm::device_info& d) { d.compute_units = 4; },
                        +[](balm::device_info& d) { d.api = balm::backend::cuda; },
                        +[](balm::device_info& d) { d.platform = "another"; }}) {
        balm::device_info other = device;
        change(other);
        EXPECT_EQ(heat::choose_plan(folder(), other).plan, all.front());
        // Renamed to the other's file, it is still this device's.
        std::filesystem::copy_file(file(), folder() / heat::plan_file_name(other));
        EXPECT_NE(heat::choose_plan(folder(), other).warning, "");
    }
    EXPECT_EQ(heat::choose_plan(std::nullopt, device).plan, all.front());
}

TEST_F(H4_stored_plans, that_are_damaged_or_hostile_are_ignored_with_a_sentence) {
    heat::store_plan(folder(), device, heat::candidate_plans(device)[3], 1e9);
    const std::string whole = heat_test::read_file(file());
    const std::size_t plan = whole.find("plan: ") + 6;
    for (const std::string& text :
         {std::string(), std::string(10, '\0'), std::string(1 << 20, 'x'), whole + "\n", whole + whole,
          "\n" + whole, whole.substr(0, plan) + "tile 8 999999999x999999999 4x16\ncells per second: 1e9\n",
          whole.substr(0, plan) + "tile 8 128x128 4x0\ncells per second: 1e9\n",
          whole.substr(0, plan) + "tile -8 128x128 4x16\ncells per second: 1e9\n",
          whole.substr(0, plan) + "stream 8 272x144 1x1\ncells per second: 1e9\n"}) {
        write(text);
        expect_ignored(text.substr(0, 200));
    }
    for (const std::string rate : {"", "0", "-1", "nan", "inf", "1e999", "1e9 ", "x", "0x1p3"}) {
        write(whole.substr(0, whole.rfind(": ") + 2) + rate + "\n");
        expect_ignored("rate " + rate);
    }
    for (std::size_t size = 0; size < whole.size(); ++size) {
        write(whole.substr(0, size));
        expect_ignored("cut after " + std::to_string(size));
    }
    write(whole);
    EXPECT_EQ(chosen().warning, "");
}

TEST_F(H4_stored_plans, cannot_be_anything_but_a_candidate) {
    const std::vector<heat::plan> all = heat::candidate_plans(device);
    heat::store_plan(folder(), device, all[3], 1e9);
    const std::string whole = heat_test::read_file(file());
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 300; ++round) {
        std::string text = whole;
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes)
            text[random() % text.size()] = static_cast<char>(random());
        write(text);
        const heat::chosen_plan plan = chosen();
        EXPECT_EQ(plan.plan, all[plan.warning.empty() ? 3 : 0]);
    }
}

TEST_F(H4_stored_plans, are_regular_files) {
    const std::filesystem::path elsewhere = folder() / "elsewhere";
    heat::store_plan(folder(), device, heat::candidate_plans(device)[3], 1e9);
    std::filesystem::rename(file(), elsewhere);
    std::filesystem::create_symlink(elsewhere, file());
    expect_ignored("a symbolic link");
    std::filesystem::remove(file());
    std::filesystem::create_directory(file());
    expect_ignored("a directory");
    std::filesystem::remove(file());
    ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
    expect_ignored("a pipe, which nobody writes to");
}

TEST_F(H4_stored_plans, are_candidates_with_a_rate) {
    heat::plan other = heat::plan_for(device);
    other.steps = 7;
    EXPECT_THROW(heat::store_plan(folder(), device, other, 1e9), std::invalid_argument);
    for (const double rate : {0.0, -1.0, std::numeric_limits<double>::infinity()})
        EXPECT_THROW(heat::store_plan(folder(), device, heat::plan_for(device), rate), std::invalid_argument);
    EXPECT_TRUE(std::filesystem::is_empty(folder()));
    std::ofstream(folder() / "file") << "x";
    EXPECT_THROW(heat::store_plan(folder() / "file", device, heat::plan_for(device), 1e9),
                 std::runtime_error);
}

// Environment variables, as they were when the object goes.
class environment {
public:
    void set(const char* name, const char* value) {
        const char* before = std::getenv(name);
        before_.emplace_back(name, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
        value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    environment() = default;
    environment(const environment&) = delete;
    environment& operator=(const environment&) = delete;
    ~environment() {
        for (auto each = before_.rbegin(); each != before_.rend(); ++each)
            each->second ? ::setenv(each->first, each->second->c_str(), 1) : ::unsetenv(each->first);
    }

private:
    std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST(H4_plans, are_kept_beside_the_compiled_kernels) {
    environment variables;
    variables.set("BALM_CACHE", nullptr);
    variables.set("BALM_CACHE_DIR", "/here");
    variables.set("XDG_CACHE_HOME", "/caches");
    variables.set("HOME", "/home/me");
    EXPECT_EQ(heat::plan_folder(), "/here");
    variables.set("BALM_CACHE_DIR", "");
    EXPECT_EQ(heat::plan_folder(), "/caches/balm");
    variables.set("XDG_CACHE_HOME", "not/absolute");
    EXPECT_EQ(heat::plan_folder(), "/home/me/.cache/balm");
    variables.set("BALM_CACHE", "0");
    EXPECT_EQ(heat::plan_folder(), std::nullopt);
    variables.set("BALM_CACHE", nullptr);
    variables.set("HOME", nullptr);
    EXPECT_EQ(heat::plan_folder(), std::nullopt);
}

using H4_tuned_programs = heat_test::heat_programs;

TEST_F(H4_tuned_programs, step_world_tunes_keeps_the_plan_and_takes_it_again) {
    const std::string cached = "env -u BALM_CACHE BALM_CACHE_DIR=\"$PWD/cache\" ";
    ASSERT_EQ(run("make_world 40 >start").code, 0);
    // No time: only the table's plan is measured.
    const heat_test::outcome tuned = run(cached + "step_world --tune 0 --verbose 0.1 5 <start >tuned");
    ASSERT_EQ(tuned.code, 0) << tuned.err;
    EXPECT_NE(tuned.err.find("Device: "), std::string::npos) << tuned.err;
    EXPECT_NE(tuned.err.find("Fastest of 1 plans of "), std::string::npos) << tuned.err;
    EXPECT_NE(tuned.err.find("Saved in \""), std::string::npos) << tuned.err;
    EXPECT_NE(tuned.err.find("cell/s"), std::string::npos) << tuned.err;

    // Another candidate in its place, as a longer search may find.
    balm::context context;
    const balm::device_info& device = context.device(0).info();
    const heat::plan plain = heat::single_plan(device.type);
    balm::test::scratch_directory mine;
    heat::store_plan(mine.path(), device, plain, 5e8);
    const std::string name = heat::plan_file_name(device);
    const heat_test::outcome used = run("cp '" + (mine / name).string() + "' cache/ && " + cached +
                                        "step_world --verbose 0.1 5 <start >used");
    ASSERT_EQ(used.code, 0) << used.err;
    EXPECT_NE(used.err.find("Plan: " + heat::describe(plain) + ", from \""), std::string::npos) << used.err;
    EXPECT_NE(used.err.find("measured at 500 Mcell/s"), std::string::npos) << used.err;

    const heat_test::outcome ignored =
        run("echo nonsense >cache/" + name + " && " + cached + "step_world 0.1 5 <start >ignored");
    ASSERT_EQ(ignored.code, 0) << ignored.err;
    EXPECT_NE(ignored.err.find("step_world: the stored plan \""), std::string::npos) << ignored.err;
    heat::world serial = heat_test::parse(run("cat start").out);
    heat::step_serial(serial, 0.1f, 5);
    for (const std::string file : {"tuned", "used", "ignored"})
        EXPECT_LE(heat::max_difference(heat_test::parse(run("cat " + file).out).state, serial.state), 5e-6)
            << file;

    expect_refusal("step_world --tune x <start", "step_world", "--tune");
}

}  // namespace
