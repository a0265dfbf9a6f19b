"""Limits a picture of a timeline to one color scheme: `scheme.py light|dark < BOTH.svg > ONE.svg`.

A timeline adapts to the reader's color scheme. Pages that choose between two pictures need one picture per scheme.
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
