# For script/test and script/test-threads: runs suites, and prints their failures again at the end.

# The heavy suites run apart, so that the others do not wait for them, and one at a time, since together they would be no
# faster. A regular expression.
heavy="\.($(grep -v '^#' "$(dirname "${BASH_SOURCE[0]}")/heavy-suites" | paste -sd '|'))/"

output=$(mktemp)
trap 'rm -f "$output"' EXIT
failed=0

# run_suites TITLE OPTIONS…: runs `swift test` with these options.
run_suites() {
  local title=$1 start=$SECONDS
  shift
  echo "-- $title"
  swift test --disable-xctest "$@" 2>&1 | tee -a "$output" || failed=1
  echo "-- $title: $((SECONDS - start)) s"
}

# Prints what has failed, and fails if anything has.
end_of_suites() {
  [ "$failed" -eq 0 ] && return
  echo "-- Failures"
  grep -aE '^(✘|↳)|error:|Fatal error|WARNING: ThreadSanitizer' "$output" | tail -n 200 || true
  return 1
}
