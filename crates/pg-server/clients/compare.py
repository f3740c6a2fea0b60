"""Shows the answers of both servers side by side, and fails on a difference that is not listed.

compare.py DIFFERENCES FOLDER CLIENT...

Each line of DIFFERENCES is `client :: step :: reason`; a step may end with `*`. A listed difference that is gone is a
failure too, so that the list stays true.
"""

import sys
from fnmatch import fnmatchcase
from pathlib import Path


def answers(path):
    """Steps in order, with their results."""
    steps = {}
    for line in path.read_text(errors="replace").splitlines():
        step, separator, result = line.partition(" | ")
        if separator:
            steps[step] = result
        else:
            steps[f"?{len(steps)}"] = line
    return steps


def listed(path):
    reasons = {}
    for line in Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            client, step, reason = (part.strip() for part in line.split(" :: "))
            reasons[client, step] = reason
    return reasons


def cut(text, width=58):
    return text if len(text) <= width else text[: width - 1] + "…"


def main(differences, folder, *clients):
    reasons = listed(differences)
    failures, different = 0, set()
    for client in clients:
        own, peer = (answers(Path(folder, f"{client}.{name}")) for name in ("bennu", "postgres"))
        print(f"\n{client}\n  {'step':32} {'Bennu':58} {'PostgreSQL':58}")
        if not peer:
            failures += 1
            print("! no answers from PostgreSQL")
        for step in dict.fromkeys([*peer, *own]):
            mine, theirs = own.get(step, "(nothing)"), peer.get(step, "(nothing)")
            key = next((key for key in reasons if key[0] == client and fnmatchcase(step, key[1])), None)
            reason = reasons.get(key)
            if mine == theirs:
                mark, reason = " ", None
            else:
                mark = "~" if reason else "!"
                different.add(key)
            failures += mark == "!"
            print(f"{mark} {cut(step, 32):32} {cut(mine):58} {cut(theirs):58}{'  ' + reason if reason else ''}")
    for (client, step), reason in reasons.items():
        if client in clients and (client, step) not in different:
            failures += 1
            print(f"! {client}: {step!r} is listed as different ({reason}), but it is not")
    print(f"\n{failures} unlisted differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
