"""Reads how a file system is mounted, as Linux describes it in /proc/self/mountinfo (proc_pid_mountinfo(5)). Pure."""

import re
from typing import Final

_LOCAL_LOCKS: Final = re.compile(r"(?:^|,)(?:nolock|local_lock=(?:all|flock))(?:,|$)")


def locks_stay_here(mountinfo: str, device: str) -> bool:
    """Whether the file system on this device, `MAJOR:MINOR`, is of another machine (NFS), but mounted so that the locks
    of `flock` are not sent to that machine: each machine would lock for itself."""
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, options = before.split(" "), after.split(" ")
        if len(fields) > 2 and fields[2] == device and options[0].startswith("nfs"):
            return any(_LOCAL_LOCKS.search(each) for each in (options[-1], fields[5] if len(fields) > 5 else ""))
    return False
