"""A good and a bad driver for every site."""

from exam import scripts_endless, scripts_pages_a, scripts_pages_b, scripts_robots, scripts_tls
from exam.scripted import Script

SCRIPTS: dict[str, Script] = {
    **scripts_robots.SCRIPTS,
    **scripts_pages_a.SCRIPTS,
    **scripts_pages_b.SCRIPTS,
    **scripts_tls.SCRIPTS,
    **scripts_endless.SCRIPTS,
}
