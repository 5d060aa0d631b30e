// SPDX-License-Identifier: MIT
// export.h: a result file in the formats of other tools, for `export` and `tune`.
#ifndef RG_EXPORT_H
#define RG_EXPORT_H

#include "../../data/formats/result.h"

// format "gbench" or "t4"; out NULL: standard output. RG_GOOD, or one line and RG_USAGE.
typedef enum { RG_GBENCH, RG_T4 } rg_export_format; // as --format has them
int rg_export(const rg_result *, rg_export_format, const char *out);

#endif
