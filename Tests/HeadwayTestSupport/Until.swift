#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Waits until `condition` is true, for what nothing announces: an object that is freed, a connection that is counted.
///
/// It looks as often as the machine lets it, and leaves the processor to others between: no time goes by in which it
/// does not look, and none after which it gives up. A test that waits for ever is ended by the watchdog, which says
/// what everything waits for.
package func until(_ condition: () -> Bool) async {
  while !condition() {
    sched_yield()
    await Task.yield()
  }
}
