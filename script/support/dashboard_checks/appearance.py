"""Every page, in both color schemes and three widths."""

from .tools import SCHEMES, WIDTHS, page_errors, pages


def check(driver, program, said):
    all_pages = pages(driver, program)
    for scheme in SCHEMES:
        driver.emulate({"prefers-color-scheme": scheme})
        for width, size in WIDTHS.items():
            driver.resize(*size)
            for name, address in all_pages.items():
                driver.open(address)
                errors = [e for e in page_errors(driver) if name != "nothing" or "404" not in e]
                assert not errors, (name, scheme, width, errors)
                if driver.pictures:
                    height = driver.run("return document.documentElement.scrollHeight")
                    driver.resize(size[0], min(height, 2400))
                    driver.picture(driver.pictures / f"{name}-{scheme}-{width}.png")
                    driver.resize(*size)
        said(f"{len(all_pages)} pages, {scheme}, {', '.join(f'{width} px' for width, _ in WIDTHS.values())}")
    driver.emulate({"prefers-color-scheme": "light"})
    driver.resize(*WIDTHS["wide"])
