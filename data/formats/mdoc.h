// SPDX-License-Identifier: MIT
// mdoc.h: SerialEM's .mdoc: lines KEY = VALUE, of the series and, below [ZValue = N], of each image.
#ifndef RG_MDOC_H
#define RG_MDOC_H

#include <stdint.h>

// What it says of an image; NaN: nothing.
typedef struct rg_mdoc_image {
    double tilt_deg, dose, prior_dose; // doses in electrons an A^2: of this image, and of those taken before
    double defocus_A;                  // underfocus is positive, as RELION and CTFFIND count
} rg_mdoc_image;

typedef struct rg_mdoc {
    double voltage_kV; // NaN: not said
    int64_t n;
    rg_mdoc_image *image;
} rg_mdoc;

// RG_GOOD, or one line and RG_USAGE. Images without PriorRecordDose have the doses of those above them in the file, which
// SerialEM writes in the order in which they were taken; Defocus goes before TargetDefocus; a dose of 0 says nothing.
int rg_mdoc_read(const char *path, rg_mdoc *);
void rg_mdoc_free(rg_mdoc *);

#endif
