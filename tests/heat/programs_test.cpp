// The programs as a user of the heat course runs them: in a shell, in pipes, with wrong arguments too.

#include "programs.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string>

#include "generate.hpp"
#include "golden.hpp"
#include "reference.hpp"

namespace {

using heat_test::golden;
using heat_test::golden_path;
using heat_test::parse;

using H1_programs = heat_test::heat_programs;
using H4_programs = heat_test::heat_programs;
using H5_programs = heat_test::heat_programs;
using H9_programs = heat_test::heat_programs;
using H10_programs = heat_test::heat_programs;
using heat_test::outcome;

TEST_F(H1_programs, make_world_writes_the_golden_worlds) {
    const outcome text = run("make_world 16 0.1"), binary = run("make_world 10 0.1 1"),
                  defaults = run("make_world");
    EXPECT_EQ(text.out, golden("slalom_16.in.txt"));
    EXPECT_EQ(binary.out, golden("slalom_10.in.bin"));
    EXPECT_EQ(defaults.out, golden("slalom_10.in.txt"));
    for (const outcome* result : {&text, &binary, &defaults}) {
        EXPECT_EQ(result->code, 0);
        EXPECT_EQ(result->err, "");
    }
}

TEST_F(H1_programs, step_world_reaches_the_golden_results) {
    for (const heat_test::golden_run& golden_run : heat_test::golden_runs) {
        const bool binary = std::string(golden_run.result).ends_with(".bin");
        const outcome result =
            run("step_world " + std::to_string(golden_run.dt) + " " + std::to_string(golden_run.n) +
                (binary ? " 1 <'" : " <'") + golden_path(golden_run.input) + "'");
        ASSERT_EQ(result.code, 0) << result.err;
        const heat::world world = parse(result.out), expected = parse(golden(golden_run.result));
        EXPECT_EQ(result.out.find("HPCEHeatWorldV0Binary") == 0, binary);
        EXPECT_EQ(world.properties, expected.properties);
        EXPECT_LE(heat::max_difference(world.state, expected.state), 2e-5) << golden_run.result;
    }
}

TEST_F(H1_programs, step_world_says_on_stderr_what_it_does) {
    const outcome result = run("make_world 64 | step_world >world.txt");
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "Loaded world with w=64, h=64\nStepping by dt=0.1 for n=1\n");
    EXPECT_EQ(run("make_world 20 | step_world 0.05 0 >world.txt").err,
              "Loaded world with w=20, h=20\nStepping by dt=0.05 for n=0\n");
}

TEST_F(H4_programs, step_world_stops_when_the_world_is_steady) {
    const outcome steady = run("make_world 12 0.5 | step_world --until-steady 1e-4 0.5 1000000 1");
    EXPECT_EQ(steady.code, 0) << steady.err;
    const std::string words = "Steady after ";
    const std::size_t at = steady.err.find(words);
    ASSERT_NE(at, std::string::npos) << steady.err;
    EXPECT_NE(steady.err.find(" steps: the last changed no temperature by more than 0.0001\n"),
              std::string::npos);
    const auto steps = static_cast<unsigned>(std::stoul(steady.err.substr(at + words.size())));
    heat::world serial = parse(run("make_world 12 0.5").out);
    heat::step_serial(serial, 0.5f, steps);
    EXPECT_LE(heat::max_difference(parse(steady.out).state, serial.state), 1e-5);

    const outcome not_steady = run("make_world 12 0.5 | step_world --until-steady 1e-4 0.5 5");
    EXPECT_EQ(not_steady.code, 0);
    EXPECT_NE(not_steady.err.find("Not steady after 5 steps: the last changed a temperature by 0."),
              std::string::npos)
        << not_steady.err;
}

TEST_F(H4_programs, step_world_paints_frames) {
    const outcome result =
        run("make_world 12 0.5 >start && step_world --frames new/folder --every 3 0.5 7 1 <start >end && "
            "step_world --frames none 0.5 0 <start | cmp - start && ls new/folder none");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(
        result.out,
        "new/folder:\nstep_0000000000.png\nstep_0000000003.png\nstep_0000000006.png\nstep_0000000007.png\n\n"
        "none:\nstep_0000000000.png\n");
    const outcome last = run("render_world last.png <end && cmp last.png new/folder/step_0000000007.png");
    EXPECT_EQ(last.code, 0) << last.err;
}

// PoCL shows two devices then, with a memory each as far as Balm is concerned.
constexpr const char* two_devices = "POCL_DEVICES='basic pthread' ";

TEST_F(H9_programs, step_world_divides_a_world_among_devices) {
    const outcome result =
        run("make_world 300 0.1 1 >start && step_world --frames one --every 20 0.1 50 1 <start >end && " +
            std::string(two_devices) +
            "step_world --devices all --frames two --every 20 --verbose 0.1 50 1 <start >end2 && "
            "cmp end end2 && diff -r one two && " +
            two_devices + "step_world --devices 1 --frames three --every 20 0.1 50 1 <start | cmp - end");
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_NE(result.err.find("World: on "), std::string::npos) << result.err;
    expect_refusal("step_world --devices 99 <start", "step_world", "--devices is 99, but there ");
    expect_refusal("step_world --devices 0 <start", "step_world", "--devices is \"0\"");
    expect_refusal("step_world --devices 2x <start", "step_world", "--devices is \"2x\"");
}

TEST_F(H10_programs, step_world_streams_a_world_through_little_memory) {
    const outcome result = run(
        "make_world 900 0.1 1 >start && step_world --until-steady 1e-9 --animate one.png --every 50 0.1 50 1 "
        "<start >end && step_world --memory 7M --until-steady 1e-9 --animate bands.png --every 50 "
        "--verbose "
        "0.1 50 1 <start >end2 && cmp end end2 && cmp one.png bands.png && " +
        std::string(two_devices) +
        "step_world --devices all --memory 7M 0.1 50 1 <start >end3 && "
        "step_world --memory 1G 0.1 50 1 <start | cmp - end3");
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_NE(result.err.find("World: on 1 device, in "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("Not steady after 50 steps"), std::string::npos) << result.err;
    expect_refusal("step_world --memory 10K <start", "step_world",
                   "10240 bytes of device memory are not enough");
    for (const std::string size : {"0", "-1", "K", "1.5G", "10Q", "99999999999T"})
        expect_refusal("step_world --memory=" + size + " <start", "step_world", "not a number of bytes");
}

TEST_F(H4_programs, step_world_shows_a_bar_on_a_terminal) {
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0)
        GTEST_SKIP() << "no terminal to be had";
    const std::string name = ::ptsname(terminal);
    const outcome result = run("make_world 12 0.5 | step_world 0.5 100 2>" + name + " >end");
    EXPECT_EQ(result.code, 0) << result.err;
    std::string shown;
    std::array<char, 4096> bytes;
    for (ssize_t count;
         (count = ::read(terminal, bytes.data(), bytes.size())) > 0;)  // fails once all is read
        shown.append(bytes.data(), static_cast<std::size_t>(count));
    ::close(terminal);
    EXPECT_NE(shown.find("\rstepping          [" + std::string(50, ' ') + "]   0 %"), std::string::npos)
        << shown;
    EXPECT_NE(shown.find("#] 100 %, "), std::string::npos) << shown;
    std::istringstream drawn(shown);
    for (std::string line; std::getline(drawn, line, '\r');)
        EXPECT_LT(line.size(), 80u) << "the terminal is not wider";
    EXPECT_NE(shown.find("cell/s"), std::string::npos) << shown;
}

TEST_F(H1_programs, render_world_paints_in_other_colours_with_a_legend) {
    const outcome result =
        run("make_world 40 >w && render_world a.png <w && render_world b.png --colours perceptual <w && "
            "render_world c.png --legend <w && ! cmp -s a.png b.png && ! cmp -s a.png c.png");
    EXPECT_EQ(result.code, 0) << result.err;
    expect_refusal("render_world d.png --colours jet <w", "render_world", "jet");
    expect_refusal("render_world d.png --scale 0 <w", "render_world", "--scale is \"0\"");
}

TEST_F(H1_programs, render_world_paints_what_comes_through_the_pipe) {
    const outcome result =
        run("make_world 100 0.1 1 | step_world 0.1 100 1 2>steps | render_world dump.bmp && "
            "make_world 10 | render_world dump.png");
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(exists("dump.bmp"));
    EXPECT_TRUE(exists("dump.png"));
}

TEST_F(H1_programs, heat_demo_checks_itself_and_paints) {
    const outcome result = run("heat_demo --size 64 --steps 100 --frames 5 --output demo.png");
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_NE(result.out.find("64 x 64 slalom world, 100 steps"), std::string::npos);
    EXPECT_NE(result.out.find("cells per second"), std::string::npos);
    EXPECT_NE(result.out.find("ratio"), std::string::npos);
    EXPECT_NE(result.err.find("100 %"), std::string::npos);
    EXPECT_EQ(result.err.find('\r'), std::string::npos) << "no bar where there is no terminal";
    EXPECT_TRUE(exists("demo.png"));
    const std::string film = run("cat demo-animated.png").out;
    std::size_t pictures = 0;
    for (std::size_t at = film.find("fcTL"); at != std::string::npos; at = film.find("fcTL", at + 1))
        ++pictures;
    EXPECT_EQ(pictures, 5u);
    expect_refusal("heat_demo --output a.png --animation a.png", "heat_demo", "different names");
    expect_refusal("heat_demo --animation a.gif", "heat_demo", ".png or .apng");
}

TEST_F(H1_programs, heat_demo_times_no_compiler) {
    // Remainders of launches have kernels of their own; all are made before the first progress is reported.
    const outcome result =
        run("BALM_CACHE=0 BALM_SHOW_KERNELS=1 heat_demo --size 40 --steps 1100 --frames 9 --output demo.png");
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    const std::size_t last_kernel = result.err.rfind("// Balm: kernel 'heat_");
    const std::size_t first_report = result.err.find("\ndevice 0 %");
    ASSERT_NE(last_kernel, std::string::npos);
    ASSERT_NE(first_report, std::string::npos) << result.err;
    EXPECT_LT(last_kernel, first_report);
}

TEST_F(H1_programs, heat_demo_leads_heat_through_the_slalom) {
    const outcome result = run("heat_demo --size 24 --frames 4 --output demo.bmp --animation film.apng");
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_NE(result.out.find("24 x 24 slalom world, 3456 steps of 10 s"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("from the serial reference after 1000 steps"), std::string::npos) << result.out;
    EXPECT_TRUE(exists("demo.bmp"));
    EXPECT_TRUE(exists("film.apng"));
    // As it ends, the last chamber is warm: behind both walls, far from the cold cell.
    heat::world world = heat::make_slalom(24, 24, 0.1f);
    heat::step_serial(world, 10, 100);
    EXPECT_LT(world.state[20 * 24 + 20], 0.001f);
    heat::step_serial(world, 10, 3456 - 100);
    EXPECT_GT(world.state[20 * 24 + 20], 0.03f);
}

TEST_F(H1_programs, help_is_no_fault) {
    for (const std::string program : {"make_world", "step_world", "render_world", "heat_demo"}) {
        const outcome result = run(program + " --help");
        EXPECT_EQ(result.code, 0) << program;
        EXPECT_NE(result.out.find(program), std::string::npos);
        EXPECT_EQ(result.err, "");
    }
}

TEST_F(H5_programs, wrong_arguments_are_refused) {
    for (const std::string arguments : {"-3", "0", "3.5", "ten", "99999999999", "10 nan", "10 -0.1", "10 inf",
                                        "10 0.1 2", "10 0.1 yes", "10 0.1 0 0", "--sise"})
        expect_refusal("make_world " + arguments, "make_world",
                       arguments.substr(arguments.rfind(' ') + 1, 3));
    for (const std::string arguments :
         {"nan", "-0.1", "inf", "0.1x", "0.1 -1", "0.1 1.5", "0.1 4294967296", "0.1 1 2"})
        expect_refusal("step_world " + arguments + " </dev/null", "step_world", "number");
    expect_refusal("make_world 10 1e30 >world; step_world 1e30 <world", "step_world", "too large");
    for (const std::string option : {"--until-steady nan", "--until-steady -1", "--every 0", "--every x"})
        expect_refusal("step_world " + option + " </dev/null", "step_world",
                       option.substr(0, option.find(' ')));
    expect_refusal("touch file; make_world >world; step_world --frames file/in <world", "step_world",
                   "the folder \"file/in\"");
    expect_refusal("render_world", "render_world", "required");
    expect_refusal("render_world world.gif", "render_world", ".bmp or .png");
    expect_refusal("heat_demo --size 0", "heat_demo", "--size");
}

TEST_F(H5_programs, damaged_worlds_are_refused) {
    for (const std::string program : {"step_world", "render_world world.png"}) {
        const std::string name = program.substr(0, program.find(' '));
        expect_refusal(program + " </dev/null", name, "empty");
        expect_refusal(program + " </dev/zero", name, "not a heat world");
        expect_refusal(program + " </", name, "cannot be read");
        expect_refusal("make_world >world; head -c 700 world | " + program, name, "ends");
        expect_refusal("make_world 10 0.1 1 >world; head -c 700 world | " + program, name, "ends");
        expect_refusal("{ make_world; echo more; } >world; " + program + " <world", name, "after \"End\"");
        expect_refusal("make_world >world; sed 's/ 1 1/ 3 1/' world | " + program, name, "flags");
        expect_refusal("make_world >world; sed 's/^10 10/1000000000 1000000000/' world | " + program, name,
                       "flags");
    }
    EXPECT_FALSE(exists("world.png"));
}

TEST_F(H5_programs, output_that_cannot_be_written_is_a_fault) {
    if (std::filesystem::exists("/dev/full"))
        expect_refusal("make_world >/dev/full", "make_world", "No space left on device");
    expect_refusal("{ make_world 1000 || echo $? >code; } | head -c 1 >/dev/null; exit $(cat code)",
                   "make_world", "Broken pipe");
    expect_refusal("make_world >world; render_world no/such/folder.png <world", "render_world",
                   "No such file");
}

}  // namespace
