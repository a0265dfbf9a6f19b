// SHA-256, as specified in FIPS 180-4, https://doi.org/10.6028/NIST.FIPS.180-4. Section 6.2 defines the names `a` to `h`,
// `K` and `W`.
#include "CHeadwaySHA256.h"

#include <stdatomic.h>
#include <string.h>

static const uint32_t K[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotated(uint32_t value, int bits) { return (value >> bits) | (value << (32 - bits)); }

static uint32_t read(const uint8_t *bytes) {
  return ((uint32_t)bytes[0] << 24) | ((uint32_t)bytes[1] << 16) | ((uint32_t)bytes[2] << 8) | bytes[3];
}

static void write(uint8_t *bytes, uint32_t value) {
  for (int index = 0; index < 4; index++) bytes[index] = (uint8_t)(value >> (24 - 8 * index));
}

static void add_blocks_portable(uint32_t *state, const uint8_t *bytes, size_t count) {
  for (; count > 0; count--, bytes += 64) {
    uint32_t W[64];
    for (int t = 0; t < 16; t++) W[t] = read(bytes + 4 * t);
    for (int t = 16; t < 64; t++) {
      uint32_t s0 = rotated(W[t - 15], 7) ^ rotated(W[t - 15], 18) ^ (W[t - 15] >> 3);
      uint32_t s1 = rotated(W[t - 2], 17) ^ rotated(W[t - 2], 19) ^ (W[t - 2] >> 10);
      W[t] = W[t - 16] + s0 + W[t - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int t = 0; t < 64; t++) {
      uint32_t S1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      uint32_t first = h + S1 + ((e & f) ^ (~e & g)) + K[t] + W[t];
      uint32_t S0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      uint32_t second = S0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first;
      d = c, c = b, b = a, a = first + second;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

// The instructions are described in Intel's Software Developer's Manual, volume 2. They keep the state in the order
// ABEF and CDGH.
__attribute__((target("sha,sse4.1"))) static void add_blocks_native(
    uint32_t *state, const uint8_t *bytes, size_t count) {
  const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
  __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(abcd, efgh, 8), cdgh = _mm_blend_epi16(efgh, abcd, 0xf0);
  for (; count > 0; count--, bytes += 64) {
    __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i W[4];  // The last sixteen words, four in each.
#pragma clang loop unroll(full)
    for (int t = 0; t < 16; t++) {
      __m128i words;
      if (t < 4) {
        words = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)bytes + t), big_endian);
      } else {
        __m128i seventh = _mm_alignr_epi8(W[(t + 3) % 4], W[(t + 2) % 4], 4);
        words = _mm_add_epi32(_mm_sha256msg1_epu32(W[t % 4], W[(t + 1) % 4]), seventh);
        words = _mm_sha256msg2_epu32(words, W[(t + 3) % 4]);
      }
      W[t % 4] = words;
      words = _mm_add_epi32(words, _mm_loadu_si128((const __m128i *)K + t));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128((__m128i *)state + 1, _mm_alignr_epi8(dchg, feba, 8));
}

static int has_native(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1)) return 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}
#else
static void add_blocks_native(uint32_t *state, const uint8_t *bytes, size_t count) {
  add_blocks_portable(state, bytes, count);
}

static int has_native(void) { return 0; }
#endif

void headway_sha256_start_portable(struct headway_sha256 *hash) {
  *hash = (struct headway_sha256){
    .state = {
      0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    },
    .add_blocks = add_blocks_portable,
  };
}

void headway_sha256_start(struct headway_sha256 *hash) {
  // The result of `has_native`, because CPUID is slow on a virtual machine.
  static atomic_int answer;
  enum { UNKNOWN, PORTABLE, NATIVE };
  int known = atomic_load_explicit(&answer, memory_order_relaxed);
  if (known == UNKNOWN) {
    known = has_native() ? NATIVE : PORTABLE;
    atomic_store_explicit(&answer, known, memory_order_relaxed);
  }
  headway_sha256_start_portable(hash);
  if (known == NATIVE) hash->add_blocks = add_blocks_native;
}

void headway_sha256_update(struct headway_sha256 *hash, const void *bytes, size_t count) {
  if (count == 0) return;  // `bytes` may be NULL then, which memcpy does not allow.
  const uint8_t *rest = bytes;
  size_t begun = hash->count % 64;
  hash->count += count;
  if (begun > 0) {
    size_t taken = count < 64 - begun ? count : 64 - begun;
    memcpy(hash->block + begun, rest, taken);
    if (begun + taken < 64) return;
    hash->add_blocks(hash->state, hash->block, 1);
    rest += taken, count -= taken;
  }
  hash->add_blocks(hash->state, rest, count / 64);
  if (count % 64 > 0) memcpy(hash->block, rest + count / 64 * 64, count % 64);
}

void headway_sha256_finish(struct headway_sha256 *hash, uint8_t *result) {
  uint64_t bits = hash->count * 8;
  // A one bit, zeros to the end of a block, and the number of bits as its last eight bytes.
  uint8_t end[72] = {0x80};
  size_t zeros = (119 - hash->count % 64) % 64;
  write(end + 1 + zeros, (uint32_t)(bits >> 32));
  write(end + 5 + zeros, (uint32_t)bits);
  headway_sha256_update(hash, end, 9 + zeros);
  for (int index = 0; index < 8; index++) write(result + 4 * index, hash->state[index]);
}
