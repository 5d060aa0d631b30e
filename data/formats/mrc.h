// SPDX-License-Identifier: MIT
// mrc.h: MRC2014 / CCP4 maps and stacks (Cheng et al. 2015, J. Struct. Biol. 192:146), read and written by section.
//
// Modes 0 (int8), 1 (int16), 2 (float32), 6 (uint16) and 12 (float16) are taken; every value of them is exact in a float, so
// sections are handed over as floats. Mode 4 (complex) and others are refused with a reason. Files of both byte orders, with an
// extended header (skipped), with or without the 'MAP ' stamp are read; bytes of IMOD's files are signed where its flags say
// so, and those of files without its flags unless the header's maximum is more than 127. EM files (.em of TOM, PyTom, Dynamo;
// 512 bytes of header) of int16 and float32 are read through the same calls; their pixel size is no agreed field and stays
// unknown. Writing is MRC in the byte order of this machine.
#pragma once

#include "../../impl/base/core.h"

// RG_MRC_UINT8: mode 0 of IMOD, whose bytes are unsigned unless its flags say otherwise; no file has this number.
enum { RG_MRC_UINT8 = -1, RG_MRC_INT8 = 0, RG_MRC_INT16 = 1, RG_MRC_FLOAT32 = 2, RG_MRC_UINT16 = 6, RG_MRC_FLOAT16 = 12 };

typedef struct rg_mrc {
    char *path;
    FILE *file;
    bool owns_file;
    bool swapped; // the file's byte order is not this machine's
    bool stamped; // it has the 'MAP ' stamp
    bool is_em;
    int64_t nx, ny, nz; // columns, rows, sections
    int mode;
    int axis[3];                        // MAPC, MAPR, MAPS: 1, 2, 3 when columns run along X, rows along Y
    int space_group;                    // ISPG: 0 for images and stacks of images, 1 for a volume, 401.. for stacks of volumes
    double voxel_A[3];                  // cell / grid along X, Y, Z; 0 where the header gives none or no number
    double minimum, maximum, mean, rms; // as the header has them, often not set
    int64_t data_byte;                  // where section 0 begins: 1024 + extended header
    unsigned char *line;                // one row as in the file
} rg_mrc;

// Opens and checks header and size. RG_GOOD, or one line and RG_USAGE.
int rg_mrc_open(rg_mrc *, const char *path);
// The same for a stream of `bytes` bytes, which stays the caller's; path is only for messages.
int rg_mrc_open_stream(rg_mrc *, FILE *, int64_t bytes, const char *path);
// Whether the first 1024 bytes of a file of this size can be an MRC header in either byte order, or begin with one of EM.
bool rg_mrc_plausible(const void *header, int64_t bytes);
// Section z into ny * nx floats, row by row. RG_GOOD, or one line and RG_USAGE.
int rg_mrc_section(rg_mrc *, int64_t z, float *section);
// A mask of n values: of 0 and 1 where IMOD has stored these bytes as signed ones, -128 and -127.
void rg_mrc_mask_bytes(float *value, int64_t n);
// The size of a pixel or voxel in A, 0: unknown; what jobs take for it, that along X. Of the first file whose size along Y, or of a
// volume along Z, is another, a warning says so.
double rg_mrc_voxel_A(const rg_mrc *, bool is_volume);
void rg_mrc_close(rg_mrc *);
int rg_mrc_mode_bytes(int mode); // bytes of one value, 0 for modes that are not taken

// A file being written; nothing stands at its path until rg_mrc_write_commit has succeeded.
typedef struct rg_mrc_out {
    rg_file file;
    int64_t nx, ny, nz, values;
    int mode;
    bool is_volume;
    double voxel_A;
    double minimum, maximum, shift, sum, sum_of_squares; // of value - shift, the shift being the first value
    unsigned char *line;
    unsigned char *mapped; // the file, where rg_mrc_write_room has mapped it
} rg_mrc_out;

// voxel_A 0: unknown. is_volume sets ISPG 1, else 0 (one image or a stack). RG_GOOD, or one line and RG_USAGE.
int rg_mrc_write_begin(
    rg_mrc_out *, const char *path, int64_t nx, int64_t ny, int64_t nz, int mode, double voxel_A, bool is_volume);
// Takes the file's room before its sections come, which is worth it for large files alone; may run in a thread of its own, that
// ends before they do. Where the file system cannot, sections take their room as they come.
void rg_mrc_write_room(rg_mrc_out *);
// The next section. Values outside the integer modes' range, not whole, or not finite are a programming error of the caller
// only for floats; for integer modes they are refused: RG_USAGE and one line.
int rg_mrc_write_section(rg_mrc_out *, const float *section);
// The next n, by so many threads: the same file from any number.
int rg_mrc_write_sections(rg_mrc_out *, const float *section, int64_t n, int threads);
int rg_mrc_write_commit(rg_mrc_out *); // header with statistics, then rename; exactly nz sections must have been written
void rg_mrc_write_abandon(rg_mrc_out *);
int rg_mrc_write_end(rg_mrc_out *, int code); // one of the two, by what came of the sections; its code

float rg_half_to_float(uint16_t);
uint16_t rg_float_to_half(float); // to nearest, ties to even; too large becomes infinity
