#ifndef CHEADWAYSHA256_H
#define CHEADWAYSHA256_H

#include <stddef.h>
#include <stdint.h>

/// A SHA-256 computation (FIPS 180-4). A copy is independent of the original.
struct headway_sha256 {
  uint32_t state[8];
  /// The number of bytes so far.
  uint64_t count;
  /// The beginning of the next block.
  uint8_t block[64];
  /// Updates the state with `count` blocks of 64 bytes each.
  void (*_Nullable add_blocks)(uint32_t *_Nonnull state, const uint8_t *_Nonnull bytes, size_t count);
};

/// Starts a computation that uses SHA instructions if the processor has them.
void headway_sha256_start(struct headway_sha256 *_Nonnull hash);

/// Starts a computation with instructions that all processors have.
void headway_sha256_start_portable(struct headway_sha256 *_Nonnull hash);

void headway_sha256_update(struct headway_sha256 *_Nonnull hash, const void *_Nullable bytes, size_t count);

/// Writes the 32 bytes of the result. The computation can't be continued.
void headway_sha256_finish(struct headway_sha256 *_Nonnull hash, uint8_t *_Nonnull result);

#endif
