// Reading and writing JPEG and PNG. libjpeg and libpng report errors by `longjmp`; each function here catches them itself,
// so none passes through the caller. Nothing here keeps state between decoders, so each may be used on any thread, by one
// at a time.
//
// Pixels are 32-bit words as cairo has them, premultiplied: the bytes are blue, green, red, alpha.
#ifndef CHEADWAYDRAWING_H
#define CHEADWAYDRAWING_H

#include <stddef.h>
#include <stdint.h>

typedef enum headway_image_result {
  HEADWAY_IMAGE_OK = 0,
  /// The file ends too early.
  HEADWAY_IMAGE_TRUNCATED,
  /// The file breaks its format.
  HEADWAY_IMAGE_CORRUPT,
  /// The file keeps to its format, and uses what the library can't read.
  HEADWAY_IMAGE_UNSUPPORTED,
  /// Decoding would take more pixels or memory than the limits allow.
  HEADWAY_IMAGE_TOO_LARGE,
  HEADWAY_IMAGE_OUT_OF_MEMORY,
  HEADWAY_IMAGE_CANCELLED,
  /// The system could not read the file; `system_error` says why.
  HEADWAY_IMAGE_READ_FAILED,
} headway_image_result;

/// Where a decoder reads: a descriptor, which it does not close, or bytes if that is negative.
typedef struct headway_image_source {
  int descriptor;
  const uint8_t *bytes;
  size_t count;
} headway_image_source;

typedef struct headway_image_limits {
  /// The most pixels that the file may declare.
  uint64_t pixel_count;
  /// The most bytes that a decoder may take beside its rows.
  size_t memory;
  /// The most passes over the picture in a progressive JPEG.
  int scan_count;
  /// Asked now and then whether to stop; may be null.
  int (*is_cancelled)(void *context);
  void *context;
} headway_image_limits;

typedef struct headway_image_header {
  uint32_t width, height;
  /// Whether pixels may be transparent.
  int has_alpha;
  /// The ICC profile that describes the pixels, if the file has one and they are RGB; it belongs to the decoder.
  const uint8_t *profile;
  size_t profile_count;
  /// The EXIF data from "II" or "MM" on, if there is any; it belongs to the decoder.
  const uint8_t *exif;
  size_t exif_count;
} headway_image_header;

typedef struct headway_image_failure {
  /// The `errno` of a call that failed, else 0.
  int system_error;
  /// What the library says, for a person; may be empty.
  char message[200];
} headway_image_failure;

typedef struct headway_jpeg_decoder headway_jpeg_decoder;

/// Makes a decoder and reads the header. The decoder is null if there is no memory, else it has to be destroyed.
headway_image_result headway_jpeg_open(
    headway_jpeg_decoder **decoder, headway_image_source source, headway_image_limits limits,
    headway_image_header *header);

/// Begins to decode at one `denominator`th of the size: 1, 2, 4 or 8. Gives the size of the rows that follow.
headway_image_result headway_jpeg_start(
    headway_jpeg_decoder *decoder, unsigned denominator, uint32_t *width, uint32_t *height);

/// Decodes the next row, width times 4 bytes.
headway_image_result headway_jpeg_read_row(headway_jpeg_decoder *decoder, uint8_t *row);

/// Reads what follows the last row, up to the end of the picture.
headway_image_result headway_jpeg_finish(headway_jpeg_decoder *decoder);

const headway_image_failure *headway_jpeg_failure(const headway_jpeg_decoder *decoder);
void headway_jpeg_destroy(headway_jpeg_decoder *decoder);

typedef struct headway_png_decoder headway_png_decoder;

/// The same for PNG; the header is complete only after `headway_png_finish`, since EXIF data may follow the pixels.
headway_image_result headway_png_open(
    headway_png_decoder **decoder, headway_image_source source, headway_image_limits limits,
    headway_image_header *header);
headway_image_result headway_png_read_row(headway_png_decoder *decoder, uint8_t *row);
headway_image_result headway_png_finish(headway_png_decoder *decoder, headway_image_header *header);
const headway_image_failure *headway_png_failure(const headway_png_decoder *decoder);
void headway_png_destroy(headway_png_decoder *decoder);

/// A picture to encode.
typedef struct headway_image_pixels {
  const uint8_t *bytes;
  uint32_t width, height;
  size_t bytes_per_row;
  /// An ICC profile, or null.
  const uint8_t *profile;
  size_t profile_count;
  /// Text in ASCII that the file carries along, or null.
  const char *comment;
} headway_image_pixels;

/// Bytes that `free` releases.
typedef struct headway_image_bytes {
  uint8_t *bytes;
  size_t count;
} headway_image_bytes;

/// Encodes as JPEG, over a background (blue, green, red) where pixels are transparent. Quality is 1 to 100.
headway_image_result headway_jpeg_encode(
    headway_image_pixels pixels, int quality, const uint8_t background[3], headway_image_bytes *result,
    headway_image_failure *failure);

/// Encodes as PNG, with alpha if `has_alpha` says so.
headway_image_result headway_png_encode(
    headway_image_pixels pixels, int has_alpha, headway_image_bytes *result, headway_image_failure *failure);

#endif
