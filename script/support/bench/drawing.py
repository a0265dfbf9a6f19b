"""`script/bench drawing`: thumbnails of JPEG files of 12 megapixels next to `vipsthumbnail` and ImageMagick's `mogrify`, and
a tile of a map next to plain C with cairo. All in one run; files in the page cache."""

import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from . import programs
from .paths import ROOT

# Photographs that differ. The remaining ones are copies, which no program detects.
DIFFERENT = 50


def add_command(commands):
    command = commands.add_parser("drawing", help="thumbnails and tiles next to others", description=__doc__)
    command.add_argument("--photos", type=int, default=500)
    command.add_argument("--runs", type=int, default=3)
    command.add_argument("--tiles", type=int, default=100)
    command.set_defaults(run=bench_drawing)


def build():
    """Builds the benchmark and the tool for release; gives their paths."""
    return programs.build_swift("DrawingBenchmark"), programs.build_swift("headway")


def write_photos(program, folder, count):
    """Writes the photographs, or takes those of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    if len(list(folder.glob("*.jpg"))) == count:
        return
    for old in folder.glob("*.jpg"):
        old.unlink()
    different = min(count, DIFFERENT)
    subprocess.run([program, "photos", folder, str(different)], check=True)
    for number in range(different, count):
        shutil.copyfile(folder / f"photo{number % different}.jpg", folder / f"photo{number}.jpg")


def ways(headway, photos, processors):
    """The programs: a name, and a command for the folder of the results; each makes 256 pixels at quality 85."""
    files = f"printf '%s\\0' {photos}/*.jpg | xargs -0 -P {processors} -n 25"
    yield "`headway thumbnails`", lambda out: f"{headway} thumbnails {photos} --into {out} --size 256 --quiet"
    if shutil.which("vipsthumbnail"):
        # One thread each: there are as many processes as processors.
        yield "`vipsthumbnail`", lambda out: (
            f"VIPS_CONCURRENCY=1 {files} vipsthumbnail --size 256 -o '{out}/%s.jpg[Q=85]'")
    if shutil.which("mogrify"):
        # With the option to decode at a reduced size, as its documentation recommends.
        yield "`mogrify`, `jpeg:size` given", lambda out: (
            f"MAGICK_THREAD_LIMIT=1 {files} mogrify -path {out} -define jpeg:size=512x512 -thumbnail 256x256 -quality 85")
        yield "`mogrify`", lambda out: (
            f"MAGICK_THREAD_LIMIT=1 {files} mogrify -path {out} -thumbnail 256x256 -quality 85")


def bench_drawing(arguments):
    subprocess.run([f"{ROOT}/script/setup", "bench"], check=True)
    benchmark, headway = build()
    photos = pathlib.Path(ROOT, "Benchmarks/results/photos")
    write_photos(benchmark, photos, arguments.photos)
    commands = list(ways(headway, photos, os.cpu_count()))
    seconds = {name: [] for name, _ in commands}
    for _ in range(arguments.runs):
        for name, command in commands:
            with tempfile.TemporaryDirectory() as out:
                start = time.monotonic()
                subprocess.run(command(out), shell=True, check=True, executable="/bin/bash")
                seconds[name].append(time.monotonic() - start)
                made = len(list(pathlib.Path(out).glob("*.jpg")))
                if made != arguments.photos:
                    raise SystemExit(f"script/bench drawing: {name} has made {made} of {arguments.photos}")
    ours = statistics.median(seconds[commands[0][0]])
    size = sum(path.stat().st_size for path in photos.glob("*.jpg")) / arguments.photos / 1e6
    print(f"\n| {arguments.photos} JPEG of 12 megapixels, {size:.1f} MB each, to 256 pixels | s | ratio |\n|---|---|---|")
    for name, times in seconds.items():
        print(f"| {name} | {statistics.median(times):.2f} | {statistics.median(times) / ours:.2f} |")
    print()
    subprocess.run([benchmark, "tile", str(2 * arguments.runs + 1), str(arguments.tiles)], check=True)
