// What the Swift overlay of the C library does not import.
#ifndef CHEADWAY_H
#define CHEADWAY_H

/// Tells the processor that the thread spins, which leaves more of it to its neighbour.
static inline void headway_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

/// Of Swift's runtime (`HeapObject.h`): retains an object, whose memory has to be there, unless it is being freed at this
/// moment; then it answers null.
extern void *swift_tryRetain(void *object);

/// Whether little of the calling thread's stack is left.
///
/// Determines the end of the stack once per thread. Where that is not known, the result is 0.
extern int headway_stack_is_short(void);

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The kernel's identifier of the calling thread; on the main thread it equals the process identifier.
/// A system call through `syscall`, which is variadic and so not imported into Swift.
static inline pid_t headway_thread_identifier(void) { return (pid_t)syscall(SYS_gettid); }

/// Writes the calling thread's affinity mask, a bit a processor; returns how many bytes of it were written, or -1.
/// The C library's function is declared only with `_GNU_SOURCE`, which Swift's module does not set.
static inline long headway_affinity_mask(void *mask, unsigned long size) {
  return syscall(SYS_sched_getaffinity, 0, size, mask);
}

/// Names the calling thread; the first 15 bytes count. `pthread_setname_np` is declared only with `_GNU_SOURCE`.
static inline void headway_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
#endif

#endif
