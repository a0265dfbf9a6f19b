import Headway

/// The library's report on all live queues, their operations and the pool's threads.
let libraryDiagnosis: @Sendable () -> String = { processDiagnosis() }

/// Makes the library record the queues that are created from now on, for that diagnosis.
func startRecordingQueues() { LiveQueues.startRecording() }
