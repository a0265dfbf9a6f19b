"""A store or a dashboard that does not answer."""

import os
import re

from .tools import is_live

# The worker of the scene stops when its store is gone.
IS_LAST = True


def check(driver, program, said):
    """A page states that the store or the dashboard does not answer, and becomes live again."""
    store = program.store
    driver.open(program.origin + "/")
    for name, begin, end in (
        ("store", lambda: os.rename(store, store + "-moved"), lambda: os.rename(store + "-moved", store)),
        ("dashboard", program.pause, program.resume),
    ):
        driver.wait("the page is live", lambda: is_live(driver))
        begin()
        driver.wait(f"the page states that the {name} is gone", lambda: not is_live(driver))
        text = driver.text("#warning")
        assert re.match(r"Not connected since \d.* UTC\. The page shows the state at that time\. .+", text), text
        height = driver.run("return document.querySelector('#warning').getBoundingClientRect().height")
        assert height > 20, height
        end()
        driver.wait(f"the page is live after the {name} returned", lambda: is_live(driver))
    said("a page states since when it is not connected, and becomes live again")
