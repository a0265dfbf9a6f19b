#ifndef HEADWAY_JOBS_TEST_SUPPORT_H
#define HEADWAY_JOBS_TEST_SUPPORT_H

#include "RecordingFileSystem.h"

/// A gate in the checkpoints of a connection that uses the file system `headway-gated`.
typedef struct headway_checkpoint_gate {
  /// Is called before each call that the checkpoint makes to the file system, with the name of the method. It can use
  /// other connections, even to the same database.
  void (*reached)(void *context, const char *method);
  void *context;
} headway_checkpoint_gate;

enum {
  /// The operation of `sqlite3_file_control` that sets the gate of a connection. Its argument is the gate, which must
  /// outlive the connection, or null.
  headway_fcntl_gate = 0x48445759,
};

/// Registers the file system `headway-gated` and returns a result code. It passes all calls on to the default file
/// system, but does not sync or sleep.
int headway_register_gated_vfs(void);

#endif
