// SPDX-License-Identifier: MIT
// mdoc.h: SerialEM's .mdoc: lines KEY = VALUE, of the series and, below [ZValue = N], of each image.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// What it says of an image; NaN: nothing.
typedef struct rg_mdoc_image {
    double tilt_deg, dose, prior_dose; // doses in electrons an A^2: of this image, and of those taken before
    double defocus_A;                  // underfocus is positive, as RELION and CTFFIND count
    int64_t taken_before;              // how many images were
} rg_mdoc_image;

// What the order of acquisition comes from: the first of the three, from below, that all images have.
typedef enum rg_mdoc_order { RG_MDOC_Z_VALUE, RG_MDOC_DATE_TIME, RG_MDOC_PRIOR_DOSE } rg_mdoc_order;

typedef struct rg_mdoc {
    double voltage_kV; // NaN: not said
    int64_t n;
    rg_mdoc_image *image;
    rg_mdoc_order order;
    bool target_defocus; // of all images, the defocus is the one that was asked for
} rg_mdoc;

// RG_GOOD, or one line and RG_USAGE. TargetDefocus goes before Defocus, which is a reading of the lens. The dose before an image is
// PriorRecordDose, or else the sum over the images that were taken before. Doses count only where all images have one above 0.
int rg_mdoc_read(const char *path, rg_mdoc *);
const char *rg_mdoc_order_name(rg_mdoc_order);
void rg_mdoc_free(rg_mdoc *);
