// SPDX-License-Identifier: MIT
// device.h: the one seam between C and CUDA. The harness handles memory and time only through these functions; kernels never
// see them. Three makes of device stand behind it: the CPU (device_cpu.c), a CUDA GPU (device.cu, or device_none.c in a build
// without CUDA), and the emulated GPU of emulator/, which is CPU memory under another name.
#ifndef RG_DEVICE_H
#define RG_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Functions that return int give RG_OK or an error's code, once: an error that is returned is no later call's, but for one that
// has broken the device, which every later call returns.
typedef struct rg_device rg_device;

typedef struct rg_device_facts {
    char name[256];
    int sm, multiprocessors; // compute capability as 90; 0 for the CPU
    size_t memory_bytes, free_bytes, l2_bytes, shared_bytes;
    int driver, runtime; // as CUDA numbers them: 13000
    char pci[24], uuid[48];
    bool ecc, ecc_known;
} rg_device_facts;

enum { RG_SHARED_NAME = 64 };
struct rg_device {
    const char *name; // "cpu", "host", "gpu0"
    bool is_gpu, is_emulated;
    // What is made, or NULL, in *to. `what` names a block for the ledger (ledger.h) and for messages.
    int (*alloc)(void **to, size_t bytes, const char *what);
    void (*release)(void *);
    int (*upload)(void *to, const void *from, size_t);   // host -> device, done on return
    int (*download)(void *to, const void *from, size_t); // device -> host, done on return
    int (*fill)(void *, int byte, size_t);
    int (*sync)(void);             // waits for everything, returns the sticky error
    int (*stream_make)(void **to); // NULL on the CPU
    void (*stream_free)(void *);
    int (*event_make)(void **to);
    void (*event_free)(void *);
    int (*event_record)(void *event, void *stream);
    int (*event_ms)(void *from, void *to, double *ms); // waits for `to`
    // Work that goes on beside other work; CPU and emulated GPU do it at once.
    int (*stream_urgent)(void **to);                          // a stream whose kernels start before those of others
    int (*stream_wait)(void *stream, void *event);            // what is queued later starts after the event
    int (*pinned)(void **to, size_t bytes, const char *what); // host memory that copies read without a copy of their own
    void (*unpin)(void *);
    int (*upload_on)(void *to, const void *pinned, size_t, void *stream); // queued
    int (*move)(void *to, const void *from, size_t); // device memory to device memory, another GPU's too; done on return
    int (*flush)(void *stream);                      // queues a write of twice the L2 size
    int (*facts)(rg_device_facts *);
    const char *(*error)(int code); // text of an error code of this device or of suite.h
    // Memory that another process of this machine reads: a name for what alloc returned (no address inside of it), its address
    // there, the end of that.
    int (*share)(void *, char name[RG_SHARED_NAME]);       // NULL: not on this device
    void *(*open_shared)(const char name[RG_SHARED_NAME]); // NULL when it cannot be read here
    void (*close_shared)(void *);
};

int rg_device_code(int error); // the exit code of a job that ends by it: RG_LACKS when memory is short, else RG_WRONG
// The one line of a step that failed, and its exit code: "WHO: doing: what the code says", or, where an allocation of this thread
// was refused, "WHO: no memory on gpu0 for 32.7 GiB of scratch; 27.6 GiB are free" and RG_LACKS. RG_GOOD for RG_OK.
int rg_device_failed(const rg_device *, const char *who, const char *doing, int code);
const rg_device *rg_device_cpu(void);
const rg_device *rg_device_emulated(void);
// The number of a GPU's name ("gpu" 0, "gpu3" 3); "cpu" and "host" are none.
enum { RG_DEVICE_NO_GPU = -1, RG_DEVICE_UNKNOWN = -2 };
int rg_device_index(const char *name);
// "cpu", "host", "gpu", "gpu0".. ; NULL with the reason in why. Opening a GPU creates its context: only children of verify and
// the processes that really run kernels do so.
const rg_device *rg_device_open(const char *name, char why[200]);
enum { RG_GPUS_MAX = 64 };
// Counts GPUs without creating a context; 0 with the reason ("built without CUDA", "no driver", "driver too old") in why.
int rg_gpu_count(char why[200]);
void rg_gpu_query_here(void); // from now on the driver is queried in this process, which must not fork() any more but to exec()
int rg_gpu_sm(int index);     // compute capability as 90, without a context; 0 when there is none
const char *rg_gpu_name(int index); // without a context; "" when there is none
const char *rg_gpu_pci(int index);  // "0000:17:00.0", by which NVML knows it; as above
const rg_device *rg_gpu_open(int index, char why[200]);

#ifdef __cplusplus
}
#endif
#endif
