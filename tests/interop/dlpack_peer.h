/* A library in C that knows DLPack and nothing of Balm: what it is given it sums, and what it makes it hands out. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct peer_sum {
    int ok; /* 0: it cannot use such a tensor */
    int ndim;
    int code, bits, device_type;
    int64_t shape[9];
    double total;   /* of all elements */
    double checked; /* of element number k, counted row by row, times k + 1 */
    uint64_t flags;
};

/* Takes a tensor of host memory: sums it, and gives it back. */
struct peer_sum peer_consume(void* managed, int is_versioned);
/* A tensor of float, rows x columns of host memory, whose element (i, j) is 10 * i + j: by columns if so asked,
   else by rows. */
void* peer_produce(int64_t rows, int64_t columns, int by_columns, int is_versioned);
/* The same of another type: `code` and `bits` of DLPack; element k is k. Host memory. */
void* peer_produce_numbers(int code, int bits, int64_t count);
/* A tensor of memory that is not the peer's: count floats from byte_offset on of a device's memory. */
void* peer_wrap(void* data, int device_type, int device_id, int64_t rows, int64_t columns, int64_t row_stride,
                int64_t column_stride, uint64_t byte_offset);
/* Tensors that were made and not given back. */
int peer_alive(void);
void peer_give_back(void* managed, int is_versioned);

#ifdef __cplusplus
}
#endif
