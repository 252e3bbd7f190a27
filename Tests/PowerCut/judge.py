"""Judges a run after a power cut, from outside: by the files, the server's account of what it sent, and the sqlite3 module."""
import collections
import hashlib
import json
import re
import sqlite3
import tempfile
from pathlib import Path

from world import all_digests, trashed_digests, user_files

# Names of temporary files: no run needs them after a power cut.
TEMPORARY = re.compile(r"(\.new-|\.probe-|\.renewed|\.copied|/unfinished|/work/|\.nosync|/\.booksync-|\.new$)")
STORES = ("library/.booksync/store.sqlite", "attic/.booksync/store.sqlite")
NOTE = "user.booksync"


class Violation(Exception):
    """A state that no power cut may lead to."""


def require(condition, what):
    if not condition:
        raise Violation(what)


def partial_path(item):
    name = hashlib.sha256(f"cat\0{item.book.id}\0{item.id}".encode()).digest()[:16].hex()
    return f"library/.booksync/partial/{name}.part"


def ranges(note, field):
    """The ranges of bytes in a field of a note about a file."""
    line = re.search(rf"^{field} (.*)$", note, re.M)
    return [tuple(map(int, each.split("-"))) for each in re.findall(r"\d+-\d+", line[1])] if line else []


class Store:
    """The records of a store in a tree, read from a copy."""

    def __init__(self, tree, path):
        files = tree.files()
        self.files, self.committed, self.announced = {}, {}, set()
        if path not in files or not files[path].data:
            return
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "store.sqlite"
            for suffix in ("", "-wal", "-journal"):
                if path + suffix in files:
                    Path(str(copy) + suffix).write_bytes(files[path + suffix].data)
            connection = sqlite3.connect(copy)
            try:
                self.check(connection, path)
            except sqlite3.DatabaseError as error:
                raise Violation(f"{path} is damaged: {error}") from None
            finally:
                connection.close()

    def check(self, connection, path):
        rows = connection.execute("PRAGMA integrity_check").fetchall()
        require(rows == [("ok",)], f"{path} is damaged: {rows[:3]}")
        rows = connection.execute("PRAGMA foreign_key_check").fetchall()
        require(not rows, f"{path} has references to nothing: {rows[:3]}")
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'transfer'").fetchone():
            return      # its tables are not made yet
        self.files = dict(connection.execute("SELECT path, sha256 FROM local_file").fetchall())
        self.committed = dict(connection.execute(
            "SELECT key, committed_length FROM transfer JOIN episode ON episode.id = episode_id").fetchall())
        self.announced = {sha for sha, in connection.execute(
            "SELECT sha256 FROM operation WHERE kind = 'publish' AND state = 'begun'")}


class Facts:
    """The facts of a recording, and the result of the same commands without a power cut."""

    def __init__(self, world, scenario, recording):
        self.before = user_files(recording.before)
        self.trash = trashed_digests(recording.before)
        self.keys = {sha: key for sha, key in world.catalog.known.items()}
        printed = [index for index, change in enumerate(recording.changes) if change.kind == "printed"]
        self.done = printed[-1] + 1 if printed else len(recording.changes)
        self.finished = {}      # SHA-256 → number of changes after which it was reported as finished
        for index in printed:
            try:
                event = json.loads(recording.changes[index].value)
            except ValueError:
                continue
            if isinstance(event, dict) and event.get("event") == "finished" and event.get("sha256"):
                self.finished.setdefault(event["sha256"], index + 1)
        self.expected, self.finally_expected = {}, {}
        self.leftovers = collections.Counter()      # temporary names → states in which the next run left such files

    def learn(self, world, scenario):
        """Runs the following commands without a power cut, to learn the expected result."""
        scenario.recover(world)
        for attribute, command in (("expected", scenario.follow), ("finally_expected", scenario.again)):
            if command:
                run = world.run(*command)
                require(run.code == 0, f"without a power cut {run}")
            setattr(self, attribute, user_files(world.tree()))
        for item in world.book.items if scenario.moves_forward else []:
            require(item.sha in self.expected.values(), f"without a power cut episode {item.number} is missing")

    def key(self, path, sha):
        if sha in self.keys:
            return self.keys[sha][:2]
        if path in self.before and self.before[path] in self.keys:
            return self.keys[self.before[path]][:2]
        return self.keys[self.expected[path]][:2] if self.expected.get(path) in self.keys else path

    def places(self, files):
        found = {}
        for path, sha in files.items():
            found.setdefault(self.key(path, sha), set()).add((path, sha))
        return found


def allowance(world, facts, tree, count):
    """SHA-256 → bytes that the next runs may ask for, and why, of all episodes."""
    stores = [Store(tree, path) for path in STORES]
    files, allowed = tree.files(), {}
    for item in world.book.items:
        left, why = len(item.data), "nothing of it was synced"
        if item.sha in facts.before.values() or item.sha in facts.trash:
            left, why = 0, "it was there before the command"
        if any(item.sha in store.files.values() for store in stores):
            left, why = 0, "it is recorded as finished"
        if facts.finished.get(item.sha, len(world.recording.changes) + 1) <= count:
            left, why = 0, "it was reported as finished"
        committed = stores[0].committed.get(item.id)
        partial = files.get(partial_path(item))
        note = partial.attributes.get(NOTE, b"").decode() if partial else ""
        # The version that the note is about.
        data = next((data for data in (item.data, world.former.get(item, b"")) if f"\ntotal {len(data)}\n" in note), None)
        synced = ranges(note, "synced") if data else []
        is_noted = all(partial.data[begin:end] == data[begin:end] for begin, end in synced)
        # The journal forgets the bytes of a file that is begun anew, and then they go, before the note does.
        is_emptied = partial and not partial.data and committed == 0
        require(is_noted or is_emptied or item.sha in facts.before.values(),
                f"{partial_path(item)} says that {synced} are synced, and they are not on disk")
        noted = sum(end - begin for begin, end in synced) if is_noted and data == item.data else 0
        if item.sha in stores[0].announced:
            left, why = 0, "it was synced and announced"
        elif committed is not None:
            if committed:
                held = partial.data if partial else b""
                is_of_item = held[:committed] == item.data[:committed]
                former = world.former.get(item, b"")
                is_former = committed <= len(former) and held[:committed] == former[:committed]
                require(is_of_item or is_former or item.sha in facts.before.values(),
                        f"the store says that {committed} bytes of {item.name} are synced, and they are not on disk")
                if left and is_of_item:
                    left, why = len(item.data) - committed, f"{committed} bytes were committed"
        if left and noted > len(item.data) - left:
            left, why = len(item.data) - noted, f"{noted} bytes were committed beside the file"
        if left and item.book.ranges != "given":
            left, why = len(item.data), "its server gives no parts"
        allowed[item.sha] = left, why
    return allowed


def judge(world, scenario, facts, tree, count):
    """Runs the commands that follow a power cut which left this tree; raises `Violation`."""
    is_done = count >= facts.done
    allowed = allowance(world, facts, tree, count)      # also requires a sound store before any run repairs it
    tree.write(world.disk)
    world.catalog.sent.clear()
    world.catalog.asked.clear()
    world.catalog.complaints.clear()
    scenario.recover(world)
    # Without ffprobe: it reads durations, which do not matter here, and takes as long as all the rest.
    world.path = None if scenario.needs_ffmpeg else "/nonexistent"
    run = world.run(*scenario.follow)
    require(run.code == 0, f"the next run: {run}")
    for word in ("damaged", "was lost"):
        require(word not in run.errors, f"the next run reports a store that is {word}: {run.errors}")
    after = world.tree()
    facts.leftovers.update({match.group(1) for match in map(TEMPORARY.search, after.files()) if match})
    check(world, scenario, facts, after, allowed, is_done, "the next run")

    if count % 3 == 0:
        here, sent = user_files(after), dict(world.catalog.sent)
        run = world.run(*scenario.follow)
        require(run.code == 0, f"the run after the next one: {run}")
        require(user_files(world.tree()) == here, f"the run after the next one changes files: {run}")
        require(world.catalog.sent == sent, f"the run after the next one downloads: {run}")

    if scenario.again:
        run = world.run(*scenario.again)
        require(run.code == 0, f"the command again: {run}")
        tree = world.tree()
        here = user_files(tree)
        require(here == facts.finally_expected, f"the command again leads to {compared(here, facts.finally_expected)}")
        check(world, scenario, facts, tree, allowed, is_done, "the command again", is_final=True)


def compared(files, expected):
    """The differences between two lists of files."""
    words = [f"missing {path}" for path in sorted(expected.keys() - files.keys())]
    words += [f"{path} too many" for path in sorted(files.keys() - expected.keys())]
    words += [f"{path} with other bytes" for path in sorted(files.keys() & expected.keys()) if files[path] != expected[path]]
    return "; ".join(words)


def check(world, scenario, facts, tree, allowed, is_done, what, is_final=False):
    require(not world.catalog.complaints, f"{what}: {world.catalog.complaints}")
    here, expected = user_files(tree), facts.expected
    if not is_final and (scenario.moves_forward or is_done):
        require(here == expected, f"{what} leads to other files: {compared(here, expected)}")
    elif not is_final:
        found, old, new = facts.places(here), facts.places(facts.before), facts.places(expected)
        for key in found.keys() | old.keys() | new.keys():
            places = found.get(key, set())
            require(places in (old.get(key, set()), new.get(key, set())),
                    f"{what}: {key} is at {places}; before it was at {old.get(key)}, after it at {new.get(key)}")
    for sha, sent in world.catalog.sent.items():
        left, why = allowed.get(sha, (0, "it is an older version"))
        _, number, version = world.catalog.known[sha]
        require(sent <= left, f"{what} downloads {sent} bytes of episode {number}, version {version}, "
                              f"and {left} were missing: {why}")
    if scenario.keeps:
        there = all_digests(tree)
        for sha in set(facts.before.values()) | facts.trash:
            if sha in facts.keys:
                require(sha in there, f"{what}: {facts.keys[sha]} is lost")
    recorded = {}
    for path in STORES:
        store = Store(tree, path)
        library = path.split("/")[0]
        recorded.update({f"{library}/{file}": sha for file, sha in store.files.items()})
    for path, sha in recorded.items():
        require(here.get(path) == sha, f"{what}: the store says that {path} is {sha}; it is {here.get(path)}")
    for path, sha in here.items():
        require(sha not in facts.keys or path in recorded or path.startswith("incoming/"), f"{what}: {path} is not recorded")
