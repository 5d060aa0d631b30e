// SPDX-License-Identifier: MIT
// suite.h: the function table. It is the only header that a kernel needs, inside this project or in a plug-in.
//
// An algorithm (rg_algo) says what is computed: its arguments, the shapes at which it is checked and timed, how inputs are
// filled, the slow reference, the error bound. A variant (rg_variant) is one way of computing it. The harness owns all memory:
// a variant is handed filled inputs and poisoned outputs in one rg_call, and neither allocates arguments, copies them to
// another space, nor reads a file. verify, bench, tune, trace and the jobs all go through this table and nothing else.
//
// Plain C11, also valid C++20 (nvcc, and g++ for the emulated build). Designated initialisers must keep the order of the
// fields.
#ifndef RG_SUITE_H
#define RG_SUITE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define RG_C extern "C"
#else
#define RG_C extern
#endif

#define RG_ABI 1u
#define RG_COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

enum { RG_DIMS = 6, RG_ARGS_MAX = 8, RG_PARAMS_MAX = 10 };

// ---- shapes and arguments ------------------------------------------------------------------------------------------------

// rg_algo.dim names the entries of n[], the algorithm's index.h explains them; unused entries are 0. The seed determines the
// inputs.
typedef struct rg_shape {
    int64_t n[RG_DIMS];
    uint64_t seed;
} rg_shape;

typedef enum { RG_U8, RG_U16, RG_I32, RG_I64, RG_F32, RG_F64, RG_TYPES } rg_type;
typedef enum { RG_IN, RG_OUT, RG_INOUT } rg_direction;

// An argument is a dense array of count(shape) elements; complex numbers are pairs of reals. count may be 0 (argument absent).
typedef struct rg_arg {
    const char *name;
    rg_direction direction;
    rg_type (*type)(const rg_shape *);
    int64_t (*count)(const rg_shape *);
} rg_arg;

// The inputs that fill() makes for verify. POSITION: each element encodes its position, so that a misplaced one shows where it
// came from. MAXIMUM: all elements at the largest value. EXTREME: the largest, the smallest, zero and (floats) denormal mixed.
typedef enum { RG_POSITION, RG_RANDOM, RG_MAXIMUM, RG_EXTREME, RG_PATTERNS } rg_pattern;

// An element passes when !(|found - expected| <= absolute + relative * |expected|) is false. EXACT: bit for bit, integers.
typedef enum { RG_EXACT, RG_BOUND } rg_tolerance_kind;
typedef struct rg_tolerance {
    rg_tolerance_kind kind;
    double absolute, relative;
    const char *reason; // where the bound comes from, one line; printed by verify and in the report
} rg_tolerance;

// ---- costs ---------------------------------------------------------------------------------------------------------------

// Resources whose rates bench measures on this machine in the same run. A variant's cost() states the amount of each that a
// call needs. The largest amount / rate is its bound, and bound / time the fraction reached.
typedef enum {
    RG_MEM_BYTES,     // bytes moved between the chip and its memory
    RG_SHARED_BYTES,  // bytes through shared memory (CUDA only)
    RG_F32_MAD,       // fp32 multiply-adds
    RG_F64_MAD,       // fp64 multiply-adds
    RG_I32_MAD,       // 32-bit integer multiply-adds
    RG_I16_MAD,       // 16-bit products added in pairs to 32 bits (vpmaddwd, vpdpwssd)
    RG_I8_MAD,        // 8-bit products added in fours to 32 bits (dp4a, vpdpbusd)
    RG_MATRIX_I8_MAD, // 8-bit multiply-adds in matrix units (mma, wgmma)
    RG_ATOMIC,        // scalar 4- or 8-byte atomic adds that stay in L2
    RG_ATOMIC_16B,    // 16-byte vector atomic adds that stay in L2
    RG_ATOMIC_MEM,    // scalar atomic adds spread beyond L2
    RG_TEXTURE,       // point or linear texture fetches, 32 bits each
    RG_RESOURCES
} rg_resource;

typedef struct rg_cost {
    double amount[RG_RESOURCES];
} rg_cost;

// ---- the algorithm -------------------------------------------------------------------------------------------------------

typedef enum { RG_QUICK, RG_PAPER, RG_LARGE, RG_PRESETS } rg_preset;

typedef struct rg_bench_shape {
    rg_shape shape;
    rg_preset preset;
    const char *label; // what the size stands for: "paper Fig 6", "L11 video"
} rg_bench_shape;

// How `regather trace` traces an algorithm. It switches the inputs on one at a time and compares the change of the outputs with
// that of the reference. Without this, the inputs are the elements of the first argument, position-coded, and an input is
// switched on by raising it to its largest value.
typedef struct rg_trace_case {
    const char *name;                                                       // "x = 0 plane"
    int (*has)(const rg_shape *, int64_t input, int which, int64_t output); // whether the pair is in it; input -1: none is on
} rg_trace_case;

typedef struct rg_trace {
    int argument;                                                    // IN: its elements are the inputs
    void (*fill)(const rg_shape *, int64_t input, void *const *arg); // all inputs, this one on; -1: none on
    rg_shape shape;                                                  // the default shape
    const rg_shape *case_shape;                                      // of --cases; invalid ones say why
    int n_case_shapes;
    const rg_trace_case *kind; // its rows, at each shape
    int n_kinds;
    rg_shape object; // --real-space: an object of known shape as the inputs, and the outputs as a map of map_side^3 voxels
    void (*fill_object)(const rg_shape *, void *const *arg); // NULL: none
    int64_t (*map_side)(const rg_shape *);
    void (*map)(const rg_shape *, void *const *arg, float *map);
} rg_trace;

typedef struct rg_algo {
    uint32_t abi, bytes; // RG_ABI and sizeof(rg_algo), checked first
    const char *name;
    const char *paper; // its row of reference/papers.tsv: "Lu 2009"
    const char *formula;
    const char *dim[RG_DIMS];                               // short names of n[], as in "w750,h1500,r250"; NULL where unused
    const char *dim_name[RG_DIMS];                          // for people: "width"; all of them, or none
    int (*dim_text)(int dim, int64_t value, char text[32]); // a value that has a word, "y+90", and 1; else 0. NULL: none has
    const rg_arg *arg;
    int n_args;
    unsigned steady; // bit k: argument k, IN, keeps its values over many calls: a reference
    const rg_shape *check_shape;
    int n_check_shapes;
    const rg_bench_shape *bench_shape;
    int n_bench_shapes;
    const rg_shape
        *smoke_shape; // several blocks, yet small enough for sanitizers and emulation, which are a hundred times slower
    int n_smoke_shapes;
    const char *const *broken;                // kernels of verify/broken that support a claim, ended by NULL; may be NULL
    const char *presets;                      // file of published parameter sets, in the source's folder; may be NULL
    const char *(*invalid)(const rg_shape *); // NULL, or why no variant could take the shape
    void (*fill)(const rg_shape *, rg_pattern, void *const *arg); // inputs (and INOUT) of this seed and pattern
    void (*reference)(const rg_shape *, void *const *arg);        // fills the outputs: slow, obvious, own index arithmetic
    // The same for n chosen elements of argument `which`, written to out[0..n) in the argument's type. It samples outputs that
    // are too large for reference(). May be NULL.
    void (*reference_at)(const rg_shape *, void *const *arg, int which, const int64_t *element, int64_t n, void *out);
    rg_tolerance (*tolerance)(const rg_shape *);
    const char *(*invariant)(const rg_shape *, void *const *arg); // NULL when it holds, else what is violated; may be NULL
    void (*where)(const rg_shape *, int which, int64_t element, char text[64]); // "(X0=3,Y0=-7)"
    const char *(*index_fault)(const rg_shape *); // NULL when index.h's maps are inverse and onto; may be NULL
    double (*traffic_bytes)(const rg_shape *);    // least bytes: inputs read once, outputs written once
    double (*work)(const rg_shape *);             // operations counted in rate_unit
    const char *rate_unit;                        // "multiply-adds/s", "pixels/s"
    const char *order;     // variants, the fastest first, as measured: "gather simd naive"; a job runs the first that can
    const rg_trace *trace; // NULL: the general rule of rg_trace
} rg_algo;

// ---- the variant ---------------------------------------------------------------------------------------------------------

typedef enum { RG_NAIVE, RG_SIMD, RG_SCATTER, RG_GATHER, RG_LIBRARY, RG_OTHER } rg_role; // colour and legend only
typedef enum { RG_HOST, RG_DEVICE } rg_space;                                            // where arg[] and scratch live
enum { RG_UNORDERED = 1u /* float atomics: two runs may differ */, RG_THREADED = 2u /* uses call->threads > 1 */ };
enum { RG_COPIES_FIRST = 4u /* prepare takes as much memory as the first argument has: a texture's array */ };

// A tunable and its values. Any other value is an error; none is substituted.
typedef struct rg_param {
    const char *name;
    const int64_t *value;
    int n_values;
    int64_t standard; // the default
    const char *doc;
} rg_param;

typedef struct rg_call {
    const rg_shape *shape;
    const int64_t *param; // values in the order of the variant's params
    void *const *arg;     // in the order of the algorithm's args; only element-aligned
    void *scratch;        // scratch() bytes, 256-byte aligned, contents undefined
    void *stream;         // DEVICE: the cudaStream_t to launch on
    int threads;          // HOST: how many threads to use (1 unless RG_THREADED)
    void *state;          // set by prepare (a plan, a texture), read by run, released by finish
} rg_call;

enum { RG_OK = 0, RG_E_PARAM = -1, RG_E_STATE = -2, RG_E_LIBRARY = -3 }; // run and prepare return these or a cudaError_t

typedef struct rg_variant {
    uint32_t abi, bytes; // RG_ABI and sizeof(rg_variant)
    const char *algo, *name;
    const char *idea; // one line: what it changes compared with the one before it
    rg_role role;
    rg_space space;
    const char *needs; // "" or NULL, "avx2", "avx512vnni", "octave"; "sm_80", "libnppig.so.13"; several separated by commas
    uint32_t flags;
    const rg_param *param;
    int n_params;
    const char *(*refuse)(const rg_shape *, const int64_t *param);     // NULL, or why it cannot do this case; may be NULL
    size_t (*scratch)(const rg_shape *, const int64_t *param);         // bytes; may be NULL
    rg_tolerance (*tolerance)(const rg_shape *, const int64_t *param); // NULL: the algorithm's
    void (*cost)(const rg_shape *, const int64_t *param, rg_cost *);   // what one run() needs; may be NULL
    int (*prepare)(rg_call *); // work that does not depend on input values; timed in its own column; may be NULL
    // Work that depends on the values of steady arguments alone (rg_algo.steady), such as their copy into a texture. Called
    // after prepare, and again before the next run whenever one of them was written. It must keep no other argument's values.
    // It may use state and scratch; run finds them unchanged. Timed with prepare; may be NULL.
    int (*load)(rg_call *);
    // Sets the outputs to 0 for a run that adds to them. Called before every run, except in bench's scope `adding`, which times
    // run alone. Does nothing where a parameter makes run write every output. NULL: run always does.
    int (*clear)(rg_call *);
    int (*run)(rg_call *);
    void (*finish)(rg_call *); // releases call->state; may be NULL
} rg_variant;

// A variant file ends in   RG_VARIANT(autocorr_naive) = { RG_VARIANT_OF("autocorr", "naive", ...), .cost = cost, .run = run };
// and variants.def has the line HOST(autocorr_naive) or CUDA(autocorr_naive). The emulated build renames the symbol.
#ifdef RG_EMULATED
#define RG_VARIANT_SYMBOL(id) rg_emulated_##id
#else
#define RG_VARIANT_SYMBOL(id) rg_variant_##id
#endif
#define RG_VARIANT(id)                                                                                                         \
    RG_C const rg_variant RG_VARIANT_SYMBOL(id);                                                                               \
    const rg_variant RG_VARIANT_SYMBOL(id)

// The fields that every variant has, and the two for its parameters. .needs follows the first unless it is "".
#define RG_VARIANT_OF(ALGO, NAME, ROLE, SPACE, IDEA)                                                                           \
    .abi = RG_ABI, .bytes = sizeof(rg_variant), .algo = ALGO, .name = NAME, .idea = IDEA, .role = ROLE, .space = SPACE
#define RG_PARAMS(array) .param = array, .n_params = RG_COUNT(array)

#define RG_ALGO(id)                                                                                                            \
    RG_C const rg_algo rg_algo_##id;                                                                                           \
    const rg_algo rg_algo_##id
// The array fields of an rg_algo, and the version of this header.
#define RG_ALGO_ARRAYS(args, check_shapes, bench_shapes, smoke_shapes)                                                         \
    .abi = RG_ABI, .bytes = sizeof(rg_algo), .arg = args, .n_args = RG_COUNT(args), .check_shape = check_shapes,               \
    .n_check_shapes = RG_COUNT(check_shapes), .bench_shape = bench_shapes, .n_bench_shapes = RG_COUNT(bench_shapes),           \
    .smoke_shape = smoke_shapes, .n_smoke_shapes = RG_COUNT(smoke_shapes)

// A plug-in is a shared object with this one symbol, ended by NULL:   RG_PLUGIN = { &RG_VARIANT_SYMBOL(mine), NULL };
#ifdef RG_EMULATED
#define RG_PLUGIN_SYMBOL rg_plugin_emulated
#else
#define RG_PLUGIN_SYMBOL rg_plugin
#endif
#define RG_PLUGIN                                                                                                              \
    RG_C __attribute__((visibility("default"))) const rg_variant *const RG_PLUGIN_SYMBOL[];                                    \
    const rg_variant *const RG_PLUGIN_SYMBOL[]

// Index arithmetic shared by host and device: pure inline functions in index.h.
#ifdef __CUDACC__
#define RG_HD static __host__ __device__ __forceinline__
#else
#define RG_HD static inline __attribute__((always_inline, unused))
#endif

// Bytes of one element.
RG_HD size_t rg_type_bytes(rg_type t) { return t == RG_U8 ? 1 : t == RG_U16 ? 2 : t == RG_I32 || t == RG_F32 ? 4 : 8; }

// Counter-based random bits (splitmix64 finaliser): the same on every machine, in any order, from seed and index alone.
RG_HD uint64_t rg_bits(uint64_t seed, uint64_t index) {
    uint64_t z = seed * 0x9E3779B97F4A7C15u + (index + 1) * 0xD1B54A32D192ED03u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

#endif
