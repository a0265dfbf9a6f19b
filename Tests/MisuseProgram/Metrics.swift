#if Observability
import Headway
import HeadwayMetrics

let misusesOfMetrics = [
  Misuse("metrics: interval of a queue", "“work”", "every: 0.0 seconds", "more than zero") {
    let queue = OperationQueue()
    queue.name = "work"
    queue.recordMetrics(every: .zero)
  },
  Misuse("metrics: interval of threads", "every: -1.0 seconds", "more than zero") {
    OperationQueue.recordThreadMetrics(every: .seconds(-1))
  },
]
#else
let misusesOfMetrics: [Misuse] = []
#endif
