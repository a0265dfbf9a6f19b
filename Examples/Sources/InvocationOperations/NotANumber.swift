/// The error that the second method throws for data that it can't read.
struct NotANumber: Error, CustomStringConvertible {
  let data: String

  var description: String { "“\(data)” is not a number" }
}
