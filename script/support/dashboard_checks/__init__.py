"""Checks of the dashboard in a browser: each module has a function `check(driver, program, said)`.

`driver` is a browser that has logged in, `program` is a dashboard with the jobs of the scene (see `program.py`), and
`said` reports what was checked. The modules run in alphabetical order, and the earlier ones have changed jobs.
"""
