import Headway

/// What the library says about all live queues, their operations and the pool's threads.
let libraryDiagnosis: @Sendable () -> String = { processDiagnosis() }

/// Has the library note the queues that are made from now on, for that diagnosis.
func startRecordingQueues() { LiveQueues.startRecording() }
