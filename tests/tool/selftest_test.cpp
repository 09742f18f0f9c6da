// `balm selftest`: its parts find what is wrong and pass what is right; the program says so of each device.

#include <set>

#include "check.hpp"
#include "oracle.hpp"
#include "report.hpp"
#include "tool/program.hpp"

namespace balm::test {
namespace {

using nlohmann::json;
using H6_selftest = tool_program;

constexpr std::size_t count = 256;

/// What a device gives that computes `pow` of f64 as the host does.
struct right_powers {
    std::mt19937_64 random = seeded_random();
    tool::operands given{scalar::f64, count, random};
    tool::column got{scalar::f64, {}};

    right_powers() {
        for (std::size_t k = 0; k < count; ++k)
            got.bits.push_back(
                oracle::evaluate(builtin::pow, scalar::f64, std::array{given.a.bits[k], given.b.bits[k]})
                    .bits);
    }
    tool::check compare(std::size_t most_examples = 5) const {
        return tool::compare_builtin(builtin::pow, got, given, device_info{}, {0, most_examples});
    }
};

TEST_F(H6_selftest, passes_what_is_right_and_within_the_bound) {
    right_powers device;
    EXPECT_TRUE(device.compare().passed());
    for (std::uint64_t& bits : device.got.bits)
        if (std::isnormal(std::bit_cast<double>(bits)) && std::isnormal(std::bit_cast<double>(bits + 6)))
            bits += 6;
    const tool::check off = device.compare();
    EXPECT_TRUE(off.passed());
    EXPECT_GT(off.worst_ulp, 5);
    EXPECT_EQ(off.values, count);
}

TEST_F(H6_selftest, finds_a_single_wrong_value) {
    right_powers device;
    device.given.a.bits[100] = std::bit_cast<std::uint64_t>(2.0);
    device.given.b.bits[100] = std::bit_cast<std::uint64_t>(3.0);
    device.got.bits[100] = std::bit_cast<std::uint64_t>(8.5);
    const tool::check found = device.compare();
    EXPECT_FALSE(found.passed());
    EXPECT_EQ(found.words(), "f64 pow");
    ASSERT_EQ(found.wrong, 1u);
    ASSERT_EQ(found.examples.size(), 1u);
    EXPECT_EQ(found.examples[0].inputs, (std::vector<std::string>{"2", "3"}));
    EXPECT_EQ(found.examples[0].got, "8.5");
    EXPECT_EQ(found.examples[0].expected, "8");
    EXPECT_GT(found.examples[0].ulp, 1e14);
}

TEST_F(H6_selftest, counts_every_wrong_value_and_shows_a_few) {
    right_powers device;
    for (std::uint64_t& bits : device.got.bits) bits = std::bit_cast<std::uint64_t>(-1.25);
    const tool::check found = device.compare(3);
    EXPECT_GT(found.wrong, count / 2);
    EXPECT_EQ(found.examples.size(), 3u);
}

TEST_F(H6_selftest, columns_pass_through_a_kernel) {
    on_all_devices([](const device& on) {
        std::mt19937_64 random = seeded_random();
        const tool::operands whole(scalar::i64, count, random), truths(scalar::boolean, count, random);
        tool::column_kernel kernel(on, "sums", count);
        const trace::node terms[] = {kernel.operand(whole.a), kernel.operand(whole.b)};
        const trace::node truth = kernel.operand(truths.a);
        kernel.result(trace::apply(builtin::add, terms, 2));
        kernel.result(truth);
        kernel.result(terms[1]);
        const std::vector<tool::column> got = kernel.run();
        ASSERT_EQ(got.size(), 3u);
        for (std::size_t k = 0; k < count; ++k)
            ASSERT_EQ(got[0].bits[k], whole.a.bits[k] + whole.b.bits[k]) << k;
        EXPECT_EQ(got[1].bits, truths.a.bits);
        EXPECT_EQ(got[2].bits, whole.b.bits);
    });
}

/// In this program the kernels are compiled with NVRTC too, where there is no GPU.
TEST_F(H6_selftest, every_check_passes_on_every_device) {
    on_all_devices([](const device& on) {
        const tool::settings how{seed(), 5};
        for (const auto run :
             {tool::check_builtins, tool::check_arrays, tool::check_conversions, tool::check_paths})
            for (const tool::check& each : run(on, how)) {
                EXPECT_EQ(each.wrong, 0u) << each.words();
                EXPECT_EQ(each.fault, "") << each.words();
            }
    });
}

/// On CPUs too, whose groups are threads.
TEST_F(H6_selftest, groups_see_what_others_announce) {
    on_all_devices([](const device& on) {
        const tool::check found = tool::check_look_back(on, {seed(), 5}, {4, 100, 1 << 30});
        EXPECT_TRUE(found.passed()) << found.fault
                                    << (found.examples.empty() ? "" : found.examples[0].inputs[0]);
        EXPECT_EQ(found.values, 4u * 2 * 100);
    });
}
TEST_F(H6_selftest, finds_announcements_that_are_missing_torn_or_of_another_launch) {
    on_all_devices([](const device& on) {
        constexpr std::size_t groups = 20, absent = 10;
        constexpr std::uint64_t is_there = std::uint64_t{1} << 63;
        vector<std::uint64_t> words(context({on}), 2 * groups, 0);
        EXPECT_GT(tool::run_look_back(on, words, 3, 1 << 12, absent).missing, 0);
        words = is_there | std::uint64_t{7} << 32 | 6;
        EXPECT_GT(tool::run_look_back(on, words, 3, 1 << 30, absent).torn, 0);
        words = is_there | std::uint64_t{7} << 32 | 7;
        EXPECT_GT(tool::run_look_back(on, words, 3, 1 << 30, absent).stale, 0);
    });
}

TEST_F(H6_selftest, every_device_is_fit_or_told_why_not) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const outcome done = run("selftest --json --seed " + std::to_string(seed()), without_kernel_cache);
    const json told = json::parse(done.out);
    EXPECT_EQ(done.code, told["all_fit"] ? 0 : 1);
    EXPECT_TRUE(told["left_out"].is_null());
    EXPECT_EQ(told["seed"], seed());
    for (const json& device : told["devices"]) {
        // A device that is not fit is the driver's affair or ours: the test above all shows which checks.
        EXPECT_EQ(device["verdict"], "fit");
        std::set<std::string> rows, array_rows, conversions, paths;
        for (const json& check : device["checks"]) {
            const std::string kind = check["kind"], name = check["name"], type = check["type"];
            (kind == "built-in"         ? rows
             : kind == "array built-in" ? array_rows
             : kind == "conversion"     ? conversions
                                        : paths)
                .insert(name);
            EXPECT_EQ(check["wrong"], 0) << type << ' ' << name << ' ' << check["examples"].dump();
            EXPECT_TRUE(check["fault"].is_null()) << name << ' ' << check["fault"];
            EXPECT_GT(check["values"], 0) << name;
        }
        EXPECT_EQ(rows.size(), static_cast<std::size_t>(builtin::count)) << "every row of builtins.def";
        EXPECT_EQ(array_rows.empty(), device["type"] != "cpu");
        EXPECT_GE(conversions.size(), 90u);
        std::set<std::string> wanted{"array expression", "reductions", "local memory", "cache round trip"};
        if (paths.contains("look-back")) wanted.insert("look-back");  // where algorithms take it
        EXPECT_EQ(paths, wanted);
        EXPECT_FALSE(device["type"] == "cpu" && paths.contains("look-back"));
    }
}

TEST_F(H6_selftest, measures_the_error_of_every_function_and_type) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const std::string seeded = " --seed " + std::to_string(seed());
    const json told = json::parse(run("selftest --ulp --json" + seeded, without_kernel_cache).out);
    EXPECT_EQ(told["all_within"], true);
    for (const json& device : told["devices"]) {
        std::set<std::string> measured;
        for (const json& row : device["functions"]) {
            const std::string name = row["name"], type = row["type"];
            measured.insert(type + " " + name);
            ASSERT_TRUE(row["ulp_worst"].is_number() || row["ulp_allowed"].is_null()) << type << ' ' << name;
            if (row["ulp_allowed"].is_number()) {
                EXPECT_LE(row["ulp_worst"], row["ulp_allowed"]) << type << ' ' << name;
            }
            if (row["ulp_worst"] > 0) {
                EXPECT_FALSE(row["ulp_worst_inputs"].empty()) << type << ' ' << name;
            }
        }
        for (const char* each :
             {"f32 sin", "f32 half_cos", "f32 native_exp", "f32 sqrt", "i64 convert_float_rtp"})
            EXPECT_TRUE(measured.contains(each)) << each;
        EXPECT_FALSE(measured.contains("f32 isnan")) << "has no error to measure";
    }
    const std::string text = run("selftest --ulp" + seeded, without_kernel_cache).out;
    EXPECT_THAT(text, testing::ContainsRegex("\nfunction +.*f32"));
    EXPECT_THAT(text, testing::ContainsRegex("\ntgamma +.*\\(16\\)"));
}

TEST_F(H6_selftest, finds_the_worst_error_and_where_it_is) {
    right_powers device;
    device.given.a.bits[7] = std::bit_cast<std::uint64_t>(3.0);
    device.given.b.bits[7] = std::bit_cast<std::uint64_t>(2.0);
    device.got.bits[7] = std::bit_cast<std::uint64_t>(9.0) + 11;
    const tool::check found = device.compare();
    EXPECT_EQ(found.worst_ulp, 11);
    EXPECT_EQ(found.worst_inputs, (std::vector<std::string>{"3", "2"}));
    const std::string table = tool::ulp_table({found});
    EXPECT_EQ(table, "function             f64\npow              11 (16)\n");
}

TEST_F(H6_selftest, junit_has_a_suite_for_a_device_and_a_case_for_a_check) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    tool::report made{present_devices().front(), {}, 1.5};
    tool::check right, wrong, broken;
    right.kind = wrong.kind = "built-in";
    right.name = "sin";
    wrong.name = "less";
    right.type = wrong.type = "f32";
    wrong.values = 10;
    tool::note_wrong(wrong, {}, {{"1", "<2>"}, "3", "4", 0});
    broken.kind = broken.name = "path";
    broken.fault = "\"a\" & b\nlog\x01";
    made.checks = {right, wrong, broken};
    const std::string xml = tool::as_junit({made}, 7);
    for (const char* each :
         {"<testsuites name=\"balm selftest\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"1.500\">",
          "\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"1.500\">\n    <properties>",
          "<property name=\"seed\" value=\"7\"/>", "<testcase classname=\"built-in\" name=\"f32 sin\"/>",
          "<failure message=\"1 of 10 values are wrong\">f32 less(1, &lt;2&gt;): got 3, expected "
          "4&#10;</failure>",
          "<error message=\"&quot;a&quot; &amp; b&#10;log \"/>"})
        EXPECT_NE(xml.find(each), std::string::npos) << each << '\n' << xml;
    EXPECT_EQ(tool::as_junit({}, 7).find("tests=\"0\""), xml.find("tests=\"3\""));
}

TEST_F(H6_selftest, quick_says_what_it_leaves_out_and_writes_junit) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const std::string file = (cache() / "results.xml").string();
    std::filesystem::create_directories(cache());
    const std::string arguments = " --seed " + std::to_string(seed()) + " --junit '" + file + "'";
    const outcome shown = run("selftest --quick" + arguments);
    EXPECT_EQ(shown.code, 0) << shown.out;
    for (const auto& entry : std::filesystem::directory_iterator(cache()))
        EXPECT_EQ(entry.path(), file) << "a quick run leaves nothing in the cache";
    EXPECT_EQ(shown.err, "") << "no bar where stderr is no terminal";
    EXPECT_THAT(shown.out, testing::HasSubstr("skips"));
    const json told = run_json("selftest --quick --json" + arguments);
    EXPECT_THAT(told["left_out"].get<std::string>(), testing::HasSubstr("i32 and f32"));
    std::set<std::string> types;
    std::size_t checks = 0;
    for (const json& device : told["devices"])
        for (const json& check : device["checks"]) {
            ++checks;
            EXPECT_NE(check["kind"], "array built-in");
            if (check["kind"] == "built-in") types.insert(check["type"]);
        }
    EXPECT_EQ(types, (std::set<std::string>{"i32", "f32"}));
    std::ifstream in(file);
    const std::string xml{std::istreambuf_iterator<char>(in), {}};
    EXPECT_THAT(xml,
                testing::HasSubstr("tests=\"" + std::to_string(checks) + "\" failures=\"0\" errors=\"0\""));
}

TEST_F(H6_selftest, wrong_arguments_are_refused_in_one_line) {
    expect_refusal("selftest --device 'no such device'",
                   present_devices().empty() ? "no device" : "no such device");
    expect_refusal("selftest --device", "--device");
    expect_refusal("selftest --seed twelve", "twelve");
    expect_refusal("selftest gpu", "gpu");
    expect_refusal("selftest --qiuck", "did you mean '--quick'?");
    expect_refusal("selftest --quick --ulp", "--ulp");
    if (!present_devices().empty())
        expect_refusal("selftest --junit /no/such/folder/x.xml", "/no/such/folder/x.xml");
}

}  // namespace
}  // namespace balm::test
