// What both decoders read from.
#ifndef HEADWAY_IMAGE_SOURCE_H
#define HEADWAY_IMAGE_SOURCE_H

#include <stddef.h>

#include "CHeadwayDrawing.h"

/// Reads up to `capacity` bytes. Returns how many; 0 at the end, and -1 with `errno` on failure.
long headway_image_read(headway_image_source *source, size_t *position, uint8_t *buffer, size_t capacity);

/// Copies a message that need not end with a zero.
void headway_image_say(headway_image_failure *failure, const char *message);

#endif
