// `exits WAY WORK`: a program that ends in one of many ways while work of one kind is in flight. It prints a
// line for every use that was right, and one that says what was not; exits_test.cpp knows what to expect.
// `exits busy END WORK`: one whose threads do work of one kind over and over, and catch nothing.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "balm/balm.hpp"

namespace {

using namespace balm::dsl;
using balm::vector;

constexpr std::size_t n = 1000, items = std::size_t{1} << 14;

/// Past every buffer: some of the ways to end flush none.
void say(const std::string& line) {
    const std::string text = line + '\n';
    if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) std::_Exit(98);
}

/// What a process hears that was forked too late.
bool is_refusal(const std::exception& fault) {
    return dynamic_cast<const balm::usage_error*>(&fault) != nullptr &&
           std::string_view(fault.what()).find("forked") != std::string_view::npos;
}

const auto add = balm::kernel<1>("add(x, by)", [](Mixed<int> x, Int by) { x[global_id(0)] += by; });
const auto slow = balm::kernel<1>("slow(x, turns)", [](Mixed<int> x, Int turns) {
    Index i = global_id(0);
    Int value = x[i];
    for (Int k : range(turns)) value = value * 5 + k;
    x[i] = value;
});
const auto shout = balm::kernel<1>("shout(x)", [](In<int> x) {
    Index i = global_id(0);
    IF (i < 3) {
        print("work-item {}: {}\n", i, x[i]);
    }
});

/// Says what becomes of a use, which tells whether it was right.
template <class Use>
void say_of(const char* place, Use&& use) {
    try {
        say(std::string(place) + (use() ? " right" : " wrong"));
    } catch (const balm::device_error&) {
        say(std::string(place) + " gone");
    } catch (const std::exception& fault) {
        say(std::string(place) + (is_refusal(fault) ? " refused" : fault.what()));
    }
}
std::vector<int> to_list(const balm::host_array<int>& of) { return {of.begin(), of.end()}; }

/// Vectors that a static object may hold, and what must be in them.
struct worker {
    vector<int> values;
    std::vector<balm::device> on;  // one
    int expected = 0;

    void begin(const balm::context& where) {
        on = {where.device(0)};
        values = vector<int>(where, n, 0);
    }
    /// An array statement, a reduction, a reduction along a dimension and a kernel.
    void use(const char* place) {
        say_of(place, [&] {
            values = values + 1;
            const int total = balm::sum(values);
            on[0].execute(add(values, 2), {n});
            const std::vector<int> rows =
                to_list(vector<int>(balm::sum(balm::view(values, {n / 10, 10}), balm::along(1))).to_host());
            const bool is_right = total == static_cast<int>(n) * (expected + 1) &&
                                  rows == std::vector<int>(n / 10, 10 * (expected + 3));
            expected += 3;
            return is_right;
        });
    }
};

struct late_user : worker {
    const char* place;
    explicit late_user(const char* where) : place(where) {}
    late_user(const late_user&) = delete;
    late_user& operator=(const late_user&) = delete;
    ~late_user() {
        if (values.size() > 0) use(place);
    }
};

/// A vector that all CPU devices share, and a kernel on each of them.
struct late_user_of_several {
    const char* place;
    std::vector<balm::device> on;
    vector<int> values;
    std::vector<balm::mixed_buffer<int>> buffers;
    int expected = 0;

    explicit late_user_of_several(const char* where) : place(where) {}
    late_user_of_several(const late_user_of_several&) = delete;
    late_user_of_several& operator=(const late_user_of_several&) = delete;
    ~late_user_of_several() { use(place); }

    void begin() {
        const balm::context where(balm::filter::cpu);
        values = vector<int>(where, n, 0);
        for (std::size_t k = 0; k < where.size(); ++k) {
            on.push_back(where.device(k));
            buffers.push_back(on[k].mixed_buffer<int>(n));
            buffers[k].fill(0);
        }
    }
    /// An array statement, an exchange between the devices, a reduction and a kernel on each.
    void use(const char* where) {
        say_of(where, [&] {
            values = values + 1;
            values = values[n - 1 - balm::element_index()] + 1;
            expected += 2;
            bool is_right = balm::sum(values) == static_cast<int>(n) * expected;
            for (std::size_t k = 0; k < on.size(); ++k) {
                on[k].execute(add(buffers[k], 2), {n});
                is_right &= to_list(buffers[k].read()) == std::vector<int>(n, expected);
            }
            return is_right;
        });
    }
};

// ---- what is in flight ----

/// Lives to the end, as what is in flight needs it.
struct flight {
    balm::context where;
    vector<int> a{where, n, 1}, b{where, n, 2}, total{where, 1, 0}, reversed{where, n, 0};
    vector<int> of_callbacks{where, n, 3};  // which come in one thread
    vector<float> matrix{where, 1024, 1.f}, product{where, 1024};
    balm::mixed_buffer<int> memory = where.device(0).mixed_buffer<int>(items);
    balm::mixed_buffer<int> gated = where.device(0).mixed_buffer<int>(n);
    balm::queue other = where.device(0).make_queue(), waiting = where.device(0).make_queue();
    std::vector<balm::event> events;
    balm::user_event gate;
};

void nothing(flight&) {}
void arrays(flight& f) {
    for (int k = 0; k < 50; ++k) f.a = f.a * 3 + f.b;
    f.reversed = f.a[n - 1 - balm::element_index()] + 1;
}
void reductions(flight& f) {
    arrays(f);
    for (int k = 0; k < 10; ++k) balm::sum_into(f.total, f.a * k);
}
void kernels(flight& f) {
    for (int k = 0; k < 10; ++k)
        f.events.push_back(f.where.device(0).execute(slow(f.memory, 3'000), {items}));
    f.events.push_back(f.other.execute(add(f.memory, 1), {items}));
}
/// By the vendor's library, where there is one.
void products(flight& f) {
    const auto A = balm::view(f.matrix, {32, 32}), B = balm::view(f.product, {32, 32});
    f.product = balm::matmul(A, A, balm::multiply_by::vendor_library);
    const balm::queue_scope there(f.other);
    f.matrix = balm::matmul(A, B, balm::multiply_by::vendor_library);
}
/// The kernel's output is shown by whoever waits, or at the end.
void prints(flight& f) { f.events.push_back(f.where.device(0).execute(shout(f.a), {n})); }
void callbacks(flight& f) {
    kernels(f);
    for (const balm::event& each : f.events)
        each.on_complete([&f] { f.of_callbacks = f.of_callbacks + balm::sum(f.of_callbacks); });
}
/// Commands that the driver does not have yet, and that nobody will let go.
void gates(flight& f) {
    f.events.push_back(f.waiting.execute(add(f.gated, 1), {n}, balm::event(f.gate)));
    f.events.back().on_complete([](const std::exception_ptr&) {});  // that it fails is heard
}
void all(flight& f) {
    reductions(f);
    prints(f);
    callbacks(f);
    gates(f);
}

struct work {
    const char* name;
    void (*start)(flight&);
};
constexpr work works[] = {
    {"nothing", nothing}, {"arrays", arrays},     {"reductions", reductions},
    {"kernels", kernels}, {"prints", prints},     {"callbacks", callbacks},
    {"gates", gates},     {"products", products}, {"all", all},
};

void (*start_work)(flight&) = nothing;
flight& the_flight() {
    static flight& made = *new flight;
    return made;
}
void start() { start_work(the_flight()); }

// ---- ways to end ----

late_user at_namespace_scope("namespace");

void return_from_main() { start(); }
void call_exit() {
    start();
    std::exit(7);
}
void call_quick_exit() {
    start();
    std::at_quick_exit([] { say("quick handler right"); });
    std::quick_exit(7);
}
void call_underscore_exit() {
    start();
    std::_Exit(7);
}
void call_abort() {
    start();
    std::abort();
}
void throw_out_of_main() {
    std::set_terminate([] { std::abort(); });  // else libstdc++ says on stderr what was thrown
    start();
    throw balm::usage_error("thrown out of main");
}
void handler_first() {
    static worker& late = *new worker;
    std::atexit([] { late.use("atexit"); });
    late.begin(the_flight().where);
    late.use("main");
    start();
}
void handler_last() {
    static worker& late = *new worker;
    late.begin(the_flight().where);
    late.use("main");
    std::atexit([] { late.use("atexit"); });
    start();
}
/// Threads' own objects go before any handler; nothing was used before that.
void handler_alone() {
    static worker& late = *new worker;
    std::atexit([] {
        late.begin(balm::context());
        late.use("atexit");
        late.use("atexit");
    });
}
void static_objects() {
    static late_user before("static before");
    at_namespace_scope.begin(the_flight().where);
    at_namespace_scope.use("main");
    before.begin(the_flight().where);
    static late_user after("static after");
    after.begin(the_flight().where);
    before.use("main");
    start();
}
/// Objects that are older than a compiler, and at their end have a kernel for it that was not compiled
/// before, or not for such a launch.
void compile_late() {
    static late_user user("late");
    user.begin(the_flight().where);
    start();
}
/// The same with several devices, each with its compiler.
void compile_late_on_several() {
    static late_user_of_several user("late");
    user.begin();
    start();
}
void several_devices() {
    static late_user_of_several before("before");
    before.begin();
    before.use("main");
    say(std::to_string(before.on.size()) + " devices");
    static late_user_of_several after("after");
    after.begin();
    start();
}
struct late_launcher {
    balm::mixed_buffer<int> memory = the_flight().where.device(0).mixed_buffer<int>(n);
    ~late_launcher() {
        try {
            memory.fill(1);
            the_flight().where.device(0).execute(add(memory, 1), {n}, {8});
            const auto values = memory.read();
            say(std::all_of(values.begin(), values.end(), [](int x) { return x == 2; }) ? "late right"
                                                                                        : "late wrong");
        } catch (const balm::device_error&) {  // only PoCL compiles for a launch
            const bool is_pocl =
                the_flight().where.device(0).info().platform == "Portable Computing Language";
            say(is_pocl ? "late right" : "late gone");
        }
    }
};
void launch_late() {
    static const late_launcher launcher;
    // Groups of another size: the same variant, since both sizes divide the grid's.
    the_flight().where.device(0).execute(add(launcher.memory, 1), {n}, {4});
    start();
}
void thread_objects() {
    thread_local late_user before("thread before");
    before.begin(the_flight().where);
    before.use("main");
    thread_local late_user after("thread after");
    after.begin(the_flight().where);
    std::thread([] {
        thread_local late_user before_use("other thread before");
        before_use.begin(the_flight().where);
        before_use.use("other thread");
        thread_local late_user after_use("other thread after");
        after_use.begin(the_flight().where);
        start();
    }).join();
    start();
}
/// Threads that never end, and of which exit() knows nothing.
void detached_threads() {
    static std::atomic<int> begun = 0;
    for (int k = 0; k < 4; ++k)
        std::thread([] {
            auto& mine = *new worker;
            mine.begin(the_flight().where);
            for (bool is_first = true;; is_first = false) {
                try {
                    mine.values = mine.values + 1;
                    static_cast<void>(balm::sum(mine.values));
                } catch (const balm::error&) {  // a driver that has shut down
                }
                if (is_first) ++begun;
            }
        }).detach();
    while (begun < 4) std::this_thread::yield();
    start();
}
/// Of a thread that compiles: exit() waits for that. Where another thread's first compilation is under way,
/// nothing comes ahead of the destruction of what the compiler has made.
void exit_from_thread() {
    std::thread([] {
        start();
        std::exit(7);
    }).join();
}
/// Drivers cannot open files when they are first asked for devices, but later.
void begin_without_files() {
    std::vector<int> files;
    for (int file = 0; (file = ::open("/dev/null", O_RDONLY)) >= 0;) files.push_back(file);
    try {
        const balm::context none;
        say("context made");
    } catch (const balm::device_error& fault) {
        say(std::string_view(fault.what()).find("ulimit -n") != std::string_view::npos ? "no files"
                                                                                       : fault.what());
    }
    for (const int file : files) ::close(file);
    worker w;
    w.begin(balm::context());
    w.use("main");
    start();
}
/// Binaries are fetched with little address space left.
void limit_memory() {
    worker w;
    w.begin(the_flight().where);
    w.use("main");
    the_flight().where.device(0).finish();
    std::size_t pages = 0;
    if (std::FILE* const sizes = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(sizes, "%zu", &pages) != 1) pages = 0;
        std::fclose(sizes);
    }
    const rlim_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (std::size_t{240} << 20);
    const rlimit limit{most, most};
    if (pages == 0 || ::setrlimit(RLIMIT_AS, &limit) != 0) say("no limit");
}
/// As exit() in main, which has used a device, while others still begin; what they begin too late is refused.
void exit_while_threads_begin() {
    worker w;
    w.begin(the_flight().where);
    w.use("main");
    for (int k = 0; k < 4; ++k)
        std::thread([] {
            try {
                start_work(*new flight);
            } catch (const balm::error&) {
            }
        }).detach();
    std::this_thread::sleep_for(std::chrono::microseconds(std::random_device()() % 200'000));
    std::exit(7);
}

void wait_for_a_signal() {
    start();
    if (std::raise(SIGTERM) != 0) std::_Exit(98);
    for (;;) ::pause();
}
void signal_by_default() { wait_for_a_signal(); }
void signal_with_exit() {
    std::signal(SIGTERM, [](int) { std::exit(7); });
    wait_for_a_signal();
}

/// The status of a child that has ended by itself, as a shell has it; what it says is on our stdout.
int status_of(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return 97;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
template <class Body>
void fork_and(Body&& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        body();
        std::_Exit(0);
    }
    say("child " + std::to_string(status_of(child)));
}
/// What a forked child hears of every use.
template <class Use>
void expect_refusal(const char* what, Use&& use) {
    try {
        use();
        say(std::string(what) + " accepted");
    } catch (const std::exception& fault) {
        say(std::string(what) + (is_refusal(fault) ? " refused" : fault.what()));
    }
}
void fork_and_use() {
    worker w;
    w.begin(the_flight().where);
    w.use("parent");
    start();
    const balm::event before = the_flight().memory.fill(1);
    fork_and([&] {
        flight& f = the_flight();
        expect_refusal("array", [&] { f.a = f.a + 1; });
        expect_refusal("new expression", [&] { f.a = f.b * f.a - 7; });
        expect_refusal("reduction", [&] { static_cast<void>(balm::sum(f.a)); });
        expect_refusal("kernel", [&] { f.where.device(0).execute(add(f.memory, 1), {n}); });
        expect_refusal("read", [&] { static_cast<void>(f.a.to_host()); });
        expect_refusal("write", [&] { f.memory.fill(1); });
        expect_refusal("map", [&] { static_cast<void>(f.a.map()); });
        expect_refusal("vector", [&] { const vector<int> more(f.where, n, 0); });
        expect_refusal("queue", [&] { static_cast<void>(f.where.device(0).make_queue()); });
        expect_refusal("context", [] { const balm::context more; });
        expect_refusal("finish", [&] { f.where.device(0).finish(); });
        const balm::event written = f.events.empty() ? before : f.events.front();
        expect_refusal("event", [&] { written.wait(); });
        const auto traced =
            balm::kernel<1>("set(x)", [](Out<int> x) { x[global_id(0)] = 1; });  // needs no device
    });
    w.use("parent");
}
void fork_and_destroy() {
    start();
    auto gone = std::make_unique<flight>();
    gone->a = gone->b + 1;
    gone->events.push_back(gone->other.execute(add(gone->a, 1), {n}));
    fork_and([&] { gone.reset(); });
    say("sum " + std::to_string(balm::sum(gone->a)));
}
void fork_and_exit() {
    static late_user user("parent");
    user.begin(the_flight().where);
    user.use("parent");
    start();
    fork_and([] { std::exit(0); });
}
void fork_and_underscore_exit() {
    start();
    fork_and([] { std::_Exit(0); });
}
void fork_and_exec() {
    worker w;
    w.begin(the_flight().where);
    start();
    fork_and([] {
        ::execl("/proc/self/exe", "exits", "handler_last", "nothing", nullptr);
        std::_Exit(98);
    });
    w.use("parent");
}
void fork_before_use() {
    fork_and([] {
        worker w;
        w.begin(balm::context());
        w.use("child");
        start();
        std::exit(0);
    });
    worker w;
    w.begin(balm::context());
    w.use("parent");
    start();
}
/// Children that are forked while other threads are inside of Balm.
void fork_while_threads_work() {
    static std::atomic<bool> is_over = false;
    std::vector<std::thread> threads;
    for (int k = 0; k < 2; ++k)
        threads.emplace_back([] {
            worker mine;
            mine.begin(the_flight().where);
            while (!is_over) {
                mine.values = mine.values + 1;
                static_cast<void>(balm::sum(mine.values));
            }
        });
    start();
    for (int k = 0; k < 20; ++k)
        fork_and([] { expect_refusal("array", [] { the_flight().a = the_flight().a + 1; }); });
    is_over = true;
    for (std::thread& each : threads) each.join();
}

/// Libraries that each contain Balm, closed while they have work in flight.
struct plugin {
    void* handle;
    int (*use)(int);

    explicit plugin(const char* name) {
        std::string path(4096, '\0');
        path.resize(static_cast<std::size_t>(::readlink("/proc/self/exe", path.data(), path.size())));
        path = path.substr(0, path.rfind('/') + 1) + name;
        handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) say(::dlerror());
        use = reinterpret_cast<int (*)(int)>(::dlsym(handle, "use_balm"));
    }
    void close() const { ::dlclose(handle); }
    void expect(int times) const { say(use(times) == 0 ? "plugin right" : "plugin wrong"); }
};
void close_library() {
    const plugin first("libexits_plugin.so");
    first.expect(3);
    first.close();
    const plugin again("libexits_plugin.so");
    again.expect(2);
    again.close();
    start();
}
/// Nothing of the thread that used it is left, which would keep the library.
void close_library_after_thread() {
    std::thread([] {
        const plugin only("libexits_plugin.so");
        only.expect(3);
        only.close();
    }).join();
    start();
}
void close_libraries() {
    const plugin one("libexits_plugin.so"), two("libexits_other_plugin.so");
    one.expect(1);
    start();
    two.expect(2);
    one.close();
    two.expect(1);
    two.close();
    worker w;
    w.begin(the_flight().where);
    w.use("main");
}

// ---- threads that never stop ----

/// What a busy thread uses. Nothing of it is destroyed.
struct busy_thread {
    balm::context where;
    balm::device on = where.device(0);
    balm::queue own = on.make_queue();
    vector<int> x{where, n, 1}, y{where, n, 2};
    balm::mixed_buffer<int> memory = on.mixed_buffer<int>(n);
    int number, step = 0;

    explicit busy_thread(int k) : number(k) {}
};

void launch(busy_thread& t) { t.on.execute(add(t.memory, 1), {n}); }
void launch_on_own_queue(busy_thread& t) { t.own.execute(add(t.memory, 1), {n}); }
void compute(busy_thread& t) {
    t.x = t.x + t.y;
    static_cast<void>(balm::sum(t.x));
}
void compile(busy_thread& t) { t.x = t.x * balm::constant(1 + t.number + 8 * t.step) + t.y; }
void launch_other_shapes(busy_thread& t) {
    t.on.execute(add(t.memory, 1), {n - static_cast<std::size_t>(t.step % 200)});
}
void allocate(busy_thread& t) {
    const vector<int> more(t.where, n + static_cast<std::size_t>(t.step % 7 * 10'000), t.step);
    const auto buffer = t.on.mixed_buffer<int>(n);
}
void transfer(busy_thread& t) {
    t.memory.write(std::vector<int>(n, t.step));
    t.x = t.y;
    t.memory.copy_to(t.on.mixed_buffer<int>(n));
    static_cast<void>(t.x.to_host());
}
void wait_for_events(busy_thread& t) {
    const balm::event done = t.own.execute(add(t.memory, 1), {n});
    const balm::event all = t.on.queue().record(done);
    all.wait();
    t.own.finish();
}
/// For an event that nobody sets.
void wait_for_ever(busy_thread& t) {
    const balm::user_event never;
    const balm::event later = t.own.execute(add(t.memory, 1), {n}, balm::event(never));
    (t.number % 2 == 0 ? later : balm::event(never)).wait();
}
void call_back(busy_thread& t) {
    const balm::event done = t.on.execute(add(t.memory, 1), {n});
    done.on_complete([&t] { t.y = t.y + 1; });
    done.wait();
}
void show(busy_thread& t) { t.on.execute(shout(t.x), {n}); }
void begin_again(busy_thread& t) { static_cast<void>(*new busy_thread(t.number)); }

struct busy_work {
    const char* name;
    void (*step)(busy_thread&);
};
constexpr busy_work busy_works[] = {
    {"launch", launch},
    {"launch_on_own_queue", launch_on_own_queue},
    {"launch_other_shapes", launch_other_shapes},
    {"compute", compute},
    {"compile", compile},
    {"allocate", allocate},
    {"transfer", transfer},
    {"wait_for_events", wait_for_events},
    {"wait_for_ever", wait_for_ever},
    {"call_back", call_back},
    {"show", show},
    {"begin_again", begin_again},
};

void (*busy_step)(busy_thread&) = nullptr;
std::atomic<bool> may_end = false;
std::atomic<int> steps = 0;

void be_busy(int number) {
    for (auto& mine = *new busy_thread(number); !may_end; ++mine.step, ++steps) busy_step(mine);
}
void start_busy_threads() {
    for (int k = 0; k < 3; ++k) std::thread(be_busy, k).detach();
}
/// Anywhere from the first use to work in full swing.
void wait_a_little() {
    std::this_thread::sleep_for(std::chrono::microseconds(std::random_device()() % 400'000));
}

/// Threads that a static object joins, which is older than Balm's exit handler.
struct joiner {
    std::vector<std::thread> threads;
    ~joiner() {
        may_end = true;
        for (std::thread& each : threads) each.join();
    }
} joins_at_end;

int return_busy() {
    start_busy_threads();
    wait_a_little();
    return 3;
}
int return_busy_after_use() {
    worker w;
    w.begin(balm::context());
    w.use("main");
    return return_busy();
}
int exit_busy() {
    start_busy_threads();
    wait_a_little();
    std::exit(7);
}
int exit_busy_from_thread() {
    start_busy_threads();
    std::thread([] {
        busy_thread mine(7);
        compute(mine);
        wait_a_little();
        std::exit(7);
    }).detach();
    be_busy(8);
    return 98;
}
int quick_exit_busy() {
    start_busy_threads();
    wait_a_little();
    std::quick_exit(7);
}
/// All has been compiled once: the joined threads find no compiler after the exit handler.
int join_busy_threads() {
    for (int k = 0; k < 3; ++k) {
        joins_at_end.threads.emplace_back(be_busy, k);
        for (const int before = steps; steps < before + 2;) std::this_thread::yield();
    }
    wait_a_little();
    return 3;
}

struct busy_end {
    const char* name;
    int (*end)();
};
constexpr busy_end busy_ends[] = {
    {"return", return_busy},
    {"return_after_use", return_busy_after_use},
    {"exit", exit_busy},
    {"exit_from_thread", exit_busy_from_thread},
    {"quick_exit", quick_exit_busy},
    {"join", join_busy_threads},
};

struct way {
    const char* name;
    void (*end)();
};
constexpr way ways[] = {
    {"return", return_from_main},
    {"exit", call_exit},
    {"quick_exit", call_quick_exit},
    {"_exit", call_underscore_exit},
    {"abort", call_abort},
    {"throw", throw_out_of_main},
    {"handler_first", handler_first},
    {"handler_last", handler_last},
    {"handler_alone", handler_alone},
    {"static_objects", static_objects},
    {"compile_late", compile_late},
    {"launch_late", launch_late},
    {"compile_late_on_several", compile_late_on_several},
    {"several_devices", several_devices},
    {"thread_objects", thread_objects},
    {"detached_threads", detached_threads},
    {"exit_from_thread", exit_from_thread},
    {"exit_while_threads_begin", exit_while_threads_begin},
    {"begin_without_files", begin_without_files},
    {"limit_memory", limit_memory},
    {"signal", signal_by_default},
    {"signal_with_exit", signal_with_exit},
    {"fork_and_use", fork_and_use},
    {"fork_and_destroy", fork_and_destroy},
    {"fork_and_exit", fork_and_exit},
    {"fork_and__exit", fork_and_underscore_exit},
    {"fork_and_exec", fork_and_exec},
    {"fork_before_use", fork_before_use},
    {"fork_while_threads_work", fork_while_threads_work},
    {"close_library", close_library},
    {"close_library_after_thread", close_library_after_thread},
    {"close_libraries", close_libraries},
};

template <class Row, std::size_t Count>
const Row& row(const Row (&table)[Count], std::string_view name) {
    const Row* const found =
        std::find_if(table, table + Count, [&](const Row& each) { return each.name == name; });
    if (found != table + Count) return *found;
    std::fprintf(stderr, "exits: no row '%s'\n", std::string(name).c_str());
    std::_Exit(99);
}

}  // namespace

int main(int argc, char** argv) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    if (argc == 4 && std::string_view(argv[1]) == "busy") {
        busy_step = row(busy_works, argv[3]).step;
        return row(busy_ends, argv[2]).end();
    }
    if (argc != 3) {
        std::fputs("exits WAY WORK, or exits busy END WORK\n", stderr);
        return 99;
    }
    start_work = row(works, argv[2]).start;
    row(ways, argv[1]).end();
    return 0;
}
