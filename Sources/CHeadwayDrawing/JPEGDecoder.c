#ifdef HEADWAY_DRAWING

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>

#include "ImageSource.h"
#include "JPEGError.h"

enum {
  /// The number of bytes that are read from a descriptor at a time.
  buffer_size = 64 * 1024,
  /// The maximum size of an APP1 segment.
  largest_segment = 0xFFFF,
};

struct headway_jpeg_decoder {
  struct jpeg_decompress_struct codec;
  headway_jpeg_error error;
  struct jpeg_source_mgr source_manager;
  struct jpeg_progress_mgr progress;
  headway_image_source source;
  size_t position;
  /// The number of bytes read, and whether the header has been read. The segments of the header are kept in memory.
  size_t read_count;
  int has_header;
  headway_image_limits limits;
  JOCTET *profile;
  /// A row of four inks, if the file is CMYK.
  uint8_t *inks;
  uint8_t buffer[buffer_size];
};

// MARK: Callbacks for libjpeg

static void init_source(j_decompress_ptr codec) { (void)codec; }

static boolean fill_input_buffer(j_decompress_ptr codec) {
  headway_jpeg_decoder *decoder = codec->client_data;
  long count = headway_image_read(&decoder->source, &decoder->position, decoder->buffer, buffer_size);
  if (count < 0) {
    decoder->error.failure.system_error = errno;
    headway_jpeg_leave((j_common_ptr)codec, HEADWAY_IMAGE_READ_FAILED, NULL);
  }
  if (count == 0) ERREXIT(codec, JERR_INPUT_EOF);
  decoder->read_count += (size_t)count;
  if (!decoder->has_header && decoder->read_count > decoder->limits.memory) {
    headway_jpeg_leave((j_common_ptr)codec, HEADWAY_IMAGE_TOO_LARGE, "The header is too long");
  }
  decoder->source_manager.next_input_byte = decoder->buffer;
  decoder->source_manager.bytes_in_buffer = (size_t)count;
  return TRUE;
}

static void skip_input_data(j_decompress_ptr codec, long count) {
  struct jpeg_source_mgr *source = codec->src;
  while (count > (long)source->bytes_in_buffer) {
    count -= (long)source->bytes_in_buffer;
    fill_input_buffer(codec);
  }
  if (count <= 0) return;
  source->next_input_byte += count;
  source->bytes_in_buffer -= (size_t)count;
}

static void term_source(j_decompress_ptr codec) { (void)codec; }

static int is_cancelled(const headway_image_limits *limits) {
  return limits->is_cancelled && limits->is_cancelled(limits->context);
}

static void progress_monitor(j_common_ptr common) {
  j_decompress_ptr codec = (j_decompress_ptr)common;
  headway_jpeg_decoder *decoder = codec->client_data;
  if (is_cancelled(&decoder->limits)) headway_jpeg_leave(common, HEADWAY_IMAGE_CANCELLED, NULL);
  // A small file can require thousands of passes over a large image.
  if (codec->input_scan_number > decoder->limits.scan_count) {
    headway_jpeg_leave(common, HEADWAY_IMAGE_TOO_LARGE, "The picture has too many scans");
  }
}

// MARK: The header

/// Finds the first APP1 segment with EXIF data.
static void find_exif(headway_jpeg_decoder *decoder, headway_image_header *header) {
  static const char prefix[6] = "Exif\0";
  for (jpeg_saved_marker_ptr marker = decoder->codec.marker_list; marker; marker = marker->next) {
    if (marker->marker != JPEG_APP0 + 1 || marker->data_length <= sizeof prefix) continue;
    if (memcmp(marker->data, prefix, sizeof prefix) != 0) continue;
    header->exif = marker->data + sizeof prefix;
    header->exif_count = marker->data_length - sizeof prefix;
    return;
  }
}

static void find_profile(headway_jpeg_decoder *decoder, headway_image_header *header) {
  unsigned count = 0;
  // The header of a profile specifies its color space; only profiles for RGB are used.
  if (!jpeg_read_icc_profile(&decoder->codec, &decoder->profile, &count) || count < 20) return;
  if (memcmp(decoder->profile + 16, "RGB ", 4) != 0) return;
  header->profile = decoder->profile;
  header->profile_count = count;
}

headway_image_result headway_jpeg_open(
    headway_jpeg_decoder **result, headway_image_source source, headway_image_limits limits,
    headway_image_header *header) {
  headway_jpeg_decoder *decoder = calloc(1, sizeof *decoder);
  *result = decoder;
  if (!decoder) return HEADWAY_IMAGE_OUT_OF_MEMORY;
  decoder->source = source;
  decoder->limits = limits;
  struct jpeg_decompress_struct *codec = &decoder->codec;
  codec->err = headway_jpeg_use_error(&decoder->error);
  if (setjmp(decoder->error.jump)) return decoder->error.result;
  jpeg_create_decompress(codec);
  codec->client_data = decoder;
  codec->mem->max_memory_to_use = (long)limits.memory;
  decoder->source_manager = (struct jpeg_source_mgr){
      .init_source = init_source,
      .fill_input_buffer = fill_input_buffer,
      .skip_input_data = skip_input_data,
      .resync_to_restart = jpeg_resync_to_restart,
      .term_source = term_source,
  };
  codec->src = &decoder->source_manager;
  decoder->progress.progress_monitor = progress_monitor;
  codec->progress = &decoder->progress;
  jpeg_save_markers(codec, JPEG_APP0 + 1, largest_segment);
  jpeg_save_markers(codec, JPEG_APP0 + 2, largest_segment);
  jpeg_read_header(codec, TRUE);
  decoder->has_header = 1;
  if ((uint64_t)codec->image_width * codec->image_height > limits.pixel_count) return HEADWAY_IMAGE_TOO_LARGE;
  *header = (headway_image_header){.width = codec->image_width, .height = codec->image_height};
  find_exif(decoder, header);
  find_profile(decoder, header);
  return HEADWAY_IMAGE_OK;
}

// MARK: Pixels

headway_image_result headway_jpeg_start(
    headway_jpeg_decoder *decoder, unsigned denominator, uint32_t *width, uint32_t *height) {
  struct jpeg_decompress_struct *codec = &decoder->codec;
  if (setjmp(decoder->error.jump)) return decoder->error.result;
  codec->scale_num = 1;
  codec->scale_denom = denominator;
  switch (codec->jpeg_color_space) {
  case JCS_GRAYSCALE:
  case JCS_RGB:
  case JCS_YCbCr: codec->out_color_space = JCS_EXT_BGRA; break;
  case JCS_CMYK:
  case JCS_YCCK: codec->out_color_space = JCS_CMYK; break;
  default: headway_jpeg_leave((j_common_ptr)codec, HEADWAY_IMAGE_UNSUPPORTED, "Unknown color space");
  }
  jpeg_start_decompress(codec);
  *width = codec->output_width;
  *height = codec->output_height;
  if (codec->out_color_space == JCS_CMYK) {
    decoder->inks = malloc((size_t)codec->output_width * 4);
    if (!decoder->inks) return HEADWAY_IMAGE_OUT_OF_MEMORY;
  }
  return HEADWAY_IMAGE_OK;
}

static uint8_t product(unsigned a, unsigned b) { return (uint8_t)((a * b + 127) / 255); }

/// Converts inks as if they were ideal. This is the best approximation without the profile of the press.
static void convert_inks(const headway_jpeg_decoder *decoder, uint8_t *row) {
  // Adobe's programs store the remaining light instead of the ink, and mark their files as Adobe's.
  unsigned flip = decoder->codec.saw_Adobe_marker ? 0 : 255;
  const uint8_t *inks = decoder->inks;
  for (uint32_t x = 0; x < decoder->codec.output_width; x++, inks += 4, row += 4) {
    unsigned black = inks[3] ^ flip;
    row[0] = product(inks[2] ^ flip, black);
    row[1] = product(inks[1] ^ flip, black);
    row[2] = product(inks[0] ^ flip, black);
    row[3] = 255;
  }
}

headway_image_result headway_jpeg_read_row(headway_jpeg_decoder *decoder, uint8_t *row) {
  if (setjmp(decoder->error.jump)) return decoder->error.result;
  JSAMPROW rows[1] = {decoder->inks ? decoder->inks : row};
  // The source never suspends, so a row is always available.
  if (jpeg_read_scanlines(&decoder->codec, rows, 1) != 1) return HEADWAY_IMAGE_CORRUPT;
  if (decoder->inks) convert_inks(decoder, row);
  return HEADWAY_IMAGE_OK;
}

headway_image_result headway_jpeg_finish(headway_jpeg_decoder *decoder) {
  if (setjmp(decoder->error.jump)) return decoder->error.result;
  jpeg_finish_decompress(&decoder->codec);
  return HEADWAY_IMAGE_OK;
}

const headway_image_failure *headway_jpeg_failure(const headway_jpeg_decoder *decoder) {
  return &decoder->error.failure;
}

void headway_jpeg_destroy(headway_jpeg_decoder *decoder) {
  if (!decoder) return;
  // Only frees memory, and therefore never fails.
  jpeg_destroy_decompress(&decoder->codec);
  free(decoder->profile);
  free(decoder->inks);
  free(decoder);
}

#endif
