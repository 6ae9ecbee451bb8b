"""The page in a real browser: it loads without errors, and pointing lights up the right lines.

Skipped where there is no Chromium (Debian: `apt-get install chromium`) or no playwright.
"""

import os
import shutil
from pathlib import Path

import pytest

from srcgrad import grad
from tests.golden_programs import PROGRAMS, heat, mlp

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
if CHROMIUM is None:
    pytest.skip(
        f"no browser: none of {', '.join(BROWSERS)} is on the path", allow_module_level=True
    )
sync_api = pytest.importorskip("playwright.sync_api", reason="no browser driver: playwright")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens the page of a program; the test fails if the browser complained of anything."""
    problems = []

    def opened(function, width=1200, scheme="light"):
        arguments, argnums = PROGRAMS[function]
        path = tmp_path / "page.html"
        path.write_text(grad(function, argnums=argnums).html(*arguments))
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith("file:") else problems.append(r.url))
        page.goto(path.as_uri())
        return page

    yield opened
    assert problems == []


def texts(page, selector):
    return [text.strip() for text in page.locator(f"{selector} .text").all_inner_texts()]


LIT = "#panel-emitted .line.lit"


def test_pointing_at_a_line_lights_up_its_partners(open_page):
    page = open_page(mlp)
    assert texts(page, LIT) == []
    page.hover(".primal .line >> text=h = np.tanh(x @ w1 + b1)")
    assert texts(page, ".here") == ["h = np.tanh(x @ w1 + b1)"]
    assert texts(page, LIT + ".forward") == ["h = np.tanh(x @ w1 + b1)"]
    undone = texts(page, LIT + ".reverse")
    assert undone[0] == "# h = np.tanh(x @ w1 + b1)"
    assert [text.partition(" = ")[0] for text in undone[-2:]] == ["d_b1", "d_w1"]
    assert page.locator("#detail section:visible").inner_text().splitlines()[0] == "LINE 24"
    assert "d_total += d_h * (1 - h * h)" in page.locator("#detail section:visible").inner_text()
    assert page.locator(".arcs g.lit").count() == 1  # h is kept
    # and the other way round
    page.hover("#panel-emitted .line >> text=d_w2 = h.T.dot(d_difference)")
    assert texts(page, ".primal .line.lit") == ["out = h @ w2 + b2"]
    page.mouse.move(600, 5)
    assert page.locator(".lit").count() == 0


def test_a_click_keeps_the_light_on(open_page):
    page = open_page(mlp)
    page.click(".primal .line >> text=out = h @ w2 + b2")
    page.mouse.move(600, 5)
    assert "d_w2 = h.T.dot(d_difference)" in texts(page, LIT)
    page.keyboard.press("Escape")
    assert texts(page, LIT) == []


def test_the_keyboard(open_page):
    page = open_page(heat)
    page.focus(".primal .line[tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.line") == "15"
    assert any("_saved.append(" in text for text in texts(page, LIT + ".recorded"))
    assert page.locator(".primal .line[tabindex='0']").count() == 1
    page.keyboard.press("End")
    assert texts(page, ".here") == ["return np.sum(u * u)"]


def test_the_tabs(open_page):
    page = open_page(heat)
    shown = page.locator('[role="tabpanel"]:visible')
    assert shown.get_attribute("id") == "panel-emitted"
    page.focus('[role="tab"][aria-selected="true"]')
    page.keyboard.press("ArrowRight")
    assert shown.get_attribute("id") == "panel-lowered"
    assert page.evaluate("document.activeElement.textContent") == "lowered"
    page.keyboard.press("ArrowRight")
    assert shown.get_attribute("id") == "panel-reversed"
    page.hover(".primal .line >> text=return np.sum(u * u)")
    assert any("sum" in text for text in texts(page, "#panel-reversed .line.lit"))
    assert page.locator('[role="tab"][aria-selected="true"]').count() == 1


def test_recorded_values_have_arrows(open_page):
    page = open_page(heat)
    arrow = page.locator(".arcs g.listed")
    name = arrow.locator("title").text_content()
    assert name.endswith("_saved")
    begin, end = arrow.get_attribute("data-lines").split()
    line = "#panel-emitted .line[data-line='{}'] .text"
    assert page.locator(line.format(begin)).inner_text().strip().startswith(f"{name}.append(")
    assert page.locator(line.format(end)).inner_text().strip().endswith(f" = {name}.pop()")


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_themes(open_page):
    light, dark = open_page(mlp), open_page(mlp, scheme="dark")
    assert background(light) != background(dark)
    before = background(dark)
    light.click("#theme")
    assert background(light) == before
    light.click("#theme")
    assert background(light) != before


@pytest.mark.parametrize("width", [360, 700])
def test_narrow_windows(open_page, width):
    page = open_page(heat, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.hover(".primal .line >> text=for _ in range(steps):")  # nothing moves away
    assert len(texts(page, LIT)) == 2


def test_in_a_notebook(browser, tmp_path):
    arguments, _ = PROGRAMS[heat]
    gradient = grad(heat)
    assert gradient._repr_html_() is None
    gradient(*arguments)
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><body>{gradient._repr_html_()}</body>")
    page = browser.new_page()
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".primal .line >> text=return np.sum(u * u)").hover()
    lit = [text.strip() for text in frame.locator(LIT + " .text").all_inner_texts()]
    assert lit == ["# return np.sum(u * u)", "d_u = np.multiply(2.0, u, out=u)"]


SCREENSHOT = Path(__file__).parent.parent / "examples" / "page.png"


def test_screenshot(open_page):
    """The README's picture; `SRCGRAD_REWRITE=1` takes it anew."""
    page = open_page(heat, width=1180)
    page.set_viewport_size({"width": 1180, "height": 830})
    page.hover(".primal .line >> text=u[1:-1] +=")
    picture = page.screenshot()
    if os.environ.get("SRCGRAD_REWRITE"):
        SCREENSHOT.write_bytes(picture)
    assert SCREENSHOT.read_bytes()[:8] == picture[:8] == b"\x89PNG\r\n\x1a\n"
    assert SCREENSHOT.stat().st_size < 200_000
