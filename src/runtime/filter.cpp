// The filters, their combinations, and the words in which they explain themselves.

#include "balm/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "balm/error.hpp"
#include "runtime/filter_judge.hpp"
#include "runtime/platform.hpp"

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

/// A text of the device that contains another.
class text_node final : public filter_node {
public:
    text_node(const char* what, std::string device_info::*text, std::string_view part)
        : what_(what), text_(text), part_(part) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool found = contains(info.*text_, part_);
        return {found, fmt::format("{} '{}' {} '{}'", what_, info.*text_,
                                   found ? "contains" : "does not contain", part_)};
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

class user_node final : public filter_node {
public:
    explicit user_node(std::shared_ptr<const device_predicate> predicate)
        : predicate_(std::move(predicate)) {}
    verdict judge(const device_info& info, selection&) const override {
        const bool accepted = predicate_->accepts(info);
        return {accepted,
                accepted ? "is accepted by the given function" : "is refused by the given function"};
    }

private:
    std::shared_ptr<const device_predicate> predicate_;
};

/// A filter that numbers the devices it is asked about: a card seen twice counts once.
class number_node : public filter_node {
public:
    number_node() : filter_node(true) {}
    verdict judge(const device_info& info, selection& state) const override {
        std::vector<device_info>& seen = state.counted[this];
        for (const device_info& earlier : seen)
            if (runtime::is_same_card(earlier, info))
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
        return {is, fmt::format("{} among the first {} that fit", is ? "is" : "is not", n_)};
    }
    std::size_t n_;
};

class position_node final : public number_node {
public:
    explicit position_node(std::size_t n) : n_(n) {}

private:
    verdict judge_number(std::size_t number) const override {
        const bool is = number == n_;
        return {is, fmt::format("is at position {} of those that fit{}", number,
                                is ? "" : fmt::format(", not {}", n_))};
    }
    std::size_t n_;
};

/// `&&` (decided by the first that refuses) or `||` (by the first that accepts).
class pair_node final : public filter_node {
public:
    pair_node(device_filter a, device_filter b, bool is_and)
        : filter_node(a.counts() || b.counts()),
          first_(std::move(a)),
          second_(std::move(b)),
          is_and_(is_and) {
        // A filter that counts must see only what the other accepts, whichever is written first.
        if (is_and_ && first_.counts() && !second_.counts()) std::swap(first_, second_);
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
    explicit inverse_node(device_filter of) : filter_node(of.counts()), of_(std::move(of)) {}
    verdict judge(const device_info& info, selection& state) const override {
        verdict inner = of_.judge(info, state);
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
    : counts_(node->counts()), node_(std::move(node)) {}

detail::verdict device_filter::judge(const device_info& info, detail::selection& state) const {
    return node_ != nullptr ? node_->judge(info, state) : judge_(info, state);
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
device_filter count(std::size_t n) { return device_filter(std::make_shared<detail::count_node>(n)); }
device_filter position(std::size_t n) { return device_filter(std::make_shared<detail::position_node>(n)); }

}  // namespace filter

}  // namespace balm
