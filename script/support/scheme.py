"""Fixes the color scheme of a picture of a timeline: `scheme.py light|dark < BOTH.svg > ONE.svg`.

A timeline has the colors of the reader's scheme. Pages that choose between two pictures need one for each scheme.
"""

import re
import sys

DARK = re.compile(r"@media \(prefers-color-scheme:dark\)\{(:root\{[^}]*\})\}")
LIGHT = re.compile(r":root\{[^}]*\}")

picture = sys.stdin.read()
dark = DARK.search(picture).group(1)
picture = DARK.sub("", picture)
if sys.argv[1] == "dark":
    picture = LIGHT.sub(dark, picture, count=1)
sys.stdout.write(picture)
