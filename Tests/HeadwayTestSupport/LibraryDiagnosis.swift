import Headway

/// What the library says about all live queues, their operations and the pool's threads.
///
/// To become `{ processDiagnosis() }` with the core's function of that name: nothing else has to change.
let libraryDiagnosis: @Sendable () -> String = { "(the core has no diagnosis of the whole process yet)" }
