import HeadwayTestSupport
import Testing

extension Trait where Self == HangLimit {
  /// The trait of each suite, instead of a time limit: see ``HangLimit``.
  static var hangLimit: Self { HangLimit() }
}
