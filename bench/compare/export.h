// SPDX-License-Identifier: MIT
// export.h: a result file in the formats of other tools, for `export` and `tune`.
#ifndef RG_EXPORT_H
#define RG_EXPORT_H

#include "../../data/formats/result.h"

// format "gbench" or "t4"; out NULL: standard output. RG_GOOD, or one line and RG_USAGE.
int rg_export(const rg_result *, const char *format, const char *out);

#endif
