/// A reference to an operation that something else keeps alive: for the links of the queue's lists.
///
/// Not `unowned(unsafe)`: Swift 6.3 misreads an optional of a struct that has such fields when it is copied by generic
/// code (a filled `[Element?]` reads as nil).
@propertyWrapper
struct Unowned {
  private var reference: Unmanaged<Operation>?

  init(wrappedValue: Operation?) { self.wrappedValue = wrappedValue }

  var wrappedValue: Operation? {
    get { reference?.takeUnretainedValue() }
    set { reference = newValue.map { .passUnretained($0) } }
  }
}
