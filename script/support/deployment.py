"""Checks the files of Examples/Deployment, as far as that is possible without running them.

It compares them with the program that they deploy (Examples/Sources/Worker): how long the program needs to stop, the
variables that it reads, its exit code for a wrong environment, and the modules that it imports. It also checks the
parts of each file that refer to each other: stages, products, traits, labels and commands of the tool.
"""

import configparser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = "Examples/Deployment"
UNIT = "worker@.service"
# A supervisor waits for at least this many seconds longer than the worker needs.
MARGIN = 5
SYSTEM_MODULES = {"Foundation"}


class Program:
    """The program and the package that the files must agree with."""

    def __init__(self, root):
        source = (root / "Examples/Sources/Worker/main.swift").read_text()
        periods = re.findall(r"(?:gracePeriod|cancellationPeriod): \.seconds\((\d+)\)", source)
        self.stopping = sum(map(int, periods))
        self.variables = set(re.findall(r'environment\["(\w+)"\]', source))
        self.exit_code = re.search(r"exit\((\d+)\)", source).group(1)
        self.modules = set(re.findall(r"^import (\w+)", source, re.M)) - SYSTEM_MODULES
        manifest = (root / "Package.swift").read_text()
        self.products = set(re.findall(r'\.(?:library|executable)\(name: "(\w+)"', manifest))
        self.traits = set(re.findall(r'^let \w+ = "(\w+)"$', manifest, re.M)) | {"Tool"}
        self.packages = dict(
            re.findall(r'url: "https://github\.com/([\w./-]+?)(?:\.git)?", from: "([\d.]+)"', manifest))
        tool = root / "Sources/HeadwayTool/Jobs"
        self.commands = {
            name for path in tool.glob("*.swift") for name in re.findall(r'commandName: "([\w-]+)"', path.read_text())}


def unit_faults(program, text):
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read_string(text)
    service = unit["Service"] if unit.has_section("Service") else {}
    limit = re.fullmatch(r"(\d+)s?", service.get("TimeoutStopSec", ""))
    if not limit or int(limit[1]) < program.stopping + MARGIN:
        yield f"TimeoutStopSec is less than {program.stopping + MARGIN}: the worker needs {program.stopping} to stop"
    if service.get("KillSignal", "SIGTERM") != "SIGTERM":
        yield "KillSignal is not SIGTERM, which begins the graceful shutdown"
    if service.get("KillMode") not in ("mixed", "process"):
        yield "KillMode must be mixed, so that only the worker receives SIGTERM"
    if service.get("RestartPreventExitStatus") != program.exit_code:
        yield f"RestartPreventExitStatus is not {program.exit_code}, with which the worker reports a wrong environment"
    if service.get("Restart") != "always":
        yield "Restart is not always"
    for key in ("User", "EnvironmentFile", "ExecStart"):
        if key not in service:
            yield f"{key} is missing"


def verified_unit(text):
    """The messages of systemd about a unit, if it is installed."""
    if not shutil.which("systemd-analyze"):
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / UNIT
        # The program is not installed here.
        path.write_text(re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", text, flags=re.M))
        run = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(path).replace("@.", "@1.")], capture_output=True, text=True)
        # Messages about other units of this machine don't count.
        for line in run.stderr.splitlines():
            if "worker@" in line:
                yield line.removeprefix(f"{folder}/")


def instructions(text):
    """The instructions of a Dockerfile with their arguments. A backslash continues a line."""
    lines = re.sub(r"\\\n\s*", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.M)).splitlines()
    return [tuple(line.split(None, 1)) for line in lines if line.strip()]


def dockerfile_faults(program, text):
    stages, arguments, steps = {}, set(), instructions(text)
    current = []
    for name, rest in steps:
        if name == "FROM":
            image, _, stage = rest.partition(" AS ")
            current = stages[stage or "final"] = []
            if ":" not in image:
                yield f"FROM {image} has no tag"
        elif name == "ARG":
            arguments.add(rest.partition("=")[0])
        current.append((name, rest))
        for variable in re.findall(r"\$\{(\w+)\}", rest):
            if variable not in arguments:
                yield f"{variable} is used before its ARG"
        for stage in re.findall(r"--from=(\S+)", rest):
            if stage not in stages:
                yield f"there is no stage {stage}"
            for path in re.findall(r" (/out/\w+)", rest):
                if not any(path in line for _, line in stages.get(stage, [])):
                    yield f"the stage {stage} doesn't create {path}"
        for product in re.findall(r"--product (\w+)", rest):
            if product not in program.products:
                yield f"Headway has no product {product}"
        for trait in re.findall(r"--traits (\S+)", rest):
            for missing in set(trait.split(",")) - program.traits:
                yield f"Headway has no trait {missing}"
    last = dict(stages.get("final", []))
    try:
        if not json.loads(last.get("CMD", "null")):
            raise ValueError
    except ValueError:
        yield "CMD is not a list, so a shell would receive SIGTERM instead of the worker"
    if last.get("USER", "0") in ("0", "root"):
        yield "the worker would run as root"
    if last.get("STOPSIGNAL", "SIGTERM") != "SIGTERM":
        yield "STOPSIGNAL is not SIGTERM"


def tool_commands(container):
    """The commands of the tool that a container runs: itself, or in a probe."""
    probes = [container.get(probe, {}).get("exec", {}) for probe in ("readinessProbe", "livenessProbe", "startupProbe")]
    for command in [container.get("command", [])] + [probe.get("command", []) for probe in probes]:
        yield from re.findall(r"headway jobs ([\w-]+)", " ".join(command))


def deployment_faults(program, deployment):
    spec = deployment["spec"]
    pod = spec["template"]["spec"]
    if pod.get("terminationGracePeriodSeconds", 30) < program.stopping + MARGIN:
        needed = program.stopping + MARGIN
        yield f"terminationGracePeriodSeconds is less than {needed}: the worker needs {program.stopping}"
    labels = spec["template"]["metadata"]["labels"]
    if spec["selector"]["matchLabels"] != labels:
        yield "the selector of the deployment differs from the labels of its pods"
    workers = pod["containers"]
    for container in pod.get("initContainers", []) + workers:
        for command in tool_commands(container):
            if command not in program.commands:
                yield f"{container['name']}: there is no command headway jobs {command}"
        if container["image"] != workers[0]["image"]:
            yield f"{container['name']} has another image than {workers[0]['name']}"
        for variable in container.get("env", []):
            name = variable["name"]
            if name.startswith("JOBS_") and name not in program.variables:
                yield f"{container['name']}: the worker doesn't read {name}"
            # YAML reads 4 as a number, and Kubernetes accepts only strings.
            if "value" in variable and not isinstance(variable["value"], str):
                yield f"{container['name']}: the value of {name} is not a string"
    for container in workers:
        given = {variable["name"] for variable in container.get("env", [])}
        if "JOBS_STORE" not in given:
            yield f"{container['name']}: JOBS_STORE is missing"
        if "doctor" in " ".join(container.get("livenessProbe", {}).get("exec", {}).get("command", [])):
            name = container["name"]
            yield f"{name}: a liveness probe of the store would restart all workers in an outage of the server"


def kubernetes_faults(program, text):
    try:
        resources = [resource for resource in yaml.safe_load_all(text) if resource]
    except yaml.YAMLError as error:
        yield f"it is not YAML: {error}"
        return
    for resource in resources:
        missing = {"apiVersion", "kind", "metadata", "spec"} - resource.keys()
        if missing:
            yield f"a resource has no {', '.join(sorted(missing))}"
    deployments = [resource for resource in resources if resource.get("kind") == "Deployment"]
    if not deployments:
        yield "there is no Deployment"
    for deployment in deployments:
        yield from deployment_faults(program, deployment)
    pods = [deployment["spec"]["template"]["metadata"]["labels"] for deployment in deployments]
    for resource in resources:
        if resource.get("kind") == "PodDisruptionBudget":
            if resource["spec"]["selector"]["matchLabels"] not in pods:
                yield "the PodDisruptionBudget selects no pod"


def manifest_faults(program, text):
    """The manifest declares each module that the program imports, and only products, traits and versions that exist."""
    declared = dict(re.findall(r'\.product\(name: "(\w+)", package: "([\w.-]+)"\)', text))
    for module in sorted(program.modules - declared.keys()):
        yield f"the program imports {module}, which no product declares"
    for product, package in declared.items():
        if package == "headway" and product not in program.products:
            yield f"Headway has no product {product}"
    for trait in re.findall(r'"(\w+)"', "".join(re.findall(r"traits: \[([^\]]*)\]", text))):
        if trait not in program.traits:
            yield f"Headway has no trait {trait}"
    for package, version in re.findall(r'url: "https://github\.com/([\w./-]+)", from: "([\d.]+)"', text):
        if package != "headway-swift/headway" and program.packages.get(package) != version:
            yield f"{package} is {version} here and {program.packages.get(package, 'unused')} in Headway"


CHECKS = {
    UNIT: unit_faults, "Dockerfile": dockerfile_faults, "kubernetes.yaml": kubernetes_faults,
    "Package.swift": manifest_faults}


def faults(root):
    program = Program(root)
    for name, check in CHECKS.items():
        text = (root / FOLDER / name).read_text()
        yield from (f"{FOLDER}/{name}: {fault}" for fault in check(program, text))
    yield from (f"{FOLDER}/{fault}" for fault in verified_unit((root / FOLDER / UNIT).read_text()))


def main():
    found = list(faults(ROOT))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
