"""The pages without JavaScript."""

from .tools import pages


def check(driver, program, said):
    all_pages = pages(driver, program)
    driver.command("POST", "/goog/cdp/execute", {
        "cmd": "Emulation.setScriptExecutionDisabled", "params": {"value": True}})
    for address in all_pages.values():
        driver.open(address)
    driver.open(program.origin + "/queues")
    for selector in (".queue form:not(.settings) button",):
        driver.click(selector)
    source = driver.command("GET", "/source")
    assert "The queue is" in source, source[:2000]
    driver.command("POST", "/goog/cdp/execute", {
        "cmd": "Emulation.setScriptExecutionDisabled", "params": {"value": False}})
    said("everything works without JavaScript")
