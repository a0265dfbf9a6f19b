import HeadwayTestSupport
import Testing

extension Trait where Self == HangLimit {
  /// What each suite has in place of a time limit: see ``HangLimit``.
  static var hangLimit: Self { HangLimit() }
}
