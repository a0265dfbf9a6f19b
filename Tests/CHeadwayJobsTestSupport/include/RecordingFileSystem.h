#ifndef HEADWAY_RECORDING_FILE_SYSTEM_H
#define HEADWAY_RECORDING_FILE_SYSTEM_H

/// The kinds of changes.
enum {
  headway_write,
  /// The offset is the new size.
  headway_truncate,
  /// All earlier changes of this file survive a loss of power from now on.
  headway_sync,
};

/// The changes that a connection has made to a database or its log.
typedef struct headway_file_change {
  int kind;
  /// Whether it concerns the log, and not the database.
  int is_log;
  long long offset;
  int count;
  /// The written bytes, until the recording is stopped.
  unsigned char *bytes;
} headway_file_change;

/// Records the changes of a database and its log by connections of this process that are opened from now on.
///
/// Other files are not affected. One recording exists at a time. Returns a result code of SQLite.
int headway_start_recording(const char *path);

/// The number of changes so far.
int headway_recorded_count(void);

/// One of the changes. The recording must not be stopped in the meantime.
headway_file_change headway_recorded_change(int index);

/// Ends the recording and forgets the changes. Connections that are open can still be used.
void headway_stop_recording(void);

#endif
