#pragma once
// What CUB does to arrays, beside a copy that moves as many bytes.

namespace peer {

/// On work that another function has made, on the device that cuda_functions::select has chosen. Asynchronous
/// but for finish.
struct cuda_work_functions {
    void (*run)(void*);
    void (*copy)(void*);
    void (*finish)();
    void (*release)(void*);
};

}  // namespace peer
