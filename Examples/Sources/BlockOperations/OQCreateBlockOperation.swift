import Headway
import HeadwayTestKit

/// Creates an operation of three blocks, which run at the same time and together form one operation.
struct OQCreateBlockOperation {
  /// Creates the operation.
  ///
  /// The gates represent long work, and prove that the blocks overlap: each block starts when the previous one has
  /// started, and all except the last wait until the next one has ended.
  func blockOperation() -> BlockOperation {
    let (block1Started, block2Started) = (Gate(), Gate())
    let (block2Finished, block3Finished) = (Gate(), Gate())

    let blockOperation = BlockOperation {
      print("Start executing block1")
      block1Started.open()
      block2Finished.wait()
      print("Finish executing block1")
    }

    blockOperation.addExecutionBlock {
      block1Started.wait()
      print("Start executing block2")
      block2Started.open()
      block3Finished.wait()
      print("Finish executing block2")
      block2Finished.open()
    }

    blockOperation.addExecutionBlock {
      block2Started.wait()
      print("Start executing block3")
      print("Finish executing block3")
      block3Finished.open()
    }

    return blockOperation
  }
}
