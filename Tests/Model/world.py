"""A library and its catalog, what is done to them, and what must be true after each step.

What is expected is worked out from the catalog that the model itself serves and from the files on disk, read with
hashlib, sqlite3's shell, mpg123 and sha256sum; of booksync only the built program is used, as a process.
"""
import collections
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from audio import audio, sha256
from catalog import NAMES, SIGNATURE, TOKEN, Catalog, Fault

CODES = {0, 64, 65, 66, 69, 73, 74, 75, 77, 78, 129, 130, 143}
PROXY_FREE = urllib.request.build_opener(urllib.request.ProxyHandler({}))
HANG = 120  # seconds: generous; only what hangs takes so long
DAY = 86400
IS_ROOT = os.geteuid() == 0


class Violation(Exception):
    """Something that must never be is."""


def require(condition, what):
    if not condition:
        raise Violation(what)


Result = collections.namedtuple("Result", "code output errors events")


class World:
    """One library, from empty to healed."""

    def __init__(self, seed, binary, clock, say):
        self.random, self.binary, self.clock, self.say = random.Random(seed), binary, clock, say
        self.folder = Path(tempfile.mkdtemp(prefix="booksync-model-"))
        self.library, self.incoming = self.folder / "L", self.folder / "incoming"
        self.library.mkdir()
        self.incoming.mkdir()
        self.disk = False
        if IS_ROOT:
            self.disk = self.mount("64m")
        self.catalog = Catalog(self.random)
        self.offset = 0
        (self.folder / "clock").write_bytes(bytes(8))
        self.environment = {
            "HOME": str(self.folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC",
            "XDG_STATE_HOME": str(self.folder / "state"), "LD_PRELOAD": clock or "", "CLOCK": str(self.folder / "clock"),
            "LLVM_PROFILE_FILE": os.environ.get("LLVM_PROFILE_FILE", "/dev/null")}
        self.config = self.folder / "config.yaml"
        root = f"http://127.0.0.1:{self.catalog.port}"
        self.addresses = {"11": "cat:11", "12": "cat:12", "serial": f"feed:{root}/serial.xml",
                          "files": f"directory:{root}/files/"}
        self.config.write_text(f"""
downloads: {{ retries: 1, min-free-space: 4k, jobs: 3, connect-timeout: 5s }}
naming: "{{title}}/{{section}} {{name}}.{{ext}}"
sources:
  cat:
    type: book-resource
    url: {root}/list
    query: {{ token: {TOKEN} }}
    page-size: 3
    allow-private-addresses: true
subscriptions:
  - {{ book: "cat:11" }}
  - {{ book: "cat:12" }}
  - {{ book: "{root}/serial.xml" }}
  - {{ book: "{root}/files/" }}
""")
        self.config.chmod(0o600)
        self.hashes = {}            # (device, inode, size, times) → SHA-256
        self.removed = {}           # item → True; None where nobody can say
        self.paused = {}
        self.cancelled = set()
        self.allowed = {}           # SHA-256 → body bytes that may be given away in all
        self.touched = set()        # paths whose content the listener changed since the last run
        self.edits = {}             # SHA-256 of what the listener made of a file → its item
        self.rotten = set()         # those of them that came by no write
        self.dropped = []           # items that are not listed any more
        self.stale_partials = set()
        self.had_lost_store = False
        self.went_back = False      # whether the clock ever did
        self.saved = None           # a copy of the store
        self.trouble = False        # whether something may rightly have failed, and be held back since
        self.trash_may_empty = False
        self.settle()

    def close(self):
        self.catalog.close()
        if self.disk:
            subprocess.run(["umount", "-l", self.library], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def mount(self, size):
        return subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.library], capture_output=True).returncode == 0

    def resize(self, kilobytes):
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", self.library], check=True)

    # What is on disk.

    def digest(self, path):
        facts = os.stat(path)
        key = facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
        if key not in self.hashes:
            self.hashes[key] = sha256(path.read_bytes())
        return self.hashes[key]

    def audio_files(self, folder=None):
        """Path below the world's folder → SHA-256, of all audio: the library, trash and kept files included."""
        found = {}
        for top, folders, files in os.walk(folder or self.folder):
            if Path(top).name in ("partial", "backup") and Path(top).parent.name == ".booksync":
                folders.clear()
                continue
            for name in files:
                if ".mp3" in name:
                    path = Path(top) / name
                    try:
                        found[str(path.relative_to(self.folder))] = self.digest(path)
                    except FileNotFoundError:
                        pass  # A run that is under way moved it.
        return found

    def shelved(self):
        """The audio in the library proper."""
        return {path: sha for path, sha in self.audio_files(self.library).items() if "/.booksync/" not in path}

    def partials(self):
        """SHA-256 of what is to become of them → bytes there already."""
        parts = {}
        folder = self.library / ".booksync/partial"
        for path in folder.iterdir() if folder.is_dir() else []:
            if path.suffix == ".adopt":     # what adopt could not put in its place is of use to adopt alone
                continue
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            for item in self.items():
                if data and item.data[:len(data)] == data:
                    parts[item.sha] = max(parts.get(item.sha, 0), len(data))
        return parts

    def items(self, books=None):
        return [item for book in books or self.catalog.books for item in book.items]

    def has_store(self):
        """Whether there is a store, and one that was made whole: whoever opens another brings it up to date."""
        store = self.library / ".booksync/store.sqlite"
        if not store.exists():
            return False
        connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'bookmark'").fetchone()[0] == 1
        finally:
            connection.close()

    def everything(self):
        """All of the library's tree and what the store says, to see whether anything changed."""
        facts = {}
        store = self.library / ".booksync/store.sqlite"
        if self.has_store():
            connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
            tables = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%' ORDER BY name").fetchall()
            for name, in tables:
                facts[name] = connection.execute(f'SELECT * FROM "{name}"').fetchall()
            connection.close()
        for top, folders, files in os.walk(self.library):
            for name in folders + files:
                path = os.path.join(top, name)
                if not name.startswith(("store.sqlite", "lock")):
                    stat = os.lstat(path)
                    facts[path] = (stat.st_ino, stat.st_size, stat.st_mtime_ns) if name in files else None
        return facts

    def settle(self):
        """Works out how many bytes may still be asked for."""
        self.catalog.note()
        self.catalog.quiet()
        there, parts = set(self.shelved().values()), self.partials()
        self.stale_partials &= set(parts)
        for sha in self.stale_partials:
            parts.pop(sha)
        for item in self.items():
            sent = self.catalog.sent.get(item.sha, 0)
            self.allowed[item.sha] = sent + (
                0 if item.sha in there else len(item.data) - parts.get(item.sha, 0))

    # Running the program.

    def command(self, *arguments):
        return [self.binary, *arguments, "--config", str(self.config), "--library", str(self.library)]

    def start(self, *arguments):
        return subprocess.Popen(
            self.command(*arguments), cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ended(self, process, arguments):
        try:
            output, errors = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            raise Violation(f"{arguments} hangs: {output[-2000:]}{errors[-2000:]}") from None
        code = process.returncode
        self.say(f"    → {code}: {errors.strip()[-600:]}")
        if code != -signal.SIGKILL:
            require(code in CODES, f"{arguments} ended with {code}: {errors[-3000:]}")
        for secret in (TOKEN, SIGNATURE):
            require(secret not in output + errors, f"{arguments} shows a secret: {output}{errors}")
        events = []
        if arguments[0] in ("fetch", "mirror", "plan") and "--json" in arguments:
            for line in output.splitlines():
                try:
                    events.append(json.loads(line))
                except ValueError:
                    require(code == -signal.SIGKILL, f"{arguments} prints what is no JSON: {line}")
        return Result(code, output, errors, events)

    def run(self, *arguments):
        return self.ended(self.start(*arguments), arguments)

    def document(self, *arguments):
        result = self.run(*arguments, "--json")
        require(result.code == 0, f"{arguments} ends with {result.code}: {result.errors}")
        return json.loads(result.output)

    def listed(self, book):
        """What the program says of a book's episodes, by number; None where it does not know the book."""
        result = self.run("list", self.addresses[book.id], "--json")
        if result.code == 66 or result.code == 74 and self.is_store_lost():
            return None
        require(result.code == 0, f"list ends with {result.code}: {result.errors}")
        return {entry["section"]: entry for entry in json.loads(result.output)}

    def is_store_lost(self):
        store = self.library / ".booksync/store.sqlite"
        return not store.exists() or store.stat().st_size == 0

    def reference(self, item):
        """An episode as the command line names it; a directory's have numbers by their order when they were first seen."""
        address, number = self.addresses[item.book.id], item.number
        if item.book.kind == "directory":
            listed = self.listed(item.book) or {}
            number = next((n for n, entry in listed.items() if entry["id"].startswith(f"{number:03d} ")), 9999)
        return f"{address}/{number}" if address.startswith("cat:") else f"{address}#{number}"

    def is_wanted(self, item):
        return not item.locked and not self.removed.get(item, False) and not self.paused.get(item, False)

    def is_sure(self, item):
        return self.removed.get(item, False) is not None and self.paused.get(item, False) is not None

    # What must be true.

    def check(self, before, what, may_vanish=()):
        """After any step of the program: nothing lost, nothing half written, nothing asked for in vain."""
        require(not self.catalog.complaints, f"{what}: {self.catalog.complaints}")
        after = self.audio_files()
        current = {item.sha for item in self.items()} & set(after.values())
        for path, sha in before.items():
            if sha in after.values() or sha in may_vanish:
                continue
            if self.trash_may_empty and "/.booksync/" in path:
                continue
            known = self.catalog.known.get(sha)
            if sha in self.rotten and self.edits[sha]:
                known = (self.edits[sha].book.id, self.edits[sha].number)
            is_replaced = known and any(
                (item.book.id, item.number) == known[:2] and item.sha in current and item.sha != sha
                for item in self.items())
            require(is_replaced, f"{what}: what was {path} is lost ({known or 'the listener changed it'})")
        known = set(before.values())
        for path, sha in after.items():
            require(sha in self.catalog.known or sha in known, f"{what}: {path} is nobody's: torn, or made up")
        for sha, sent in self.catalog.sent.items():
            require(
                sent <= self.allowed.get(sha, 0),
                f"{what}: {self.catalog.known[sha]} was asked for again: {sent} bytes, {self.allowed.get(sha)} allowed")
        return after

    def check_run(self, result, books, before_given, force=False, is_clean=True):
        """After a run that came to its end: what it said is what is there."""
        summary = result.events[-1] if result.events else {}
        if summary.get("event") != "summary":
            require(result.code not in (0, 75), f"a run ends with {result.code} and without a summary: {result.output}")
            return
        require(summary["exit_code"] == result.code, f"the summary says {summary['exit_code']}, the run {result.code}")
        if is_clean:
            given = self.catalog.given - before_given
            require(summary["bytes_received"] == given,
                    f"{summary['bytes_received']} bytes are said to have come; {given} were given")
        there = self.shelved()
        missing = [item for item in self.items(books) if self.is_wanted(item) and self.is_sure(item)
                   and item.sha not in there.values() and not self.is_edited(item)]
        if result.code == 0:
            require(not missing, f"done, says the run; missing are {[self.name(item) for item in missing]}")
        elif is_clean and not self.trouble and result.code not in (73, 74) and not (
                self.edits and "is left alone" in result.errors):
            raise Violation(f"nothing was wrong, and the run ends with {result.code}: {result.errors}")
        if result.code in (0, 75):
            for book in books:
                self.check_list(book)
        for item in self.items(books):
            if self.removed.get(item) is True and not force:
                asked = [t for t, _ in self.catalog.asked[self.first_request:] if t == item.target]
                require(not asked, f"{self.name(item)} was removed, and was asked for")

    def name(self, item):
        return f"{item.book.id}/{item.number} version {item.version}"

    def is_edited(self, item):
        """Whether its file stands there as the listener changed it."""
        return any(self.edits.get(sha) is item for sha in self.shelved().values())

    def check_list(self, book):
        """What the program says of a book is so."""
        entries = self.listed(book)
        require(entries is not None, f"{book.id} is not on the shelf")
        for entry in entries.values():
            if entry["state"] != "finished" or not entry["path"]:
                continue
            path = self.library / entry["path"]
            key = str(path.relative_to(self.folder))
            if key in self.touched:
                continue
            require(path.is_file(), f"{entry['path']} is said to be there, and is not")
            if self.digest(path) in self.edits:
                continue  # It stands as it was recorded until it is accepted or repaired.
            require(entry["sha256"] in (None, self.digest(path)),
                    f"{entry['path']} is said to be {entry['sha256']}, and is {self.digest(path)}")
            require(entry["size"] == path.stat().st_size, f"{entry['path']} is said to have {entry['size']} bytes")
