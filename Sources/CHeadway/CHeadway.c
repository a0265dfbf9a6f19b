#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // pthread_getattr_np
#endif
#include "CHeadway.h"

#include <pthread.h>
#include <stdint.h>

/// The address below which little of the stack remains; 0 before it is determined, 1 if it is unknown.
static _Thread_local uintptr_t stack_limit;

static uintptr_t find_stack_limit(void) {
  void *low = 0;
  size_t size = 0;
#if defined(__APPLE__)
  size = pthread_get_stacksize_np(pthread_self());
  low = (char *)pthread_get_stackaddr_np(pthread_self()) - size;
#elif defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
  int result = pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  if (result != 0) return 1;
#else
  return 1;
#endif
  // 128 kilobytes are enough for typical user code that runs when an object is freed.
  size_t reserve = 128 * 1024;
  return (uintptr_t)low + (size / 4 < reserve ? size / 4 : reserve);
}

int headway_stack_is_short(void) {
  if (stack_limit == 0) stack_limit = find_stack_limit();
  return (uintptr_t)__builtin_frame_address(0) < stack_limit;
}

_Bool headway_is_watched(void) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return 1;
#endif
#endif
  return 0;
}

#if defined(__linux__) && !defined(__ANDROID__)
#include <stdatomic.h>

_Thread_local struct headway_thread_values headway_thread_values;

static void (*_Atomic thread_ends[HEADWAY_THREAD_KEY_COUNT])(void *);
static atomic_int thread_key_count;
/// Has a value in each thread that has set values, so that its function is called when the thread ends.
static pthread_key_t end_key;
static pthread_once_t has_end_key = PTHREAD_ONCE_INIT;
static int end_key_result;

static void end_thread(void *values) {
  // A function can also set values of keys whose functions have already been called. This function is then called
  // again.
  ((struct headway_thread_values *)values)->have_end = 0;
  for (int key = 0; key < HEADWAY_THREAD_KEY_COUNT; key++) {
    void *value = headway_thread_values.values[key];
    void (*end)(void *) = thread_ends[key];
    if (!value || !end) continue;
    headway_thread_values.values[key] = 0;
    end(value);
  }
}

static void make_end_key(void) { end_key_result = pthread_key_create(&end_key, end_thread); }

int headway_make_thread_key(void (*at_end)(void *)) {
  pthread_once(&has_end_key, make_end_key);
  int key = atomic_fetch_add(&thread_key_count, 1);
  if (end_key_result != 0 || key >= HEADWAY_THREAD_KEY_COUNT) return -1;
  thread_ends[key] = at_end;
  return key;
}

void headway_note_thread_values(void) {
  headway_thread_values.have_end = 1;
  pthread_setspecific(end_key, &headway_thread_values);
}
#else
int headway_make_thread_key(void (*at_end)(void *)) {
  pthread_key_t key;
  return pthread_key_create(&key, at_end) == 0 ? (int)key : -1;
}
#endif

#if defined(__linux__)
#include <sys/timerfd.h>
#include <time.h>

int headway_make_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC); }

long long headway_timer_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

int headway_set_timer(int timer, long long time) {
  struct itimerspec value = {{0, 0}, {time / 1000000000, time % 1000000000}};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &value, NULL);
}
#endif
