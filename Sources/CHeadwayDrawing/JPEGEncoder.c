#ifdef HEADWAY_DRAWING

#include <stdlib.h>
#include <string.h>

#include "JPEGError.h"

/// The state that survives a `longjmp`.
typedef struct encoder {
  struct jpeg_compress_struct codec;
  headway_jpeg_error error;
  unsigned char *bytes;
  unsigned long count;
  uint8_t *row;
} encoder;

/// Draws a premultiplied row over the background.
static void blend(const uint8_t *pixels, uint8_t *row, uint32_t width, const uint8_t background[3]) {
  for (uint32_t x = 0; x < width; x++, pixels += 4, row += 4) {
    unsigned rest = 255 - pixels[3];
    for (int channel = 0; channel < 3; channel++) {
      unsigned value = pixels[channel] + (background[channel] * rest + 127) / 255;
      row[channel] = (uint8_t)(value < 255 ? value : 255);
    }
    row[3] = 255;
  }
}

headway_image_result headway_jpeg_encode(
    headway_image_pixels pixels, int quality, const uint8_t background[3], headway_image_bytes *result,
    headway_image_failure *failure) {
  encoder *state = calloc(1, sizeof *state);
  if (!state) return HEADWAY_IMAGE_OUT_OF_MEMORY;
  struct jpeg_compress_struct *codec = &state->codec;
  codec->err = headway_jpeg_use_error(&state->error);
  headway_image_result outcome = HEADWAY_IMAGE_OK;
  if (setjmp(state->error.jump)) {
    outcome = state->error.result;
    *failure = state->error.failure;
    goto end;
  }
  jpeg_create_compress(codec);
  state->row = malloc((size_t)pixels.width * 4);
  if (!state->row) headway_jpeg_leave((j_common_ptr)codec, HEADWAY_IMAGE_OUT_OF_MEMORY, NULL);
  jpeg_mem_dest(codec, &state->bytes, &state->count);
  codec->image_width = pixels.width;
  codec->image_height = pixels.height;
  codec->input_components = 4;
  codec->in_color_space = JCS_EXT_BGRX;
  jpeg_set_defaults(codec);
  jpeg_set_quality(codec, quality, TRUE);
  // Costs a second pass over the coefficients, and makes the file a few percent smaller.
  codec->optimize_coding = TRUE;
  jpeg_start_compress(codec, TRUE);
  if (pixels.comment) {
    jpeg_write_marker(codec, JPEG_COM, (const JOCTET *)pixels.comment, (unsigned)strlen(pixels.comment));
  }
  if (pixels.profile) jpeg_write_icc_profile(codec, pixels.profile, (unsigned)pixels.profile_count);
  while (codec->next_scanline < codec->image_height) {
    blend(pixels.bytes + codec->next_scanline * pixels.bytes_per_row, state->row, pixels.width, background);
    JSAMPROW rows[1] = {state->row};
    jpeg_write_scanlines(codec, rows, 1);
  }
  jpeg_finish_compress(codec);
  *result = (headway_image_bytes){state->bytes, state->count};
  state->bytes = NULL;
end:
  jpeg_destroy_compress(codec);
  free(state->bytes);
  free(state->row);
  free(state);
  return outcome;
}

#endif
