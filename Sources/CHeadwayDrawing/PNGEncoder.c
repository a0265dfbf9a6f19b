#ifdef HEADWAY_DRAWING

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "ImageSource.h"

/// The state that survives a `longjmp`.
typedef struct encoder {
  png_structp png;
  png_infop info;
  jmp_buf jump;
  headway_image_result result;
  headway_image_failure failure;
  headway_image_bytes bytes;
  size_t capacity;
  uint8_t *row;
} encoder;

static void error_function(png_structp png, png_const_charp message) {
  encoder *state = png_get_error_ptr(png);
  if (state->result == HEADWAY_IMAGE_OK) state->result = HEADWAY_IMAGE_UNSUPPORTED;
  headway_image_say(&state->failure, message);
  longjmp(state->jump, 1);
}

static void warning_function(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void write_function(png_structp png, png_bytep bytes, size_t count) {
  encoder *state = png_get_io_ptr(png);
  if (state->capacity - state->bytes.count < count) {
    size_t capacity = (state->bytes.count + count) * 2;
    uint8_t *larger = realloc(state->bytes.bytes, capacity);
    if (!larger) {
      state->result = HEADWAY_IMAGE_OUT_OF_MEMORY;
      longjmp(state->jump, 1);
    }
    state->bytes.bytes = larger;
    state->capacity = capacity;
  }
  memcpy(state->bytes.bytes + state->bytes.count, bytes, count);
  state->bytes.count += count;
}

static void flush_function(png_structp png) { (void)png; }

/// Converts premultiplied blue, green, red to red, green, blue.
static void convert(const uint8_t *pixels, uint8_t *row, uint32_t width, int has_alpha) {
  for (uint32_t x = 0; x < width; x++, pixels += 4) {
    unsigned alpha = pixels[3];
    for (int channel = 2; channel >= 0; channel--) {
      unsigned value = pixels[channel];
      if (has_alpha && alpha != 0 && alpha != 255) value = (value * 255 + alpha / 2) / alpha;
      *row++ = (uint8_t)(value < 255 ? value : 255);
    }
    if (has_alpha) *row++ = (uint8_t)alpha;
  }
}

static void write_picture(encoder *state, const headway_image_pixels *pixels, int has_alpha) {
  png_structp png = state->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, state, error_function, warning_function);
  png_infop info = state->info = png ? png_create_info_struct(png) : NULL;
  state->row = malloc((size_t)pixels->width * 4);
  if (!info || !state->row) {
    state->result = HEADWAY_IMAGE_OUT_OF_MEMORY;
    return;
  }
  png_set_write_fn(png, state, write_function, flush_function);
  png_set_IHDR(
      png, info, pixels->width, pixels->height, 8, has_alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB,
      PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (pixels->profile) {
    // If libpng rejects a profile, it omits the profile and issues a warning.
    png_set_benign_errors(png, 1);
    png_set_iCCP(png, info, "ICC", PNG_COMPRESSION_TYPE_BASE, pixels->profile, (png_uint_32)pixels->profile_count);
  }
  if (pixels->comment) {
    png_text text = {
        .compression = PNG_TEXT_COMPRESSION_NONE, .key = (char *)"Comment", .text = (char *)pixels->comment};
    png_set_text(png, info, &text, 1);
  }
  png_write_info(png, info);
  for (uint32_t y = 0; y < pixels->height; y++) {
    convert(pixels->bytes + y * pixels->bytes_per_row, state->row, pixels->width, has_alpha);
    png_write_row(png, state->row);
  }
  png_write_end(png, info);
}

headway_image_result headway_png_encode(
    headway_image_pixels pixels, int has_alpha, headway_image_bytes *result, headway_image_failure *failure) {
  encoder *state = calloc(1, sizeof *state);
  if (!state) return HEADWAY_IMAGE_OUT_OF_MEMORY;
  if (!setjmp(state->jump)) write_picture(state, &pixels, has_alpha);
  if (state->result == HEADWAY_IMAGE_OK) {
    *result = state->bytes;
    state->bytes.bytes = NULL;
  }
  headway_image_result outcome = state->result;
  *failure = state->failure;
  if (state->png) png_destroy_write_struct(&state->png, &state->info);
  free(state->bytes.bytes);
  free(state->row);
  free(state);
  return outcome;
}

#endif
