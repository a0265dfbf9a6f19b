#include "CTile.h"

#include <cairo.h>
#include <math.h>

void tile_draw(uint8_t *pixels, uint64_t seed) {
  cairo_surface_t *surface =
      cairo_image_surface_create_for_data(pixels, CAIRO_FORMAT_ARGB32, tile_side, tile_side, tile_side * 4);
  cairo_t *cairo = cairo_create(surface);
  uint64_t state = seed;
  cairo_set_source_rgba(cairo, 0.95, 0.94, 0.9, 1);
  cairo_rectangle(cairo, 0, 0, tile_side, tile_side);
  cairo_fill(cairo);
  for (int area = 0; area < tile_areas; area++) {
    double x = tile_random(&state) * tile_side, y = tile_random(&state) * tile_side;
    cairo_new_path(cairo);
    for (int point = 0; point < tile_points; point++) {
      double angle = 2 * M_PI * point / tile_points, radius = 10 + 40 * tile_random(&state);
      double px = x + radius * cos(angle), py = y + radius * sin(angle);
      if (point == 0) cairo_move_to(cairo, px, py);
      else cairo_line_to(cairo, px, py);
    }
    cairo_close_path(cairo);
    double red = tile_random(&state), green = tile_random(&state), blue = tile_random(&state);
    cairo_set_source_rgba(cairo, red, green, blue, 0.6);
    cairo_fill(cairo);
  }
  cairo_set_line_cap(cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
  for (int road = 0; road < tile_roads; road++) {
    double x = tile_random(&state) * tile_side, y = tile_random(&state) * tile_side;
    cairo_new_path(cairo);
    cairo_move_to(cairo, x, y);
    for (int point = 0; point < tile_points; point++) {
      x += 60 * tile_random(&state) - 30;
      y += 60 * tile_random(&state) - 30;
      cairo_line_to(cairo, x, y);
    }
    cairo_set_line_width(cairo, 1 + 4 * tile_random(&state));
    cairo_set_source_rgba(cairo, 1, 0.8, 0.4, 1);
    cairo_stroke(cairo);
  }
  for (int place = 0; place < tile_places; place++) {
    double x = tile_random(&state) * tile_side, y = tile_random(&state) * tile_side;
    cairo_new_path(cairo);
    cairo_arc(cairo, x, y, 4, 0, 2 * M_PI);
    cairo_set_source_rgba(cairo, 0.8, 0.1, 0.1, 1);
    cairo_fill(cairo);
  }
  cairo_destroy(cairo);
  cairo_surface_flush(surface);
  cairo_surface_destroy(surface);
}
