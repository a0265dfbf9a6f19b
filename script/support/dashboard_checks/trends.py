"""The charts: readable without a legend, and as numbers."""


def check(driver, program, said):
    for span in ("hour", "day"):
        driver.open(f"{program.origin}/trends?over={span}")
        assert driver.run("return document.querySelectorAll('#endings rect').length") > 0
        ends = driver.run("return [...document.querySelectorAll('#endings .ends text')].map((text) => text.textContent)")
        assert any(text.startswith("succeeded ") for text in ends) and any(text.startswith("failed ") for text in ends), ends
        labels = driver.run("return [...document.querySelectorAll('#endings .levels span')].map((label) => label.textContent)")
        assert labels[-1] == "0" and len(labels) == 3, labels
        assert driver.run("return document.querySelector('#endings .times').textContent").endswith("now")
        summary = driver.run("return document.querySelector('#endings svg.chart').getAttribute('aria-label')")
        assert "succeeded" in summary and "at most" in summary, summary
        rows = driver.run("return document.querySelectorAll('#endings table tbody tr').length")
        assert rows > 0, rows
        waits = driver.run("return [...document.querySelectorAll('#waits .ends text')].map((text) => text.textContent)")
        assert any(text.startswith("p99 ") for text in waits), waits
    driver.open(program.origin + "/trends?queue=images")
    assert driver.run("return document.querySelectorAll('#waits .plot').length") == 1
    said("trends over an hour and a day")
