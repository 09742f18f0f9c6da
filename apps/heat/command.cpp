// Command lines of the heat programs. In: argv. Out: checked values, exit codes, one line for each error.
// Only this file depends on the operating system (signals, the directory of a program).

#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <csignal>
#include <iostream>
#include <limits>
#include <string_view>

namespace heat {
namespace {

template <class Number>
bool parse(const std::string& text, Number& value) {
    const char* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, value);
    return fault == std::errc{} && stop == end && !text.empty();
}

template <class Number>
void add_parsed(CLI::App& app, const std::string& name, Number& value, const std::string& description,
                const std::string& expected, bool (*is_allowed)(Number, Number, Number), Number lowest,
                Number highest) {
    app.add_option_function<std::string>(
           name,
           [=, &value](const std::string& text) {
               Number parsed{};
               if (!parse(text, parsed) || !is_allowed(parsed, lowest, highest))
                   throw CLI::ValidationError(fmt::format("{} is \"{}\", not {}", name, text, expected));
               value = parsed;
           },
           description)
        ->type_name("NUMBER")
        ->default_str(fmt::format("{}", value));
}

// The number of bytes in a text such as "64M"; 0 if it is not one.
std::uint64_t bytes_of(const std::string& text) {
    constexpr std::string_view units = "KMGT";
    const std::size_t unit = text.empty() ? std::string_view::npos : units.find(text.back());
    const bool has_unit = unit != std::string_view::npos;
    const unsigned shift = has_unit ? 10 * (static_cast<unsigned>(unit) + 1) : 0;
    std::uint64_t number = 0;
    if (!parse(has_unit ? text.substr(0, text.size() - 1) : text, number)) return 0;
    return number <= (std::numeric_limits<std::uint64_t>::max() >> shift) ? number << shift : 0;
}

// CLI11 describes some errors in several lines.
std::string one_line(std::string text) {
    for (char& character : text)
        if (character >= 0 && character < ' ') character = ' ';
    while (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

int complain(const CLI::App& app, const std::string& what) {
    std::cerr << fmt::format("{}: {}\n", app.get_name(), one_line(what));
    return 1;
}

}  // namespace

std::shared_ptr<CLI::App> command_line(const std::string& description, const std::string& name) {
    return std::make_shared<CLI::App>(description, name);
}

void add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& description) {
    CLI::Option* const option = app.add_option(name, value, description)->capture_default_str();
    if (!name.starts_with("-")) option->required();
}

void add_flag(CLI::App& app, const std::string& name, bool& value, const std::string& description) {
    app.add_flag(name, value, description);
}

bool is_given(const CLI::App& app, const std::string& name) { return app.count(name) > 0; }

void add_number(CLI::App& app, const std::string& name, unsigned& value, unsigned lowest, unsigned highest,
                const std::string& description) {
    add_parsed<unsigned>(
        app, name, value, description, fmt::format("a whole number from {} to {}", lowest, highest),
        [](unsigned number, unsigned low, unsigned high) { return number >= low && number <= high; }, lowest,
        highest);
}

void add_number(CLI::App& app, const std::string& name, float& value, const std::string& description) {
    add_parsed<float>(
        app, name, value, description, "a finite number of at least 0",
        [](float number, float low, float high) { return number >= low && number <= high; }, 0.0f,
        std::numeric_limits<float>::max());
}

void add_bytes(CLI::App& app, const std::string& name, std::optional<std::uint64_t>& value,
               const std::string& description) {
    app.add_option_function<std::string>(
           name,
           [=, &value](const std::string& text) {
               value = bytes_of(text);
               if (*value == 0)
                   throw CLI::ValidationError(
                       fmt::format("{} is \"{}\", not a number of bytes such as 500M or 40G", name, text));
           },
           description)
        ->type_name("BYTES");
}

void add_number_or_all(CLI::App& app, const std::string& name, std::optional<unsigned>& value,
                       const std::string& description) {
    app.add_option_function<std::string>(
           name,
           [=, &value](const std::string& text) {
               unsigned number = 0;
               if (text != "all" && (!parse(text, number) || number == 0))
                   throw CLI::ValidationError(
                       fmt::format(R"({} is "{}", not a whole number from 1, or "all")", name, text));
               value = number;
           },
           description)
        ->type_name("NUMBER");
}

int run_command(CLI::App& app, int argc, char** argv, const std::function<int()>& body) {
    std::signal(SIGPIPE, SIG_IGN);
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    try {
        app.parse(argc, argv);
        return body();
    } catch (const CLI::Success& help) {
        return app.exit(help) == 0 ? 0 : 1;
    } catch (const CLI::ParseError& fault) {
        return complain(app, fmt::format("{} (see {} --help)", fault.what(), app.get_name()));
    } catch (const std::bad_alloc&) {
        return complain(app, "there is not enough memory for a world of this size");
    } catch (const std::length_error&) {
        return complain(app, "there is not enough memory for a world of this size");
    } catch (const std::exception& fault) {
        return complain(app, fault.what());
    }
}

std::filesystem::path program_directory() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace heat
