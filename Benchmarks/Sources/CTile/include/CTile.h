// A tile of a map in plain C with cairo, and the numbers that both programs use to draw it.
#ifndef CTILE_H
#define CTILE_H

#include <stdint.h>

/// Returns a number from 0 to 1, with a linear congruential generator.
static inline double tile_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 40) / (double)(1 << 24);
}

enum { tile_side = 512, tile_areas = 150, tile_roads = 120, tile_points = 12, tile_places = 100 };

/// Draws a tile into side × side pixels of 4 bytes, which must be transparent before.
void tile_draw(uint8_t *pixels, uint64_t seed);

#endif
