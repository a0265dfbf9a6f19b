"""Plants faults in documents. script/check-versions must find each of them and nothing else."""

import contextlib
import io
import json
import pathlib
import subprocess
import tempfile
import unittest

import claims
import figures
import guide_packages
import project_files
import site_links
import versions

ROOT = versions.ROOT
PAGE = """# Measured

The first table:

| work | operations | rival | median | spread |
|---|---|---|---|---|
| chain, ns each | 10,000 | Headway | 475 | 465 – 484 |
|  | 10,000 | Foundation | 1,217,300 | – |
| run again: chain | 100 | Headway | 7.51 | – |
| the same: grid | 100 | Headway | 21.8 | – |

Enqueued by many:

| queue | jobs/s | processor |
|---|---|---|
| Headway | 28,104 | 21.7 (33.4) |
| huey 3.5.4 | 3,165 | 221 |

Enqueued by one:

| queue | jobs/s | processor |
|---|---|---|
| Headway | 2,222 | 44.9 |
"""
CHAIN = "page.md | chain, ns each | 10,000 | "
NAMES = {"RateLimit", "timeout", "HeadwayJobs"}


class Checkout:
    """A folder with the few files that the checks read."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        self.write(versions.SOURCE, 'let packageVersion = "1.2.3"\n')
        self.write("README.md", "# Headway\n\nVersion 1.2.3, under [semantic versioning](x.md).\n")
        self.write("SECURITY.md", "| version | fixes |\n|---|---|\n| 1.2.x | yes |\n")
        self.write("CHANGELOG.md", (
            "## [Unreleased]\n\n### Added\n\n## [1.2.3] - 2026-01-02\n\n[Unreleased]: https://x\n[1.2.3]: https://x\n"))
        self.write("Docs/features.md", "# Features\n")
        self.write("Docs/benchmarks/page.md", PAGE)
        self.write(figures.LIST, "[]")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class CheckoutTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = Checkout(folder.name)
        self.root = self.checkout.root

    def expect(self, faults, *parts):
        """Expects one fault for each part, which it contains."""
        found = list(faults)
        self.assertEqual(len(found), len(parts), found)
        for fault, part in zip(sorted(found), sorted(parts)):
            self.assertIn(part, fault)


class VersionTests(CheckoutTest):
    def test_right(self):
        self.expect(versions.version_faults(self.root))

    def test_other_versions_are_found(self):
        self.checkout.write(
            "Sources/M/M.docc/Guide.md", '.package(url: "https://github.com/headway-swift/headway", from: "1.2.2")')
        self.checkout.write("Sources/M/M.swift", '/// "https://github.com/headway-swift/headway.git", exact: "1.2.4"')
        self.checkout.write("Examples/Deployment/Dockerfile", "ARG HEADWAY_VERSION=1.0.0\n")
        self.expect(
            versions.version_faults(self.root), "Guide.md:1: 1.2.2 should be 1.2.3", "M.swift:1: 1.2.4 should be",
            "Dockerfile:1: 1.0.0 should be")

    def test_readme_and_security(self):
        self.checkout.write("README.md", "Version 1.2.2, under [semantic versioning](x.md).\n")
        self.checkout.write("SECURITY.md", "| 1.1.x | yes |\n")
        self.expect(
            versions.version_faults(self.root), "README.md:1: 1.2.2", "README.md: it does not contain",
            "SECURITY.md: the supported version is 1.2.x")

    def test_changelog(self):
        self.checkout.write(
            "CHANGELOG.md", "## [Unreleased]\n\n### New\n\n## [1.2.2] - 2026-01-02\n\n[Unreleased]: https://x\n")
        self.expect(
            versions.version_faults(self.root), "the second section is not", "there is no link for [1.2.2]",
            "New is not one")

    def test_set_changes_all_places(self):
        guide = "Sources/M/M.docc/Guide.md"
        self.checkout.write(
            guide, '"https://github.com/headway-swift/headway", from: "1.2.3"\n"https://github.com/other", from: "1.2.3"')
        with contextlib.redirect_stdout(io.StringIO()):
            versions.set_version(self.root, "1.3.0")
        text = (self.root / guide).read_text()
        self.assertIn('headway", from: "1.3.0"', text)
        self.assertIn('other", from: "1.2.3"', text)
        # The changelog is written by a maintainer.
        self.expect(versions.version_faults(self.root), "the second section is not ## [1.3.0]")


class FigureTests(CheckoutTest):
    def faults(self, text, *entries, name="README.md"):
        self.checkout.write(name, text)
        self.checkout.write(figures.LIST, json.dumps([{"in": name} | entry for entry in entries]))
        return figures.faults(self.root)

    def test_right_figures(self):
        entries = [
            {"says": "{} ns instead of {} ns", "from": [CHAIN + "Headway | median", CHAIN + "Foundation | median"]},
            {"says": "about {} times",
             "from": [{"ratio": [CHAIN + "Foundation | median", CHAIN + "Headway | median"]}]},
            {"says": "{} to {} ns", "from": ["page.md | run again: chain | 100 | Headway | median",
                                            "page.md | run again: grid | 100 | Headway | median"]},
            {"says": "{} µs on the server", "from": ["page.md # Enqueued by many | Headway | processor[2]"]},
            {"says": "{} jobs per second, huey", "from": ["page.md | huey | jobs/s"]},
            {"says": "within 1 ms", "because": "a setting"},
        ]
        text = "475 ns instead\nof 1,217,000 ns, about 2,600 times, 7.5 to 22 ns, 33 µs on the server, within 1 ms\n"
        self.expect(self.faults(text + "3,200 jobs per second, huey", *entries))

    def test_a_stale_figure(self):
        entry = {"says": "{} ns per block", "from": [CHAIN + "Headway | median"]}
        self.expect(self.faults("It takes 490 ns per block.", entry), "490 should be 475")

    def test_a_figure_that_is_rounded_the_wrong_way(self):
        entry = {"says": "{} ns per block", "from": [CHAIN + "Foundation | median"]}
        self.expect(self.faults("1,218,000 ns per block", entry), "1,218,000 should be 1,217,300")
        entry = {"says": "{} ns per block", "from": ["page.md | run again: chain | 100 | Headway | median"]}
        self.expect(self.faults("7.4 ns per block", entry), "7.4 should be 7.51")
        self.expect(self.faults("7.50 ns per block", entry), "7.50 should be 7.51")

    def test_a_figure_without_a_source(self):
        self.expect(self.faults("It takes\n12 ns."), "README.md:2: “12 ns” has no source")
        self.expect(self.faults("It takes 2 s."), "“2 s” has no source")
        self.checkout.write("README.md", "")
        self.expect(
            self.faults("5,000 jobs per second", name="Sources/M/M.docc/G.md"), "G.md:1: “5,000 jobs per second”")

    def test_settings_of_guides_and_code_are_not_figures(self):
        self.checkout.write("Sources/M/M.docc/G.md", "The pause is 2 s.\n\n```swift\nlet x = 1 // 12 ns\n```\n")
        self.expect(figures.faults(self.root))

    def test_a_sentence_that_was_changed(self):
        entry = {"says": "{} ns", "from": [CHAIN + "Headway | median"]}
        self.expect(self.faults("Nothing.", entry), "no sentence is like")

    def test_a_cell_that_is_missing_or_ambiguous(self):
        entry = {"says": "{} ns", "from": ["page.md | Headway | jobs/s"]}
        self.expect(self.faults("1 ns", entry), "2 cells are called")
        entry = {"says": "{} ns", "from": ["page.md | lost | median"]}
        self.expect(self.faults("1 ns", entry), "0 cells are called")
        entry = {"says": "{} ns", "from": ["lost.md | a | b"]}
        self.expect(self.faults("1 ns", entry), "there is no page")

    def test_tables(self):
        text = "| 2 cores | Headway | Foundation |\n|---|---|---|\n"
        text += "| a chain, ns | **474** | 1,217,300 |\n| more | 1 | – |\n"
        source = CHAIN + "{column} | median"
        entry = {"table": "2 cores", "rows": {"a chain, ns": source, "gone": source}}
        self.expect(
            self.faults(text, entry), "a chain, ns, Headway: 474 should be 475", "the row more has no source",
            "the table has no row gone")


class ClaimTests(unittest.TestCase):
    def expect(self, text, *parts):
        found = [fault for _, fault in claims.text_faults(text, NAMES)]
        self.assertEqual(len(found), len(parts), found)
        for fault, part in zip(found, parts):
            self.assertIn(part, fault)

    def test_names(self):
        self.expect("There is no `RateLimit` for queues.", "this exists")
        self.expect("A policy has no ``OperationPolicy/timeout``.", "this exists")
        self.expect("The package has no module `HeadwayJobs` yet.", "this exists")
        self.expect("There is no `Nothing`.")

    def test_features_that_documents_denied(self):
        self.expect("Headway's operations do not read this clock.", "the manual clock")
        self.expect(
            "If jobs must survive a crash, run on several\nmachines, use Oban or Sidekiq.", "durable jobs")
        self.expect(
            "If a job must survive the end of the process, store it before you accept it.", "durable jobs")
        self.expect(
            "To limit the time of an operation, use a task that waits and then cancels the operation.", "timeouts")
        self.expect("Operations that exclude each other form a chain.", "exclusive resources")
        self.expect("Headway does not support cron expressions.", "schedules")

    def test_what_is_right(self):
        self.expect("An operation does not start before its timeout has been set.")
        self.expect("There is no warning. It has no index, because rate limits are rare.")
        self.expect("```swift\n// There is no `RateLimit`.\n```\n")

    def test_sections_without_counterparts(self):
        heading = "## What has no counterpart\n\n| there | here |\n|---|---|\n"
        self.expect(heading + "| `Observer` | ``OperationPolicy/timeout`` |\n", "lists OperationPolicy/timeout")
        self.expect(heading + "| `Log` | a logging library |\n\n## Next\n\n| `x` | ``Operation`` |\n")

    def test_comparisons(self):
        table = "| feature | Headway | Oban |\n|---|---|---|\n"
        self.expect(table + "| durable | no | yes |\n", "durable jobs")
        self.expect(table + "| durable | yes | no |\n| replay | no | yes |\n")


class PackageTests(unittest.TestCase):
    modules = {"Logging": "swift-log"}
    places = {"swift-log": ("https://github.com/apple/swift-log", "1.13.0")}
    product = '`.product(name: "Logging", package: "swift-log")`\n'
    package = '`.package(url: "https://github.com/apple/swift-log", from: "1.13.0")`\n'

    def expect(self, text, *parts):
        found = list(guide_packages.text_faults(text + "```swift\nimport Logging\n```\n", self.modules, self.places))
        self.assertEqual(len(found), len(parts), found)
        for fault, part in zip(found, parts):
            self.assertIn(part, fault)

    def test_packages(self):
        self.expect(self.product + self.package)
        self.expect(self.package, "so name .product")
        self.expect(self.product, "so name .package")
        self.expect(self.product + self.package.replace("1.13.0", "1.12.0"), "1.12.0 here, and 1.13.0")


class ProjectFileTests(unittest.TestCase):
    manifest = '.library(name: "Headway", targets: ["Headway"]), .library(name: "HeadwayJobs", targets: [])'

    def test_libraries(self):
        index, readme = "        - Headway\n        - HeadwayJobs\n", "| `Headway`, `HeadwayJobs` | work |\n"
        self.assertEqual([], list(project_files.library_faults(self.manifest, index, readme)))
        self.assertEqual(
            [".spi.yml: HeadwayJobs is missing in documentation_targets",
             "README.md: no table lists the product HeadwayJobs",
             ".spi.yml: there is no library HeadwayOld"],
            list(project_files.library_faults(
                self.manifest, "        - Headway\n        - HeadwayOld\n", "| `Headway` | work |\n")))

    def test_workflows(self):
        pinned = "permissions:\n  contents: read\n- uses: actions/checkout@" + "a" * 40 + " # v5.0.0\n"
        self.assertEqual([], list(project_files.workflow_faults("ci.yml", pinned)))
        for old, new in [("a" * 40, "v5"), (" # v5.0.0", ""), ("permissions", "p")]:
            changed = pinned.replace(old, new)
            self.assertEqual(1, len(list(project_files.workflow_faults("ci.yml", changed))), changed)


class LinkTests(unittest.TestCase):
    site = "https://headway-swift.github.io/headway"
    repository = "https://github.com/headway-swift/headway"

    def test_right(self):
        for link in [
            self.site, f"{self.site}/reference/documentation/headwayjobs/jobsthatsurvive",
            f"{self.site}/reference/documentation/headway/cookbook#Set-a-timeout", f"{self.site}/Docs/features.html",
            self.repository, f"{self.repository}/blob/main/Docs/rules.md", f"{self.repository}/issues/new/choose",
            f"{self.repository}/tree/main/Examples/Sources/JobServer",
        ]:
            self.assertIsNone(site_links.fault(ROOT, link), link)

    def test_wrong(self):
        for link, reason in {
            f"{self.site}/documentation/headwayjobs/jobsthatsurvive": "no such page",
            f"{self.site}/reference/documentation/headway/jobsthatsurvive": "no such guide",
            f"{self.site}/reference/documentation/headway/cookbook#Set-a-time": "no such heading",
            f"{self.site}/Docs/lost.html": "no such page",
            "https://headway-swift.github.io/reference/documentation/headway": "the site is at",
            f"{self.repository}/blob/main/Docs/lost.md": "no such file",
            f"{self.repository}/blob/main/Docs/rules.md#lost": "no such heading",
            f"{self.repository}/lost": "no such page",
        }.items():
            self.assertIn(reason, site_links.fault(ROOT, link) or "nothing", link)

    def test_the_base_of_the_site(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "Docs").mkdir()
            (root / "Docs/releasing.md").write_text("Build it with script/documentation.")
            self.assertIn("--base headway", "".join(site_links.base_faults(root)))
            (root / "Docs/releasing.md").write_text("Build it with script/documentation --base headway.")
            self.assertEqual([], list(site_links.base_faults(root)))


if __name__ == "__main__":
    unittest.main()
