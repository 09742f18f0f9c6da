// `balm doctor`: finds what is broken in a machine's set-up, says how to mend it, and is quiet where nothing
// is.

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "finding.hpp"
#include "tool/program.hpp"

namespace balm::test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;
using testing::HasSubstr;
using tool::severity;

class B10_doctor : public tool_program {
protected:
    fs::path folder(const char* name) const {
        const fs::path made = cache().parent_path() / name;
        fs::create_directories(made);
        return made;
    }
    static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
    /// Of the findings with this severity, all in one text.
    std::string told(const outcome& result, const std::string& how) const {
        std::string all;
        const json whole = json::parse(result.out);
        for (const json& each : whole["findings"])
            if (each["severity"] == how) {
                all += each["subject"].get<std::string>() + ": " + each["words"].get<std::string>() + '\n';
                if (!each["mend"].is_null()) all += "-> " + each["mend"].get<std::string>() + '\n';
            }
        return all;
    }
};

TEST_F(B10_doctor, looks_at_every_device_of_this_machine) {
    const outcome result = run("doctor --json");
    EXPECT_EQ(result.code, told(result, "problem").empty() ? 0 : 1) << result.out;
    for (const device& each : present_devices())
        EXPECT_THAT(told(result, "ok"), HasSubstr(each.info().name + " (" + to_string(each.info().api)));
    const outcome again = run("doctor");
    EXPECT_EQ(again.code, result.code);
    EXPECT_THAT(again.out, HasSubstr("its kernel was cached"));
    EXPECT_THAT(again.out, HasSubstr(cache().string()));
}

TEST_F(B10_doctor, knows_the_variables_and_guesses_misspelt_ones) {
    const auto all = tool::look_at_environment({"HOME=/root", "BALM_TYPE=gpu", "BALM_DEVCE=H100",
                                                "BALM_SOMETHING_ELSE=1", "BALM_TEST_SEED=3", "BALM", ""});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_THAT(all[0].words, HasSubstr("BALM_TYPE=gpu: contexts use only devices of this type"));
    EXPECT_EQ(all[1].mend, "did you mean BALM_DEVICE?");
    EXPECT_EQ(all[2].mend, "unset BALM_SOMETHING_ELSE");
}

TEST_F(B10_doctor, finds_drivers_that_cannot_be_opened) {
    const fs::path drivers = folder("drivers");
    write(drivers / "broken.icd", "libno_such_driver.so.1\n");
    write(drivers / "empty.icd", "");
    write(drivers / "other.txt", "libno_such_driver.so.2\n");
    const outcome result =
        run("doctor --json", "OCL_ICD_FILENAMES= OCL_ICD_VENDORS='" + drivers.string() + "/'");
    EXPECT_EQ(result.code, 1);
    const std::string problems = told(result, "problem");
    EXPECT_THAT(problems,
                HasSubstr("-> install the package that provides libno_such_driver.so.1, or remove " +
                          (drivers / "broken.icd").string()));
    EXPECT_THAT(problems, HasSubstr("empty.icd: does not name a library"));
    EXPECT_THAT(problems, testing::Not(HasSubstr("other.txt")));
}

TEST_F(B10_doctor, says_why_the_loader_finds_no_driver) {
    const outcome result =
        run("doctor --json", "OCL_ICD_FILENAMES= OCL_ICD_VENDORS='" + folder("none").string() + "/'");
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(told(result, "problem"),
                HasSubstr("-> unset OCL_ICD_VENDORS: drivers are in /etc/OpenCL/vendors"));
    EXPECT_THAT(told(result, "note"), HasSubstr("no usable .icd file in " + folder("none").string()));
}

TEST_F(B10_doctor, finds_drivers_without_a_loader) {
    const fs::path libraries = folder("libraries");
    for (const char* name : {"libOpenCL.so", "libOpenCL.so.1"}) write(libraries / name, "not a library\n");
    const outcome result = run("doctor --json", "LD_LIBRARY_PATH='" + libraries.string() + "'");
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(told(result, "problem"), HasSubstr("-> for OpenCL devices: apt install ocl-icd-libopencl1"));
}

TEST_F(B10_doctor, knows_a_single_driver_that_the_loader_is_given) {
    const fs::path driver = folder("single") / "broken.icd";
    write(driver, "libno_such_driver.so.1\n");
    const outcome result =
        run("doctor --json", "OCL_ICD_FILENAMES= OCL_ICD_VENDORS='" + driver.string() + "'");
    EXPECT_THAT(told(result, "problem"), HasSubstr("or remove " + driver.string()));
}

TEST_F(B10_doctor, finds_a_cache_that_others_may_write_and_one_that_is_off) {
    const fs::path open = folder("open");
    fs::permissions(open, fs::perms::all);
    outcome result = run("doctor --json", "BALM_CACHE_DIR='" + open.string() + "'");
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(told(result, "problem"), HasSubstr("chmod go-w '" + open.string() + "'"));
    result = run("doctor --json", "BALM_CACHE=0");
    EXPECT_THAT(told(result, "note"), HasSubstr("every run compiles its kernels"));
}

TEST_F(B10_doctor, finds_wishes_that_no_device_fulfils) {
    const outcome result = run("doctor --json", "BALM_DEVICE='no device has this name'");
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(told(result, "problem"), HasSubstr("default context: "));
}

}  // namespace
}  // namespace balm::test
