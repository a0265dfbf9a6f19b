import Headway
import HeadwayTestKit

/// Makes an operation of three blocks, which run at the same time and together are one operation.
struct OQCreateBlockOperation {
  /// Makes the operation.
  ///
  /// The gates stand for long work, and prove that the blocks overlap: each starts when the one before it has started,
  /// and all but the last wait for the end of the one after it.
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
