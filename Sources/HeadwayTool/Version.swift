/// The version of this package.
///
/// `headway --version` prints it. `script/lint` checks that the README and the changelog name the same version, and
/// `Docs/releasing.md` describes when it changes.
let packageVersion = "0.3.0"
