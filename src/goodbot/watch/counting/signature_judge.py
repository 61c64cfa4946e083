"""Verifies the signed requests of a block: the same for both counters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from goodbot.registry import KnownRobot
from goodbot.registry.signed_request import SignatureResult, SignedRequest, verify_request
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.robot_totals import RobotKey
from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.log_entries import LogEntry

UNKNOWN_SIGNER: Final = ""
"""In the place of a directory's name: no directory has the key."""

_HASH_BYTES: Final = 8


@dataclass(slots=True)
class SignatureBlock:
    """The signed requests of a block."""

    robots: dict[RobotKey, SignatureCounts] = field(default_factory=dict)
    """Of known robots."""
    others: dict[str, SignatureCounts] = field(default_factory=dict)
    """Of clients whose User-Agent names no known robot, by the name of the directory with the key."""
    nonces: list[tuple[int, RobotKey | str]] = field(default_factory=list)
    """Of verified requests, in the order of the log: hash, and the key in `robots` or `others`."""


class SignatureJudge:
    """Verifies requests with the directories of the options. Takes 0.1 ms for each signed request, nothing for others.

    A request of a known robot is verified if a key of that robot signed it. Then its tier is `verified`; a signature
    that proves nothing changes no tier.
    """

    def __init__(self, identities: Identities, options: CountingOptions) -> None:
        self._identities = identities
        self._directories = options.keys
        self._since = options.since if options.since is not None else -(1 << 62)
        self._until = options.until if options.until is not None else 1 << 62

    def judge(self, signed: Mapping[int, LogEntry]) -> tuple[SignatureBlock, dict[int, RobotKey]]:
        """Judges requests by the place of their line. Returns the counts, and the robot and tier of each place that is
        verified."""
        block = SignatureBlock()
        verified: dict[int, RobotKey] = {}
        for place, entry, result in self._results(signed):
            robot = self._identities.robot_of(entry.agent) if entry.agent else None
            failure, directory = result.failure, result.directory
            if robot is None:
                name = directory.name if directory is not None else UNKNOWN_SIGNER
                block.others.setdefault(name, SignatureCounts()).count(failure)
                _note_nonce(block, result, name)
                continue
            if failure is None and directory is not None and robot.name not in directory.robots:
                if not directory.robots:  # the keys of a robot without a record: they say nothing about the User-Agent
                    block.others.setdefault(directory.name, SignatureCounts()).count(None)
                    _note_nonce(block, result, directory.name)
                    continue
                failure = "another robot"
            key = self._key(robot, entry, is_verified=failure is None)
            if failure is None:
                verified[place] = key
                _note_nonce(block, result, key)
            block.robots.setdefault(key, SignatureCounts()).count(failure)
        return block, verified

    def _results(self, signed: Mapping[int, LogEntry]) -> Iterator[tuple[int, LogEntry, SignatureResult]]:
        for place, entry in signed.items():
            if self._since <= entry.at < self._until:
                result = verify_request(_request_of(entry), self._directories)
                if result is not None:
                    yield place, entry, result

    def _key(self, robot: KnownRobot, entry: LogEntry, *, is_verified: bool) -> RobotKey:
        if is_verified:
            return RobotKey(robot.name, "verified")
        return self._identities.key_of(robot, entry.address, entry.at)


def _request_of(entry: LogEntry) -> SignedRequest:
    """Makes a request of its log line. Some servers log the time at which a request came, others when it was
    answered."""
    fields, words = entry.signature, entry.request.split(" ")
    is_line = len(words) > 1
    return SignedRequest(
        fields.signature_input if fields else None,
        fields.signature if fields else None,
        fields.signature_agent if fields else None,
        fields.authority if fields else None,
        words[0] if is_line else None,
        words[1] if is_line else None,
        entry.agent,
        entry.at - (entry.duration_s or 0.0),
        entry.at,
    )


def _note_nonce(block: SignatureBlock, result: SignatureResult, key: RobotKey | str) -> None:
    if result.failure is None and result.nonce and result.directory is not None:
        text = f"{result.directory.name} {result.nonce}".encode()
        block.nonces.append((int.from_bytes(blake2b(text, digest_size=_HASH_BYTES).digest()), key))
