# For script/test and script/test-threads: runs suites, and prints their failures again at the end.

# A regular expression for the heavy suites. They run after all other suites, which then do not wait for them. They run
# one at a time, because they would not be faster together.
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

# Prints the failures again. Fails if there are any.
end_of_suites() {
  [ "$failed" -eq 0 ] && return
  echo "-- Failures"
  grep -aE '^(✘|↳)|error:|Fatal error|WARNING: ThreadSanitizer' "$output" | tail -n 200 || true
  return 1
}
