// SPDX-License-Identifier: MIT
// image.c: any bytes as a photograph, with and without a grey range, and as real values; grey values are written as PGM and PNG
// and read back.
#include "../../data/formats/image.h"
#include "fuzz.h"

static void again(const rg_image *image, const char *path, int (*write)(const char *, const rg_image *)) {
    RG_ENDS(rg_image_free) rg_image copy;
    fuzz_expect(write(path, image) == RG_GOOD && rg_image_read(path, 0, &(rg_grey_range){0}, &copy) == RG_GOOD);
    fuzz_expect(copy.width == image->width && copy.height == image->height && copy.bits == image->bits);
    fuzz_expect(!memcmp(copy.pixel, image->pixel, (size_t)(image->width * image->height * (image->bits / 8))));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const rg_grey_range range[3] = {{.given = false}, {.given = true, .low = -1, .high = 1000}, {.real = true}};
    FILE *file = n ? fmemopen((void *)(uintptr_t)bytes, n, "rb") : NULL;
    for (int i = 0; file && i < 3; i++) {
        RG_ENDS(rg_image_free) rg_image image = {0};
        int64_t pages = 0;
        int code = rg_image_from_stream(file, (int64_t)n, "fuzzed", i % 2, &range[i], &pages, &image);
        // Either a complete photograph, or refused with nothing to free.
        fuzz_expect(code == RG_GOOD ? i % 2 < pages : code == RG_USAGE && !image.pixel);
        if (code == RG_GOOD && image.bits < 32) {
            again(&image, fuzz_out("image.pgm"), rg_image_write_pgm);
            if (rg_image_can_write_png()) again(&image, fuzz_out("image.png"), rg_image_write_png);
        }
    }
    if (file) fclose(file);
    return 0;
}
