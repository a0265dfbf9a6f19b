"""Plants faults in the files of Examples/Deployment. script/check-deployment must find each of them."""

import unittest

import deployment

PROGRAM = deployment.Program(deployment.ROOT)
FOLDER = deployment.ROOT / deployment.FOLDER
# The file, a string in it, the string that replaces it, and part of the fault.
PLANTED = [
    ("worker@.service", "TimeoutStopSec=45", "TimeoutStopSec=30", "TimeoutStopSec is less than 33"),
    ("worker@.service", "TimeoutStopSec=45", "", "TimeoutStopSec is less than 33"),
    ("worker@.service", "KillSignal=SIGTERM", "KillSignal=SIGINT", "KillSignal is not SIGTERM"),
    ("worker@.service", "KillMode=mixed", "KillMode=control-group", "KillMode must be mixed"),
    ("worker@.service", "RestartPreventExitStatus=78", "RestartPreventExitStatus=1",
     "RestartPreventExitStatus is not 78"),
    ("worker@.service", "Restart=always", "Restart=no", "Restart is not always"),
    ("worker@.service", "User=worker\n", "", "User is missing"),
    ("Dockerfile", 'CMD ["worker"]', "CMD worker", "CMD is not a list"),
    ("Dockerfile", "--from=build", "--from=builder", "there is no stage builder"),
    ("Dockerfile", "/out/headway /out/worker", "/out/headway /out/tool", "the stage build doesn't create /out/tool"),
    ("Dockerfile", "ARG PRODUCT=Worker\n", "", "PRODUCT is used before its ARG"),
    ("Dockerfile", "--product headway", "--product tool", "Headway has no product tool"),
    ("Dockerfile", "--traits PostgreSQL", "--traits Postgres", "Headway has no trait Postgres"),
    ("Dockerfile", "USER 10001\n", "", "the worker would run as root"),
    ("Dockerfile", "debian:bookworm-slim", "debian", "FROM debian has no tag"),
    ("Dockerfile", "STOPSIGNAL SIGTERM", "STOPSIGNAL SIGINT", "STOPSIGNAL is not SIGTERM"),
    ("kubernetes.yaml", "terminationGracePeriodSeconds: 45", "# no period",
     "terminationGracePeriodSeconds is less than 33"),
    ("kubernetes.yaml", "headway jobs migrate", "headway jobs upgrade", "there is no command headway jobs upgrade"),
    ("kubernetes.yaml", "readinessProbe:", "livenessProbe:", "a liveness probe of the store would restart all"),
    ("kubernetes.yaml", "JOBS_SLOTS", "JOBS_THREADS", "the worker doesn't read JOBS_THREADS"),
    ("kubernetes.yaml", 'value: "4"', "value: 4", "the value of JOBS_SLOTS is not a string"),
    ("kubernetes.yaml", "image: registry.example.com/worker:1", "image: registry.example.com/worker:2",
     "has another image"),
    ("kubernetes.yaml", "    matchLabels: {app: worker}", "    matchLabels: {app: jobs}",
     "the selector of the deployment differs"),
    ("kubernetes.yaml", "kind: Deployment", "kind: Job", "there is no Deployment"),
    ("kubernetes.yaml", "replicas: 3", "replicas: [3", "it is not YAML"),
    ("Package.swift", '.product(name: "Logging", package: "swift-log"),', "", "the program imports Logging"),
    ("Package.swift", '"HeadwayJobsSQLite"', '"HeadwayJobsFiles"', "Headway has no product HeadwayJobsFiles"),
    ("Package.swift", 'traits: ["PostgreSQL"]', 'traits: ["Postgres"]', "Headway has no trait Postgres"),
    ("Package.swift", 'swift-log", from: "', 'swift-log", from: "9', "apple/swift-log is 9"),
]


class DeploymentTests(unittest.TestCase):
    def test_the_files(self):
        self.assertEqual([], list(deployment.faults(deployment.ROOT)))

    def test_planted_faults(self):
        for name, old, new, expected in PLANTED:
            with self.subTest(file=name, old=old):
                text = (FOLDER / name).read_text()
                self.assertIn(old, text)
                found = list(deployment.CHECKS[name](PROGRAM, text.replace(old, new, 1)))
                self.assertTrue(any(expected in fault for fault in found), found)


if __name__ == "__main__":
    unittest.main()
