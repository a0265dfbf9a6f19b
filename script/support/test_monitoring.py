"""Plants faults in the files of Examples/Monitoring. script/check-monitoring must find each of them."""

import pathlib
import shutil
import tempfile
import unittest

import monitoring
from monitoring import CONFIGURATION, DASHBOARD, FOLDER, RULES, TESTS

SOURCE = monitoring.Source()
# The file, a string in it, the string that replaces it, and part of the fault.
PLANTED = [
    (RULES, "max by (job) (headway_jobs_workers) == 0", "max by (job) (headway_jobs_worker) == 0",
     "there is no metric headway_jobs_worker"),
    (RULES, "headway_jobs:unfinished > 0", "headway_jobs:open > 0", "there is no metric headway_jobs:open"),
    (RULES, 'max by (job, queue) (headway_jobs_depth{status="retrying"})',
     'max by (job, queue) (headway_jobs_depth{status="retry"})', "headway_jobs_depth has no status retry"),
    (RULES, 'headway_jobs_depth{status="waiting"}', 'headway_jobs_depth{state="waiting"}',
     "headway_jobs_depth has no label state"),
    (RULES, "Attempts|Workers|Schedules", "Attempts|Worker|Schedules", "headway_jobs_health has no check Worker"),
    (RULES, "max by (job, queue) (headway_jobs_oldest_waiting_duration) > 300",
     "max by (job, kind) (headway_jobs_oldest_waiting_duration) > 300",
     "no metric of the expression has the label kind"),
    (RULES, "severity: page", "severity: high", "the severity is not one of page, ticket"),
    (RULES, "        for: 2m\n", "", "there is no 'for'"),
    (RULES, "A job in {{ $labels.queue }}", "A job in {{ $labels.kind }}", "the alert has no label kind"),
    (RULES, "Run: headway jobs status", "Run: headway jobs state", "there is no command headway jobs state"),
    (RULES, '          summary: "No worker of {{ $labels.job }} is running"\n', "", "summary is missing"),
    (RULES, "alert: HeadwayJobsBad", "alert: HeadwayJobsBroken", "no test of prometheus-rules-test.yml expects"),
    (RULES, ">= 0.5", ">= 1.5", "promtool test rules"),
    (RULES, "        for: 10m\n", "        for: ten minutes\n", "promtool check config"),
    (RULES, "== 0 and on (job)", "== 0 and or (job)", "promtool check config"),
    (RULES, "groups:\n", "groups: [\n", "it is not a file of rules"),
    (TESTS, "severity: ticket, job: shop, kind: mail", "severity: page, job: shop, kind: mail", "promtool test rules"),
    (TESTS, "eval_time: 8m", "eval_time: 4m", "promtool test rules"),
    (CONFIGURATION, "prometheus-rules.yml", "rules.yml", "promtool check config"),
    (CONFIGURATION, "scrape_interval", "scrape_time", "promtool check config"),
    (DASHBOARD, "max(headway_jobs_late_schedules", "max(headway_jobs_schedules",
     "there is no metric headway_jobs_schedules"),
    (DASHBOARD, "headway_jobs_attempts(_total)?", "headway_jobs_attempt(_total)?",
     "there is no metric headway_jobs_attempt"),
    (DASHBOARD, 'status=\\"waiting\\"', 'status=\\"ready\\"', "headway_jobs_depth has no status ready"),
    (DASHBOARD, 'job=\\"$job\\"', 'job=\\"$store\\"', "there is no variable store"),
    (DASHBOARD, "label_values(headway_jobs_workers, job)", "label_values(headway_jobs_workers, queue)",
     "is about a label that headway_jobs_workers does not have"),
    (DASHBOARD, '"uid": "headway-jobs",', '"id": 7,', "uid is missing"),
    (DASHBOARD, '"uid": "headway-jobs",', '"uid": "headway-jobs", "id": 7,', "the dashboard has an id"),
    (DASHBOARD, '"id": 2,', '"id": 1,', "two panels have the same id"),
    (DASHBOARD, '"x": 4,', '"x": 0,', "it covers Failing attempts"),
    (DASHBOARD, '"x": 20,', '"x": 22,', "gridPos is missing, or outside"),
    (DASHBOARD, '"type": "state-timeline"', '"type": "timeline"', "the type timeline is unknown"),
    (DASHBOARD, '"refId": "B"', '"refId": "A"', "two have the same refId"),
    (DASHBOARD, "max by (check) (", "max by check (", "promtool check rules"),
    (DASHBOARD, '"schemaVersion": 39,', "", "schemaVersion is missing"),
    (DASHBOARD, '"panels": [', '"panels": [,', "it is not JSON"),
    (DASHBOARD, '"title": "Retrying",', "", "title is missing"),
    (DASHBOARD, '"uid": "${datasource}"', '"uid": "prometheus"', "a data source is not the variable"),
]


class MonitoringTests(unittest.TestCase):
    def test_the_files(self):
        self.assertEqual([], monitoring.faults(SOURCE))
        self.assertEqual([], list(monitoring.loading_faults(FOLDER)))

    def test_planted_faults(self):
        for name, old, new, expected in PLANTED:
            with self.subTest(file=name, old=old, new=new), tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary) / "Monitoring"
                shutil.copytree(FOLDER, folder)
                text = (folder / name).read_text()
                self.assertIn(old, text)
                (folder / name).write_text(text.replace(old, new, 1))
                found = monitoring.faults(SOURCE, folder)
                self.assertTrue(any(expected in fault for fault in found), found)

    def test_a_configuration_that_prometheus_does_not_load(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "Monitoring"
            shutil.copytree(FOLDER, folder)
            (folder / CONFIGURATION).write_text("scrape_configs: 7\n")
            self.assertIn("Prometheus does not start", list(monitoring.loading_faults(folder))[0])

    def test_the_source_has_names(self):
        self.assertIn("headway_jobs_depth", SOURCE.labels)
        self.assertEqual({"kind", "status"}, SOURCE.labels["headway_jobs_attempts"])
        self.assertIn("retrying", SOURCE.values["headway_jobs_depth", "status"])
        self.assertLess({"Workers", "Attempts", "Waits", "Space"}, SOURCE.values["headway_jobs_health", "check"])
        self.assertLess({"status", "list", "run-now"}, SOURCE.commands)


if __name__ == "__main__":
    unittest.main()
