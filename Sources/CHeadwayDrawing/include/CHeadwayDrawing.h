// Reads and writes JPEG and PNG. libjpeg and libpng report errors with `longjmp`. Each function here catches these
// jumps itself, so none of them reaches the caller. Decoders share no state. You can use each of them on any thread,
// but only on one thread at a time.
//
// Pixels are premultiplied 32-bit words in cairo's format: the bytes are blue, green, red, alpha.
#ifndef CHEADWAYDRAWING_H
#define CHEADWAYDRAWING_H

#include <stddef.h>
#include <stdint.h>

typedef enum headway_image_result {
  HEADWAY_IMAGE_OK = 0,
  /// The file is incomplete.
  HEADWAY_IMAGE_TRUNCATED,
  /// The file is invalid in its format.
  HEADWAY_IMAGE_CORRUPT,
  /// The file is valid but uses a feature that the library does not support.
  HEADWAY_IMAGE_UNSUPPORTED,
  /// Decoding would exceed the limit of pixels or memory.
  HEADWAY_IMAGE_TOO_LARGE,
  HEADWAY_IMAGE_OUT_OF_MEMORY,
  HEADWAY_IMAGE_CANCELLED,
  /// The system could not read the file; `system_error` contains the reason.
  HEADWAY_IMAGE_READ_FAILED,
} headway_image_result;

/// The source of a decoder: a descriptor, which the decoder does not close, or bytes if the descriptor is negative.
typedef struct headway_image_source {
  int descriptor;
  const uint8_t *bytes;
  size_t count;
} headway_image_source;

typedef struct headway_image_limits {
  /// The maximum number of pixels that the file may declare.
  uint64_t pixel_count;
  /// The maximum number of bytes that a decoder may take in addition to its rows.
  size_t memory;
  /// The maximum number of passes in a progressive JPEG.
  int scan_count;
  /// Called from time to time; returns nonzero to stop. May be null.
  int (*is_cancelled)(void *context);
  void *context;
} headway_image_limits;

typedef struct headway_image_header {
  uint32_t width, height;
  /// Whether pixels can be transparent.
  int has_alpha;
  /// The ICC profile that describes the pixels, if the file contains one for RGB; owned by the decoder.
  const uint8_t *profile;
  size_t profile_count;
  /// The EXIF data, starting with "II" or "MM", if any; owned by the decoder.
  const uint8_t *exif;
  size_t exif_count;
} headway_image_header;

typedef struct headway_image_failure {
  /// The `errno` of a failed call; otherwise 0.
  int system_error;
  /// The library's message for users; may be empty.
  char message[200];
} headway_image_failure;

typedef struct headway_jpeg_decoder headway_jpeg_decoder;

/// Creates a decoder and reads the header. The decoder is null if there is not enough memory; otherwise, the caller
/// must destroy it.
headway_image_result headway_jpeg_open(
    headway_jpeg_decoder **decoder, headway_image_source source, headway_image_limits limits,
    headway_image_header *header);

/// Starts decoding at 1/`denominator` of the size: 1, 2, 4 or 8. Returns the size of the rows that follow.
headway_image_result headway_jpeg_start(
    headway_jpeg_decoder *decoder, unsigned denominator, uint32_t *width, uint32_t *height);

/// Decodes the next row, which has 4 bytes per pixel.
headway_image_result headway_jpeg_read_row(headway_jpeg_decoder *decoder, uint8_t *row);

/// Reads the data after the last row, up to the end of the image.
headway_image_result headway_jpeg_finish(headway_jpeg_decoder *decoder);

const headway_image_failure *headway_jpeg_failure(const headway_jpeg_decoder *decoder);
void headway_jpeg_destroy(headway_jpeg_decoder *decoder);

typedef struct headway_png_decoder headway_png_decoder;

/// Does the same for PNG. The header is complete only after `headway_png_finish`, because EXIF data may follow the
/// pixels.
headway_image_result headway_png_open(
    headway_png_decoder **decoder, headway_image_source source, headway_image_limits limits,
    headway_image_header *header);
headway_image_result headway_png_read_row(headway_png_decoder *decoder, uint8_t *row);
headway_image_result headway_png_finish(headway_png_decoder *decoder, headway_image_header *header);
const headway_image_failure *headway_png_failure(const headway_png_decoder *decoder);
void headway_png_destroy(headway_png_decoder *decoder);

/// An image to encode.
typedef struct headway_image_pixels {
  const uint8_t *bytes;
  uint32_t width, height;
  size_t bytes_per_row;
  /// An ICC profile, or null.
  const uint8_t *profile;
  size_t profile_count;
  /// ASCII text to store in the file, or null.
  const char *comment;
} headway_image_pixels;

/// Bytes that the caller releases with `free`.
typedef struct headway_image_bytes {
  uint8_t *bytes;
  size_t count;
} headway_image_bytes;

/// Encodes as JPEG, with transparent pixels drawn over a background (blue, green, red). Quality is 1 to 100.
headway_image_result headway_jpeg_encode(
    headway_image_pixels pixels, int quality, const uint8_t background[3], headway_image_bytes *result,
    headway_image_failure *failure);

/// Encodes as PNG, with alpha if `has_alpha` is nonzero.
headway_image_result headway_png_encode(
    headway_image_pixels pixels, int has_alpha, headway_image_bytes *result, headway_image_failure *failure);

#endif
