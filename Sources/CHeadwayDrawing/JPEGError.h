// Converts libjpeg's errors to results.
#ifndef HEADWAY_JPEG_ERROR_H
#define HEADWAY_JPEG_ERROR_H

#ifdef HEADWAY_DRAWING

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "CHeadwayDrawing.h"

/// Leaves the caller of libjpeg with a `longjmp` to `jump`, which the caller has set.
typedef struct headway_jpeg_error {
  struct jpeg_error_mgr manager;
  jmp_buf jump;
  headway_image_result result;
  headway_image_failure failure;
} headway_jpeg_error;

/// Sets up the error manager, for the field `err` of a codec.
struct jpeg_error_mgr *headway_jpeg_use_error(headway_jpeg_error *error);

/// Leaves libjpeg with a result and an optional message.
_Noreturn void headway_jpeg_leave(j_common_ptr codec, headway_image_result result, const char *message);

#endif
#endif
