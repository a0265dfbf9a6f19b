#ifndef C_SYSTEM_STATISTICS_H
#define C_SYSTEM_STATISTICS_H

#include <stddef.h>

/// The number of bytes that are currently allocated, in all arenas and mappings.
size_t system_statistics_allocated_bytes(void);

/// Returns the free memory of the heap to the system.
void system_statistics_trim(void);

/// The system's number of the calling thread.
int system_statistics_thread(void);

/// The number of processors that this process can run on.
int system_statistics_processors(void);

#endif
