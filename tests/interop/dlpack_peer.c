/* Compiled as C, with the header of DLPack itself. It may be older than the struct with a version, which is declared
   here then, by the specification of version 1.0. */
#include "interop/dlpack_peer.h"

#include <dlpack/dlpack.h>
#include <stdlib.h>
#include <string.h>

#if !defined(DLPACK_MAJOR_VERSION)
typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;
typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned* self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;
#endif

static int alive = 0;

static double number_at(const DLTensor* t, int64_t place) {
    const char* at = (const char*)t->data + t->byte_offset + place * (t->dtype.bits / 8);
    switch (100 * t->dtype.code + t->dtype.bits) {
        case 100 * kDLInt + 8: return *(const int8_t*)at;
        case 100 * kDLInt + 16: return *(const int16_t*)at;
        case 100 * kDLInt + 32: return *(const int32_t*)at;
        case 100 * kDLInt + 64: return (double)*(const int64_t*)at;
        case 100 * kDLUInt + 8: return *(const uint8_t*)at;
        case 100 * kDLUInt + 16: return *(const uint16_t*)at;
        case 100 * kDLUInt + 32: return *(const uint32_t*)at;
        case 100 * kDLUInt + 64: return (double)*(const uint64_t*)at;
        case 100 * kDLFloat + 32: return *(const float*)at;
        case 100 * kDLFloat + 64: return *(const double*)at;
        case 600 + 8: return *(const uint8_t*)at; /* kDLBool */
        default: return 0;
    }
}

struct peer_sum peer_consume(void* managed, int is_versioned) {
    DLManagedTensor* plain = (DLManagedTensor*)managed;
    DLManagedTensorVersioned* versioned = (DLManagedTensorVersioned*)managed;
    const DLTensor* t = is_versioned ? &versioned->dl_tensor : &plain->dl_tensor;
    struct peer_sum sum;
    int64_t index[9] = {0};
    int64_t count = 1, place = 0, k;
    int d;
    memset(&sum, 0, sizeof sum);
    sum.ndim = t->ndim;
    sum.code = t->dtype.code;
    sum.bits = t->dtype.bits;
    sum.device_type = (int)t->device.device_type;
    sum.flags = is_versioned ? versioned->flags : 0;
    sum.ok = t->device.device_type == kDLCPU && t->ndim <= 9 && t->dtype.lanes == 1 &&
             (!is_versioned || versioned->version.major == 1);
    if (sum.ok) {
        for (d = 0; d < t->ndim; ++d) {
            sum.shape[d] = t->shape[d];
            count *= t->shape[d];
        }
        for (k = 0; k < count; ++k) {
            const double x = number_at(t, place);
            sum.total += x;
            sum.checked += x * (double)(k + 1);
            for (d = t->ndim - 1; d >= 0; --d) {
                place += t->strides[d];
                if (++index[d] < t->shape[d]) break;
                place -= t->strides[d] * t->shape[d];
                index[d] = 0;
            }
        }
    }
    peer_give_back(managed, is_versioned);
    return sum;
}

void peer_give_back(void* managed, int is_versioned) {
    if (is_versioned) {
        ((DLManagedTensorVersioned*)managed)->deleter((DLManagedTensorVersioned*)managed);
    } else {
        ((DLManagedTensor*)managed)->deleter((DLManagedTensor*)managed);
    }
}

struct made {
    int64_t shape[2], strides[2];
    void* memory;
};

static void free_made(struct made* of) {
    free(of->memory);
    free(of);
    --alive;
}
static void free_plain(DLManagedTensor* self) {
    free_made((struct made*)self->manager_ctx);
    free(self);
}
static void free_versioned(DLManagedTensorVersioned* self) {
    free_made((struct made*)self->manager_ctx);
    free(self);
}

static void* hand_out(struct made* of, DLTensor t, int is_versioned) {
    ++alive;
    t.shape = of->shape;
    if (is_versioned) {
        DLManagedTensorVersioned* m = (DLManagedTensorVersioned*)calloc(1, sizeof *m);
        m->version.major = 1;
        m->manager_ctx = of;
        m->deleter = free_versioned;
        m->dl_tensor = t;
        return m;
    } else {
        DLManagedTensor* m = (DLManagedTensor*)calloc(1, sizeof *m);
        m->manager_ctx = of;
        m->deleter = free_plain;
        m->dl_tensor = t;
        return m;
    }
}

void* peer_produce(int64_t rows, int64_t columns, int by_columns, int is_versioned) {
    struct made* of = (struct made*)calloc(1, sizeof *of);
    float* elements = (float*)malloc((size_t)(rows * columns + 1) * sizeof(float));
    DLTensor t;
    int64_t i, j;
    memset(&t, 0, sizeof t);
    of->memory = elements;
    of->shape[0] = rows;
    of->shape[1] = columns;
    of->strides[0] = by_columns ? 1 : columns;
    of->strides[1] = by_columns ? rows : 1;
    elements[0] = -1; /* byte_offset skips it */
    for (i = 0; i < rows; ++i)
        for (j = 0; j < columns; ++j)
            elements[1 + i * of->strides[0] + j * of->strides[1]] = (float)(10 * i + j);
    t.data = elements;
    t.device.device_type = kDLCPU;
    t.ndim = 2;
    t.dtype.code = kDLFloat;
    t.dtype.bits = 32;
    t.dtype.lanes = 1;
    t.strides = by_columns ? of->strides : NULL;
    t.byte_offset = sizeof(float);
    return hand_out(of, t, is_versioned);
}

void* peer_produce_numbers(int code, int bits, int64_t count) {
    struct made* of = (struct made*)calloc(1, sizeof *of);
    DLTensor t;
    int64_t k;
    memset(&t, 0, sizeof t);
    of->memory = calloc((size_t)count + 1, (size_t)bits / 8);
    for (k = 0; k < count; ++k) {
        char* at = (char*)of->memory + k * (bits / 8);
        switch (100 * code + bits) {
            case 100 * kDLInt + 8: *(int8_t*)at = (int8_t)k; break;
            case 100 * kDLInt + 16: *(int16_t*)at = (int16_t)k; break;
            case 100 * kDLInt + 32: *(int32_t*)at = (int32_t)k; break;
            case 100 * kDLInt + 64: *(int64_t*)at = k; break;
            case 100 * kDLUInt + 8: *(uint8_t*)at = (uint8_t)k; break;
            case 100 * kDLUInt + 16: *(uint16_t*)at = (uint16_t)k; break;
            case 100 * kDLUInt + 32: *(uint32_t*)at = (uint32_t)k; break;
            case 100 * kDLUInt + 64: *(uint64_t*)at = (uint64_t)k; break;
            case 100 * kDLFloat + 32: *(float*)at = (float)k; break;
            case 100 * kDLFloat + 64: *(double*)at = (double)k; break;
            case 600 + 8: *at = (char)k; break; /* kDLBool: not 0 is true */
            default: break;
        }
    }
    of->shape[0] = count;
    t.data = of->memory;
    t.device.device_type = kDLCPU;
    t.ndim = 1;
    t.dtype.code = (uint8_t)code;
    t.dtype.bits = (uint8_t)bits;
    t.dtype.lanes = 1;
    return hand_out(of, t, 0);
}

void* peer_wrap(void* data, int device_type, int device_id, int64_t rows, int64_t columns, int64_t row_stride,
                int64_t column_stride, uint64_t byte_offset) {
    struct made* of = (struct made*)calloc(1, sizeof *of);
    DLTensor t;
    memset(&t, 0, sizeof t);
    of->shape[0] = rows;
    of->shape[1] = columns;
    of->strides[0] = row_stride;
    of->strides[1] = column_stride;
    t.data = data;
    t.device.device_type = (DLDeviceType)device_type;
    t.device.device_id = device_id;
    t.ndim = 2;
    t.dtype.code = kDLFloat;
    t.dtype.bits = 32;
    t.dtype.lanes = 1;
    t.strides = of->strides;
    t.byte_offset = byte_offset;
    return hand_out(of, t, 0);
}

int peer_alive(void) { return alive; }
