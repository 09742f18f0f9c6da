// What the tool shows on terminals and nowhere else: colours, and progress of what takes long.

#include "terminal/terminal.hpp"

#include "terminal/progress.hpp"
#include "tool/program.hpp"

namespace balm::test {
namespace {

using terminal::colors;
using testing::HasSubstr;
using testing::Not;
using H6_terminal = tool_program;

constexpr const char* escape = "\x1b[";

TEST(H6_colors, follow_terminal_and_environment_unless_chosen) {
    using terminal::has_colors;
    EXPECT_TRUE(has_colors(colors::automatic, true, nullptr, "xterm"));
    EXPECT_TRUE(has_colors(colors::automatic, true, "", "xterm")) << "an empty NO_COLOR counts as not set";
    EXPECT_FALSE(has_colors(colors::automatic, false, nullptr, "xterm"));
    EXPECT_FALSE(has_colors(colors::automatic, true, "1", "xterm"));
    EXPECT_FALSE(has_colors(colors::automatic, true, nullptr, "dumb"));
    EXPECT_FALSE(has_colors(colors::automatic, true, nullptr, nullptr));
    EXPECT_TRUE(has_colors(colors::always, false, "1", "dumb"));
    EXPECT_FALSE(has_colors(colors::never, true, nullptr, "xterm"));
}

TEST_F(H6_terminal, has_colors_where_a_person_looks) {
    EXPECT_THAT(run("doctor").out, Not(HasSubstr(escape)));
    EXPECT_THAT(run("doctor --color always").out, HasSubstr(escape));
    EXPECT_THAT(run_on_terminal("doctor", "NO_COLOR= TERM=xterm").out, HasSubstr(escape));
    EXPECT_THAT(run_on_terminal("doctor", "NO_COLOR=1 TERM=xterm").out, Not(HasSubstr(escape)));
    EXPECT_THAT(run_on_terminal("doctor", "NO_COLOR= TERM=dumb").out, Not(HasSubstr(escape)));
    EXPECT_THAT(run_on_terminal("doctor --color=never", "NO_COLOR= TERM=xterm").out, Not(HasSubstr(escape)));
    EXPECT_THAT(run("cache list --color always --json").out, Not(HasSubstr(escape)))
        << "JSON is for programs";
    expect_refusal("doctor --color sometimes", "sometimes");
}

TEST(H6_progress, is_shown_on_terminals_alone_and_erased_at_the_end) {
    using terminal::progress;
    const progress::options at_once{.each = {}, .stays = false};
    const auto show_half = [](const progress::options& how) {
        progress bar("far", 10, how);
        bar.show(5);
    };
    const std::string shown = on_terminal([&] { show_half(at_once); }).out;
    EXPECT_THAT(shown, HasSubstr("\rfar               [####"));
    EXPECT_THAT(shown, HasSubstr("]  50 %"));
    EXPECT_THAT(shown, Not(HasSubstr("\n"))) << "one line";
    const std::size_t erased = shown.rfind('\r', shown.size() - 2);
    EXPECT_TRUE(shown.ends_with("\r"));
    EXPECT_EQ(shown.find_first_not_of(" \r", erased), std::string::npos) << "nothing is left";
    EXPECT_EQ(on_terminal([&] { show_half(progress::for_long_runs()); }).out, "") << "was over at once";
    testing::internal::CaptureStderr();
    show_half(at_once);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(H6_progress, bar_gets_narrower_and_rates_are_optional) {
    EXPECT_EQ(terminal::progress_text("selftest", 5, 10, {}, 4, 10),
              "selftest          [#####     ]  50 %, 4 s left");
    EXPECT_EQ(terminal::progress_text("selftest", 10, 10, {}, 4, 4), "selftest          [####] 100 %, 4 s");
    EXPECT_EQ(terminal::progress_text("stepping", 1, 2, {5e3, "cell"}, 1, 2),
              "stepping          [# ]  50 %, 5 kcell/s, 1 s left");
}

}  // namespace
}  // namespace balm::test
