# For script/test and script/test-threads: the heavy suites run apart, so that the others do not wait for them, and one at
# a time, since together they would be no faster.

heavy_suites=$(grep -v '^#' "$(dirname "${BASH_SOURCE[0]}")/heavy-suites" | paste -sd '|')

# run_tests TARGETS OPTIONS…: runs the tests of the targets that the regular expression TARGETS matches, without the heavy
# suites and then those, with these options of `swift test`.
run_tests() {
  local targets=$1 failed=0 start
  shift
  start=$SECONDS
  echo "-- All suites but the heavy ones"
  swift test --disable-xctest "$@" --filter "^$targets\." --skip "\.($heavy_suites)/" || failed=1
  echo "-- All suites but the heavy ones: $((SECONDS - start)) s"
  start=$SECONDS
  echo "-- The heavy suites"
  swift test --disable-xctest --skip-build --no-parallel "$@" --filter "^$targets\.($heavy_suites)/" || failed=1
  echo "-- The heavy suites: $((SECONDS - start)) s"
  return $failed
}
