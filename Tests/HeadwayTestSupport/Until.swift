#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Waits until `condition` is true, for events without a notification: an object that is freed, a connection that is
/// counted.
///
/// Polls `condition` continuously, yielding the processor between checks. It neither pauses nor has a timeout. The
/// watchdog stops a test that waits forever and prints what everything waits for.
package func until(_ condition: () -> Bool) async {
  while !condition() {
    sched_yield()
    await Task.yield()
  }
}
