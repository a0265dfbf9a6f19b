#include "RecordingFileSystem.h"

#ifdef HEADWAY_JOBS_SQLITE

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/// A file of the default file system follows the structure.
typedef struct recorded_file {
  sqlite3_file base;
  int is_log;
} recorded_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/// Protected by the lock: the path of the database, or null while nothing is recorded, and the changes.
static char *recorded_path;
static headway_file_change *changes;
static int count, capacity;

static sqlite3_vfs recording;
static sqlite3_vfs *base;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((recorded_file *)file + 1); }

static void record(sqlite3_file *file, int kind, long long offset, const void *bytes, int size) {
  pthread_mutex_lock(&lock);
  if (recorded_path) {
    if (count == capacity) {
      capacity = capacity ? 2 * capacity : 1024;
      changes = realloc(changes, (size_t)capacity * sizeof *changes);
      if (!changes) abort();
    }
    headway_file_change *change = &changes[count++];
    *change = (headway_file_change){
        .kind = kind, .is_log = ((recorded_file *)file)->is_log, .offset = offset, .count = size};
    if (size) {
      change->bytes = malloc((size_t)size);
      if (!change->bytes) abort();
      memcpy(change->bytes, bytes, (size_t)size);
    }
  }
  pthread_mutex_unlock(&lock);
}

static int close_file(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int read_file(sqlite3_file *file, void *bytes, int size, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), bytes, size, offset);
}

static int write_file(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  int code = real(file)->pMethods->xWrite(real(file), bytes, size, offset);
  if (code == SQLITE_OK) record(file, headway_write, offset, bytes, size);
  return code;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  int code = real(file)->pMethods->xTruncate(real(file), size);
  if (code == SQLITE_OK) record(file, headway_truncate, size, 0, 0);
  return code;
}

/// Nothing is synced, because the test turns no machine off.
static int sync_file(sqlite3_file *file, int flags) {
  (void)flags;
  record(file, headway_sync, 0, 0, 0);
  return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int lock_file(sqlite3_file *file, int type) { return real(file)->pMethods->xLock(real(file), type); }

static int unlock_file(sqlite3_file *file, int type) { return real(file)->pMethods->xUnlock(real(file), type); }

static int check_reserved_lock(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

/// The file system promises nothing: not that a sector is written as a whole, and not that writes keep their order.
static int device_characteristics(sqlite3_file *file) {
  (void)file;
  return 0;
}

static int map_index(sqlite3_file *file, int page, int size, int extend, void volatile **memory) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, memory);
}

static int lock_index(sqlite3_file *file, int offset, int number, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, number, flags);
}

static void index_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int unmap_index(sqlite3_file *file, int delete) { return real(file)->pMethods->xShmUnmap(real(file), delete); }

/// Version 2: without the methods that map a database into memory, which would bypass the recording.
static const sqlite3_io_methods methods = {
    .iVersion = 2,
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
};

/// Whether a file is recorded: 0, or 1 for the database, or 2 for its log.
static int role(const char *name) {
  int result = 0;
  pthread_mutex_lock(&lock);
  if (name && recorded_path) {
    size_t length = strlen(recorded_path);
    if (strncmp(name, recorded_path, length) == 0) {
      if (!name[length]) result = 1;
      if (strcmp(name + length, "-wal") == 0) result = 2;
    }
  }
  pthread_mutex_unlock(&lock);
  return result;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened) {
  (void)vfs;
  int found = role(name);
  // The default file system handles other files directly.
  if (!found) return base->xOpen(base, name, file, flags, opened);
  ((recorded_file *)file)->is_log = found == 2;
  file->pMethods = 0;
  real(file)->pMethods = 0;
  int code = base->xOpen(base, name, real(file), flags, opened);
  if (real(file)->pMethods) file->pMethods = &methods;
  return code;
}

static void forget(void) {
  for (int index = 0; index < count; index++) free(changes[index].bytes);
  free(changes);
  free(recorded_path);
  changes = 0;
  recorded_path = 0;
  count = capacity = 0;
}

int headway_start_recording(const char *path) {
  pthread_mutex_lock(&lock);
  forget();
  recorded_path = strdup(path);
  if (!base) {
    base = sqlite3_vfs_find(0);
    recording = *base;
    recording.zName = "headway-recording";
    recording.pNext = 0;
    recording.szOsFile = (int)sizeof(recorded_file) + base->szOsFile;
    recording.xOpen = open_file;
  }
  pthread_mutex_unlock(&lock);
  // The default, because GRDB opens connections with no other.
  return sqlite3_vfs_register(&recording, 1);
}

int headway_recorded_count(void) {
  pthread_mutex_lock(&lock);
  int result = count;
  pthread_mutex_unlock(&lock);
  return result;
}

headway_file_change headway_recorded_change(int index) {
  pthread_mutex_lock(&lock);
  headway_file_change result = changes[index];
  pthread_mutex_unlock(&lock);
  return result;
}

void headway_stop_recording(void) {
  sqlite3_vfs_register(base, 1);
  pthread_mutex_lock(&lock);
  forget();
  pthread_mutex_unlock(&lock);
}

#else

int headway_start_recording(const char *path) { return path ? 1 : 1; }
int headway_recorded_count(void) { return 0; }
headway_file_change headway_recorded_change(int index) { return (headway_file_change){.offset = index}; }
void headway_stop_recording(void) {}

#endif
