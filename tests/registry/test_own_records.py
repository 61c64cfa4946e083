"""Records of a user: every field is checked, and a mistake is one line that names file, robot and field."""

import tomllib
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.registry import PURPOSES, KnownRobot, ListName, Registry, parse_records, parse_tables
from goodbot.registry.own_records import _FIELDS, MAX_BYTES
from goodbot.registry.robot_records import ROBOT_FIELDS, parse_robots

OURS = files("goodbot.registry").joinpath("records")
HEAD = '[[robot]]\nname = "Ours"\npurpose = "monitoring"\n'
LIST = '[[list]]\nname = "ours"\nurl = "http://127.0.0.1:8000/ours.json"\n'


def parsed(text: str) -> KnownRobot:
    (robot,) = parse_records(text.encode(), "mine.toml", 2026).robots
    return robot


def test_a_name_and_a_purpose_are_enough() -> None:
    assert parsed(HEAD) == KnownRobot(
        name="Ours",
        operator=None,
        purpose="monitoring",
        patterns=("Ours",),
        looked_up=2026,
        source="mine.toml",
        own_file="mine.toml",
    )


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        (HEAD + 'token = "our-bot"\n', "patterns", ("our-bot",)),
        (HEAD + 'token = "our-bot"\npatterns = ["^Ours 2"]\n', "patterns", ("^Ours 2",)),
        (HEAD + "control = true\n", "patterns", ()),
        (HEAD + 'signatures = "https://ours.example/keys"\n', "patterns", ("Ours",)),
        (HEAD + 'signatures = "https://ours.example/keys"\npatterns = []\n', "patterns", ()),
        (HEAD + 'contact = "web@ours.example"\n', "contact", "web@ours.example"),
        (HEAD + 'contact = "https://ours.example/form"\n', "contact", "https://ours.example/form"),
        (HEAD + 'reverse_dns = ["bots.ours.example"]\n', "reverse_dns", ("bots.ours.example",)),
        (HEAD + 'address_lists = ["google-common"]\n', "address_lists", ("google-common",)),
        (HEAD + 'operator = "Us"\n', "operator", "Us"),
        ('operator = "Us"\n' + HEAD, "operator", "Us"),
        ('operator = "Us"\n' + HEAD + 'operator = "Them"\n', "operator", "Them"),
        ("looked_up = 2020\n" + HEAD, "looked_up", 2020),
        ('source = "https://ours.example/"\n' + HEAD, "source", "https://ours.example/"),
    ],
)
def test_a_field_of_a_record(text: str, field: str, value: object) -> None:
    assert getattr(parsed(text), field) == value


def test_a_robot_that_signs_is_also_known_by_its_name() -> None:
    text = '[[robot]]\nname = "Zorblax"\npurpose = "search"\nsignatures = "https://bot.example.org"\n'
    registry = Registry(parse_records(text.encode(), "mine.toml", 2026))
    assert registry.find("Zorblax/1.0") == parsed(text)
    assert registry.find("Zorblaxes/1.0") is None


def test_the_lists_of_a_file() -> None:
    records = parse_records((f'operator = "Us"\n{LIST}').encode(), "mine.toml", 2026)
    assert records.lists == {"ours": ListName("ours", "http://127.0.0.1:8000/ours.json", "Us")}
    assert records.robots == ()
    assert parse_records(b"# nothing yet\n", "mine.toml", 2026).lists == {}


@pytest.mark.parametrize("name", sorted(file.name for file in OURS.iterdir()))
def test_our_own_files_have_the_same_form(name: str) -> None:
    body = OURS.joinpath(name).read_bytes()
    ours = parse_robots(tomllib.loads(body.decode()))
    theirs = [replace(robot, own_file=None) for robot in parse_records(body, "x", 2026).robots]
    assert [replace(robot, patterns=()) for robot in theirs] == [replace(robot, patterns=()) for robot in ours]
    assert all(robot.patterns == own.patterns for robot, own in zip(ours, theirs, strict=True) if robot.patterns)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("robot = 3", "mine.toml: robot must be tables, each headed [[robot]]"),
        ("[robot]\nname = 'x'", "mine.toml: robot must be tables, each headed [[robot]]"),
        ("list = [1]", "mine.toml: list must be tables, each headed [[list]]"),
        ("robots = []", "mine.toml: unknown field 'robots'; a file has operator, looked_up, source, robot and list"),
        ("operator = 3", "mine.toml: operator must be one line of text"),
        ("looked_up = '2026'", "mine.toml: looked_up must be a year"),
        ("[[robot]]\npurpose = 'search'", "mine.toml: a robot without a name: name is missing"),
        ("[[robot]]\nname = 'Ours'", "mine.toml: robot 'Ours': purpose is missing"),
        ("[[robot]]\nname = 3\npurpose = 'search'", "mine.toml: robot 3: name must be one line of text"),
        ("[[robot]]\nname = '***'\npurpose = 'search'", "robot '***': its name has no word to look for"),
        ("[[robot]]\nname = 'x'\npurpose = 'search'\npatterns = ['x', 'Mozilla']", "its patterns also match browsers"),
        ("[[robot]]\nname = 'Ours'\npurpose = 'peace'", f"purpose must be one of {', '.join(PURPOSES)}, not 'peace'"),
        ("[[robot]]\nname = 'Ours'\npurpose = ['search']", "purpose must be one of "),
        (HEAD + "operater = 'x'", "mine.toml: robot 'Ours': unknown field 'operater'"),
        (HEAD + "recorded = false", "unknown field 'recorded'"),
        (HEAD + "own_file = 'x'", "unknown field 'own_file'"),
        (HEAD + "contact = 'nobody'", "mine.toml: robot 'Ours': contact must be a mail address or an http(s) URL"),
        (HEAD + "documentation = 'ours.example'", "robot 'Ours': documentation must be an http(s) URL, not"),
        (HEAD + "token = ''", "robot 'Ours': token must be one line of text"),
        (
            HEAD + "token = 'Foo/1 Bar'",
            "robot 'Ours': token must be one line of text, at most 500 characters, without /",
        ),
        (HEAD + "token = ' x'", "robot 'Ours': token must be one line of text"),
        (HEAD + 'token = "a\\u001b[2J"', "robot 'Ours': token must be one line of text"),
        (HEAD + "patterns = 'Ours'", "robot 'Ours': patterns must be a list of at most 100 texts"),
        (HEAD + "patterns = ['^']", "robot 'Ours': patterns must be a list of"),
        (HEAD + "patterns = ['https://ours.example/']", "robot 'Ours': patterns must be a list of"),
        (HEAD + "aliases = [1]", "robot 'Ours': aliases must be a list of texts"),
        (HEAD + "obeys = true", "robot 'Ours': obeys must be one of yes, named, no, unknown"),
        (HEAD + "reverse_dns = ['com']", "robot 'Ours': reverse_dns must be a list of domains"),
        (HEAD + "reverse_dns = ['Bots.Example']", "robot 'Ours': reverse_dns must be a list of domains"),
        (HEAD + "address_lists = ['../../x']", "robot 'Ours': address_lists must be a list of names"),
        (HEAD + "control = 1", "robot 'Ours': control must be true or false"),
        (HEAD + "retired_since = true", "robot 'Ours': retired_since must be a year"),
        (HEAD + HEAD.replace("Ours", "ours"), "mine.toml: there are two records of the robot 'ours'"),
        (LIST + LIST, "mine.toml: there are two records of the list 'ours'"),
        ("[[list]]\nname = 'x'", "mine.toml: list 'x': a list has a name and a url"),
        ("[[list]]\nname = '../x'\nurl = 'https://x.example/'", "list '../x': name must be lower-case letters"),
        ("[[list]]\nname = 'x'\nurl = 'file:///etc/passwd'", "list 'x': url must be an http(s) URL"),
        ("name = ", "mine.toml is not TOML: "),
        (f"name = {'9' * 5000}", "mine.toml is not TOML: "),
        ("x = " + "[" * 100_000, "mine.toml is not TOML: "),
        ("# " + "x" * MAX_BYTES, "mine.toml has more than 1,048,576 bytes"),
    ],
    ids=lambda text: text[:40],
)
def test_a_mistake_names_file_robot_and_field(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_records(text.encode(), "mine.toml", 2026)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.long
def test_many_records_take_linear_time() -> None:
    tables = "".join(f"[[robot]]\nname = 'a{number}'\npurpose = 'seo'\n" for number in range(20_000))
    assert len(parse_records(tables.encode(), "mine.toml", 2026).robots) == 20_000


def test_every_field_is_checked() -> None:
    assert set(_FIELDS) == ROBOT_FIELDS


VALUE = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.sampled_from([*PURPOSES, "yes"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@given(st.one_of(st.binary(max_size=500), st.binary(max_size=200).map(lambda body: HEAD.encode() + body)))
def test_any_bytes_are_records_or_an_input_error(body: bytes) -> None:
    try:
        parse_records(body, "mine.toml", 2026)
    except InputError:
        return


@given(st.lists(st.dictionaries(st.sampled_from([*sorted(ROBOT_FIELDS), "x"]), VALUE, max_size=6), max_size=3) | VALUE)
def test_any_tables_are_robots_or_an_input_error(value: object) -> None:
    try:
        robots = parse_tables(value, "goodbot.toml", 2026)
    except InputError:
        return
    assert all(robot.own_file == "goodbot.toml" for robot in robots)
