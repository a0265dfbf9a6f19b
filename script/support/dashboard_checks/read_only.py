"""A dashboard that changes nothing."""

from .tools import MENU


def check(driver, program, said):
    reader = program.another("--read-only")
    try:
        shows_no_buttons(driver, reader)
    finally:
        reader.stop()
    said("read only")


def shows_no_buttons(driver, program):
    driver.open(program.login)
    for name in MENU:
        driver.open(f"{program.origin}/{name}")
        # The links of a choice only show another part of the page.
        buttons = driver.run(
            "return [...document.querySelectorAll('form[method=post] button, .button:not(.choice *)')]"
            ".map((button) => button.textContent)")
        assert not buttons, (name, buttons)
        assert driver.text("header .badge") == "read only"
