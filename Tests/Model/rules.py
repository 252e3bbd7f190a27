"""What must be true after each step, and what the model knows of the library by then.

Three judges: the record of the catalog's server (what was asked for, how many bytes were given away), the files on disk, and
the wishes that the model itself gave to the program (what it removed, paused, edited).
"""
import time

from world import DAY, World, require

TRASH_DAYS = 30
EXIT_CODES_OF_TROUBLE = {0, 65, 66, 69, 75, 77}  # of a run whose servers fail


class Rules(World):
    def __init__(self, seed, binary, clock, say):
        super().__init__(seed, binary, clock, say)
        self.removed = {}           # item → True or False; None where the model cannot know
        self.paused = {}            # the same
        self.allowed = {}           # SHA-256 → body bytes that may be given away in all
        self.touched = set()        # paths whose content the listener changed since the last run
        self.edits = {}             # SHA-256 of what the listener made of a file → its item
        self.rotten = set()         # those of them that changed without a write
        self.dropped = []           # items that are not listed any more
        self.seen = set()           # items that a run has listed, so that the store has them
        self.cancelled = {}         # item → True where nothing of it is left to cancel; None where the model cannot know
        self.stale_partials = set()
        self.trashed_at = {}        # path in the trash → when it was first there, by the program's clock
        self.had_lost_store = False
        self.went_back = False      # the clock, ever
        self.saved = None           # a copy of the store
        self.trouble = False        # an episode may be deferred, because it failed before
        self.is_store_whole = False     # a run made the store, and it was not replaced
        self.run_log = []           # (command, exit code) of the runs since the last one of which that is not known
        # What is followed: books, and the list; None where the model cannot know.
        self.subscribed = {"11": True, "12": True, "serial": True, "files": True, "13": False, "list": False}
        self.is_mirror_left = False  # whether a mirror was cut off that the next server does
        self.requested = set()      # books that were asked for by name, of which the next run may have something to do
        self.brought_back = {}      # SHA-256 of an older version from the trash → the version that was current then
        self.has_pinned_names = False   # undo or the trash gave files names that may differ from the naming
        self.renamed_by_hand = set()    # items
        self.last_run_seconds = 0.5
        self.first_request, self.forbidden = 0, set()
        self.settle()

    def now(self):
        return time.time() + self.offset

    def followed(self):
        """The books that `mirror` must fetch."""
        return [book for book in self.catalog.books if self.follows(book)]

    def follows(self, book):
        """Whether `mirror` fetches the book; None where the model cannot know."""
        if book.is_on_list is None:
            return self.subscribed[book.id]
        # What the list no longer names is fetched until it has been read.
        return self.subscribed["list"] and (book.is_on_list or None)

    def is_wanted(self, item):
        return not item.locked and not self.removed.get(item, False) and not self.paused.get(item, False)

    def is_kept(self, item):
        """Whether no keep rule can concern it: the three newest episodes always stay."""
        return not self.keep or item.book.id != "11" or item in item.book.items[-3:]

    def is_sure(self, item):
        return self.is_kept(item) and self.removed.get(item, False) is not None and self.paused.get(item, False) is not None

    def doubt(self, items):
        """The model cannot know any more if these are removed or paused."""
        for item in items:
            self.removed[item] = self.paused[item] = None

    def is_edited(self, item, there=None):
        """Whether its file is there as the listener changed it."""
        return any(self.edits.get(sha) is item for sha in (there or self.shelved()).values())

    def is_brought_back(self, item, there):
        """Whether an older version from the trash is in its place: it stays until the catalog has a newer one."""
        return any(self.brought_back.get(sha) == item.version
                   and self.catalog.known[sha][:2] == (item.book.id, item.number) for sha in there.values())

    def missing(self, books=None):
        """Episodes that a run must fetch, of those of which the model is sure."""
        there = self.shelved()
        shas = set(there.values())
        return [item for item in self.items(self.followed() if books is None else books)
                if self.is_wanted(item) and self.is_sure(item) and item.sha not in shas
                and not self.is_edited(item, there) and not self.is_brought_back(item, there)]

    def note_brought_back(self, before, after):
        """Remembers the older versions that came back from the trash."""
        for sha in set(self.on_shelf(after).values()) - set(self.on_shelf(before).values()):
            key = self.catalog.known.get(sha)
            item = key and next((item for item in self.items() + self.dropped if (item.book.id, item.number) == key[:2]), None)
            if item and item.sha != sha:
                self.brought_back[sha] = item.version

    # Before and after a step.

    def begin(self):
        """To be called before each step of the program; returns the files and the bytes given so far."""
        self.first_request = len(self.catalog.asked)
        self.forbidden = {item for item in self.items()
                          if self.removed.get(item) is True or self.paused.get(item) is True}
        self.catalog.retry_at.clear()
        return self.audio_files(), self.catalog.given

    def settle(self):
        """Works out how many bytes may still be asked for, and since when each file is in the trash."""
        self.catalog.note()
        self.catalog.quiet()
        files = self.audio_files()
        there, parts = set(self.on_shelf(files).values()), self.partials()
        self.stale_partials &= set(parts)
        for sha in self.stale_partials:
            parts.pop(sha)
        again = sum(fault.times for fault in self.catalog.faults if not fault.lists)
        for item in self.items():
            rest = len(item.data) - parts.get(item.sha, 0)
            if not item.book.can_resume:
                # Each try may begin at the start.
                rest = len(item.data) * (1 + again)
            self.allowed[item.sha] = self.catalog.sent.get(item.sha, 0) + (0 if item.sha in there else rest)
        self.trashed_at = {path: self.trashed_at.get(path, self.now()) for path in self.in_trash(files)}

    def has_expired(self, path):
        return path in self.trashed_at and self.now() - self.trashed_at[path] > (TRASH_DAYS - 1) * DAY

    def check(self, before, what, may_vanish=()):
        """After any step of the program: nothing lost, nothing half written, nothing asked for in vain."""
        require(not self.catalog.complaints, f"{what}: {self.catalog.complaints}")
        after = self.audio_files()
        there = set(after.values())
        current = {item.sha for item in self.items()} & there
        for path, sha in before.items():
            if sha in there or sha in may_vanish or self.has_expired(path):
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
            require(sha in self.catalog.known or sha in known,
                    f"{what}: {path} is not a version of any episode: torn, or invented")
        for sha, sent in self.catalog.sent.items():
            require(
                sent <= self.allowed.get(sha, 0),
                f"{what}: {self.catalog.known[sha]} was asked for again: {sent} bytes, {self.allowed.get(sha)} allowed")
        for item in self.catalog.asked_since(self.first_request) & self.forbidden:
            why = "removed" if self.removed.get(item) is True else "paused"
            require(False, f"{what}: {item} was {why}, and was asked for")
        return after

    def run_codes(self, force=False, limited=False):
        """The exit codes that a run may have now."""
        codes = {0}
        if self.trouble or self.catalog.has_faults():
            codes |= EXIT_CODES_OF_TROUBLE
        if limited or self.edits:
            codes.add(75)
        if self.had_lost_store:
            codes.add(74)  # What was subscribed to is lost until it is subscribed to again.
        return codes

    def note_run(self, arguments, code):
        """Keeps the log that `runs` must print."""
        self.run_log.append((arguments[0], code))
        self.doubt_cancelled()
        if code == 0:
            self.requested.clear()
            self.is_mirror_left &= arguments[0] != "mirror"
        if code in (0, 75):
            self.is_store_whole = True

    def note_unknown_run(self):
        """After a run of which the model does not know how far it came."""
        self.run_log.clear()
        self.doubt_cancelled()

    def doubt_cancelled(self):
        """A run may have begun what was cancelled."""
        self.cancelled = dict.fromkeys(self.cancelled)

    def check_run(self, result, books, before_given, force=False, is_clean=True, is_limited=False):
        """After a run that came to its end: what it reported is what is there.

        books: those that it had to complete. is_clean: whether its bytes can be counted.
        """
        summary = result.events[-1] if result.events else {}
        if summary.get("event") != "summary":
            require(result.code not in (0, 75), f"a run ends with {result.code} and without a summary: {result.output}")
            return
        require(summary["exit_code"] == result.code,
                f"the summary reports {summary['exit_code']}, the run ended with {result.code}")
        if is_clean:
            self.catalog.quiet()  # The run may end before the server has counted its last bytes.
            given = self.catalog.given - before_given
            require(summary["bytes_received"] == given,
                    f"{summary['bytes_received']} bytes are reported as received; {given} were given")
        missing = self.missing(books)
        if result.code == 0:
            require(not missing, f"the run ended with 0; missing are {[str(item) for item in missing]}")
        elif is_clean and not self.trouble and not is_limited and not (result.code == 74 and self.had_lost_store):
            # An edited file may be where an episode is to be. With a store what was subscribed to is lost.
            require(self.edits, f"nothing was wrong, and the run ends with {result.code}: {result.errors}")
        if result.code in (0, 75):
            self.check_list(books, is_complete=result.code == 0 and is_clean)

    def check_list(self, books, is_complete=False):
        """What `list` reports of books is on disk; and, after a complete run, all that is on disk is listed."""
        listed, there = self.listed(books), self.shelved()
        for book in books:
            require(listed[book.id] is not None, f"list does not know {book.id}")
            for entry in listed[book.id].values():
                if entry["state"] == "finished" and entry["path"]:
                    self.check_entry(entry)
        if not is_complete:
            return
        paths = {f"L/{entry['path']}" for book in books for entry in listed[book.id].values() if entry["path"]}
        by_sha = {sha: path for path, sha in there.items()}
        for item in self.items(books):
            entry, path = self.entry(item, listed), by_sha.get(item.sha)
            state = entry and entry["state"]
            if self.removed.get(item) is True:
                require(state == "removed", f"{item} was removed, and is listed as {state}")
            elif not self.is_sure(item):
                continue
            elif path:
                require(path in paths, f"{path} is on disk, and list does not have it")
                require(state == "finished", f"{path} is on disk, and is listed as {state}")
            elif item.locked:
                # A feed does not list what is locked.
                require(state in (None, "locked", "gone", "finished"), f"{item} is locked, and is listed as {state}")
            elif self.paused.get(item) is True:
                require(state == "paused", f"{item} was paused, and is listed as {state}")

    def check_entry(self, entry):
        path = self.library / entry["path"]
        if str(path.relative_to(self.folder)) in self.touched:
            return
        require(path.is_file(), f"{entry['path']} is listed as on disk, and is not there")
        if self.digest(path) in self.edits:
            return  # It stays as it was recorded until it is accepted or repaired.
        require(entry["sha256"] in (None, self.digest(path)),
                f"{entry['path']} is listed with {entry['sha256']}, and has {self.digest(path)}")
        require(entry["size"] == path.stat().st_size, f"{entry['path']} is listed with {entry['size']} bytes")

    # A run.

    def whole_run(self, arguments, books, force=False, is_limited=False):
        """Runs `mirror` or `fetch` to its end and checks what came of it. books: those that it must complete."""
        had_faults, is_mirror = self.catalog.has_faults(), arguments[0] == "mirror"
        before, given = self.begin()
        if force:
            # The trash and the files set aside may serve; they need not.
            self.doubt(self.items(books))
            self.forbidden -= set(self.items(books))
        # Any run also does what was asked for by name, and an interrupted one left.
        unasked = [book for book in self.catalog.books
                   if self.follows(book) is False and book not in self.requested]
        began = time.monotonic()
        result = self.run(*arguments, expect=self.run_codes(force, is_limited))
        self.last_run_seconds = time.monotonic() - began
        self.note_run(arguments, result.code)
        is_read = result.code in (0, 75) and not had_faults
        if is_read:
            self.seen |= set(self.items(books))
            self.cancelled = {item: None for item in self.cancelled if item.book not in books}
        if is_read and is_mirror:
            self.touched.clear()
        self.check(before, " ".join(arguments), self.rotten if force else ())
        if is_mirror:
            for book in unasked:
                self.require_not_asked(book, "is not subscribed to")
        self.check_run(result, books, given, force, is_limited=is_limited)
        if force and result.code == 0:
            for item in self.items(books):
                # What is locked cannot be fetched, and stays removed if it was.
                self.removed[item] = self.paused[item] = None if item.locked else False
            if is_mirror and not had_faults:
                self.trouble = False
        return result

    def require_not_asked(self, book, why):
        asked = [target for target, _ in self.catalog.asked[self.first_request:]
                 if f"bookId={book.id}" in target or getattr(self.catalog.listed.get(target), "book", None) is book]
        require(not asked, f"{book.id} {why}, and {asked} was asked for")
