"""A library and its catalog: what is on disk, and how the built program is run.

Expectations are computed from the catalog that the model itself serves and from the files on disk, read with hashlib;
of booksync only the built program is used, as a process.
"""
import collections
import contextlib
import errno
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from audio import sha256
from catalog import LIST, SIGNATURE, TOKEN, Catalog
from server import Server

HANG = 120  # seconds: generous; only a command that hangs takes so long
DAY = 86400
ONE_PAGE = 4096  # bytes: what a store has before its tables are in it
NAMINGS = ["{title}/{section} {name}.{ext}", "{title}/{section}.{ext}", "{title}/{name?all/}{section} {name}.{ext}"]


class Violation(Exception):
    """The program contradicts the model."""


def require(condition, message):
    if not condition:
        raise Violation(message)


def pick(things, number):
    return things[number % len(things)] if things else None


def note_of(path):
    """The ranges of bytes that a partial file says are there, where its parts came in no order; None for another file."""
    try:
        note = os.getxattr(path, "user.booksync").decode()
    except OSError as error:
        if error.errno == errno.ENODATA:
            return None
        raise
    line = re.search(r"^written (.*)$", note, re.M)
    return [tuple(map(int, each.split("-"))) for each in line[1].split()] if line else None


Result = collections.namedtuple("Result", "code output errors events")


class World:
    """One library, from empty to healed."""

    def __init__(self, seed, binary, clock, say):
        self.random, self.binary, self.say = random.Random(seed), binary, say
        self.folder = Path(tempfile.mkdtemp(prefix="booksync-model-"))
        self.library, self.incoming = self.folder / "L", self.folder / "incoming"
        self.library.mkdir()
        self.incoming.mkdir()
        self.has_small_disk = os.geteuid() == 0 and self.mount("64m")
        self.catalog = Catalog(self.random)
        self.server = Server(self.catalog)
        self.offset = 0     # seconds by which the program's clock is ahead
        (self.folder / "clock").write_bytes(bytes(8))
        self.environment = {
            "HOME": str(self.folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC",
            "XDG_STATE_HOME": str(self.folder / "state"), "LD_PRELOAD": clock or "", "CLOCK": str(self.folder / "clock"),
            "LLVM_PROFILE_FILE": os.environ.get("LLVM_PROFILE_FILE", "/dev/null")}
        if seed % 4:
            # Reading each new file with ffprobe takes longer than all else, so only every fourth seed does it.
            self.environment["BOOKSYNC_PROBE"] = "off"
        if seed % 3 == 1:
            # What has some more bytes is fetched in parts.
            self.environment["BOOKSYNC_MIN_SPLIT_SIZE"] = "8k"
        root = f"http://127.0.0.1:{self.server.port}"
        self.addresses = {
            book.id: f"cat:{book.id}" if book.kind == "book-resource" else f"{book.kind}:{root}{book.address}"
            for book in self.catalog.books}
        # The list of books is named like one of them.
        self.addresses["list"] = f"feed:opml:{root}{LIST}"
        self.naming, self.keep = NAMINGS[0], None
        self.config = self.folder / "config.yaml"
        self.write_config()
        self.hashes = {}            # (device, inode, size, times) → SHA-256
        self.kills = self.hits = 0  # how often a run was to be killed, and was still running then

    def write_config(self):
        root = f"http://127.0.0.1:{self.server.port}"
        keep = f", keep: {self.keep}" if self.keep else ""
        self.config.write_text(f"""
downloads: {{ retries: 1, min-free-space: 4k, jobs: 3, connect-timeout: 5s }}
naming: "{self.naming}"
sources:
  cat:
    type: book-resource
    url: {root}/list
    query: {{ token: {TOKEN} }}
    page-size: 3
    allow-private-addresses: true
subscriptions:
  - {{ book: "cat:11"{keep} }}
  - {{ book: "cat:12" }}
  - {{ book: "{root}/serial.xml" }}
  - {{ book: "{root}/files/" }}
""")
        self.config.chmod(0o600)

    def close(self):
        self.server.close()
        if self.has_small_disk:
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
        """Path below the world's folder → SHA-256, of all audio: the library, its trash and files set aside included."""
        found = {}
        for top, folders, files in os.walk(folder or self.folder):
            if Path(top).name in ("partial", "backup", "work", "joining") and Path(top).parent.name == ".booksync":
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

    @staticmethod
    def on_shelf(files):
        """Without the trash and the files set aside."""
        return {path: sha for path, sha in files.items() if path.startswith("L/") and "/.booksync/" not in path}

    @staticmethod
    def in_trash(files):
        return {path: sha for path, sha in files.items() if path.startswith("L/.booksync/trash/")}

    def shelved(self):
        """The audio in the library proper."""
        return self.on_shelf(self.audio_files(self.library))

    def partials(self):
        """SHA-256 of a version → bytes of it in a partial file."""
        parts = {}
        folder = self.library / ".booksync/partial"
        for path in folder.iterdir() if folder.is_dir() else []:
            try:
                note, data = note_of(path), path.read_bytes()
            except FileNotFoundError:
                continue
            ranges = [(0, len(data))] if note is None else note
            count = sum(end - begin for begin, end in ranges)
            for item in self.items():
                if count and all(item.data[begin:end] == data[begin:end] for begin, end in ranges):
                    parts[item.sha] = max(parts.get(item.sha, 0), count)
        return parts

    def items(self, books=None):
        return self.catalog.items(books)

    def is_store_lost(self):
        """Whether there is no store, or one that a killed run had not given its tables yet: to the program it is none."""
        store = self.library / ".booksync/store.sqlite"
        size = store.stat().st_size if store.exists() else 0
        if size > ONE_PAGE:
            return False
        return size == 0 or not self.rows_of("SELECT 1 FROM sqlite_master LIMIT 1")

    def rows_of(self, query):
        connection = sqlite3.connect(f"file:{self.library}/.booksync/store.sqlite?mode=ro", uri=True)
        with contextlib.closing(connection):
            return connection.execute(query).fetchall()

    def snapshot(self):
        """The whole tree of the library and all rows of its store, to see if anything changed."""
        facts = {}
        store = self.library / ".booksync/store.sqlite"
        if not self.is_store_lost():
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

    def require_unchanged(self, before, what):
        after = self.snapshot()
        if before != after:
            changed = [(path, before.get(path), after.get(path)) for path in before.keys() | after.keys()
                       if before.get(path) != after.get(path)]
            raise Violation(f"{what} changed {changed}")

    # Running the program.

    def command(self, *arguments):
        return [self.binary, *arguments, "--config", str(self.config), "--library", str(self.library)]

    def start(self, *arguments):
        names_one = arguments[0] == "fetch" and "#" in arguments[1]
        if arguments[0] == "resume" or names_one or {"--force", "--repair"} & set(arguments):
            # What the user asks for expressly is tried at once.
            self.catalog.retry_at.clear()
        return self.start_command(self.command(*arguments))

    def start_command(self, command, input=subprocess.DEVNULL):
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdin=input,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def ended(self, process, arguments, expect):
        """Waits for the end of a command that was started. Its exit code must be one of those expected, or SIGKILL."""
        try:
            output, errors = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            raise Violation(f"{arguments} hangs: {output[-2000:]}{errors[-2000:]}") from None
        code = process.returncode
        self.say(f"    {' '.join(arguments)} → {code}: {errors.strip()[-600:]}")
        if code != -signal.SIGKILL:
            # Of a crash the beginning tells what it was and where.
            told = errors[-3000:] if code >= 0 else errors[:9000]
            require(code in expect, f"{arguments} ended with {code}, not {sorted(expect)}: {told}{output[-500:]}")
        for secret in (TOKEN, SIGNATURE):
            require(secret not in output + errors, f"{arguments} shows a secret: {output}{errors}")
        events = []
        if arguments[0] in ("fetch", "mirror", "plan") and "--json" in arguments:
            for line in output.splitlines():
                try:
                    events.append(json.loads(line))
                except ValueError:
                    require(code == -signal.SIGKILL, f"{arguments} prints a line that is not JSON: {line}")
        return Result(code, output, errors, events)

    def run(self, *arguments, expect=(0,)):
        """Runs a command. Without a store it may also end with 66 or 74, as the contract has it."""
        expect = {*expect, 66, 74} if self.is_store_lost() else set(expect)
        return self.ended(self.start(*arguments), arguments, expect)

    def document(self, *arguments, expect=(0,)):
        """What a command prints as JSON; None without a store."""
        result = self.run(*arguments, "--json", expect=expect)
        if result.code in (66, 74):
            return None
        try:
            return json.loads(result.output)
        except ValueError:
            raise Violation(f"{arguments} --json prints what is not JSON: {result.output[:2000]}") from None

    def listed(self, books):
        """What `list` reports of books: book id → section → entry; None for a book that it does not know."""
        addresses = {tuple(self.addresses[book.id].split(":", 1)): book.id for book in books}
        result = self.run("list", *[self.addresses[book.id] for book in books], "--json", expect=(0, 66))
        if result.code != 0:
            rows = self.document("list") or [] if len(books) > 1 else []
            names = {f"{row['source']}:{row['id']}" for row in rows}
            known = [book for book in books if self.addresses[book.id] in names]
            require(len(known) < len(books), "list has the books, and does not list their episodes")
            return {**dict.fromkeys((book.id for book in books)), **(self.listed(known) if known else {})}
        try:
            document = json.loads(result.output)
        except ValueError:
            raise Violation(f"list --json prints what is not JSON: {result.output[:2000]}") from None
        found = {book.id: {} for book in books}
        for entry in document:
            name = entry["source"], entry["book_id"]
            require(name in addresses, f"list prints an episode of {name}, which was not asked for")
            found[addresses[name]][entry["section"]] = entry
        return found

    def entry(self, item, listed):
        """The entry of an episode in what `listed` returned, or None."""
        entries = listed.get(item.book.id) or {}
        return next((entry for entry in entries.values() if entry["id"] == item.listed_id), None)

    def section(self, item):
        """The number that an episode has for the program; a directory's are numbered by their order when first seen."""
        if item.book.kind != "directory":
            return item.number
        entry = self.entry(item, self.listed([item.book]))
        return entry["section"] if entry else 9999

    def reference(self, item):
        """An episode as the command line names it."""
        address, number = self.addresses[item.book.id], self.section(item)
        return f"{address}/{number}" if address.startswith("cat:") else f"{address}#{number}"
