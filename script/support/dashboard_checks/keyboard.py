"""The pages with the keyboard alone."""

from webdriver import ENTER, TAB

ESCAPE = "\ue00c"


def focused(driver, expression="textContent"):
    return driver.run(f"return document.activeElement.{expression}")


def path(driver):
    return driver.run("return location.pathname")


def check(driver, program, said):
    uses_shortcuts(driver, program, said)
    uses_tab(driver, program, said)


def uses_shortcuts(driver, program, said):
    driver.open(program.origin + "/")
    driver.press("g", "j")
    driver.wait("the list", lambda: path(driver) == "/jobs")
    driver.wait("the script", lambda: driver.run("return document.documentElement.classList.contains('js')"))
    driver.press("j")
    first = focused(driver)
    driver.press("j")
    second = focused(driver)
    assert int(second) < int(first), (first, second)
    driver.press("k")
    assert focused(driver) == first
    driver.press("x")
    assert driver.text(".selected-count") == "1 selected"
    driver.press("x", "/")
    assert focused(driver, "name") == "label"
    driver.press("j", ESCAPE)
    assert driver.run("return document.querySelector('[name=label]').value") == "j"
    driver.press("?")
    assert driver.run("return document.getElementById('keys').open")
    assert "previous row" in driver.text("#keys")
    driver.press(ESCAPE)
    assert not driver.run("return document.getElementById('keys').open")
    driver.press("j", ENTER)
    driver.wait("the page of the job", lambda: path(driver).startswith("/job/"))
    # Without shortcuts, letters do nothing.
    driver.run("document.getElementById('use-keys').click()")
    driver.press("g", "q")
    assert path(driver).startswith("/job/")
    driver.run("document.getElementById('use-keys').click()")
    driver.press("g", "q")
    driver.wait("the queues", lambda: path(driver) == "/queues")
    said("keyboard shortcuts")


def uses_tab(driver, program, said):
    """Every control can be reached with the tabulator, and its focus is visible."""
    for page in ("/jobs", "/queues", "/trends"):
        driver.open(program.origin + page)
        reached = 0
        expected = driver.run(
            "return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, summary')]"
            ".filter((node) => !node.disabled && node.checkVisibility({ visibilityProperty: true })).length")
        for _ in range(4 * expected + 20):
            driver.press(TAB)
            state = driver.run(
                "const node = document.activeElement; if (node === document.body) return null;"
                "window.reached ??= new Set(); window.reached.add(node);"
                "return [window.reached.size, getComputedStyle(node).outlineStyle]")
            if state is None:
                break
            reached = state[0]
            assert state[1] != "none", (page, focused(driver, "outerHTML"))
        assert reached >= expected, (page, reached, expected)
    said("each control can be reached with the keyboard")
