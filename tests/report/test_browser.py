"""The page in a real browser: in every unusual state it works, without errors or requests.

Set BLOCKSELECT_SCREENSHOTS to a folder to keep the pictures.
"""

from __future__ import annotations

import base64
import csv
import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from blockselect import BlockModelSelector
from blockselect.report import summarize
from blockselect.report.details import page_details
from blockselect.report.page import Report, render_page
from made_reports import NASTY_NAMES, PAGES, planted
from made_reports import page as made_page

CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
DRIVER = shutil.which("chromedriver")


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads):
    webdriver = pytest.importorskip("selenium.webdriver", reason="the browser tests need selenium")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("no Chromium with its driver is found; on Debian: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield driver
    driver.quit()


class Page:
    """A page as a reader sees and uses it."""

    def __init__(self, driver, path, *, width=1280, dark=False):
        self.driver = driver
        colours = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": colours})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for kind in ("browser", "performance"):
            driver.get_log(kind)  # those of earlier pages
        driver.get(path.as_uri())
        self.run("try { localStorage.clear() } catch {}")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def put(self, selector, value):
        """Set a control as a reader would, and wait for the search that begins a moment later."""
        script = "const e = document.querySelector(arguments[0]); e.value = arguments[1]; "
        self.run(script + "e.dispatchEvent(new Event('input'))", selector, value)
        time.sleep(0.15)

    @property
    def status(self):
        return self.run("return document.getElementById('status').textContent")

    def column(self, label):
        script = "return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)"
        return self.run(script, f"#table tbody [data-label='{label}']")

    def errors(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def requests(self):
        """Whatever was asked for, but for the file itself and what lies within it."""
        events = (json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance"))
        sent = (event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent")
        return [url for url in sent if not url.startswith(("file://", "data:", "blob:"))]

    def screenshot(self, name):
        """A picture of the first screen; where a folder is named for it, of the whole page, which takes longer."""
        folder = os.environ.get("BLOCKSELECT_SCREENSHOTS")
        width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 8000) if folder else 900, "scale": 1}
        options = {"captureBeyondViewport": True, "clip": clip}
        picture = base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"])
        if folder:
            (Path(folder) / f"{name}.png").write_bytes(picture)
        return picture


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Where the page of a state, or another page, is written, once."""
    folder, places = tmp_path_factory.mktemp("pages"), {}

    def write(state):
        if state not in places:
            made = state if isinstance(state, Report) else made_page(state)
            places[state] = made.save(folder / f"{len(places)}.html")
        return places[state]

    return write


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (400, True)], ids=["wide and light", "narrow and dark"])
@pytest.mark.parametrize("state", PAGES)
def test_every_state_is_shown_without_error_request_or_overflow(browser, written, state, width, dark):
    page = Page(browser, written(state), width=width, dark=dark)
    assert PAGES[state][1] in " ".join(page.run("return document.body.innerText.toWellFormed()").split())
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert page.run("return window.broken") is None
    assert len(page.screenshot(f"{state} {width}")) > 20_000
    assert page.errors() == []
    assert page.requests() == []


@pytest.mark.parametrize("state", ["ordinary", "long and Arabic names", "without blocks"])
@pytest.mark.parametrize("width", [770, 900])
def test_the_table_fits_a_tablet(browser, written, state, width):
    page = Page(browser, written(state), width=width)
    assert page.run("return document.documentElement.scrollWidth") <= width


@pytest.fixture
def ordinary(browser, written):
    return Page(browser, written("ordinary"))


def test_a_click_on_a_head_sorts_and_says_so(ordinary):
    ranks = [str(rank) for rank in range(1, 8)]
    assert ordinary.column("rank") == ranks
    for way in ("descending", "ascending"):
        ordinary.click("[data-sort='score']")
        assert sorted(ordinary.column("rank")) == ranks
        scores = [float(text) for text in ordinary.column("score")]
        assert scores == sorted(scores, reverse=way == "descending")
        assert ordinary.run("return document.querySelector('[aria-sort]').ariaSort") == way
        assert ordinary.run("return document.querySelector('[aria-sort]').innerText").startswith("score")
    ordinary.click("[data-sort='name']")
    names = ordinary.column("feature")
    assert names == sorted(names)


def test_a_search_finds_parts_of_names_in_any_case(ordinary):
    ordinary.put("#which", "all")
    ordinary.put("#search", "WORD 2")
    assert ordinary.status == "Showing 1–11 of 11 features"  # 2 and 20 … 29
    assert all("word 2" in name for name in ordinary.column("feature"))
    ordinary.put("#search", "no such name")
    assert ordinary.status == "No features match; change the search or the filters."
    assert ordinary.column("feature") == []


def test_features_are_filtered_by_block_and_stability(ordinary):
    markers = "return JSON.parse(document.getElementById('data').textContent)"
    data = ordinary.run(markers)
    for block in range(3):
        ordinary.put("#block", str(block))
        assert ordinary.column("feature") == [row[0] for row in data["rows"] if row[3] and block in row[5]]
    assert ordinary.run("return [...document.querySelector('#block').options].map(e => e.text)") == [
        "any",
        *data["blocks"],
    ]
    ordinary.put("#block", "")
    ordinary.put("#stability", "0.9")
    assert ordinary.column("stability") == ["1.00", "0.97", "0.93"]


def test_a_click_on_a_drawn_block_shows_its_features(ordinary):
    ordinary.run("document.querySelector(\"[data-block='2']\").dispatchEvent(new MouseEvent('click'))")
    marked = ordinary.run("return [...document.querySelectorAll(\"#table [data-label='marks']\")].map(e => e.title)")
    name = ordinary.run("return document.querySelector('#block').selectedOptions[0].text")
    assert marked
    assert all(name in title.split(", ") for title in marked)


def test_the_drawing_keeps_its_names_on_a_telephone(browser, written):
    page = Page(browser, written("ordinary"), width=400)
    script = """return [...document.querySelectorAll('.blocks .name')].map(e => e.getBoundingClientRect())
        .filter(box => box.width > 0).map(box => [box.left, box.right, box.height])"""
    boxes = page.run(script)
    assert len(boxes) == 3
    assert all(left >= 0 and right <= 400 and height >= 11 for left, right, height in boxes)


def test_heads_of_the_label_table_do_not_break_inside_a_word(browser, written):
    for width in (1280, 400):
        page = Page(browser, written("long labels"), width=width)
        script = """const range = document.createRange();
            const text = document.querySelector('.labels thead th:nth-child(2) bdi').firstChild;
            range.setStart(text, 0); range.setEnd(text, 'Plasmacytoid'.length);
            return range.getClientRects().length"""
        assert page.run(script) == 1
        assert page.run("return document.documentElement.scrollWidth") <= width


def test_pages_turn(ordinary):
    ordinary.put("#which", "all")
    assert ordinary.status == "Showing 1–25 of 30 features"
    ordinary.click("#next")
    assert ordinary.status == "Showing 26–30 of 30 features"
    assert ordinary.run("return document.getElementById('next').disabled") is True
    ordinary.click("#previous")
    assert ordinary.status == "Showing 1–25 of 30 features"


def test_what_script_and_template_write_of_a_feature_is_the_same(browser, written, tmp_path):
    text = written("ordinary").read_text(encoding="utf-8")
    still = tmp_path / "still.html"
    still.write_text(text.replace('"use strict"', "throw 0; '"), encoding="utf-8")
    labels = ("rank", "feature", "score", "adds", "alone", "stability", "prevalence", "marks")
    without = Page(browser, still)
    assert without.status == ""
    rows = [without.column(label) for label in labels]
    with_script = Page(browser, written("ordinary"))
    assert [with_script.column(label) for label in labels] == rows


def test_a_line_separates_features_that_may_follow_by_chance_while_rows_are_by_rank(browser, written):
    page = Page(browser, written("ordinary"))
    page.put("#which", "all")
    is_clear = page.run("return JSON.parse(document.getElementById('data').textContent).rows.map((row) => row[7])")
    kinds = "return [...document.querySelectorAll('#table tbody tr')].map((row) => row.classList.contains('chance'))"
    assert page.run(kinds).index(True) == is_clear.index(0)
    page.click("#table thead [data-sort='name']")
    assert True not in page.run(kinds)


def wait_for(path):
    for _ in range(50):
        if path.exists() and path.stat().st_size:
            return path.read_text(encoding="utf-8")
        time.sleep(0.1)
    raise AssertionError(f"{path.name} was not downloaded")


def test_exports_hold_whole_names_and_the_numbers(browser, written, downloads):
    page = Page(browser, written("nasty names"))
    page.put("#which", "all")
    page.click("[data-export='json']")
    records = json.loads(wait_for(downloads / "features.json"))
    assert set(NASTY_NAMES) <= {record["feature"] for record in records}
    assert [record["rank"] for record in records] == list(range(1, 31))
    page.click("[data-export='csv']")
    rows = list(csv.DictReader(wait_for(downloads / "features.csv").splitlines(keepends=True)))
    whole = [record["feature"].replace("\ud83d", "\ufffd") for record in records]  # a half pair is no text
    assert [row["feature"] for row in rows] == whole
    assert [float(row["score"]) for row in rows] == [record["score"] for record in records]
    assert set(rows[0]) == set(records[0])


def test_colours_follow_the_system_and_the_switch(browser, written):
    ground = "return getComputedStyle(document.body).backgroundColor"
    page = Page(browser, written("ordinary"), dark=True)
    dark = page.run(ground)
    page.click("#theme")
    light = page.run(ground)
    assert (dark, light) == ("rgb(19, 23, 28)", "rgb(255, 255, 255)")
    assert page.run("return document.getElementById('theme').ariaLabel") == "Switch to dark colours"
    page.run("localStorage.clear()")


def contrast(first, second):
    """Contrast of two colours, as WCAG defines it."""

    def luminance(colour):
        parts = [part / 255 for part in colour]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_has_enough_contrast_in_both_colours(browser, written, dark):
    page = Page(browser, written("ordinary"), dark=dark)
    names = ["ink", "muted", "accent", "warn-ink", "bg", "panel", "warn-bg"]
    script = "const s = getComputedStyle(document.documentElement); "
    script += "return arguments[0].map(name => s.getPropertyValue('--' + name))"
    written_colours = page.run(script, names)
    ink, muted, accent, warning, ground, panel, amber = (
        [int(text.strip()[i : i + 2], 16) for i in (1, 3, 5)] for text in written_colours
    )
    assert min(contrast(text, behind) for text in (ink, muted, accent) for behind in (ground, panel)) >= 4.5
    assert contrast(warning, amber) >= 4.5


def test_all_controls_are_reached_by_the_keyboard_in_order(browser, written):
    from selenium.webdriver.common.keys import Keys

    page, reached = Page(browser, written("ordinary")), []
    for _ in range(26):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        script = "const e = document.activeElement; return e.id || e.dataset.export || e.dataset.sort || e.textContent"
        reached.append(page.run(script))
    wanted = [
        "Skip to the features",
        "csv",
        "json",
        "theme",
        "search",
        "block",
        "stability",
        "which",
        "rank",
        "name",
        "score",
    ]
    assert [each for each in reached if each in wanted][: len(wanted)] == wanted


def test_paper_has_all_selected_rows_and_no_controls(browser, written):
    page = Page(browser, written("ordinary"), dark=True)
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert len(page.column("rank")) == 7
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    for hidden in (".tools", ".controls", ".status"):
        assert page.run("return getComputedStyle(document.querySelector(arguments[0])).display", hidden) == "none"
    assert page.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])) > 10_000


def test_a_hundred_thousand_features_are_searched_and_sorted(browser, written):
    selector = BlockModelSelector(7, n_blocks=3, n_candidates=4, random_state=0).fit(planted())
    summary = summarize(selector, stability=np.linspace(1, 0, 30))
    details = page_details(selector, summary, title="a large network", command=None, warnings=[])
    details["features"]["rows"] = [
        [f"feature {i}", i + 1, 1 / (i + 1), int(i < 7), 0.1, [i % 3], 2.0, 1, 0.1, 0.2, 0.5, "912"]
        for i in range(100_000)
    ]
    large = Report(render_page(summary, details))
    assert len(large.to_bytes()) < 10_000_000
    page = Page(browser, written(large))
    page.put("#which", "all")
    assert page.status == "Showing 1–25 of 100,000 features"
    page.put("#search", "feature 9999")
    assert page.status == "Showing 1–11 of 11 features"
    page.put("#search", "")
    page.click("[data-sort='rank']")
    assert page.column("rank")[0] == "100,000"
    assert page.errors() == []
