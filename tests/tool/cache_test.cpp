// `balm cache`: lists, sizes and empties the directory that the environment names.

#include <chrono>

#include "runtime/program/disk_cache.hpp"
#include "tool/program.hpp"

namespace balm::test {
namespace {

using nlohmann::json;

class B5_cache_tool : public tool_program {
protected:
    runtime::digest store(const std::string& description, std::size_t bytes) const {
        const runtime::digest key = runtime::hasher{}.text(description).result();
        runtime::disk_cache(cache(), 1 << 20).store(key, std::vector<std::byte>(bytes), description);
        return key;
    }
};

TEST_F(B5_cache_tool, lists_what_is_there) {
    const std::string key = to_hex(store("scale on device 'x'", 1000)), other = to_hex(store("sum", 10));
    for (const std::string arguments : {"cache --json", "cache list --json"}) {
        const json listed = run_json(arguments, "BALM_CACHE_SIZE=7");
        EXPECT_EQ(listed["directory"], cache().string());
        EXPECT_EQ(listed["limit_bytes"], 7u << 20);
        EXPECT_EQ(listed["count"], 2);
        ASSERT_EQ(listed["entries"].size(), 2u);
        const json& entry = listed["entries"][listed["entries"][0]["key"] == key ? 0 : 1];
        EXPECT_EQ(entry["key"], key);
        EXPECT_EQ(entry["description"], "scale on device 'x'");
        EXPECT_EQ(entry["kernel"], "scale");
        EXPECT_EQ(entry["device"], "'x'");
        EXPECT_TRUE(entry["compiled"].is_null() || entry["compiled"].get<std::string>().ends_with("Z"));
        EXPECT_GT(entry["bytes"], 1000);
        EXPECT_EQ(entry["damaged"], false);
        EXPECT_EQ(entry["last_used"].get<std::string>().size(), std::string("2026-11-21T10:00:00Z").size());
    }
    const outcome shown = run("cache");
    EXPECT_EQ(shown.code, 0);
    for (const std::string& word : {key.substr(0, 12), other.substr(0, 12), std::string("2 kernels")})
        EXPECT_NE(shown.out.find(word), std::string::npos) << word;
}

TEST_F(B5_cache_tool, shows_kernel_device_age_and_size_in_columns) {
    const std::string key = to_hex(store("scale on device 'x' (opencl)", 1000));
    const auto two_days_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(50);
    std::filesystem::last_write_time(cache() / (key + ".bin"), two_days_ago);
    const std::string shown = run("cache").out;
    EXPECT_THAT(shown, testing::ContainsRegex("\nkernel  device +age +used +uses +bytes  key\n"));
    EXPECT_THAT(
        shown, testing::ContainsRegex("\nscale   'x' \\(opencl\\) +(unknown|[0-9]+ s) +2 days +1 +1[0-9]+  " +
                                      key.substr(0, 12) + "\n"));
}

TEST_F(B5_cache_tool, counts_the_uses_of_each_kernel) {
    const runtime::digest key = store("scale on device 'x'", 1000);
    const std::filesystem::path file = cache() / (to_hex(key) + ".bin");
    const auto load_after = [&](std::chrono::minutes pause) {
        std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - pause);
        EXPECT_EQ(runtime::disk_cache(cache(), 1 << 20).load(key), std::vector<std::byte>(1000));
    };
    EXPECT_EQ(run_json("cache --json")["entries"][0]["uses"], 1) << "it was compiled";
    for (int k = 0; k < 3; ++k) load_after(std::chrono::minutes(11));
    EXPECT_EQ(run_json("cache --json")["entries"][0]["uses"], 4);
    load_after(std::chrono::minutes(1));
    EXPECT_EQ(run_json("cache --json")["entries"][0]["uses"], 4) << "loads within ten minutes are one";
    EXPECT_THAT(run("cache").out, testing::ContainsRegex(" +4 +1[0-9]+  " + to_hex(key).substr(0, 12)));
}

TEST_F(B5_cache_tool, tells_a_damaged_entry) {
    const std::string key = to_hex(store("sum", 10));
    std::filesystem::resize_file(cache() / (key + ".bin"), 30);
    EXPECT_EQ(run_json("cache --json")["entries"][0]["damaged"], true);
    EXPECT_NE(run("cache").out.find("damaged"), std::string::npos);
}

TEST_F(B5_cache_tool, sizes_and_clears) {
    store("scale", 1000);
    const json before = run_json("cache size --json");
    EXPECT_EQ(before["count"], 1);
    EXPECT_GT(before["bytes"], 1000);
    EXPECT_NE(run("cache size").out.find("1 kernel in"), std::string::npos);
    const json cleared = run_json("cache clear --json");
    EXPECT_EQ(cleared["removed"], 1);
    EXPECT_EQ(cleared["count"], 0);
    EXPECT_EQ(run("cache clear").code, 0);
}

TEST_F(B5_cache_tool, says_that_a_directory_others_may_write_to_is_not_used) {
    store("sum", 10);
    EXPECT_TRUE(run_json("cache --json")["refused"].is_null());
    std::filesystem::permissions(cache(), std::filesystem::perms::group_write,
                                 std::filesystem::perm_options::add);
    EXPECT_NE(run_json("cache --json")["refused"].get<std::string>().find("its group"), std::string::npos);
    EXPECT_NE(run("cache").out.find("not used"), std::string::npos);
    EXPECT_EQ(run_json("cache clear --json")["removed"], 1) << "it can be emptied all the same";
}

TEST_F(B5_cache_tool, says_when_the_cache_is_off) {
    EXPECT_TRUE(run_json("cache --json", "BALM_CACHE=0")["directory"].is_null());
    EXPECT_NE(run("cache", "BALM_CACHE=0").out.find("off"), std::string::npos);
    EXPECT_EQ(run("cache clear", "BALM_CACHE=0").code, 0);
}

TEST_F(B5_cache_tool, wrong_arguments_are_refused_in_one_line) {
    expect_refusal("cache empty", "unknown command 'empty' (see balm cache --help)");
    expect_refusal("cache claer", "unknown command 'claer'; did you mean 'clear'?");
    expect_refusal("cache size clear", "clear");
    expect_refusal("cache --jason", "--json");
    expect_refusal("cache size --jsno", "unknown option '--jsno'; did you mean '--json'?");
}

}  // namespace
}  // namespace balm::test
