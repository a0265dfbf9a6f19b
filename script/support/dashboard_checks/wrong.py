"""What is wrong now, on top of each page: a sign with a shape and a word, and links to what the sentences are about."""

from .tools import MENU, change

LEVELS = {"good", "warning", "bad"}
SIGNS = """
return [...document.querySelectorAll('.level')].map((sign) => {
  const shape = getComputedStyle(sign, '::before');
  return [sign.textContent, shape.clipPath + shape.borderRadius, shape.width, shape.backgroundColor];
});"""


def check(driver, program, said):
    shapes = {}
    for name in MENU:
        driver.open(f"{program.origin}/{name}")
        signs = driver.run(SIGNS)
        assert signs, f"{name}: there is no sign"
        for word, shape, width, color in signs:
            assert word in LEVELS and float(width.removesuffix("px")) > 5 and color != "rgba(0, 0, 0, 0)", (name, word)
            shapes[word] = shape
        problems = driver.run("return document.querySelectorAll('#health .now li:not([data-key=more])').length")
        assert problems <= 3, (name, problems)
    assert len(set(shapes.values())) == len(shapes), shapes

    # Each link of the page about the health leads to a page.
    addresses = driver.run("return [...document.querySelectorAll('.findings a')].map((link) => link.href)")
    assert addresses
    for address in addresses:
        driver.open(address)
        assert driver.run("return document.querySelector('h1')?.textContent.match(/^404/) ?? null") is None, address

    # A change appears in the next page, and live in a page that is open.
    change(driver, action="pause", queue="bulk")
    driver.open(program.origin + "/health")
    assert "The queue “bulk” is paused" in driver.text("#problems")
    address = driver.run(
        "return [...document.querySelectorAll('.findings a')].find((link) => link.hash === '#queue-bulk').href")
    driver.open(address)
    assert driver.run("return document.querySelector(':target h2').textContent") == "bulk"
    driver.open(program.origin + "/health")
    change(driver, action="resume", queue="bulk")
    driver.wait("the sentence is gone", lambda: "“bulk” is paused" not in driver.text("#problems"))
    said("what is wrong now")
