#ifdef HEADWAY_DRAWING

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "ImageSource.h"

enum {
  /// The maximum memory for the content of a chunk, such as a profile.
  largest_chunk = 16 << 20
};

struct headway_png_decoder {
  png_structp png;
  png_infop info;
  jmp_buf jump;
  headway_image_result result;
  headway_image_failure failure;
  headway_image_source source;
  size_t position;
  headway_image_limits limits;
  int has_alpha;
  /// The whole image, if its rows are decoded in several passes.
  uint8_t *all;
  size_t bytes_per_row;
  uint32_t next_row;
};

// MARK: Callbacks for libpng

static _Noreturn void leave(headway_png_decoder *decoder, headway_image_result result) {
  decoder->result = result;
  longjmp(decoder->jump, 1);
}

static void error_function(png_structp png, png_const_charp message) {
  headway_png_decoder *decoder = png_get_error_ptr(png);
  headway_image_say(&decoder->failure, message);
  leave(decoder, HEADWAY_IMAGE_CORRUPT);
}

static void warning_function(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void read_function(png_structp png, png_bytep bytes, size_t count) {
  headway_png_decoder *decoder = png_get_io_ptr(png);
  while (count > 0) {
    long read = headway_image_read(&decoder->source, &decoder->position, bytes, count);
    if (read < 0) decoder->failure.system_error = errno;
    if (read <= 0) leave(decoder, read < 0 ? HEADWAY_IMAGE_READ_FAILED : HEADWAY_IMAGE_TRUNCATED);
    bytes += read;
    count -= (size_t)read;
  }
}

// MARK: The header

static void find_metadata(headway_png_decoder *decoder, headway_image_header *header) {
  png_charp name;
  int compression;
  png_bytep profile;
  png_uint_32 count;
  // libpng has compared the color spaces of the profile and the image. Gray pixels become RGB, so a profile for gray
  // does not describe them.
  if (png_get_iCCP(decoder->png, decoder->info, &name, &compression, &profile, &count) && count >= 20
      && memcmp(profile + 16, "RGB ", 4) == 0) {
    header->profile = profile;
    header->profile_count = count;
  }
#ifdef PNG_eXIf_SUPPORTED
  png_bytep exif;
  if (png_get_eXIf_1(decoder->png, decoder->info, &count, &exif)) {
    header->exif = exif;
    header->exif_count = count;
  }
#endif
}

/// Configures libpng to return eight bits per channel: blue, green, red, alpha.
static void transform(headway_png_decoder *decoder) {
  png_structp png = decoder->png;
  int has_transparency = png_get_valid(png, decoder->info, PNG_INFO_tRNS) != 0;
  int color_type = png_get_color_type(png, decoder->info);
  decoder->has_alpha = has_transparency || (color_type & PNG_COLOR_MASK_ALPHA) != 0;
  png_set_expand(png);
  png_set_scale_16(png);
  if (!(color_type & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
  png_set_bgr(png);
  if (!decoder->has_alpha) png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
}

/// Reads an image with several passes.
static void read_all(headway_png_decoder *decoder, int passes, uint32_t height) {
  size_t size = decoder->bytes_per_row * height;
  if (size > decoder->limits.memory) leave(decoder, HEADWAY_IMAGE_TOO_LARGE);
  decoder->all = malloc(size);
  if (!decoder->all) leave(decoder, HEADWAY_IMAGE_OUT_OF_MEMORY);
  for (int pass = 0; pass < passes; pass++) {
    for (uint32_t y = 0; y < height; y++) {
      const headway_image_limits *limits = &decoder->limits;
      if (limits->is_cancelled && limits->is_cancelled(limits->context)) leave(decoder, HEADWAY_IMAGE_CANCELLED);
      png_read_row(decoder->png, decoder->all + decoder->bytes_per_row * y, NULL);
    }
  }
}

headway_image_result headway_png_open(
    headway_png_decoder **result, headway_image_source source, headway_image_limits limits,
    headway_image_header *header) {
  headway_png_decoder *decoder = calloc(1, sizeof *decoder);
  *result = decoder;
  if (!decoder) return HEADWAY_IMAGE_OUT_OF_MEMORY;
  decoder->source = source;
  decoder->limits = limits;
  if (setjmp(decoder->jump)) return decoder->result;
  decoder->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, decoder, error_function, warning_function);
  if (!decoder->png) return HEADWAY_IMAGE_OUT_OF_MEMORY;
  decoder->info = png_create_info_struct(decoder->png);
  if (!decoder->info) return HEADWAY_IMAGE_OUT_OF_MEMORY;
  png_set_read_fn(decoder->png, decoder, read_function);
  // The number of pixels is limited below. libpng's own limit would be one million pixels per side.
  png_set_user_limits(decoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(decoder->png, limits.memory < largest_chunk ? limits.memory : largest_chunk);
  // Text, suggested palettes, and histograms are skipped: a file can contain many of them, and they expand when they
  // are decompressed.
  static const png_byte skipped[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST";
  png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
  png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, skipped, 5);
  png_read_info(decoder->png, decoder->info);
  uint32_t width = png_get_image_width(decoder->png, decoder->info);
  uint32_t height = png_get_image_height(decoder->png, decoder->info);
  if ((uint64_t)width * height > limits.pixel_count) return HEADWAY_IMAGE_TOO_LARGE;
  transform(decoder);
  *header = (headway_image_header){.width = width, .height = height, .has_alpha = decoder->has_alpha};
  find_metadata(decoder, header);
  return HEADWAY_IMAGE_OK;
}

// MARK: Pixels

/// Enables interlace handling and transformations. Called for the first row.
static void begin(headway_png_decoder *decoder) {
  int passes = png_set_interlace_handling(decoder->png);
  png_read_update_info(decoder->png, decoder->info);
  decoder->bytes_per_row = png_get_rowbytes(decoder->png, decoder->info);
  uint32_t width = png_get_image_width(decoder->png, decoder->info);
  if (decoder->bytes_per_row != (size_t)width * 4) leave(decoder, HEADWAY_IMAGE_UNSUPPORTED);
  if (passes > 1) read_all(decoder, passes, png_get_image_height(decoder->png, decoder->info));
}

static void premultiply(uint8_t *row, uint32_t width) {
  for (uint32_t x = 0; x < width; x++, row += 4) {
    unsigned alpha = row[3];
    if (alpha == 255) continue;
    for (int channel = 0; channel < 3; channel++) row[channel] = (uint8_t)((row[channel] * alpha + 127) / 255);
  }
}

headway_image_result headway_png_read_row(headway_png_decoder *decoder, uint8_t *row) {
  if (setjmp(decoder->jump)) return decoder->result;
  if (decoder->next_row == 0) begin(decoder);
  if (decoder->all) {
    memcpy(row, decoder->all + decoder->bytes_per_row * decoder->next_row, decoder->bytes_per_row);
  } else {
    png_read_row(decoder->png, row, NULL);
  }
  decoder->next_row++;
  if (decoder->has_alpha) premultiply(row, (uint32_t)(decoder->bytes_per_row / 4));
  return HEADWAY_IMAGE_OK;
}

headway_image_result headway_png_finish(headway_png_decoder *decoder, headway_image_header *header) {
  if (setjmp(decoder->jump)) return decoder->result;
  png_read_end(decoder->png, decoder->info);
  find_metadata(decoder, header);
  return HEADWAY_IMAGE_OK;
}

const headway_image_failure *headway_png_failure(const headway_png_decoder *decoder) { return &decoder->failure; }

void headway_png_destroy(headway_png_decoder *decoder) {
  if (!decoder) return;
  if (decoder->png) png_destroy_read_struct(&decoder->png, &decoder->info, NULL);
  free(decoder->all);
  free(decoder);
}

#endif
