#if Dashboard
import HTTPTypes
import HeadwayJobs
import Hummingbird

/// The reason why a request was rejected, with a text for people.
struct Refusal: Error {
  let status: HTTPResponse.Status
  let text: String

  init(_ status: HTTPResponse.Status, _ text: String) { (self.status, self.text) = (status, text) }

  static func otherSite(_ origin: String?) -> Refusal {
    let name = origin.map { " (\($0))" } ?? ""
    return Refusal(
      .forbidden,
      "The request came from a page of another site\(name). Nothing was changed. If browsers use the dashboard at that "
        + "address, add it to the origins of the dashboard.")
  }
  static let wrongToken = Refusal(
    .forbidden, "The page was too old, or the browser does not store cookies. Nothing was changed. Reload the page.")
  static let noAccess = Refusal(.forbidden, "You don't have access to this page.")
  static let readOnly = Refusal(.forbidden, "You may only view these pages. Nothing was changed.")
  static let noPage = Refusal(.notFound, "There is no such page.")
  static let badForm = Refusal(.badRequest, "The form was incomplete. Nothing was changed.")
  static let tooManyGuesses = Refusal(
    .tooManyRequests, "Other passwords are being checked. Try again in a few seconds.")
  static let wrongHost = Refusal(
    .misdirectedRequest, "The dashboard does not accept this host name. Open the address that it has printed.")

  /// Describes any error.
  init(_ error: any Error) {
    switch error {
    case let error as Refusal: self = error
    case let error as JobError:
      switch error.code {
      case .keyHeld, .dependencyFailed, .unknownSchedule, .unknownJob: self.init(.conflict, error.context)
      default: self.init(.serviceUnavailable, error.context)
      }
    case let error as any HTTPResponseError:
      self.init(error.status, "\(error.status.code) \(error.status.reasonPhrase)")
    default: self.init(.internalServerError, "The page can't be shown, because an error has occurred.")
    }
  }
}
#endif
