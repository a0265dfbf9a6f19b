#ifdef HEADWAY_DRAWING

#include "JPEGError.h"

#include <jerror.h>

#include "ImageSource.h"

_Noreturn void headway_jpeg_leave(j_common_ptr codec, headway_image_result result, const char *message) {
  headway_jpeg_error *error = (headway_jpeg_error *)codec->err;
  error->result = result;
  if (message) headway_image_say(&error->failure, message);
  longjmp(error->jump, 1);
}

static headway_image_result result_of(int code) {
  switch (code) {
  case JERR_OUT_OF_MEMORY: return HEADWAY_IMAGE_OUT_OF_MEMORY;
  // No backing store is available, so data beyond the memory limit can't be stored.
  case JERR_NO_BACKING_STORE:
  case JERR_IMAGE_TOO_BIG:
  case JERR_WIDTH_OVERFLOW: return HEADWAY_IMAGE_TOO_LARGE;
  case JERR_INPUT_EOF:
  case JERR_INPUT_EMPTY: return HEADWAY_IMAGE_TRUNCATED;
  case JERR_ARITH_NOTIMPL:
  case JERR_BAD_PRECISION:
  case JERR_CONVERSION_NOTIMPL:
  case JERR_SOF_UNSUPPORTED:
  case JERR_NOTIMPL:
  case JERR_NOT_COMPILED: return HEADWAY_IMAGE_UNSUPPORTED;
  default: return HEADWAY_IMAGE_CORRUPT;
  }
}

static void error_exit(j_common_ptr codec) {
  char message[JMSG_LENGTH_MAX];
  codec->err->format_message(codec, message);
  headway_jpeg_leave(codec, result_of(codec->err->msg_code), message);
}

/// Returns whether a warning means that libjpeg continues with invented pixels.
static int loses_pixels(int code) {
  switch (code) {
  case JWRN_ARITH_BAD_CODE:
  case JWRN_HIT_MARKER:
  case JWRN_HUFF_BAD_CODE:
  case JWRN_JPEG_EOF:
  case JWRN_MUST_RESYNC:
  case JWRN_NOT_SEQUENTIAL: return 1;
  default: return 0;
  }
}

static void emit_message(j_common_ptr codec, int level) {
  if (level < 0 && loses_pixels(codec->err->msg_code)) error_exit(codec);
}

static void output_message(j_common_ptr codec) { (void)codec; }

struct jpeg_error_mgr *headway_jpeg_use_error(headway_jpeg_error *error) {
  struct jpeg_error_mgr *manager = jpeg_std_error(&error->manager);
  manager->error_exit = error_exit;
  manager->emit_message = emit_message;
  manager->output_message = output_message;
  return manager;
}

#endif
