// The filters, their combinations, and the phrases that explain their verdicts.

#include "balm/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "balm/error.hpp"
#include "runtime/choice/filter_judge.hpp"

namespace balm {

namespace detail {

namespace {

bool contains(std::string_view text, std::string_view part) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

verdict type_verdict(const device_info& info, device_type type, const char* words) {
    const bool is = info.type == type;
    return {is, fmt::format("{} {}", is ? "is" : "is not", words)};
}

/// A text property of the device that contains the given text.
class text_node final : public filter_node {
public:
    text_node(const char* what, std::string device_info::*text, std::string_view part)
        : what_(what), text_(text), part_(part) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool found = contains(info.*text_, part_);
        return {found, fmt::format("{} '{}' {} '{}'", what_, info.*text_,
                                   found ? "contains" : "does not contain", shown(part_))};
    }

private:
    const char* what_;
    std::string device_info::*text_;
    std::string part_;
};

class backend_node final : public filter_node {
public:
    explicit backend_node(backend api) : api_(api) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool is = info.api == api_;
        return {is, fmt::format("{} reached through {}", is ? "is" : "is not", to_string(api_))};
    }

private:
    backend api_;
};

class version_node final : public filter_node {
public:
    version_node(unsigned major, unsigned minor) : major_(major), minor_(minor) {}
    verdict judge(const device_info& info, selection&) const override {
        const auto has = number_in(info.version);
        if (!has.has_value()) return {false, fmt::format("its version '{}' has no number", info.version)};
        const bool fits = *has >= std::make_pair(major_, minor_);
        return {fits, fmt::format("its version is {}.{}, which is {} {}.{}", has->first, has->second,
                                  fits ? "at least" : "below", major_, minor_)};
    }

private:
    /// The first number of "OpenCL 3.0 PoCL" or "9.0".
    static std::optional<std::pair<unsigned, unsigned>> number_in(std::string_view text) {
        text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
        const char* const end = text.data() + text.size();
        std::pair<unsigned, unsigned> number;
        const auto [point, fault] = std::from_chars(text.data(), end, number.first);
        if (fault != std::errc()) return std::nullopt;
        if (point != end && *point == '.') std::from_chars(point + 1, end, number.second);
        return number;
    }

    unsigned major_, minor_;
};

class extension_node final : public filter_node {
public:
    explicit extension_node(std::string_view name) : name_(name) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool has = info.has_extension(name_);
        return {has, fmt::format("{} the extension '{}'", has ? "has" : "lacks", shown(name_))};
    }

private:
    std::string name_;
};

class memory_node final : public filter_node {
public:
    explicit memory_node(std::uint64_t bytes) : bytes_(bytes) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool fits = info.global_memory >= bytes_;
        return {fits, fmt::format("has {} bytes of global memory, {} {}", info.global_memory,
                                  fits ? "at least" : "less than", bytes_)};
    }

private:
    std::uint64_t bytes_;
};

class compute_units_node final : public filter_node {
public:
    explicit compute_units_node(std::uint32_t n) : n_(n) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool fits = info.compute_units >= n_;
        return {fits, fmt::format("has {} compute unit{}, {} {}", info.compute_units,
                                  info.compute_units == 1 ? "" : "s", fits ? "at least" : "fewer than", n_)};
    }

private:
    std::uint32_t n_;
};

class uuid_node final : public filter_node {
public:
    explicit uuid_node(std::string_view text) {
        std::string_view digits = text;
        for (const char* kind : {"GPU-", "MIG-"})  // nvidia-smi -L
            if (digits.starts_with(kind)) digits.remove_prefix(4);
        std::size_t count = 0;
        bool is_good = true;
        for (const char each : digits) {
            if (each == '-') continue;
            unsigned value = 0;
            is_good = is_good && count < 32 && std::from_chars(&each, &each + 1, value, 16).ec == std::errc();
            if (is_good)
                wanted_.uuid[count / 2] = static_cast<std::uint8_t>(wanted_.uuid[count / 2] * 16 + value);
            ++count;
        }
        if (!is_good || count != 32)
            throw usage_error(
                fmt::format("filter::uuid was given '{}', which is not a UUID: a UUID is 32 hexadecimal "
                            "digits, as shown by `balm devices --verbose`.",
                            shown(text)));
    }
    verdict judge(const device_info& info, selection&) const override {
        if (info.uuid_text().empty()) return {false, "its uuid is unknown"};
        const bool is = info.uuid == wanted_.uuid;
        return {is, fmt::format("its uuid is {}{}", info.uuid_text(),
                                is ? "" : fmt::format(", not {}", wanted_.uuid_text()))};
    }

private:
    device_info wanted_;  // only its uuid is used
};

class user_node final : public filter_node {
public:
    explicit user_node(std::shared_ptr<const device_predicate> predicate)
        : predicate_(std::move(predicate)) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool accepted = predicate_->accepts(info);
        return {accepted,
                accepted ? "is accepted by the given predicate" : "is rejected by the given predicate"};
    }

private:
    std::shared_ptr<const device_predicate> predicate_;
};

/// A filter that numbers the devices that it judges; a card seen twice counts once.
class number_node : public filter_node {
public:
    number_node() : filter_node(turn::counts) {}
    verdict judge(const device_info& info, selection& state) const override {
        std::vector<device_info>& seen = state.counted[this];
        for (const device_info& earlier : seen)
            if (is_same_card(earlier, info))
                return {false,
                        fmt::format("is the same card as one seen through {}", to_string(earlier.api))};
        seen.push_back(info);
        return judge_number(seen.size() - 1);
    }

private:
    virtual verdict judge_number(std::size_t number) const = 0;
};

class count_node final : public number_node {
public:
    explicit count_node(std::size_t n) : n_(n) {}

private:
    verdict judge_number(std::size_t number) const override {
        const bool is = number < n_;
        return {is, fmt::format("{} among the first {} that match", is ? "is" : "is not", n_)};
    }
    std::size_t n_;
};

class position_node final : public number_node {
public:
    explicit position_node(std::size_t n) : n_(n) {}

private:
    verdict judge_number(std::size_t number) const override {
        const bool is = number == n_;
        return {is, fmt::format("is at position {} of those that match{}", number,
                                is ? "" : fmt::format(", not {}", n_))};
    }
    std::size_t n_;
};

/// `&&` (decided by the first that refuses) or `||` (by the first that accepts).
class pair_node final : public filter_node {
public:
    pair_node(device_filter a, device_filter b, bool is_and)
        : filter_node(std::max(a.turn(), b.turn())),
          first_(std::move(a)),
          second_(std::move(b)),
          is_and_(is_and) {
        // A filter that locks or counts must see only devices that the other accepts, in either order.
        if (is_and_ && first_.turn() > second_.turn()) std::swap(first_, second_);
    }
    verdict judge(const device_info& info, selection& state) const override {
        verdict first = first_.judge(info, state);
        if (first.accepted != is_and_) return first;
        verdict second = second_.judge(info, state);
        if (second.accepted != is_and_) return second;
        return {is_and_, first.words + " and " + second.words};
    }

private:
    device_filter first_;
    device_filter second_;
    bool is_and_;
};

class inverse_node final : public filter_node {
public:
    explicit inverse_node(device_filter of) : filter_node(of.turn()), of_(std::move(of)) {}
    verdict judge(const device_info& info, selection& state) const override {
        const std::size_t held = state.locks.size();
        verdict inner = of_.judge(info, state);
        state.locks.resize(held);
        inner.accepted = !inner.accepted;
        return inner;
    }

private:
    device_filter of_;
};

}  // namespace

std::shared_ptr<const filter_node> predicate_node(std::shared_ptr<const device_predicate> predicate) {
    return std::make_shared<user_node>(std::move(predicate));
}

verdict judge_any(const device_info&, selection&) { return {true, "is a device"}; }
verdict judge_gpu(const device_info& info, selection&) {
    return type_verdict(info, device_type::gpu, "a GPU");
}
verdict judge_cpu(const device_info& info, selection&) {
    return type_verdict(info, device_type::cpu, "a CPU");
}
verdict judge_accelerator(const device_info& info, selection&) {
    return type_verdict(info, device_type::accelerator, "an accelerator");
}
verdict judge_double_precision(const device_info& info, selection&) {
    return {info.has_double, info.has_double ? "has double precision" : "has no double precision"};
}
verdict judge_half_precision(const device_info& info, selection&) {
    return {info.has_half, info.has_half ? "has half precision" : "has no half precision"};
}
verdict judge_images(const device_info& info, selection&) {
    return {info.has_images, info.has_images ? "has images" : "has no images"};
}
verdict judge_sub_groups(const device_info& info, selection&) {
    const bool has = info.sub_group_size != 0;
    return {has, has ? "has sub-groups" : "has no native sub-groups"};
}
verdict judge_exclusive(const device_info& info, selection& state) {
    if (!state.choosing) state.choosing = runtime::lock_choice();
    auto lock = runtime::device_lock::try_acquire(info);
    if (lock == nullptr)
        return {false,
                fmt::format("is held by another process, which asked for exclusive use (it has locked '{}')",
                            runtime::device_lock::path_for(info))};
    state.locks.push_back(std::move(lock));
    return {true, "is not held by another process"};
}
verdict judge_environment(const device_info& info, selection& state) {
    if (!state.environment.has_value()) {
        const environment_filter asked = read_environment_filter();
        device_filter all = asked.choice.value_or(filter::any);
        if (asked.position.has_value()) all = all && filter::position(*asked.position);
        if (asked.max_devices.has_value()) all = all && filter::count(*asked.max_devices);
        state.environment = all;
    }
    return state.environment->judge(info, state);
}

}  // namespace detail

device_filter::device_filter(std::shared_ptr<const detail::filter_node> node)
    : turn_(node->turn()), node_(std::move(node)) {}

detail::verdict device_filter::judge(const device_info& info, detail::selection& state) const {
    const std::size_t held = state.locks.size();
    detail::verdict verdict = node_ != nullptr ? node_->judge(info, state) : judge_(info, state);
    if (!verdict.accepted) state.locks.resize(held);  // the locks that its operands took
    return verdict;
}

device_filter device_filter::both(const device_filter& a, const device_filter& b) {
    return device_filter(std::make_shared<detail::pair_node>(a, b, true));
}

device_filter device_filter::either(const device_filter& a, const device_filter& b) {
    return device_filter(std::make_shared<detail::pair_node>(a, b, false));
}

device_filter device_filter::inverse(const device_filter& a) {
    return device_filter(std::make_shared<detail::inverse_node>(a));
}

namespace filter {

device_filter name(std::string_view part) {
    return device_filter(std::make_shared<detail::text_node>("its name", &device_info::name, part));
}
device_filter platform(std::string_view part) {
    return device_filter(std::make_shared<detail::text_node>("its platform", &device_info::platform, part));
}
device_filter vendor(std::string_view part) {
    return device_filter(std::make_shared<detail::text_node>("its vendor", &device_info::vendor, part));
}
device_filter backend(balm::backend api) {
    return device_filter(std::make_shared<detail::backend_node>(api));
}
device_filter version_at_least(unsigned major, unsigned minor) {
    return device_filter(std::make_shared<detail::version_node>(major, minor));
}
device_filter extension(std::string_view name) {
    if (name.empty())
        throw usage_error("filter::extension was given an empty name; pass one, such as \"cl_khr_fp16\".");
    return device_filter(std::make_shared<detail::extension_node>(name));
}
device_filter memory_at_least(std::uint64_t bytes) {
    return device_filter(std::make_shared<detail::memory_node>(bytes));
}
device_filter compute_units_at_least(std::uint32_t n) {
    return device_filter(std::make_shared<detail::compute_units_node>(n));
}
device_filter uuid(std::string_view text) { return device_filter(std::make_shared<detail::uuid_node>(text)); }
device_filter count(std::size_t n) { return device_filter(std::make_shared<detail::count_node>(n)); }
device_filter position(std::size_t n) { return device_filter(std::make_shared<detail::position_node>(n)); }

}  // namespace filter

}  // namespace balm
