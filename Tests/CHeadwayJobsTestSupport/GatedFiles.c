#include "CHeadwayJobsTestSupport.h"

#ifdef HEADWAY_JOBS_SQLITE

#include <sqlite3.h>

/// The index of the lock that a checkpoint holds. See "WAL-Mode File Format" in the documentation of SQLite.
enum { checkpoint_lock = 1 };

/// A file of the default file system follows the structure.
typedef struct gated_file {
  sqlite3_file base;
  headway_checkpoint_gate *gate;
} gated_file;

/// The gate of the checkpoint that this thread is running. Calls for the log use a separate file, which has no
/// reference to the connection.
static _Thread_local headway_checkpoint_gate *running;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((gated_file *)file + 1); }

/// Runs the gate's function, which can run other connections, and checkpoints of them.
static void reach(const char *method) {
  headway_checkpoint_gate *gate = running;
  if (!gate) return;
  running = 0;
  gate->reached(gate->context, method);
  running = gate;
}

#define PASS(method, ...)                             \
  do {                                                \
    reach(#method);                                   \
    return real(file)->pMethods->method(__VA_ARGS__); \
  } while (0)

static int close_file(sqlite3_file *file) {
  reach("xClose");
  if (running == ((gated_file *)file)->gate) running = 0;
  return real(file)->pMethods->xClose(real(file));
}

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  PASS(xRead, real(file), bytes, count, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  PASS(xWrite, real(file), bytes, count, offset);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) { PASS(xTruncate, real(file), size); }

/// Nothing is synced, because no test turns the machine off.
static int sync_file(sqlite3_file *file, int flags) {
  (void)file, (void)flags;
  reach("xSync");
  return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) { PASS(xFileSize, real(file), size); }

/// When the last connection is closed, it runs a checkpoint while it locks the database itself, and not the log.
static int lock_file(sqlite3_file *file, int type) {
  reach("xLock");
  int code = real(file)->pMethods->xLock(real(file), type);
  if (code == SQLITE_OK && type == SQLITE_LOCK_EXCLUSIVE) running = ((gated_file *)file)->gate;
  return code;
}

static int unlock_file(sqlite3_file *file, int type) {
  reach("xUnlock");
  if (running == ((gated_file *)file)->gate) running = 0;
  return real(file)->pMethods->xUnlock(real(file), type);
}

static int check_reserved_lock(sqlite3_file *file, int *result) { PASS(xCheckReservedLock, real(file), result); }

static int file_control(sqlite3_file *file, int operation, void *argument) {
  if (operation == headway_fcntl_gate) {
    ((gated_file *)file)->gate = argument;
    return SQLITE_OK;
  }
  PASS(xFileControl, real(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int device_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int map_index(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
  PASS(xShmMap, real(file), page, size, extend, memory);
}

static int lock_index(sqlite3_file *file, int offset, int count, int flags) {
  int of_checkpoint = offset == checkpoint_lock && count == 1 && flags & SQLITE_SHM_EXCLUSIVE;
  reach("xShmLock");
  if (of_checkpoint && flags & SQLITE_SHM_UNLOCK) running = 0;
  int code = real(file)->pMethods->xShmLock(real(file), offset, count, flags);
  if (code == SQLITE_OK && of_checkpoint && flags & SQLITE_SHM_LOCK) running = ((gated_file *)file)->gate;
  return code;
}

static void index_barrier(sqlite3_file *file) {
  reach("xShmBarrier");
  real(file)->pMethods->xShmBarrier(real(file));
}

static int unmap_index(sqlite3_file *file, int delete) { PASS(xShmUnmap, real(file), delete); }

static int fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **page) {
  PASS(xFetch, real(file), offset, count, page);
}

/// A checkpoint calls it when it has read the length of the log, if that has changed since the connection last read it.
static int unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
  PASS(xUnfetch, real(file), offset, page);
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = device_characteristics,
    .xShmMap = map_index,
    .xShmLock = lock_index,
    .xShmBarrier = index_barrier,
    .xShmUnmap = unmap_index,
    .xFetch = fetch,
    .xUnfetch = unfetch,
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened) {
  sqlite3_vfs *base = vfs->pAppData;
  ((gated_file *)file)->gate = 0;
  file->pMethods = 0;
  real(file)->pMethods = 0;
  int code = base->xOpen(base, name, real(file), flags, opened);
  // If the default file system has set the methods, it expects a call of xClose, even after an error.
  if (real(file)->pMethods) file->pMethods = &methods;
  return code;
}

/// A connection sleeps before it tries again to acquire a lock. A test holds the lock until it gives up.
static int skip_sleep(sqlite3_vfs *vfs, int microseconds) {
  (void)vfs;
  return microseconds;
}

int headway_register_gated_vfs(void) {
  static sqlite3_vfs gated;
  static int code;
  static sqlite3_vfs *base;
  if (!base) {
    base = sqlite3_vfs_find(0);
    gated = *base;
    gated.zName = "headway-gated";
    gated.pAppData = base;
    gated.pNext = 0;
    gated.szOsFile = (int)sizeof(gated_file) + base->szOsFile;
    gated.xOpen = open_file;
    gated.xSleep = skip_sleep;
    code = sqlite3_vfs_register(&gated, 0);
  }
  return code;
}

#else

int headway_register_gated_vfs(void) { return 1; }

#endif
