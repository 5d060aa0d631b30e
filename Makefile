# One Makefile, not recursive. `make` builds build/regather; `make reproduce` the papers; `make check` the tests.
#   BUILD=dir     where to build                     PRESET=quick|paper|large   size of `make reproduce`
#   HAVE_CUDA=0   leave CUDA out                     SANITIZE=1                 ASan + UBSan, into its own folder, without nvcc
#   CUDA_ARCH=..  -gencode flags of nvcc             PREFIX=/usr/local          of `make install`
#   TIME=60       seconds of `make fuzz`            PARTS=.. SEED=1 MUTANTS=250 of `make check-deep`
#   REVISION=..   of a source tree without its git history; recorded in every result file
MAKEFLAGS += -rR
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all check check-deep compile_commands.json coverage faults fuzz threads sanitizers reproduce verify bench plots report install clean plugin test-programs
all:

SANITIZE ?= 0
BUILD    ?= $(if $(filter 1,$(SANITIZE)),build/sanitize,build)
PRESET   ?= quick
PREFIX   ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CC),undefined)
CC := gcc
endif
CXX := $(if $(findstring clang,$(CC)),$(patsubst clang%,clang++%,$(CC)),g++)
NVCC ?= $(or $(shell command -v nvcc 2>/dev/null),$(wildcard /usr/local/cuda/bin/nvcc))
export CC

# `make reproduce` and `make check` build on all cores unless the command line has a -j (make 4.3 shows it only in /proc).
ifneq ($(filter reproduce check,$(MAKECMDGOALS)),)
ifeq ($(findstring -j,$(MAKEFLAGS) $(shell tr '\0' ' ' < /proc/$$PPID/cmdline)),)
MAKEFLAGS += -j$(shell nproc)
endif
endif

# Set-up: a new machine gets its packages before headers are looked for. Plain `make` only prints what is missing.
ifeq ($(filter clean,$(MAKECMDGOALS)),)
SETUP := $(shell .ci/setup $(if $(filter check reproduce,$(MAKECMDGOALS)),,needed) >&2 && echo ok)
ifneq ($(SETUP),ok)
$(error a needed package is missing, see above)
endif
endif

# ---- installed packages ---------------------------------------------------------------------------------------------------
hash := \#
has_header = $(shell printf '$(hash)include <$(1)>\n' | $(CC) -E -x c - >/dev/null 2>&1 && echo 1 || echo 0)
HAVE_CUDA   ?= $(if $(filter 1,$(SANITIZE)),0,$(if $(NVCC),1,0))
HAVE_PNG    := $(call has_header,png.h)
HAVE_DEFLATE := $(call has_header,libdeflate.h)
HAVE_TIFF   := $(call has_header,tiffio.h)
HAVE_ZLIB   := $(call has_header,zlib.h)
HAVE_NLOPT  := $(call has_header,nlopt.h)
HAVE_HWLOC  := $(call has_header,hwloc.h)
HAVE_OPENMP := $(shell printf 'int main(void){return 0;}' | $(CC) -fopenmp -x c - -o /dev/null 2>/dev/null && echo 1 || echo 0)
HAVE_FFTW_OMP := $(if $(filter 1,$(HAVE_OPENMP)),$(shell printf 'int fftw_init_threads(void);int main(void){return fftw_init_threads();}' | $(CC) -fopenmp -x c - -lfftw3_omp -lfftw3 -lm -o /dev/null 2>/dev/null && echo 1 || echo 0),0)
# The compiler flags that mpicc adds: Open MPI prints them for --showme, MPICH and its derivatives for -show.
MPICC       := $(shell command -v mpicc 2>/dev/null)
MPI_FLAGS   := $(if $(MPICC),$(filter -I% -D% -pthread,$(shell $(MPICC) --showme:compile 2>/dev/null || $(MPICC) -compile_info 2>/dev/null)))
MPI_LIBS    := $(if $(MPICC),$(filter -L% -l% -Wl%,$(shell $(MPICC) --showme:link 2>/dev/null || $(MPICC) -link_info 2>/dev/null)))
HAVE_MPI    := $(if $(MPI_LIBS),$(shell printf '$(hash)include <mpi.h>\nint main(void){return MPI_Finalize();}' | $(CC) $(MPI_FLAGS) -x c - -o /dev/null $(MPI_LIBS) 2>/dev/null && echo 1 || echo 0),0)
CUDA_HOME   := $(if $(filter 1,$(HAVE_CUDA)),$(patsubst %/bin/nvcc,%,$(realpath $(NVCC))))
# SASS for Hopper (with its special instructions), and PTX of sm_80, which any later GPU compiles at program start.
CUDA_ARCH   ?= -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=compute_80

HAVE  := HAVE_CUDA HAVE_PNG HAVE_DEFLATE HAVE_TIFF HAVE_ZLIB HAVE_NLOPT HAVE_HWLOC HAVE_OPENMP HAVE_FFTW_OMP HAVE_MPI
DEFS  := -D_GNU_SOURCE $(foreach h,$(HAVE),-D$(h)=$($(h)))
WARN  := -Wall -Wextra
# Errors in C; `make WARN_C=` for a compiler that finds others.
WARN_C ?= $(addprefix -Werror=,conversion shadow missing-prototypes implicit-function-declaration cast-qual)
# A read past a kernel's own small array may not change a result, so that no comparison finds it: if the compiler sees one, it
# is an error. `make BOUNDS=` for a compiler that is wrong about one.
BOUNDS ?= -Werror=array-bounds$(if $(findstring clang,$(CC)),, -Werror=aggressive-loop-optimizations)
comma := ,
SAN   := $(if $(filter 1,$(SANITIZE)),-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
OPT   := $(if $(filter 1,$(SANITIZE)),-O1,-O3)
OMP   := $(if $(filter 1,$(HAVE_OPENMP)),-fopenmp)
CFLAGS   ?= $(OPT) -g
C_ALL    = -std=c11 $(CFLAGS) $(WARN) $(WARN_C) $(BOUNDS) $(OMP) $(SAN) $(DEFS) $(if $(filter 1,$(HAVE_MPI)),$(MPI_FLAGS))
# The reference and the checker: no contraction and no fast-math, which could change the meaning of !(err <= tol).
C_JUDGE  = -std=c11 -O2 -g -ffp-contract=off $(WARN) $(WARN_C) $(OMP) $(SAN) $(DEFS)
# C++20 for designated initialisers, which zero the other fields. It deprecates sums of constants of two enums, with which C
# names integer constants.
CXX_STD  = -std=c++20 $(addprefix -Wno-,missing-field-initializers deprecated-enum-float-conversion \
           deprecated-enum-enum-conversion deprecated-anon-enum-enum-conversion)
CXX_EMU  = $(CXX_STD) -O2 -g1 -ffp-contract=off $(WARN) -Wno-unknown-pragmas $(OMP) $(SAN) $(DEFS) -DRG_EMULATED
# Kernels of the emulated GPU call the emulator before every access: they are compiled for ThreadSanitizer and UBSan without
# linking their libraries (impl/gpu/emulator/instrument.cc). ASan cannot be combined with this, so SANITIZE=1 checks kernels
# with ASan instead. A kernel that is neither static nor in an anonymous namespace is an error, as it would clash with one of
# that name in another file.
EMU_LOOK = -fno-exceptions -Werror=missing-declarations $(if $(filter 1,$(SANITIZE)),,-fsanitize=thread \
           -fsanitize=bounds$(comma)alignment$(comma)object-size $(if $(findstring clang,$(CXX)),-fno-sanitize=local-bounds))
# GPU code is most of each linked program; nvcc compresses it from version 12.8 on.
CU_PACK := $(if $(filter 1,$(HAVE_CUDA)),$(if $(shell $(NVCC) --help | grep compress-mode),--compress-mode=size))
CU_ALL   = $(CU_PACK) -std=c++20 -O3 -lineinfo -Xcompiler -Wall,$(subst $() ,$(comma),$(filter -W%,$(CXX_STD))) $(CUDA_ARCH) $(DEFS)
# Flags of plug-ins: for `make plugin` here, from `regather --cflags` elsewhere. Symbols are hidden, or they would be bound to
# this program's own, so that a kernel need not be static. An emulated plug-in is linked without the libraries of the
# sanitizers.
PLUGIN_HOST = $(CFLAGS) $(WARN) $(OMP) $(SAN) -fPIC -shared -fvisibility=hidden
PLUGIN_C    = -std=c11 $(BOUNDS) $(PLUGIN_HOST)
PLUGIN_CXX  = $(CXX_STD) $(PLUGIN_HOST)
PLUGIN_CUDA = -std=c++20 -O3 -lineinfo $(CUDA_ARCH) -Xcompiler -fPIC$(comma)-fvisibility=hidden -shared -cudart shared
PLUGIN_EMU  = $(CXX_STD) -O2 -g -ffp-contract=off $(WARN) -Wno-unknown-pragmas $(OMP) $(SAN) -DRG_EMULATED -fPIC \
              $(filter-out -Werror=missing-declarations,$(EMU_LOOK)) -fvisibility=hidden -x c++ -c
# Flags for intrinsics, by the words of a descriptor's .needs; impl/runtime/cpu.h has the features.
NEEDS            := avx2 avx512 avx512vnni
NEEDS_avx2       := -mavx2 -mfma
NEEDS_avx512     := $(NEEDS_avx2) -mavx512f -mavx512bw -mavx512dq -mavx512vl
NEEDS_avx512vnni := $(NEEDS_avx512) -mavx512vnni
NO_CUFFT := $(if $(filter 1,$(HAVE_CUDA)),$(BUILD)/no-cufft.so)
CUFFT_CALLS := Create Destroy ExecC2R ExecD2Z ExecR2C ExecZ2D MakePlanMany64 SetAutoAllocation SetStream SetWorkArea
# Kernels and transforms allocate GPU memory with these; impl/gpu/device.cu enters them in its ledger.
COUNTED := cudaMallocArray cudaMalloc3DArray cudaFreeArray cufftMakePlanMany64 cufftSetAutoAllocation cufftDestroy
LIBS := $(if $(filter 1,$(HAVE_FFTW_OMP)),-lfftw3_omp -lfftw3f_omp) -lfftw3 -lfftw3f \
        $(if $(filter 1,$(HAVE_PNG)),-lpng) $(if $(filter 1,$(HAVE_DEFLATE)),-ldeflate) $(if $(filter 1,$(HAVE_TIFF)),-ltiff) $(if $(filter 1,$(HAVE_ZLIB)),-lz) \
        $(if $(filter 1,$(HAVE_NLOPT)),-lnlopt) \
        $(if $(filter 1,$(HAVE_HWLOC)),-lhwloc) \
        $(if $(filter 1,$(HAVE_MPI)),$(MPI_LIBS)) \
        $(if $(filter 1,$(HAVE_CUDA)),$(COUNTED:%=-Wl$(comma)--wrap=%) -L$(CUDA_HOME)/lib64 \
        -Wl$(comma)-rpath$(comma)$(CUDA_HOME)/lib64 -lcudart -lcufft) \
        -lstdc++ -lpthread -ldl -lm

# ---- sources by wildcard: a new kernel is its file and one line in impl/variants.def -----------------------------------------
rooms = $(wildcard $(foreach d,$(1),$(d)/$(2) $(d)/*/$(2) $(d)/*/*/$(2)))
C_SRC   := $(filter-out $(SKIP),$(call rooms,impl reference bench data report,*.c) $(wildcard verify/checker/*.c verify/trace/*.c))
CU_ALL_SRC := $(call rooms,impl bench,*.cu)
CU_SRC  := $(if $(filter 1,$(HAVE_CUDA)),$(CU_ALL_SRC))
EMU_SRC := $(filter-out impl/gpu/% bench/%,$(CU_ALL_SRC))
EMU_RT  := $(wildcard impl/gpu/emulator/*.cc)
OBJ     := $(C_SRC:%.c=$(BUILD)/%.o) $(CU_SRC:%.cu=$(BUILD)/%.cu.o) $(EMU_SRC:%.cu=$(BUILD)/emulated/%.o) $(EMU_RT:%.cc=$(BUILD)/%.o)
LIB_OBJ := $(filter-out $(BUILD)/impl/main.o,$(OBJ)) $(BUILD)/sources.o
TESTS   := $(addprefix $(BUILD)/,$(basename $(wildcard verify/tests/*/test_*.c verify/tests/*/test_*.cc)))
FUZZ_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard verify/fuzz/*.c))
# Kernels that are wrong on purpose: a plug-in for each family.
BROKEN_C  := $(basename $(notdir $(wildcard verify/broken/*.c)))
BROKEN_CU := $(basename $(notdir $(wildcard verify/broken/*.cu)))
BROKEN  := $(BROKEN_C:%=$(BUILD)/broken/%.so) $(BROKEN_CU:%=$(BUILD)/broken/host/%.so) \
           $(if $(filter 1,$(HAVE_CUDA)),$(if $(wildcard /dev/nvidia[0-9]*),$(BROKEN_CU:%=$(BUILD)/broken/gpu/%.so)))

all: $(BUILD)/regather $(BUILD)/regather-kit $(BUILD)/regather.1 $(NO_CUFFT)

# Every object depends on its flags, and three on the revision of the source. Both files are checked whenever make starts, and
# change only if their content does. Files that the program writes (report, results) do not make a tree dirty.
FLAGS_NOW = $(CC) $(C_ALL) | $(CXX) $(CXX_EMU) $(EMU_LOOK) | $(NVCC) $(CU_ALL) | $(LIBS)
REVISION_NOW := $(or $(REVISION),$(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown))
ifeq ($(REVISION)$(filter unknown,$(REVISION_NOW)),)
REVISION_NOW := $(REVISION_NOW)$(shell git diff --quiet HEAD -- . ':!report/*.html' ':!report/*.md' ':!report/fig' ':!data/machines' ':!data/tuned' || echo -dirty)
REVISION_DATE := $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
endif
define REVISION_H
$(hash)define RG_GIT_REVISION "$(REVISION_NOW)"
$(hash)define RG_GIT_DATE "$(REVISION_DATE)"
$(hash)define RG_CC "$(shell $(CC) --version | head -n 1)"
$(hash)define RG_CFLAGS "$(CFLAGS)"
$(hash)define RG_NVCC "$(if $(filter 1,$(HAVE_CUDA)),$(shell $(NVCC) --version | tail -n 1))"
$(hash)define RG_NVCCFLAGS "-O3 $(CUDA_ARCH)"
$(hash)define RG_SOURCE_DIR "$(CURDIR)"
$(hash)define RG_PREFIX "$(PREFIX)"
$(hash)define RG_PLUGIN_C "$(PLUGIN_C)"
$(hash)define RG_PLUGIN_CXX "$(PLUGIN_CXX)"
$(hash)define RG_PLUGIN_CUDA "$(PLUGIN_CUDA)"
$(hash)define RG_PLUGIN_EMULATED "$(PLUGIN_EMU)"
$(hash)define RG_PLUGIN_NEEDS $(foreach n,$(NEEDS),{"$(n)", "$(NEEDS_$(n))"},)
endef
when_changed = $(file >$(BUILD)/$(1).new,$(2))$(shell cd $(BUILD) && if cmp -s $(1).new $(1); then rm $(1).new; else mv $(1).new $(1); fi)
ifeq ($(filter clean,$(MAKECMDGOALS)),)
$(shell mkdir -p $(BUILD))
$(call when_changed,flags,$(FLAGS_NOW))
$(call when_changed,revision.h,$(REVISION_H))
endif

$(BUILD)/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(C_ALL) -I$(BUILD) -MMD -MP -c $< -o $@
# Plain loops for the compiler to vectorise: vector floor() and selection, which do not change results, and fused multiply-adds
# except in frealign, whose coordinates are rounded step by step.
$(BUILD)/impl/%/autovec.o: C_ALL += -fno-trapping-math -fno-math-errno
$(BUILD)/impl/affine/autovec.o $(BUILD)/impl/gridding/autovec.o: C_ALL += -ffp-contract=fast
# The rates of the machine are measured without sanitizers: no kernel may be faster.
$(BUILD)/bench/probe/%.o: SAN :=
$(BUILD)/reference/%.o: reference/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(C_JUDGE) -MMD -MP -c $< -o $@
$(BUILD)/verify/%.o: verify/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(C_JUDGE) -I$(BUILD) -MMD -MP -c $< -o $@
$(BUILD)/%.cu.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(NVCC) $(CU_ALL) -MMD -MP -MF $(@:.o=.d) -c $< -o $@
$(BUILD)/emulated/%.o: %.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) $(CXX_EMU) $(EMU_LOOK) -Iimpl/gpu/emulator -MMD -MP -x c++ -c $< -o $@
$(BUILD)/verify/%.o: verify/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) $(CXX_EMU) $(EMU_LOOK) -Iimpl/gpu/emulator -MMD -MP -c $< -o $@
$(BUILD)/%.o: %.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) $(CXX_EMU) -Iimpl/gpu/emulator -MMD -MP -c $< -o $@
$(BUILD)/bench/machine/machine.o $(BUILD)/impl/base/file.o $(BUILD)/impl/commands.o: $(BUILD)/revision.h

# The sources of each variant and each job.
KERNELS = $(filter-out $(BUILD)/%.cc.o,$(filter $(BUILD)/impl/% $(BUILD)/emulated/%,$(OBJ)))
$(BUILD)/sources.c: impl/runtime/sources.sh $(KERNELS) $(call rooms,impl data/formats,*.*)
	impl/runtime/sources.sh $(KERNELS) > $@.new && mv $@.new $@
$(BUILD)/sources.o: $(BUILD)/sources.c
	$(CC) $(C_ALL) -I. -c $< -o $@

# -rdynamic: emulated plug-ins call back into the program.
$(BUILD)/regather: $(OBJ) $(BUILD)/sources.o
	$(CC) $(OMP) $(SAN) -rdynamic $^ -o $@ $(LIBS)
# The program for `regather kit`: without MPI, which depends on the machine, and without debug information.
KIT_LIBS = $(patsubst -lcudart,$(if $(wildcard $(CUDA_HOME)/lib64/libcudart_static.a),-lcudart_static -lrt,-lcudart),$(filter-out $(if $(filter 1,$(HAVE_MPI)),$(MPI_LIBS)),$(LIBS)))
$(BUILD)/kit/ranks.o: impl/jobs/pipeline/ranks.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(C_ALL) -UHAVE_MPI -DHAVE_MPI=0 -I$(BUILD) -MMD -MP -c $< -o $@
$(BUILD)/regather-kit: $(filter-out $(BUILD)/impl/jobs/pipeline/ranks.o,$(OBJ)) $(BUILD)/kit/ranks.o $(BUILD)/sources.o
	$(CC) $(OMP) $(SAN) -s -rdynamic $^ -o $@ $(KIT_LIBS)
# cuFFT is 200 MB of a kit. A small kit has this stub, whose calls fail, so that the program starts without cuFFT and a GPU.
$(BUILD)/no-cufft.so: $(BUILD)/flags
	printf 'int cufft%s(void) { return 5; }\n' $(CUFFT_CALLS) | \
	    $(CC) -x c -fPIC -shared -Wl,-soname,$(notdir $(wildcard $(CUDA_HOME)/lib64/libcufft.so.[0-9][0-9])),--default-symver - -o $@
$(BUILD)/regather.1: $(BUILD)/regather
	$< man > $@

# Tests are linked without debug information, which is most of their size; `make NO_DEBUG=` keeps it. Sanitizers need it for
# line numbers.
NO_DEBUG ?= $(if $(filter 1,$(SANITIZE)),,-Wl,--strip-debug)
$(BUILD)/regather.a: $(LIB_OBJ)
	@rm -f $@; ar rcsT $@ $^
$(TESTS): %: %.o $(BUILD)/regather.a
	$(CC) $(OMP) $(SAN) $(NO_DEBUG) -rdynamic $< -o $@ $(BUILD)/regather.a -lcmocka $(LIBS)
# Helpers for rows of verify/cases: maps, particles.
$(BUILD)/verify/cases/look: $(BUILD)/verify/cases/look.o $(BUILD)/regather.a
	$(CC) $(OMP) $(SAN) $(NO_DEBUG) $< -o $@ $(BUILD)/regather.a $(LIBS)
# All fuzz targets have the same function name; renamed, they are linked into one program.
$(BUILD)/verify/fuzz/%.o: verify/fuzz/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(C_JUDGE) $(if $(filter 1,$(HAVE_MPI)),$(MPI_FLAGS)) -DLLVMFuzzerTestOneInput=fuzz_$* -I$(BUILD) -MMD -MP -c $< -o $@
$(BUILD)/verify/fuzz/driver: $(FUZZ_OBJ) $(BUILD)/regather.a
	$(CC) $(OMP) $(SAN) $(NO_DEBUG) -rdynamic $(FUZZ_OBJ) -o $@ $(BUILD)/regather.a $(LIBS)
$(BUILD)/broken/%.so: verify/broken/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(C_ALL) -fPIC -shared -fvisibility=hidden -MMD -MP -MF $(@:.so=.d) -MT $@ $< -o $@
$(BUILD)/broken/host/%.so: verify/broken/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(CXX) $(CXX_EMU) $(EMU_LOOK) -Iimpl/gpu/emulator -fPIC -fvisibility=hidden -MMD -MP -MF $(@:.so=.d) -MT $@ -x c++ -c $< -o $(@:.so=.o)
	$(CXX) $(SAN) -shared $(@:.so=.o) -o $@
$(BUILD)/broken/gpu/%.so: verify/broken/%.cu $(BUILD)/flags
	@mkdir -p $(@D)
	$(NVCC) $(CU_ALL) -Xcompiler -fPIC,-fvisibility=hidden -shared -cudart shared -MMD -MP -MF $(@:.so=.d) -MT $@ $< -o $@

# `make plugin SRC=mine.c` (.cc): build/plugin/mine.so, from suite.h only, with the flags that all its descriptors need; if they
# need different ones, each function must set its own. SRC=mine.cu: build/plugin/host/mine.so, for the emulated GPU, and with
# nvcc build/plugin/mine.so, for GPUs.
PLUGIN_SRC   = '$(subst ','\'',$(SRC))'# quoted for sh: the path may have blanks and quotes
PLUGIN_FILE  = $(shell f=$$(basename $(PLUGIN_SRC)); echo "$${f%.*}")
PLUGIN_NAME  = '$(subst ','\'',$(PLUGIN_FILE))'
PLUGIN_SAYS  = $(shell sed -n 's/.*\.needs *= *""/none/; s/.*\.needs *= *"\([^"]*\)".*/\1/p; /^none/s/none.*/none/p' $(PLUGIN_SRC) 2>/dev/null | sort -u)
PLUGIN_NEEDS = $(if $(filter 1,$(words $(PLUGIN_SAYS))),$(foreach n,$(subst $(comma), ,$(PLUGIN_SAYS)),$(NEEDS_$(n))))
PLUGIN_HINT  = 'plugin: a "target specific option mismatch" of intrinsics: write what they need into every descriptor of the file, as in \
.needs = "avx2" (avx512, avx512vnni), or before each function __attribute__((target("avx2,fma")))'
plugin:
	@test -f $(PLUGIN_SRC) || { echo "usage: make plugin SRC=mine.c (or mine.cc, mine.cu), found "$(PLUGIN_SRC) >&2; exit 2; }
	@mkdir -p $(BUILD)/plugin/host
	$(if $(filter %.cu,$(SRC)),$(CXX) $(PLUGIN_EMU) -Iimpl -Iimpl/gpu/emulator $(PLUGIN_SRC) -o $(BUILD)/plugin/host/$(PLUGIN_NAME).o && \
	    $(CXX) $(SAN) -shared $(BUILD)/plugin/host/$(PLUGIN_NAME).o -o $(BUILD)/plugin/host/$(PLUGIN_NAME).so,\
	    $(if $(filter %.c,$(SRC)),$(CC) $(PLUGIN_C),$(CXX) $(PLUGIN_CXX)) $(PLUGIN_NEEDS) -Iimpl $(PLUGIN_SRC) -o $(BUILD)/plugin/$(PLUGIN_NAME).so || \
	    { echo $(PLUGIN_HINT) >&2; exit 1; })
	$(if $(and $(filter %.cu,$(SRC)),$(filter 1,$(HAVE_CUDA))),$(NVCC) $(PLUGIN_CUDA) -Iimpl $(PLUGIN_SRC) -o $(BUILD)/plugin/$(PLUGIN_NAME).so)

# ---- commands -------------------------------------------------------------------------------------------------------------
test-programs: $(TESTS) $(BUILD)/verify/cases/look $(BROKEN) $(BUILD)/verify/fuzz/driver
check: all test-programs
	@SANITIZE=$(SANITIZE) verify/check.sh $(BUILD)
sanitizers: all test-programs
	@verify/sanitizers.sh $(BUILD)
# Tests too long for CI, in parts: `make check-deep PARTS="threads hand"` runs some. It updates verify/check-deep.tsv, which has
# the time of each.
check-deep: all
	@$(BUILD)/regather steps verify/steps.tsv $(PARTS) --work $(BUILD)/check --set build=$(BUILD) --set seed=$(or $(SEED),1) \
	    --set mutants=$(or $(MUTANTS),250) --times verify/check-deep.tsv --keep-going
faults: all
	@mkdir -p $(BUILD)/check && verify/faults/parts.sh $(BUILD) 1000000 $(BUILD)/check/faults.tsv $$(nproc)
threads: all
	@verify/threads/threads.sh $(BUILD)
TIME ?= 60
fuzz: all $(BUILD)/verify/fuzz/driver
	@verify/fuzz/fuzz.sh $(BUILD) run $(TIME)
reproduce: all $(BROKEN)
	@$(BUILD)/regather steps report/steps.tsv --work $(BUILD)/results --set preset=$(PRESET) --set out=$(or $(REPORT_DIR),report)
# Lines and branches of the kernels that the cases of `regather verify` execute, on the CPU and the emulated GPU: gcovr.cfg.
coverage:
	$(MAKE) BUILD=$(BUILD)/coverage HAVE_CUDA=0 OPT=-O0 WARN_C= EMU_LOOK='-O0 -fno-exceptions' \
	    SAN='--coverage -fprofile-update=atomic -Wno-psabi -Wl,-u,__gcov_dump' $(BUILD)/coverage/regather
	for d in cpu host; do $(BUILD)/coverage/regather verify --quiet --limit 300 --device $$d || exit; done
	gcovr --config verify/gcovr.cfg $(BUILD)/coverage
# For editors and clang-tidy: the command that compiles each object of the program.
compile_commands.json:
	@$(MAKE) -Bn $(BUILD)/regather | sed -n 's|["\\]|\\&|g; s|^.* -c \([^ ]*\) -o .*|{"directory": "$(CURDIR)", "file": "\1", "command": "&"},|p' | \
	    sed '1s|^|[|; $$s|,$$|]|' > $@
verify bench: all
	$(BUILD)/regather $@

# Installs the headers for plug-ins, too: suite.h, and the public ones of gpu/, simd/ and the kernels' folders.
SHARED  = $(wildcard plots/* reference/published/* reference/*.tsv verify/thresholds.tsv data/machines/* data/tuned/* impl/*/presets.tsv bench/RULES.md bench/procure/run.sh bench/procure/README.txt bench/workloads/*)
HEADERS = $(wildcard impl/suite.h impl/gpu/cuda.h impl/gpu/hopper.h impl/gpu/emulator/*.h impl/simd/*.h impl/*/*index.h impl/*/*/*index.h)
install: all
	install -D -m 755 $(BUILD)/regather $(DESTDIR)$(PREFIX)/bin/regather
	for f in regather-kit $(notdir $(NO_CUFFT)); do install -D -m 755 $(BUILD)/$$f $(DESTDIR)$(PREFIX)/lib/regather/$$f || exit; done
	install -D -m 644 $(BUILD)/regather.1 $(DESTDIR)$(PREFIX)/share/man/man1/regather.1
	for f in $(SHARED) bench/record/plan.tsv bench/steps/functions.sh bench/counters.sh bench/counters.tsv; do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/share/regather/$$f || exit; done
	for f in $(HEADERS); do install -D -m 644 $$f $(DESTDIR)$(PREFIX)/include/regather/$${f#impl/} || exit; done
clean:
	rm -rf $(BUILD)

-include $(OBJ:.o=.d) $(BUILD)/kit/ranks.d $(FUZZ_OBJ:.o=.d) $(TESTS:=.d) $(BUILD)/verify/cases/look.d $(BROKEN:.so=.d)
