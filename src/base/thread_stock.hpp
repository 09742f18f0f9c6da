#pragma once
// Objects that a thread keeps for reuse, so that repeated operations do not allocate. Static objects and exit
// handlers may use them too, after the thread's own objects have been destroyed.

#include <array>
#include <cstddef>

namespace balm::runtime {

/// Up to `most` reusable objects of type T of this thread. Each is taken out while it is in use, so that uses
/// may nest: a print function may evaluate an array inside a launch.
template <class T, std::size_t most>
class thread_stock {
public:
    static T* take() {
        if (kept.count > 0) [[likely]]
            return kept.objects[--kept.count];
        thread_local const end_of_thread frees_them;  // NOLINT(clang-diagnostic-exit-time-destructors)
        static_cast<void>(frees_them);
        return new T;
    }
    static void give_back(T* used) noexcept {
        if (kept.count == most || kept.is_closed) {
            delete used;
            return;
        }
        used->clear();
        kept.objects[kept.count++] = used;
    }

private:
    struct list {
        std::array<T*, most> objects;
        std::size_t count;
        bool is_closed;
    };
    struct end_of_thread {
        end_of_thread() = default;
        end_of_thread(const end_of_thread&) = delete;
        end_of_thread& operator=(const end_of_thread&) = delete;
        ~end_of_thread() {
            for (; kept.count > 0; --kept.count) delete kept.objects[kept.count - 1];
            kept.is_closed = true;
        }
    };
    // Trivial: it exists whenever the thread runs.
    static constinit inline thread_local list kept{};
};

/// Borrows one of the thread's objects for a scope.
template <class T, std::size_t most = 4>
class scratch {
public:
    scratch() : object_(thread_stock<T, most>::take()) {}
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() { thread_stock<T, most>::give_back(object_); }

    T& operator*() const { return *object_; }
    T* operator->() const { return object_; }

private:
    T* object_;
};

}  // namespace balm::runtime
