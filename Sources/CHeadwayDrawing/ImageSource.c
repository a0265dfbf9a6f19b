#include "ImageSource.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long headway_image_read(headway_image_source *source, size_t *position, uint8_t *buffer, size_t capacity) {
  if (source->descriptor >= 0) {
    long count;
    do {
      count = read(source->descriptor, buffer, capacity);
    } while (count < 0 && errno == EINTR);
    return count;
  }
  size_t left = source->count - *position;
  size_t count = left < capacity ? left : capacity;
  if (count > 0) memcpy(buffer, source->bytes + *position, count);
  *position += count;
  return (long)count;
}

void headway_image_say(headway_image_failure *failure, const char *message) {
  snprintf(failure->message, sizeof failure->message, "%s", message);
}
