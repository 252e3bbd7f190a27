"""A catalog that changes, and a record of what its server was asked for and gave away.

It holds books of three kinds (book-resource JSON, feeds, a directory index) and a list that names two of the feeds, and is the model
of what the listener must find on disk. It knows nothing of booksync's code.
"""
import dataclasses
import threading
import time
import urllib.parse

from audio import audio, sha256

TOKEN, SIGNATURE = "tokenThatNobodyMaySee", "signatureThatNobodyMaySee"
NAMES = ["Opening", "第{}集 夜航", "The {}th & last", "It's {}", "Chapter {} é ü", "100% of {}", "{} 🎧", "What? {}"]
LIST = "/all.opml"  # where the list of books is
BEGIN = 1_790_000_000  # seconds: when the first episode was published


@dataclasses.dataclass(eq=False)
class Item:
    """An episode as the catalog has it now."""
    book: "Book"
    number: int
    name: str
    frames: int
    version: int = 1
    locked: bool = False
    salt: int = 0

    @property
    def id(self):
        return f"{self.book.id}{self.number:03d}"

    @property
    def data(self):
        return audio(f"{self.book.id}/{self.number}/{self.version}", self.frames)

    @property
    def sha(self):
        return sha256(self.data)

    @property
    def target(self):
        """The request target, byte for byte as the catalog lists it."""
        if self.book.kind == "directory":
            return f"/{self.book.id}/" + urllib.parse.quote(self.file_name)
        query = f"?sc={SIGNATURE}&n={self.number};x='%20+&salt={self.salt}"
        return f"/audio/{self.book.id}/{self.number}%20(a),{self.book.kind[0]}.mp3{query}"

    @property
    def file_name(self):
        """The name of its file in the directory index."""
        return f"{self.number:03d} {self.book.fixed_name(self.number)}.mp3"

    @property
    def listed_name(self):
        """The name by which every command must show it."""
        return self.file_name[:-4] if self.book.kind == "directory" else self.name

    @property
    def listed_id(self):
        """The id by which every command must show it."""
        return self.file_name if self.book.kind == "directory" else self.id

    @property
    def published(self):
        return BEGIN + self.number * 86400 + self.version

    def __str__(self):
        return f"{self.book.id}/{self.number} version {self.version}"


class Book:
    """A book as its catalog lists it, and how its server behaves.

    ranges: whether the server gives parts of its audio: "given", "ignored" (it says so, and gives the whole) or "none".
    validator: what the server sends to tell versions apart: a strong or weak ETag, a date, or nothing.
    redirects: whether its audio and its list are found by a redirect.
    is_on_list: whether the list of books names it now; None for a book that no list ever names.
    """

    def __init__(self, kind, id, count, random, validator="strong", redirects=False, is_on_list=None):
        self.kind, self.id, self.items, self.title, self.last = kind, id, [], f"Book {id}", 0
        self.ranges = "given"
        self.validator, self.redirects, self.is_on_list = validator, redirects, is_on_list
        for _ in range(count):
            self.add(random)

    @property
    def can_resume(self):
        """Whether its server has a transfer that broke off go on where it was."""
        return self.validator == "strong" and self.ranges == "given"

    @property
    def address(self):
        """The path of its feed or index, which a book-resource has none of."""
        return {"feed": f"/{self.id}.xml", "directory": f"/{self.id}/"}.get(self.kind)

    def fixed_name(self, number):
        return NAMES[number % len(NAMES)].format(number)

    def add(self, random):
        self.last += 1
        item = Item(self, self.last, self.fixed_name(self.last), random.randrange(12, 90))
        self.items.append(item)
        return item


class Fault:
    """What is done to the next requests for audio or for lists."""

    def __init__(self, kind, times, lists=False):
        self.kind, self.times, self.lists = kind, times, lists


class Catalog:
    """The books, and the record of every request and every byte given away."""

    def __init__(self, random):
        self.random, self.lock = random, threading.RLock()
        # Half of the servers are perfect, so that the strictest bound on bytes is tested in each seed.
        validators = random.sample(["strong", "strong", random.choice(["weak", "date", "none"]), "strong"], 4)
        redirects = [random.randrange(4) == 0 for _ in range(4)]
        self.books = [
            Book("book-resource", "11", random.randrange(1, 9), random, validators[0], redirects[0]),
            Book("book-resource", "12", random.randrange(1, 5), random, validators[1], redirects[1]),
            Book("book-resource", "13", random.randrange(1, 4), random),
            Book("feed", "serial", random.randrange(1, 6), random, validators[2], redirects[2]),
            Book("directory", "files", random.randrange(1, 6), random, validators[3], redirects[3]),
            Book("feed", "east", random.randrange(1, 3), random, is_on_list=True),
            Book("feed", "west", random.randrange(1, 3), random, is_on_list=random.randrange(2) == 0)]
        if random.randrange(3) == 0:
            self.book("serial").ranges = "none"
        self.known = {}     # SHA-256 → (book id, number, version), of all that was ever listed
        self.listed = {}    # request target → item, of all that was ever listed
        self.sent = {}      # SHA-256 → body bytes given away
        self.sending = 0    # responses with audio that are under way
        self.asked = []     # (target, status) of each request
        self.given = 0      # body bytes of audio, of all episodes
        self.faults, self.complaints = [], []
        self.retry_at = {}  # request target → when it may be asked for again, by a 429
        self.hold_at = None     # body bytes of audio after which everything is held
        self.held, self.release = threading.Event(), threading.Event()
        self.is_hung_up = False     # the client of a held response is gone when it is released
        self.note()

    def quiet(self):
        """Waits until a response whose client went away is sent or refused."""
        end = time.monotonic() + 5
        while self.sending and time.monotonic() < end:
            time.sleep(0.001)

    def note(self):
        """Remembers what is listed now."""
        for book in self.books:
            for item in book.items:
                self.known[item.sha] = (book.id, item.number, item.version)
                self.listed[item.target] = item

    def book(self, id):
        return next(book for book in self.books if book.id == id)

    def items(self, books=None):
        return [item for book in (self.books if books is None else books) for item in book.items]

    def asked_since(self, first):
        """The episodes whose audio was asked for since that request."""
        return {self.listed[target] for target, _ in self.asked[first:] if target in self.listed}

    def wait_where_held(self):
        with self.lock:
            is_held = self.hold_at is not None and self.given >= self.hold_at
        if is_held:
            self.held.set()
            self.release.wait()
            if self.is_hung_up:
                raise OSError("the client is gone")

    def has_faults(self):
        return any(fault.times > 0 for fault in self.faults)
