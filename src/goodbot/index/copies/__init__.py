"""Copies an index to another place, and searches such a copy while it is brought up to date."""

from goodbot.index.copies.copy_cache import CopyCache as CopyCache
from goodbot.index.copies.copy_cache import open_cache as open_cache
from goodbot.index.copies.copy_manifest import Manifest as Manifest
from goodbot.index.copies.copy_manifest import Origin as Origin
from goodbot.index.copies.followed_search import FollowedTogether as FollowedTogether
from goodbot.index.copies.follower import Follower as Follower
from goodbot.index.copies.held_index import hold_index as hold_index
from goodbot.index.copies.snapshot import Contents as Contents
from goodbot.index.copies.snapshot import Copying as Copying
from goodbot.index.copies.snapshot import Snapshot as Snapshot
from goodbot.index.copies.snapshot import take_snapshot as take_snapshot
