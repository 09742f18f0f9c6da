#include "runtime/queue/print_outlet.hpp"

#include <algorithm>
#include <exception>
#include <iostream>
#include <utility>

#include "base/thread_number.hpp"

namespace balm::runtime {

namespace {

constinit thread_local int functions_called = 0;  // nested, of several outlets

}  // namespace

bool print_outlet::is_writing() noexcept { return functions_called > 0; }

void print_outlet::write_to(function write) {
    auto made = std::make_shared<const function>(std::move(write));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&, self = this_thread_number()] { return writer_ == 0 || writer_ == self; });
    write_.swap(made);  // the old function is destroyed without the lock
    lock.unlock();
}

void print_outlet::add(std::vector<std::string> prints) {
    const std::lock_guard lock(mutex_);
    launches_.push_back({this_thread_number(), std::move(prints)});
}

void print_outlet::write_out() {
    const std::uint64_t self = this_thread_number();
    const auto is_own = [&](const launch& each) { return each.owner == self; };
    std::exception_ptr first;
    std::unique_lock lock(mutex_);
    if (writer_ == self) return;
    while (std::any_of(launches_.begin(), launches_.end(), is_own)) {
        changed_.wait(lock, [&] { return is_own(launches_.front()) && writer_ == 0; });
        writer_ = self;
        const std::vector<std::string> prints = std::move(launches_.front().prints);
        const std::shared_ptr<const function> write = write_;
        lock.unlock();
        ++functions_called;
        try {
            for (const std::string& each : prints) (*write)(each);
        } catch (...) {
            if (!first) first = std::current_exception();
        }
        --functions_called;
        lock.lock();
        launches_.pop_front();
        writer_ = 0;
        changed_.notify_all();
    }
    lock.unlock();
    if (first) std::rethrow_exception(first);
}

std::shared_ptr<print_outlet> make_standard_outlet() {
    return std::make_shared<print_outlet>([](std::string_view text) { std::cout << text; });
}

}  // namespace balm::runtime
