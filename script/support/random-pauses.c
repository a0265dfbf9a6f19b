// Pauses threads at random. Load it with LD_PRELOAD. It exposes programs and tests that depend on the speed of threads.
//
// Threads can pause when they begin, and when they allocate memory, lock or unlock a mutex, or make a system call by
// `syscall`, such as the futex calls of Swift's Mutex. Most pauses take up to half a millisecond, and some up to eight.
// PAUSE_EVERY sets how rare pauses are. With N, a thread pauses at one in N allocations, and more often at other calls.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);

static unsigned every_allocation = 3000, every_call = 300;
static const unsigned every_beginning = 3;
static __thread uint64_t state;
static __thread int is_pausing;

__attribute__((constructor)) static void read_settings(void) {
  const char *text = getenv("PAUSE_EVERY");
  if (!text || atoi(text) <= 0) return;
  every_allocation = atoi(text);
  every_call = every_allocation / 10 + 1;
}

// Xorshift, seeded by the time, because the order of the calls differs from run to run anyway.
static uint64_t random_number(void) {
  if (!state) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    state = (((uint64_t)now.tv_nsec * 2654435761u) ^ (uintptr_t)(&state) ^ ((uint64_t)getpid() << 32)) | 1;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void pause_rarely(unsigned every) {
  if (is_pausing) return;
  is_pausing = 1;
  if (random_number() % every == 0) {
    uint64_t choice = random_number();
    int error = errno;
    if (choice % 4 == 0) {
      sched_yield();
    } else {
      uint64_t microseconds = choice / 8 % (choice % 8 == 1 ? 8000 : 500);
      struct timespec pause = {0, (long)microseconds * 1000};
      nanosleep(&pause, NULL);
    }
    errno = error;
  }
  is_pausing = 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t size) {
  pause_rarely(every_allocation);
  return __libc_malloc(size);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static __typeof__(&pthread_mutex_lock) real;
  if (!real) real = REAL(pthread_mutex_lock);
  pause_rarely(every_call);
  return real(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  static __typeof__(&pthread_mutex_unlock) real;
  if (!real) real = REAL(pthread_mutex_unlock);
  int result = real(mutex);
  pause_rarely(every_call);
  return result;
}

long syscall(long number, ...) {
  static __typeof__(&syscall) real;
  if (!real) real = REAL(syscall);
  long values[6];
  va_list list;
  va_start(list, number);
  for (int index = 0; index < 6; index++) values[index] = va_arg(list, long);
  va_end(list);
  // Few system calls use this function, and most of them wake or wait for another thread.
  pause_rarely(every_call / 8 + 1);
  long result = real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
  pause_rarely(every_call / 8 + 1);
  return result;
}

struct beginning {
  void *(*function)(void *);
  void *value;
};

static void *begin(void *value) {
  struct beginning beginning = *(struct beginning *)value;
  free(value);
  pause_rarely(every_beginning);
  return beginning.function(beginning.value);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *value) {
  static __typeof__(&pthread_create) real;
  if (!real) real = REAL(pthread_create);
  struct beginning *beginning = malloc(sizeof *beginning);
  if (!beginning) return EAGAIN;
  *beginning = (struct beginning){function, value};
  int result = real(thread, attributes, begin, beginning);
  if (result) free(beginning);
  pause_rarely(every_beginning);
  return result;
}
