#ifndef C_SYSTEM_STATISTICS_H
#define C_SYSTEM_STATISTICS_H

#include <stddef.h>

/// Bytes that are allocated at this moment, in all arenas and mappings.
size_t system_statistics_allocated_bytes(void);

/// Gives the memory that is free in the heap back to the system.
void system_statistics_trim(void);

/// The system's number of the calling thread.
int system_statistics_thread(void);

/// The processors on which this process may run.
int system_statistics_processors(void);

#endif
