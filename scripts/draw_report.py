"""Take the pictures of docs/reading-the-result.md: the report on the Debian packages, as Chromium shows it.

For maintainers. It needs Chromium, its driver and selenium. No test compares the pictures, so look at them:

    python -m scripts.draw_report docs/images
"""

from __future__ import annotations

import base64
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver

from blockselect import selection_stability
from blockselect.report import draw_overview, render_png, summarize
from scripts.draw_readme import fit_to_debian

WIDTH, MARGIN = 1080, 10
PARTS = {  # picture → the elements that it shows, and its maximum height
    "report.png": ("main", 860),
    "report-heat.png": ("h3:has(+ .note + .scroll > .heat), .heat", 520),
    "report-network.png": ("#fit figure:nth-of-type(-n+2)", 526),
}
BOX = """
const boxes = [...document.querySelectorAll(arguments[0])].map(element => element.getBoundingClientRect());
const [left, top] = ["left", "top"].map(side => Math.min(...boxes.map(box => box[side])));
const [right, bottom] = ["right", "bottom"].map(side => Math.max(...boxes.map(box => box[side])));
return [left + scrollX, top + scrollY, right - left, bottom - top];
"""


def main(folder: Path) -> None:
    debian, selector = fit_to_debian()
    stability = selection_stability(selector, debian.frame, adjacency=debian.adjacency)
    (folder / "overview.png").write_bytes(render_png(draw_overview(summarize(selector))))
    with tempfile.TemporaryDirectory() as place:
        page = selector.report(Path(place) / "report.html", stability=stability, title="Debian packages")
        driver = open_page(page)
        try:
            for name, (elements, height) in PARTS.items():
                save(driver, folder / name, elements, height)
        finally:
            driver.quit()


def open_page(page: Path) -> Any:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for switch in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(switch)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get(page.as_uri())
    return driver


def save(driver: Any, path: Path, elements: str, height: int) -> None:
    x, y, width, full = driver.execute_script(BOX, elements)
    size = {"width": width + 2 * MARGIN, "height": min(full + 2 * MARGIN, height)}
    clip = {"x": x - MARGIN, "y": y - MARGIN, **size, "scale": 1}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    picture.quantize(256).save(path, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
