# For script/test and script/test-threads: the heavy suites run apart, so that the others do not wait for them, and one at
# a time, since together they would be no faster.

heavy_suites=$(grep -v '^#' "$(dirname "${BASH_SOURCE[0]}")/heavy-suites" | paste -sd '|')

# run_tests TARGETS OPTIONS…: runs the tests of the targets that the regular expression TARGETS matches, without the heavy
# suites and then those, with these options of `swift test`. Failures are printed again at the end.
run_tests() {
  local targets=$1 output
  shift
  output=$(mktemp)
  failed_suites=0
  run_suites "All suites but the heavy ones" "$output" "$@" --filter "^$targets\." --skip "\.($heavy_suites)/"
  run_suites "The heavy suites" "$output" "$@" --skip-build --no-parallel --filter "^$targets\.($heavy_suites)/"
  if [ "$failed_suites" -ne 0 ]; then
    echo "-- Failures"
    grep -aE '^(✘|↳)|error:|Fatal error|WARNING: ThreadSanitizer' "$output" | tail -n 200 || true
  fi
  rm "$output"
  return "$failed_suites"
}

# run_suites TITLE OUTPUT OPTIONS…: runs `swift test` with these options, and appends what it prints to the file OUTPUT.
run_suites() {
  local title=$1 output=$2 start=$SECONDS
  shift 2
  echo "-- $title"
  swift test --disable-xctest "$@" 2>&1 | tee -a "$output" || failed_suites=1
  echo "-- $title: $((SECONDS - start)) s"
}
