// SPDX-License-Identifier: MIT
// mrc.h: reads and writes MRC2014 / CCP4 maps and stacks (Cheng et al. 2015, J. Struct. Biol. 192:146) by section.
//
// Modes 0 (int8), 1 (int16), 2 (float32), 6 (uint16) and 12 (float16) are supported. A float holds each of their values
// exactly, so sections are passed as floats. Mode 4 (complex) and others are refused with a reason. Both byte orders, an
// extended header (skipped) and a missing 'MAP ' stamp are accepted. The bytes of IMOD's files are signed where its flags say
// so; those of files without its flags are signed unless the header's maximum is above 127. The same calls read EM files (.em
// of TOM, PyTom, Dynamo; 512 bytes of header) of int16 and float32; programs do not agree on their pixel size, which stays
// unknown. Files are written as MRC in the byte order of this machine.
#pragma once

#include "../../impl/base/core.h"

// RG_MRC_UINT8: mode 0 of IMOD with unsigned bytes, its default; this number never occurs in a file.
enum { RG_MRC_UINT8 = -1, RG_MRC_INT8 = 0, RG_MRC_INT16 = 1, RG_MRC_FLOAT32 = 2, RG_MRC_UINT16 = 6, RG_MRC_FLOAT16 = 12 };

typedef struct rg_mrc {
    char *path;
    FILE *file;
    bool owns_file;
    bool swapped; // the file's byte order is not this machine's
    bool stamped; // the header has the 'MAP ' stamp
    bool is_em;
    int64_t nx, ny, nz; // columns, rows, sections
    int mode;
    int axis[3];                        // MAPC, MAPR, MAPS: 1, 2, 3 when columns run along X, rows along Y
    int space_group;                    // ISPG: 0 for images and stacks of images, 1 for a volume, 401.. for stacks of volumes
    double voxel_A[3];                  // cell / grid along X, Y, Z; 0 if the header has no valid number
    double minimum, maximum, mean, rms; // from the header, often not set
    int64_t data_byte;                  // offset of section 0: 1024 + extended header
    unsigned char *line;                // one row as in the file
} rg_mrc;

// Opens the file and checks header and size. RG_GOOD, or one line and RG_USAGE.
int rg_mrc_open(rg_mrc *, const char *path);
// The same for a stream of `bytes` bytes, which the caller keeps; path is for messages.
int rg_mrc_open_stream(rg_mrc *, FILE *, int64_t bytes, const char *path);
// Returns whether the first 1024 bytes of a file of this size can be an MRC header in either byte order, or begin with an EM
// header.
bool rg_mrc_plausible(const void *header, int64_t bytes);
// Reads section z into ny * nx floats, row by row. RG_GOOD, or one line and RG_USAGE.
int rg_mrc_section(rg_mrc *, int64_t z, float *section);
// Restores a mask of n values to 0 and 1 if IMOD stored these bytes as the signed ones -128 and -127.
void rg_mrc_mask_bytes(float *value, int64_t n);
// The size of a pixel or voxel in A along X, which jobs use; 0: unknown. Warns about the first file whose size along Y (a
// volume: or Z) differs.
double rg_mrc_voxel_A(const rg_mrc *, bool is_volume);
void rg_mrc_close(rg_mrc *);
int rg_mrc_mode_bytes(int mode); // bytes of one value, 0: unsupported mode

// A file being written. Its path does not exist until rg_mrc_write_commit has succeeded.
typedef struct rg_mrc_out {
    rg_file file;
    int64_t nx, ny, nz, values;
    int mode;
    bool is_volume;
    double voxel_A;
    double minimum, maximum, shift, sum, sum_of_squares; // of value - shift, where the shift is the first value
    unsigned char *line;
    unsigned char *mapped; // the file, where rg_mrc_write_room has mapped it
} rg_mrc_out;

// voxel_A 0: unknown. is_volume sets ISPG to 1, else it is 0 (one image or a stack). RG_GOOD, or one line and RG_USAGE.
int rg_mrc_write_begin(
    rg_mrc_out *, const char *path, int64_t nx, int64_t ny, int64_t nz, int mode, double voxel_A, bool is_volume);
// Reserves the file's space before its sections are written, which pays only for large files. May run in its own thread, which
// must end before the first section. Does nothing if the file system cannot.
void rg_mrc_write_room(rg_mrc_out *);
// Writes the next section. For integer modes, values out of range, not whole or not finite are refused: RG_USAGE and one line.
// For floats the caller must not pass them.
int rg_mrc_write_section(rg_mrc_out *, const float *section);
// Writes the next n sections with this many threads; the file does not depend on the number.
int rg_mrc_write_sections(rg_mrc_out *, const float *section, int64_t n, int threads);
int rg_mrc_write_commit(rg_mrc_out *); // header with statistics, then rename; exactly nz sections must have been written
void rg_mrc_write_abandon(rg_mrc_out *);
int rg_mrc_write_end(rg_mrc_out *, int code); // commits if code is RG_GOOD, else abandons; returns the code

float rg_half_to_float(uint16_t);
uint16_t rg_float_to_half(float); // to nearest, ties to even; too large becomes infinity
