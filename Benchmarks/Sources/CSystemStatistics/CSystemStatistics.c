#define _GNU_SOURCE
#include "CSystemStatistics.h"

#include <malloc.h>
#include <sched.h>
#include <unistd.h>

size_t system_statistics_allocated_bytes(void) {
  struct mallinfo2 statistics = mallinfo2();
  return statistics.uordblks + statistics.hblkhd;
}

void system_statistics_trim(void) { malloc_trim(0); }

int system_statistics_thread(void) { return gettid(); }

int system_statistics_processors(void) {
  cpu_set_t processors;
  return sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : 1;
}
