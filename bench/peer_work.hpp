#pragma once
// The work of a CUDA library on its arrays, beside a copy that moves as many bytes.

namespace peer {

/// For work that another function has made, on the device chosen by cuda_functions::select. Asynchronous
/// except finish.
struct cuda_work_functions {
    void (*run)(void*);
    void (*copy)(void*);
    void (*finish)();
    void (*release)(void*);
};

}  // namespace peer
