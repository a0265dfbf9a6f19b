"""Draws what was measured, with matplotlib, which is installed next to the build and nowhere else."""

import importlib
import math
import os
import subprocess
import sys

from .paths import RESULTS, WORKSHOP
from .tables import NAMES

COLOURS = dict(zip(NAMES, ("#0b6e4f", "#c1440e", "#2f5d9b", "#8a4fbf", "#c490d1", "#7a7a7a", "#b58900", "#d33682")))


def pyplot():
    """matplotlib, or nothing when it cannot be had."""
    folder = f"{WORKSHOP}/python"
    sys.path.insert(0, folder)
    try:
        import matplotlib
    except ImportError:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder]
        if subprocess.run([*command, "matplotlib"], stderr=subprocess.DEVNULL).returncode != 0:
            print("script/bench: no plots, since matplotlib cannot be installed", file=sys.stderr)
            return None
        importlib.invalidate_caches()
        import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot
    matplotlib.pyplot.rcParams.update({
        "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#e5e5e5",
        "font.size": 10, "svg.hashsalt": "headway", "legend.frameon": False,
    })
    return matplotlib.pyplot


def draw(results):
    """The paths of the plots."""
    plot = pyplot()
    if not plot:
        return []
    return [save(plot, "cost-by-size", lambda axes: cost_by_size(results, axes)),
            save(plot, "threads-over-time", lambda axes: threads_over_time(results, axes))]


def save(plot, name, paint):
    figure, axes = plot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    paint(axes)
    os.makedirs(RESULTS, exist_ok=True)
    path = f"{RESULTS}/{name}.svg"
    figure.savefig(path)
    plot.close(figure)
    return path


def legend(axis):
    if axis.get_legend_handles_labels()[0]:
        axis.legend()


def cost_by_size(results, axes):
    for axis, workload, title in (
        (axes[0], "growth", "Fill a suspended queue and let it run"), (axes[1], "chain", "Build and run a chain"),
    ):
        every = []
        for rival, label in NAMES.items():
            counts = results.counts(workload, rival)
            if len(counts) > 1:
                costs = [results.median(workload, rival, count) for count in counts]
                every += costs
                axis.plot(counts, costs, "o-", color=COLOURS[rival], label=label, markersize=4)
        axis.set(xscale="log", yscale="log", xlabel="operations", ylabel="ns each", title=title)
        if every:  # Whole decades, so that a small difference does not look like a big one.
            axis.set_ylim(10 ** math.floor(math.log10(min(every))), 10 ** math.ceil(math.log10(max(every))))
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_formatter("{x:,.0f}")
        legend(axis)


def threads_over_time(results, axes):
    for axis, workload, title in (
        (axes[0], "sleepers", "Operations that sleep 0.5 s"),
        (axes[1], "processor-bound", "Operations that burn 0.25 s"),
    ):
        for rival, label in NAMES.items():
            series = results.series(workload, rival)
            if series:
                count = results.main_count(workload, rival)
                times, threads = [row[0] for row in series], [row[1] for row in series]
                axis.step(times, threads, where="post", color=COLOURS[rival], label=f"{label}, {count} of them")
        axis.set(xlabel="seconds", ylabel="threads of the process", title=title, ylim=(0, None))
        legend(axis)


def draw_soak(series):
    """Memory over operations, and the pace."""
    plot = pyplot()

    def paint(axes):
        millions = [row[1] / 1e6 for row in series]
        for column, label, colour in ((2, "resident", "headway"), (3, "allocated", "foundation")):
            axes[0].plot(millions, [row[column] / 1e6 for row in series], color=COLOURS[colour], label=label)
        axes[0].set(xlabel="million operations", ylabel="MB", title="Memory in steady state", ylim=(0, None))
        axes[0].legend()
        pace = [(after[1] - before[1]) / (after[0] - before[0]) / 1e6 for before, after in zip(series, series[1:])]
        axes[1].plot([row[0] for row in series[1:]], pace, color=COLOURS["headway"])
        axes[1].set(xlabel="seconds", ylabel="million operations a second", title="Pace", ylim=(0, None))

    return save(plot, "soak", paint) if plot and len(series) > 1 else None
