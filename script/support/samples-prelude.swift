// What the samples in documentation comments take for granted. Each sample may use these names, or declare its own.

import Headway
import HeadwayLines

let queue = OperationQueue()
let operation = Operation()
let first = BlockOperation {}
let second = BlockOperation {}
