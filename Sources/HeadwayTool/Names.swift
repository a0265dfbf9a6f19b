#if SQLite
import Headway

/// Foundation has a class of that name too; in this module it is Headway's.
typealias OperationQueue = Headway.OperationQueue
#endif
