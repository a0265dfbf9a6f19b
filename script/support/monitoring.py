"""Checks the files of Examples/Monitoring.

promtool checks the configuration, checks the rules, and runs their unit tests, and a Prometheus loads them. The metrics
that rules and panels name, their labels and the values of these labels are compared with the source of HeadwayMetrics,
and the commands in the texts with the tool. The dashboard must have the structure that Grafana loads.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import urllib.request

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "Examples/Monitoring"
CONFIGURATION, RULES, TESTS = "prometheus.yml", "prometheus-rules.yml", "prometheus-rules-test.yml"
DASHBOARD = "grafana-dashboard.json"
SEVERITIES = {"page", "ticket"}
# Labels that Prometheus adds.
TARGET_LABELS = {"job", "instance"}
PANELS = {"stat", "timeseries", "state-timeline", "table", "text"}
COLUMNS = 24


class Source:
    """The metrics that HeadwayMetrics exports, the names of checks, and the commands of the tool."""

    def __init__(self, root=ROOT):
        self.labels, values = {}, {}
        for path in sorted((root / "Sources/HeadwayMetrics").glob("*.swift")):
            text = re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M)
            for match in re.finditer(r'"(headway\.[a-z.]+)"', text):
                rest = re.split(r"\.set\(|factory|\n\s*\n", text[match.end():], maxsplit=1)[0]
                name = match[1].replace(".", "_")
                self.labels.setdefault(name, set()).update(re.findall(r'\("(\w+)", ', rest))
            if states := re.search(r"states: \[JobState\] = \[([^\]]*)\]", text):
                values["headway_jobs_depth", "status"] = set(re.findall(r"\.(\w+)", states[1]))
            if pairs := re.search(r"for \(status, count\) in \[(.*?)\] \{", text, re.S):
                values["headway_jobs_recent_attempts", "status"] = set(re.findall(r'"(\w+)"', pairs[1]))
        checks = set()
        for path in root.glob("Sources/HeadwayJobs*/**/*.swift"):
            text = path.read_text()
            if "JobsHealth" in text or "HealthFacts" in text:
                checks.update(re.findall(r'(?:\.(?:good|warning|bad)\(\s*|name: )"([A-Z]\w+)"', text))
        values["headway_jobs_health", "check"] = checks
        self.values = values
        self.commands = {
            name for path in (root / "Sources/HeadwayTool/Jobs").glob("*.swift")
            for name in re.findall(r'(?:commandName|name): "([a-z-]+)"', path.read_text())}


class Expression:
    """What an expression of PromQL names."""

    def __init__(self, text):
        self.text = text
        self.metrics = set(re.findall(r"\bheadway_[\w:]+", re.sub(r'"[^"]*"', '""', text)))
        # A name as a regular expression permits a suffix that some exporters add to counters.
        self.counters = set(re.findall(r'__name__=~"([^"]+)"', text))
        self.selectors = re.findall(r"(headway_\w+)?\{([^}]*)\}", text)
        clauses = re.findall(r"\b(?:by|on|without|ignoring) \(([^)]*)\)", text)
        self.grouped = {label.strip() for clause in clauses for label in clause.split(",") if label.strip()}

    def faults(self, source, recorded):
        labels = set(TARGET_LABELS)
        for metric in self.metrics:
            if metric in recorded:
                labels |= recorded[metric]
            elif metric in source.labels:
                labels |= source.labels[metric]
            else:
                yield f"there is no metric {metric}"
        for counter in self.counters:
            name = counter.removesuffix("(_total)?")
            if name not in source.labels or name == counter:
                yield f"there is no metric {counter}"
            labels |= source.labels.get(name, set())
        for label in sorted(self.grouped - labels):
            yield f"no metric of the expression has the label {label}"
        for metric, matchers in self.selectors:
            for label, value in re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"', matchers):
                if label == "__name__":
                    continue
                if label not in (source.labels.get(metric, labels) | TARGET_LABELS):
                    yield f"{metric or 'the metric'} has no label {label}"
                known = source.values.get((metric, label))
                for word in value.split("|"):
                    if known and re.fullmatch(r"\w+", word) and word not in known:
                        yield f"{metric} has no {label} {word}"


def recorded_labels(rules):
    return {rule["record"]: Expression(rule["expr"]).grouped for rule in rules if "record" in rule}


def rule_faults(source, text, tests):
    groups = yaml.safe_load(text)["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    recorded = recorded_labels(rules)
    cases = [case for test in yaml.safe_load(tests)["tests"] for case in test.get("alert_rule_test", [])]
    fired = {case["alertname"] for case in cases if case.get("exp_alerts")}
    quiet = {case["alertname"] for case in cases if not case.get("exp_alerts")}
    for rule in rules:
        name = rule.get("alert") or rule["record"]
        expression = Expression(rule["expr"])
        for fault in expression.faults(source, recorded):
            yield f"{name}: {fault}"
        if "alert" not in rule:
            continue
        if rule.get("labels", {}).get("severity") not in SEVERITIES:
            yield f"{name}: the severity is not one of {', '.join(sorted(SEVERITIES))}"
        if "for" not in rule:
            yield f"{name}: a single evaluation causes the alert, because there is no 'for'"
        if name not in fired:
            yield f"{name}: no test of {TESTS} expects the alert"
        known = expression.grouped.union(*(recorded.get(metric, set()) for metric in expression.metrics))
        for key in ("summary", "description"):
            words = rule.get("annotations", {}).get(key, "")
            if not words:
                yield f"{name}: {key} is missing"
            for label in re.findall(r"\$labels\.(\w+)", words):
                if label not in known:
                    yield f"{name}: the alert has no label {label}"
            for command in re.findall(r"headway jobs ([\w-]+)", words):
                if command not in source.commands:
                    yield f"{name}: there is no command headway jobs {command}"
    if not quiet:
        yield "no test expects that an alert is silent"


def dashboard_faults(source, text):
    try:
        dashboard = json.loads(text)
    except ValueError as error:
        yield f"it is not JSON: {error}"
        return
    for key, kind in [("uid", str), ("title", str), ("schemaVersion", int), ("panels", list), ("time", dict)]:
        if not isinstance(dashboard.get(key), kind):
            yield f"{key} is missing, or not a {kind.__name__}"
    if set(re.findall(r'"type": "prometheus",\s*"uid": "([^"]*)"', text)) != {"${datasource}"}:
        yield "a data source is not the variable"
    if dashboard.get("id") is not None:
        yield "the dashboard has an id, which only a running Grafana assigns"
    variables = {item["name"]: item for item in dashboard.get("templating", {}).get("list", [])}
    for used in sorted(set(re.findall(r"\$\{?(\w+)\}?", text)) - variables.keys()):
        if not used.startswith("__"):
            yield f"there is no variable {used}"
    for name, item in variables.items():
        if item.get("type") == "query":
            metric = re.match(r"label_values\((.*), (\w+)\)$", item.get("definition", ""))
            if not metric:
                yield f"the variable {name} has no query"
            elif metric[2] not in source.labels.get(metric[1].split("{")[0], set()) | TARGET_LABELS:
                yield f"the variable {name} is about a label that {metric[1]} does not have"
            faults = Expression(metric[1] if metric else "").faults(source, {})
            yield from (f"the variable {name}: {fault}" for fault in faults)
    panels = dashboard.get("panels") or []
    ids = [panel.get("id") for panel in panels]
    if len(set(ids)) < len(ids):
        yield "two panels have the same id"
    taken = {}
    for panel in panels:
        name = panel.get("title", f"panel {panel.get('id')}")
        yield from (f"{name}: {fault}" for fault in panel_faults(source, panel))
        place = panel.get("gridPos", {})
        cells = [(x, y) for x in range(place.get("x", 0), place.get("x", 0) + place.get("w", 0))
                 for y in range(place.get("y", 0), place.get("y", 0) + place.get("h", 0))]
        if not cells or any(x >= COLUMNS for x, _ in cells):
            yield f"{name}: gridPos is missing, or outside the {COLUMNS} columns"
        for cell in cells:
            if taken.setdefault(cell, name) != name:
                yield f"{name}: it covers {taken[cell]}"
                break


def panel_faults(source, panel):
    for key in ("title", "description"):
        if not panel.get(key):
            yield f"{key} is missing"
    if panel.get("type") not in PANELS:
        yield f"the type {panel.get('type')} is unknown"
    if "defaults" not in panel.get("fieldConfig", {}) or not isinstance(panel.get("options"), dict):
        yield "fieldConfig or options are missing"
    targets = panel.get("targets", [])
    references = [target.get("refId") for target in targets]
    if not targets or None in references or len(set(references)) < len(references):
        yield "there are no targets, or two have the same refId"
    for target in targets:
        yield from Expression(target.get("expr", "")).faults(source, {})


def run(*command, folder):
    """The output of a command that has failed."""
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode:
        yield f"{' '.join(command)}: " + " ".join((result.stdout + result.stderr).split())


def panel_rules(text):
    """The expressions of a dashboard as rules, so that promtool can parse them."""
    values = {"$__rate_interval": "5m", "$job": "worker", "$queue": ".*"}
    expressions = [target["expr"] for panel in json.loads(text)["panels"] for target in panel["targets"]]
    for name, value in values.items():
        expressions = [expression.replace(name, value) for expression in expressions]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(expressions)]
    return yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]})


def promtool_faults(folder):
    yield from run("promtool", "check", "config", CONFIGURATION, folder=folder)
    yield from run("promtool", "test", "rules", TESTS, folder=folder)
    with tempfile.TemporaryDirectory() as temporary:
        (pathlib.Path(temporary) / "panels.yml").write_text(panel_rules((folder / DASHBOARD).read_text()))
        yield from run("promtool", "check", "rules", "panels.yml", folder=temporary)


def loading_faults(folder):
    """Starts a Prometheus with the configuration, and compares the rules that it has loaded."""
    if not shutil.which("prometheus"):
        return
    with socket.socket() as unused, tempfile.TemporaryDirectory() as data:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        unused.close()
        server = subprocess.Popen(
            ["prometheus", f"--config.file={CONFIGURATION}", f"--storage.tsdb.path={data}",
             f"--web.listen-address=127.0.0.1:{port}", "--log.format=logfmt"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            log = []
            for line in server.stderr:
                log.append(line)
                if "Server is ready" in line:
                    break
            else:
                yield "Prometheus does not start: " + " ".join("".join(log[-3:]).split())
                return
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/rules") as answer:
                groups = json.load(answer)["data"]["groups"]
            loaded = {rule["name"] for group in groups for rule in group["rules"]}
            written = yaml.safe_load((folder / RULES).read_text())["groups"]
            names = {rule.get("alert") or rule["record"] for group in written for rule in group["rules"]}
            for name in sorted(names - loaded):
                yield f"Prometheus has not loaded {name}"
        finally:
            server.terminate()
            server.communicate()


def faults(source, folder=FOLDER):
    """The faults of all files, with the name of the file; those of promtool only if there are no others."""
    texts = {name: (folder / name).read_text() for name in (CONFIGURATION, RULES, TESTS, DASHBOARD)}
    try:
        found = [f"{RULES}: {fault}" for fault in rule_faults(source, texts[RULES], texts[TESTS])]
    except (yaml.YAMLError, KeyError, TypeError) as error:
        found = [f"{RULES}: it is not a file of rules: {error}"]
    found += [f"{DASHBOARD}: {fault}" for fault in dashboard_faults(source, texts[DASHBOARD])]
    return found or list(promtool_faults(folder))


def main():
    source = Source()
    found = faults(source) or list(loading_faults(FOLDER))
    print("\n".join(found) or f"The rules and the dashboard agree with {len(source.labels)} metrics.")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
