// An actor: a service that owns a device and executes requests of other threads, one after the other. Callers
// receive a future and continue; the service keeps several requests in flight on the device, and a callback
// answers each when its result is ready.

#include <balm/balm.hpp>
#include <condition_variable>
#include <deque>
#include <future>
#include <iostream>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace balm::dsl;

const auto horner =
    balm::kernel<1>("horner(terms, c, x, y)", [](Int terms, In<long> c, In<long> x, Out<long> y) {
        Index i = global_id(0);
        Var<long> value = 0L;
        for (Int k : range(terms)) value = value * x[i] + c[k];
        y[i] = value;
    });

/// Evaluates polynomials: a request has a polynomial's coefficients and the points to evaluate it at.
class polynomial_service {
public:
    explicit polynomial_service(balm::device on) : device_(std::move(on)) {}

    /// May be called from any thread. Does not block.
    std::future<std::vector<long>> ask(std::vector<long> coefficients, std::vector<long> places) {
        request asked{std::move(coefficients), std::move(places), {}};
        auto answer = asked.answer.get_future();
        {
            const std::lock_guard lock(mutex_);
            mailbox_.push_back(std::move(asked));
        }
        changed_.notify_one();
        return answer;
    }

private:
    struct request {
        std::vector<long> coefficients, places;
        std::promise<std::vector<long>> answer;
    };

    void serve(const std::stop_token& stop) {
        for (;;) {
            request next;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, stop, [this] { return !mailbox_.empty(); });
                if (mailbox_.empty()) return;  // a stop was requested, and no request is left
                next = std::move(mailbox_.front());
                mailbox_.pop_front();
            }
            try {
                start(std::move(next));
            } catch (...) {
                next.answer.set_exception(std::current_exception());
            }
        }
    }

    void start(request&& asked) {
        if (asked.coefficients.empty()) throw std::invalid_argument("a polynomial without coefficients");
        const std::size_t n = asked.places.size(), terms = asked.coefficients.size();
        auto c = device_.in_buffer<long>(terms), x = device_.in_buffer<long>(n);
        auto y = device_.out_buffer<long>(n);
        const balm::event c_written = c.write(std::move(asked.coefficients)),
                          x_written = x.write(std::move(asked.places));
        const balm::event done =
            device_.execute(horner(static_cast<int>(terms), c, x, y), {n}, c_written, x_written);
        auto result = std::make_shared<balm::pending_read<long>>(y.read_async(done));
        const balm::event read = result->done();
        read.on_complete([result, answer = std::move(asked.answer)](std::exception_ptr failure) mutable {
            if (failure) return answer.set_exception(failure);
            const auto values = result->get();
            answer.set_value({values.begin(), values.end()});
        });
    }

    balm::device device_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<request> mailbox_;
    std::jthread thread_{[this](const std::stop_token& stop) { serve(stop); }};  // last member: joined first
};

}  // namespace

int main() {
    balm::context ctx;
    polynomial_service service(ctx.device(0));

    std::vector<long> places(1000);
    std::iota(places.begin(), places.end(), -500L);

    // Four clients, each with its own polynomials: k x² + x - 1 for k = 4 c, 4 c + 1, …
    std::vector<long> right(4, 0);
    {
        std::vector<std::jthread> clients;
        for (long client = 0; client < 4; ++client)
            clients.emplace_back([&, client] {
                std::vector<std::future<std::vector<long>>> answers;
                for (long k = 4 * client; k < 4 * client + 4; ++k)
                    answers.push_back(service.ask({k, 1, -1}, places));
                for (long k = 4 * client; k < 4 * client + 4; ++k) {
                    const std::vector<long> values = answers[static_cast<std::size_t>(k - 4 * client)].get();
                    for (std::size_t i = 0; i < places.size(); ++i)
                        right[static_cast<std::size_t>(client)] +=
                            values[i] == (k * places[i] + 1) * places[i] - 1;
                }
            });
    }
    for (std::size_t client = 0; client < right.size(); ++client)
        std::cout << "client " << client << ": " << right[client] << " of 4000 values are right\n";

    try {
        service.ask({}, places).get();
    } catch (const std::invalid_argument& refused) {
        std::cout << "refused: " << refused.what() << '\n';
    }
    std::cout << "x^3 at 1, 2, 3:";
    for (const long value : service.ask({1, 0, 0, 0}, {1, 2, 3}).get()) std::cout << ' ' << value;
    std::cout << '\n';
}
