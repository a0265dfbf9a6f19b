// What the samples in documentation comments take for granted. Each sample may use these names, or declare its own.

import Headway
import HeadwayHTTP
import HeadwayLines

let queue = OperationQueue()
let operation = Operation()
let first = BlockOperation {}
let second = BlockOperation {}

/// Stands for work of any kind that can fail.
func draw(_ part: String) throws {}

let path = "words.txt"
let reader = LineReader(path: path)
nonisolated(unsafe) var header: [String] = []
nonisolated(unsafe) var total = 0
var batch: LineBatch { fatalError("Samples of documentation comments are compiled, and not run.") }
var buffer: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: nil, count: 0) }

/// Stands for what a program does with text.
func process(_ text: String) {}

/// Stands for what a program does with bytes.
func consume(_ bytes: Slice<UnsafeMutableRawBufferPointer>) {}

/// Stand for work that awaits.
let addresses = ["a", "b"]
func fetch(_ address: String) async throws -> String { address }
func render(_ text: String) async throws -> [UInt8] { Array(text.utf8) }
