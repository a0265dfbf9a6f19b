// The data source of both decoders.
#ifndef HEADWAY_IMAGE_SOURCE_H
#define HEADWAY_IMAGE_SOURCE_H

#include <stddef.h>

#include "CHeadwayDrawing.h"

/// Reads up to `capacity` bytes. Returns the number of bytes; 0 at the end, and -1 with `errno` on failure.
long headway_image_read(headway_image_source *source, size_t *position, uint8_t *buffer, size_t capacity);

/// Copies a message, which does not have to end with a zero byte.
void headway_image_say(headway_image_failure *failure, const char *message);

#endif
