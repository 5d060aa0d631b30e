// SPDX-License-Identifier: MIT
// device.h: the interface between C and CUDA. The harness handles memory and time only through these functions; kernels never
// see them. There are three implementations: the CPU (device_cpu.c), a CUDA GPU (device.cu, or device_none.c in a build without
// CUDA), and the emulated GPU of emulator/, which uses CPU memory.
#ifndef RG_DEVICE_H
#define RG_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Functions that return int return RG_OK or an error code. An error is returned once, not again by later calls, unless it has
// broken the device: then every later call returns it.
typedef struct rg_device rg_device;

typedef struct rg_device_facts {
    char name[256];
    int sm, multiprocessors; // compute capability as 90; 0 for the CPU
    size_t memory_bytes, free_bytes, l2_bytes, shared_bytes;
    int driver, runtime; // in CUDA's numbering: 13000
    char pci[24], uuid[48];
    bool ecc, ecc_known;
} rg_device_facts;

enum { RG_SHARED_NAME = 64 };
struct rg_device {
    const char *name; // "cpu", "host", "gpu0"
    bool is_gpu, is_emulated;
    // *to receives what is made, or NULL. `what` names a block for the ledger (ledger.h) and for messages.
    int (*alloc)(void **to, size_t bytes, const char *what);
    void (*release)(void *);
    int (*upload)(void *to, const void *from, size_t);   // host -> device, done on return
    int (*download)(void *to, const void *from, size_t); // device -> host, done on return
    int (*fill)(void *, int byte, size_t);
    int (*sync)(void);             // waits for all work; returns the sticky error
    int (*stream_make)(void **to); // NULL on the CPU
    void (*stream_free)(void *);
    int (*event_make)(void **to);
    void (*event_free)(void *);
    int (*event_record)(void *event, void *stream);
    int (*event_ms)(void *from, void *to, double *ms); // waits for `to`
    // Concurrent work; the CPU and the emulated GPU do it at once.
    int (*stream_urgent)(void **to);                          // a stream whose kernels start before those of others
    int (*stream_wait)(void *stream, void *event);            // work queued later starts after the event
    int (*pinned)(void **to, size_t bytes, const char *what); // host memory that copies read directly
    void (*unpin)(void *);
    int (*upload_on)(void *to, const void *pinned, size_t, void *stream); // queued
    int (*move)(void *to, const void *from, size_t); // device memory to device memory, also to another GPU; done on return
    int (*flush)(void *stream);                      // queues a write of twice the L2 size
    int (*facts)(rg_device_facts *);
    const char *(*error)(int code); // text of an error code of this device or of suite.h
    // Memory shared with another process of this machine: names a block that alloc returned (no address inside of it), opens it
    // by its name there, closes it.
    int (*share)(void *, char name[RG_SHARED_NAME]);       // NULL: not supported by this device
    void *(*open_shared)(const char name[RG_SHARED_NAME]); // NULL: it cannot be opened here
    void (*close_shared)(void *);
};

int rg_device_code(int error); // the exit code of a job that ends with this error: RG_LACKS if memory is short, else RG_WRONG
// Prints the line for a failed step and returns its exit code: "WHO: doing: text of the code", or, if an allocation of this
// thread was refused, "WHO: no memory on gpu0 for 32.7 GiB of scratch; 27.6 GiB are free" and RG_LACKS. For RG_OK returns
// RG_GOOD.
int rg_device_failed(const rg_device *, const char *who, const char *doing, int code);
const rg_device *rg_device_cpu(void);
const rg_device *rg_device_emulated(void);
// The index in a GPU's name ("gpu" 0, "gpu3" 3); "cpu" and "host": RG_DEVICE_NO_GPU.
enum { RG_DEVICE_NO_GPU = -1, RG_DEVICE_UNKNOWN = -2 };
int rg_device_index(const char *name);
// Opens "cpu", "host", "gpu", "gpu0"..; NULL with the reason in why. Opening a GPU creates its context: only children of verify
// and the processes that run kernels may do so.
const rg_device *rg_device_open(const char *name, char why[200]);
enum { RG_GPUS_MAX = 64 };
// Counts GPUs without creating a context; 0 with the reason in why ("built without CUDA", "no driver", "driver too old").
int rg_gpu_count(char why[200]);
void rg_gpu_query_here(void);       // from now on queries run in this process, which must not fork() again except to exec()
int rg_gpu_sm(int index);           // compute capability as 90, without a context; 0: no such GPU
const char *rg_gpu_name(int index); // without a context; "": no such GPU
const char *rg_gpu_pci(int index);  // "0000:17:00.0", NVML's name for it; as above
const rg_device *rg_gpu_open(int index, char why[200]);

#ifdef __cplusplus
}
#endif
#endif
