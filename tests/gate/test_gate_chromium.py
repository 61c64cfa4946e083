"""A browser behind the gate: it loads a page and what belongs to it, and its script asks again and again."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from gate.gate_servers import Server, gated, running_gate
from web.browser import TIMEOUT_MS, chromium

POLLS: Final = 300

ROBOTS_TXT: Final = "User-agent: *\nDisallow: /\nCrawl-delay: 600\n"
"""For robots nothing is open."""

PAGE: Final = f"""<!doctype html>
<title>waiting</title>
<link rel="stylesheet" href="style.css">
<link rel="icon" href="picture.svg">
<img src="picture.svg?image" alt="">
<script>
  (async () => {{
    let refused = 0;
    for (let number = 0; number < {POLLS}; number++) {{
      const answer = await fetch(`/news.json?${{number}}`, {{ cache: "no-store" }});
      if (!answer.ok) refused++;
    }}
    document.title = `${{refused}} refused`;
  }})();
</script>
"""


@pytest.mark.long
@pytest.mark.parametrize("server", ["nginx", "caddy"])
def test_a_browser_is_never_refused(server: Server, tmp_path: Path) -> None:
    statuses: Counter[int] = Counter()
    with running_gate(tmp_path / "gate", rules=ROBOTS_TXT) as gate, gated(server, tmp_path, gate) as site:
        for name, text in {
            "index.html": PAGE,
            "style.css": "body { color: green }",
            "picture.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
            "news.json": "[]",
        }.items():
            (tmp_path / "site" / name).write_text(text)
        with chromium() as browser:
            agent = browser.new_page().evaluate("navigator.userAgent").replace("HeadlessChrome", "Chrome")
            tab = browser.new_context(user_agent=agent).new_page()
            tab.on("response", lambda answer: statuses.update([answer.status]))
            tab.goto(f"http://127.0.0.1:{site.port}/")
            tab.wait_for_function("document.title.endsWith('refused')", timeout=TIMEOUT_MS)
            assert tab.title() == "0 refused"
        assert set(statuses) == {200}
        gate.decisions(f"/news.json?{POLLS - 1}", 1)
        lines = gate.lines()
        assert {(line["decision"], line["identity"], line["user_agent"]) for line in lines} == {
            ("allowed", "browser", agent)
        }
        paths = Counter(line["uri"].partition("?")[0] for line in lines)
        assert (paths["/"], paths["/style.css"], paths["/news.json"]) == (1, 1, POLLS)
        assert paths["/picture.svg"] >= 1
