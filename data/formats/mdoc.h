// SPDX-License-Identifier: MIT
// mdoc.h: reads SerialEM's .mdoc: lines KEY = VALUE, first of the series, then below [ZValue = N] of each image.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Data of an image; NaN: not in the file.
typedef struct rg_mdoc_image {
    double tilt_deg, dose, prior_dose; // doses in electrons per A^2: of this image, and of all earlier ones
    double defocus_A;                  // underfocus is positive, as RELION and CTFFIND count
    int64_t taken_before;              // number of images acquired before this one
} rg_mdoc_image;

// The source of the order of acquisition: the last of these that all images have.
typedef enum rg_mdoc_order { RG_MDOC_Z_VALUE, RG_MDOC_DATE_TIME, RG_MDOC_PRIOR_DOSE } rg_mdoc_order;

typedef struct rg_mdoc {
    double voltage_kV; // NaN: not in the file
    int64_t n;
    rg_mdoc_image *image;
    rg_mdoc_order order;
    bool target_defocus; // every image's defocus is the requested one
} rg_mdoc;

// RG_GOOD, or one line and RG_USAGE. TargetDefocus has priority over Defocus, which is a reading of the lens. The dose before
// an image is PriorRecordDose, or else the sum over the images acquired earlier. Doses are used only if all images have one
// above 0.
int rg_mdoc_read(const char *path, rg_mdoc *);
const char *rg_mdoc_order_name(rg_mdoc_order);
void rg_mdoc_free(rg_mdoc *);
