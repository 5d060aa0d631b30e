// SPDX-License-Identifier: MIT
// image.c: any bytes as a photograph, without and with a grey range. Under libFuzzer, from the project's root after `make`:
//     clang -g -O1 -fopenmp -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -DHAVE_PNG=1 -DHAVE_TIFF=1 -DHAVE_ZLIB=1 -Ibuild
//         verify/fuzz/image.c data/formats/image*.c data/formats/mrc*.c impl/base/malformed.c impl/base/core.c impl/base/file.c -lpng -ltiff -lz -lm -o fuzz_image
#include "../../data/formats/image.h"

#include <stddef.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const rg_grey_range range[2] = {{false, 0, 0}, {true, -1, 1000}};
    FILE *file = n ? fmemopen((void *)(uintptr_t)bytes, n, "rb") : NULL;
    for (int i = 0; file && i < 2; i++) {
        rg_image image = {0};
        int64_t pages = 0;
        int code = rg_image_from_stream(file, (int64_t)n, "fuzzed", i, &range[i], &pages, &image);
        // Either a photograph with every pixel there, or refused with nothing left behind.
        if (code == RG_GOOD) {
            volatile uint8_t last = ((const uint8_t *)image.pixel)[image.width * image.height * (image.bits / 8) - 1];
            (void)last;
            if (i >= pages)
                abort();
            rg_image_free(&image);
        } else if (code != RG_USAGE || image.pixel) {
            abort();
        }
    }
    if (file)
        fclose(file);
    return 0;
}
