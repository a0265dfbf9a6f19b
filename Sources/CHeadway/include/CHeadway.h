// What the Swift overlay of the C library does not import.
#ifndef CHEADWAY_H
#define CHEADWAY_H

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

/// The kernel's identifier of the calling thread; on the main thread it equals the process identifier.
/// A system call through `syscall`, which is variadic and so not imported into Swift.
static inline pid_t headway_thread_identifier(void) { return (pid_t)syscall(SYS_gettid); }
#endif

#endif
