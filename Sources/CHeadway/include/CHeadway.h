// Declarations that the Swift overlay of the C library does not import.
#ifndef CHEADWAY_H
#define CHEADWAY_H

/// Signals to the processor that the thread spins, which leaves more of its resources to the other hardware thread of
/// the core.
static inline void headway_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

/// Whether ThreadSanitizer is active.
_Bool headway_is_watched(void);

/// Creates a key for a pointer per thread, which is null until the thread sets it; returns -1 if no key is available.
///
/// If `at_end` is not null, it is called with each value that is not null when its thread ends.
extern int headway_make_thread_key(void (*at_end)(void *));

#if defined(__linux__) && !defined(__ANDROID__)
#define HEADWAY_THREAD_KEY_COUNT 16

/// The values of the calling thread. `pthread_setspecific` takes 35 instructions, and a plain access one or two.
struct headway_thread_values {
  void *values[HEADWAY_THREAD_KEY_COUNT];
  /// Whether functions are called when the thread ends.
  _Bool have_end;
};
extern _Thread_local struct headway_thread_values headway_thread_values;

/// Has the functions of the keys called when the calling thread ends.
extern void headway_note_thread_values(void);

static inline void *headway_thread_value(int key) { return headway_thread_values.values[key]; }

static inline void headway_set_thread_value(int key, void *value) {
  headway_thread_values.values[key] = value;
  if (!headway_thread_values.have_end) headway_note_thread_values();
}
#else
#include <pthread.h>

// The memory of thread-local variables can be freed before the functions for the end of a thread are called.
static inline void *headway_thread_value(int key) { return pthread_getspecific((pthread_key_t)key); }

static inline void headway_set_thread_value(int key, void *value) { pthread_setspecific((pthread_key_t)key, value); }
#endif

/// From Swift's runtime (`HeapObject.h`): retains an object, whose memory must still be allocated. Returns null if the
/// object is currently being freed.
extern void *swift_tryRetain(void *object);

/// From Swift's runtime (`HeapObject.h`): adds an unowned reference to an object that only the calling thread uses. The
/// reference keeps only the object's memory.
extern void *swift_nonatomic_unownedRetain(void *object);

/// From Swift's runtime (`HeapObject.h`): removes an unowned reference to an object that only the calling thread uses.
/// Removing the last one frees the memory of an object that was deinitialized.
extern void swift_nonatomic_unownedRelease(void *object);

/// From Swift's runtime (`HeapObject.h`): releases an object that only the calling thread uses.
extern void swift_nonatomic_release(void *object);

/// Returns whether little of the calling thread's stack remains.
///
/// The end of the stack is determined once per thread. If it is unknown, the result is 0.
extern int headway_stack_is_short(void);

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Creates a timer on the clock that includes the time that the machine sleeps; returns its file descriptor, or -1.
extern int headway_make_timer(void);

/// The time of that clock, in nanoseconds.
extern long long headway_timer_now(void);

/// Makes a read of the timer return at the given time, which is positive; returns 0, or -1.
extern int headway_set_timer(int timer, long long time);

/// The kernel's identifier of the calling thread; on the main thread, it equals the process identifier. This is a
/// system call through `syscall`, which is variadic and therefore not imported into Swift.
static inline pid_t headway_thread_identifier(void) { return (pid_t)syscall(SYS_gettid); }

/// Writes the calling thread's affinity mask, one bit per processor; returns the number of bytes written, or -1. The C
/// library's function is declared only with `_GNU_SOURCE`, which Swift's module does not set.
static inline long headway_affinity_mask(void *mask, unsigned long size) {
  return syscall(SYS_sched_getaffinity, 0, size, mask);
}

/// Sets the name of the calling thread, truncated to 15 bytes. `pthread_setname_np` is declared only with
/// `_GNU_SOURCE`.
static inline void headway_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
#endif

#endif
