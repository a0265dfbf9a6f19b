// ThreadSanitizer does not see into the Swift runtime's libraries, which are not instrumented: neither the lock of
// Synchronization.Mutex nor Dispatch's semaphores. Loaded before them (LD_PRELOAD), this code reports their ordering to
// it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

// The fast paths are inlined into instrumented code; these are what it calls when there is contention.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRYLOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

SWIFT void lock_slow(uint32_t, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRYLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
  typedef SWIFT void (*function)(uint32_t, __attribute__((swift_context)) void *);
  ((function)real(LOCK))(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}
SWIFT void unlock_slow(SELF) {
  typedef SWIFT void (*function)(__attribute__((swift_context)) void *);
  if (__tsan_release) __tsan_release(self);
  ((function)real(UNLOCK))(self);
}
SWIFT bool try_lock_slow(SELF) {
  typedef SWIFT bool (*function)(__attribute__((swift_context)) void *);
  bool locked = ((function)real(TRYLOCK))(self);
  if (locked && __tsan_acquire) __tsan_acquire(self);
  return locked;
}
