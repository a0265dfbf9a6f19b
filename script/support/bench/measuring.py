"""Runs the cases of a plan, round by round, so that other activity of the machine affects all rivals equally."""

import json
import os
import statistics
import subprocess
import sys
import time


class Results:
    """The measurements, by workload, rival, and size."""

    def __init__(self):
        self.reports = {}
        self.failures = {}
        # For want of time.
        self.left_out = []

    def samples(self, workload, rival, count):
        """One figure a run: the median of its repetitions."""
        return [statistics.median(report["samples"]) for report in self.reports.get((workload, rival, count), [])]

    def median(self, workload, rival, count=None):
        """The figure of a workload; without a size, of the rival's biggest that is not just one point of a plot."""
        samples = self.samples(workload, rival, count or self.main_count(workload, rival))
        return statistics.median(samples) if samples else None

    def figure(self, workload, rival, name, count=None):
        """The median of one of the other figures."""
        reports = self.reports.get((workload, rival, count or self.main_count(workload, rival)), [])
        values = [report["figures"][name] for report in reports]
        return statistics.median(values) if values else None

    def counts(self, workload, rival):
        return sorted(count for (other, name, count) in self.reports if (other, name) == (workload, rival))

    def main_count(self, workload, rival):
        """The largest of the sizes that were measured most often for a rival."""
        counts = self.counts(workload, rival)
        return max(counts, key=lambda count: (len(self.reports[workload, rival, count]), count), default=None)

    def series(self, workload, rival):
        reports = self.reports.get((workload, rival, self.main_count(workload, rival)), [])
        return reports[-1]["series"] if reports else []

    def as_json(self):
        entries = []
        for (workload, rival, count), reports in self.reports.items():
            samples = self.samples(workload, rival, count)
            entries.append({
                "workload": workload, "rival": rival, "count": count, "median": statistics.median(samples),
                "least": min(samples), "most": max(samples), "runs": samples,
                "figures": [report["figures"] for report in reports], "series": reports[-1]["series"],
            })
        failures = [dict(zip(("workload", "rival", "count"), key), reason=why) for key, why in self.failures.items()]
        return {"measured": entries, "failures": failures, "ignoredFiles": self.left_out}


def run(program, case, limit, repeating):
    """One measuring in a process of its own, which repeats itself for so many seconds; the report, and the reason when
    there is none."""
    environment = {**os.environ, "HEADWAY_BENCHMARK_SECONDS": str(repeating)}
    command = [part.format(workload=case.workload) for part in program] + [str(case.count)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return None, f"did not end in {limit:.0f} s"
    if done.returncode != 0:
        last_line = (done.stderr.strip().splitlines() or [""])[-1]
        return None, f"ended with status {done.returncode}: {last_line[:200]}"
    return json.loads(done.stdout), None


def run_rounds(programs, cases, rounds, seconds, limit, repeating):
    """All cases in each round, as long as there is time; from the second on, those that would end in time."""
    results, took = Results(), {}
    end = time.monotonic() + seconds
    for turn in range(rounds):
        for position, case in enumerate(cases):
            key = (case.workload, case.rival, case.count)
            late = time.monotonic() + took.get(key, 0) > end
            if case.rival not in programs or case.rounds <= turn or key in results.failures:
                continue
            if late:
                if turn == 0:
                    results.left_out.append(key)
                continue
            if sys.stderr.isatty():
                print(f"\r\033[Kround {turn + 1}, {position + 1} of {len(cases)}: {' '.join(map(str, key))}",
                      end="", file=sys.stderr, flush=True)
            start = time.monotonic()
            report, failure = run(programs[case.rival], case, limit, repeating)
            took[key] = time.monotonic() - start
            if failure:
                results.failures[key] = failure
            else:
                results.reports.setdefault(key, []).append(report)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return results
