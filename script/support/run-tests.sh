# For script/test and script/test-threads: runs suites, and prints their failures again at the end.

# Prints a regular expression for the suites whose names are on standard input.
pattern() { echo "\.($(paste -sd '|'))/"; }

# The heavy suites run after all other suites, which then do not wait for them.
heavy=$(grep -v '^#' script/support/heavy-suites | pattern)

output=$(mktemp)
trap 'rm -f "$output" "$output.failed"' EXIT

# run_suites TITLE COMMAND…: runs a command that runs tests.
run_suites() {
  local title=$1 start=$SECONDS
  shift
  echo "-- $title"
  "$@" 2>&1 | tee -a "$output" || touch "$output.failed"
  echo "-- $title: $((SECONDS - start)) s"
}

# Prints the failures again. Fails if there are any.
end_of_suites() {
  [ -e "$output.failed" ] || return 0
  echo "-- Failures"
  grep -aE '^(✘|↳)|error:|Fatal error|WARNING: ThreadSanitizer' "$output" | tail -n 200 || true
  return 1
}
