/* picture.h - writes a picture as PNG: rows x columns pixels, of one byte (grey) or of three (red, green, blue). */
#ifndef PICTURE_H
#define PICTURE_H

#include <png.h>
#include <stdio.h>
#include <stdlib.h>

static inline void write_png(const char *file, const uint8_t *pixels, int64_t rows, int64_t columns, int bytes) {
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)columns,
                       .height = (png_uint_32)rows,
                       .format = bytes == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY};
    if (!png_image_write_to_file(&image, file, 0, pixels, 0, NULL)) {
        fprintf(stderr, "%s: %s\n", file, image.message);
        exit(1);
    }
    printf("wrote %s\n", file);
}

#endif
