import Headway

/// The library's report on all live queues, their operations and the pool's threads.
let libraryDiagnosis: @Sendable () -> String = { OperationQueue.snapshotAll(maxOperationCount: 100).description }
