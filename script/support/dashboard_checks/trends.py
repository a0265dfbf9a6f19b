"""The charts: readable without a legend, and as numbers."""

from .tools import texts


def check(driver, program, said):
    for span in ("hour", "day"):
        driver.open(f"{program.origin}/trends?over={span}")
        assert driver.run("return document.querySelectorAll('#endings rect').length") > 0
        ends = texts(driver, "#endings .ends text")
        assert {"succeeded", "failed"} <= {text.split()[0] for text in ends}, ends
        labels = texts(driver, "#endings .levels span")
        assert labels[-1] == "0" and len(labels) == 3, labels
        assert driver.run("return document.querySelector('#endings .times').textContent").endswith("now")
        summary = driver.run("return document.querySelector('#endings svg.chart').getAttribute('aria-label')")
        assert "succeeded" in summary and "at most" in summary, summary
        rows = driver.run("return document.querySelectorAll('#endings table tbody tr').length")
        assert rows > 0, rows
        waits = texts(driver, "#waits .ends text")
        assert any(text.startswith("p99 ") for text in waits), waits
    driver.open(program.origin + "/trends?queue=images")
    assert driver.run("return document.querySelectorAll('#waits .plot').length") == 1
    said("trends over an hour and a day")
