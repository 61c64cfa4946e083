"""`goodbot.exclusion` needs the standard library and nothing else."""

import subprocess
import sys
from pathlib import Path

import goodbot.exclusion

SOURCE = Path(goodbot.exclusion.__file__).parents[2]
PROGRAM = f"""
import sys
sys.path.insert(0, {str(SOURCE)!r})
from goodbot import RobotsTxt
import goodbot.exclusion
assert not RobotsTxt.parse(b"User-agent: *\\nDisallow: /").allows("https://example.org/", "me")
outside = {{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names) - {{"__main__", "goodbot"}}
ours = {{name for name in sys.modules if name.startswith("goodbot.") and not name.startswith("goodbot.exclusion")}}
print(sorted(outside), sorted(ours))
"""


def test_imports_without_site_packages() -> None:
    ran = subprocess.run([sys.executable, "-S", "-I", "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr, ran.returncode) == ("[] ['goodbot.errors']\n", "", 0)
