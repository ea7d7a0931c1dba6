"""Weight of the built pages, first paint and layout shift: python -m benchmarks.pages.

Needs the built book (``make html``) and a Chromium. Every page is opened anew, with an empty cache,
on a line throttled by Chromium itself: 9 Mbit/s (40 ms) and 1.6 Mbit/s (150 ms), uncompressed.
"""

from __future__ import annotations

import functools
import http.server
import shutil
import sys
import threading

from playwright.sync_api import sync_playwright

from benchmarks._measure import ROOT, record, table

HTML = ROOT / "_build" / "html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LINES = {"9 Mbit/s": (9e6 / 8, 40), "1.6 Mbit/s": (1.6e6 / 8, 150)}
PAGES = ("book/index", "book/scoreboard", "book/cube/fourier_walsh", "book/sharper/norms")
WATCH = """() => {
    window.shift = 0;
    new PerformanceObserver(list => {
        for (const e of list.getEntries()) if (!e.hadRecentInput) window.shift += e.value;
    }).observe({type: "layout-shift", buffered: true});
}"""
READ = """async () => {
    await window.MathJax?.startup?.promise;
    await new Promise(done => setTimeout(done, 500));
    const paint = performance.getEntriesByName("first-contentful-paint")[0].startTime;
    return [paint / 1000, window.shift];
}"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def opened(browser, address, speed, latency):
    """One visit: seconds to the first paint, layout shift, bytes received."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.set_default_timeout(300_000)
    line, received = page.context.new_cdp_session(page), []
    line.send("Network.enable")
    line.on("Network.loadingFinished", lambda e: received.append(e["encodedDataLength"]))
    line.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": latency,
            "downloadThroughput": speed,
            "uploadThroughput": speed,
        },
    )
    page.add_init_script(f"({WATCH})()")
    page.goto(address, wait_until="load")
    paint, shift = page.evaluate(READ)
    page.context.close()
    return {"first paint, s": paint, "layout shift": shift, "MB": sum(received) / 1e6}


def main() -> None:
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None or not HTML.exists():
        sys.exit("error: needs a Chromium and the built book; run make html first")
    rows = []
    handler = functools.partial(Handler, directory=HTML)
    with (
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name in PAGES:
            for line, (speed, latency) in LINES.items():
                address = f"http://127.0.0.1:{server.server_port}/{name}.html"
                rows.append({"page": name, "line": line} | opened(browser, address, speed, latency))
        browser.close()
        server.shutdown()
    print(table(rows))
    record("pages", rows)


if __name__ == "__main__":
    main()
