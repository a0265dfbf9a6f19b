#if SQLite
import Headway

/// Foundation also has a class with that name.
///
/// In this module the name refers to Headway's class.
typealias OperationQueue = Headway.OperationQueue
#endif
