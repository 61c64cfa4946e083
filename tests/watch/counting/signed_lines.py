"""Signed requests as log lines, and the keys that verify some of them."""

import json
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import strategies as st

from goodbot.registry.signature_keys import parse_key_directory
from goodbot.registry.signed_request import KeyDirectory
from goodbot.robot.fetch.signing import directory_of, sign
from goodbot.robot.fetch.signing_key import SigningKey
from watch.counting.log_lines import TEN, combined_lines

KEY: Final = SigningKey(Ed25519PrivateKey.from_private_bytes(b"k" * 32))
HOST: Final = "example.org"


def directory(*robots: str) -> KeyDirectory:
    """The directory with the key, of these robots."""
    keys = parse_key_directory(directory_of(KEY)) or ()
    return KeyDirectory("keys", None, frozenset(robots), {key.key_id: key for key in keys})


@dataclass(frozen=True, slots=True)
class Signed:
    """A request that is signed at ten o'clock, for a minute."""

    agent: str
    address: str = "192.0.2.1"
    second: int = 0
    host: str = HOST
    nonce: str = "n"

    def line(self) -> bytes:
        """Returns its line in a JSON log."""
        given, signature = sign(
            KEY,
            (('"@authority"', HOST),),
            f';created={TEN};expires={TEN + 60};keyid="{KEY.key_id}";tag="web-bot-auth";nonce="{self.nonce}"',
        )
        fields = {
            "remote_addr": self.address,
            "time": TEN + self.second,
            "request": "GET / HTTP/1.1",
            "status": 200,
            "size": 5,
            "http_user_agent": self.agent,
            "http_host": self.host,
            "http_signature_input": f"sig1={given}",
            "http_signature": f"sig1={signature}",
        }
        return json.dumps(fields).encode()


signed_lines = st.builds(
    Signed,
    st.sampled_from(["GPTBot/1.3", "GPTBot/1.3", "Googlebot/2.1", "Mozilla/5.0", ""]),
    st.sampled_from(["192.0.2.1", "66.249.66.1", "10.0.0.1", "host.example"]),
    st.sampled_from([0, 1, 1, 500]),
    st.sampled_from([HOST, HOST, "other.example"]),
    st.sampled_from(["a", "b", "c"]),
).map(Signed.line)

signed_logs = st.lists(signed_lines | combined_lines(), max_size=20).map(b"\n".join)
