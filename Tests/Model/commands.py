"""Steps: the commands that act on the library.

Each step takes three numbers, and picks by them among what is there at the time; so a sequence stays one whatever is left out.
"""
import csv
import io
import json
import random
import subprocess
import xml.etree.ElementTree as XML

from outputs import Outputs
from rules import EXIT_CODES_OF_TROUBLE
from world import pick, require


class Commands(Outputs):
    # Runs.

    def do_mirror(self, a, b, c):
        self.whole_run(["mirror", "--json"], self.followed())

    def do_mirror_force(self, a, b, c):
        """A forced run of all. If it ends with 0 the model is sure of everything again."""
        self.whole_run(["mirror", "--force", "--json"], self.followed(), force=True)

    def do_fetch(self, a, b, c):
        book = pick(self.catalog.books, a)
        self.whole_run(["fetch", self.addresses[book.id], "--json"], [book])

    def do_fetch_force(self, a, b, c):
        book = pick(self.catalog.books, a)
        self.whole_run(["fetch", self.addresses[book.id], "--force", "--json"], [book], force=True)

    def do_fetch_one(self, a, b, c):
        """An episode that is named is fetched at once, also if it was paused, but not if it was removed."""
        item = pick(self.items(), a)
        before, _ = self.begin()
        if self.removed.get(item) is not True:
            self.forbidden.discard(item)
        codes = self.run_codes()
        if item.locked or item not in self.seen or self.catalog.has_faults():
            codes |= {66, 75}
        if self.removed.get(item) is not False and item in self.removed or not self.is_kept(item):
            codes.add(75)
        arguments = ["fetch", self.reference(item), "--json"]
        result = self.run(*arguments, expect=codes)
        if result.code in (0, 75):
            self.note_run(arguments, result.code)
        else:
            self.note_unknown_run()  # It may have ended before it was a run.
        if result.code == 0 and self.is_wanted(item) and self.is_sure(item):
            require(item.sha in self.shelved().values() or self.is_edited(item), f"{item} is not there")
        self.check(before, "fetch of one episode")
        if self.removed.get(item) is True:
            require(result.code != 0 or item.locked, f"{item} was removed, and fetching it by its name ends with 0")
        else:
            self.doubt([item])

    def do_limited(self, a, b, c):
        """A run with --max-episodes fetches no more than that, and says with 75 that some are left."""
        limit, had_faults, was_lost = 1 + a % 2, self.catalog.has_faults(), self.is_store_lost()
        self.give_work(b, limit + 1)
        trash = set(self.in_trash(self.audio_files()).values())
        missing = [item for item in self.missing() if item.sha not in trash]
        there, sent = set(self.shelved().values()), dict(self.catalog.sent)
        result = self.whole_run(["mirror", "--max-episodes", str(limit), "--json"], self.followed(), is_limited=True)
        fetched = [item for item in self.items() if item.sha in set(self.shelved().values()) - there]
        trash = set(self.in_trash(self.audio_files()).values())
        # Of a file that an older store does not know it may ask the server, which gives nothing then.
        given = [sha for sha, bytes in self.catalog.sent.items() if bytes > sent.get(sha, 0)]
        require(len(given) <= limit or had_faults or trash,
                f"--max-episodes {limit}, and {[str(item) for item in fetched]} were fetched")
        # What is rotten in a missing episode's place may be taken for it.
        if not had_faults and not self.trouble and not self.rotten and len(missing) > limit:
            require(result.code in ((74, 75) if was_lost else (75,)),
                    f"{len(missing)} were missing, --max-episodes {limit}, and the run ends with {result.code}")

    def give_work(self, number, count):
        """Sees to it that a run has episodes to fetch: adds as many to a book as are missing from that count."""
        for _ in range(count - (0 if self.trouble else len(self.missing()))):
            pick([book for book in self.followed()], number).add(random.Random(number))
        self.settle()

    def do_plan_then_mirror(self, a, b, c):
        """A plan is what the run does, but for the books of a list."""
        if self.catalog.has_faults() or not self.is_store_whole or self.is_store_lost() or self.subscribed["list"] is not False:
            return
        before = self.snapshot()
        requested = set(self.requested)
        self.begin()
        plan = self.run("plan", "--json")
        self.require_unchanged(before, "plan")
        actions = [action for event in plan.events for action in event.get("actions", [])]
        resumed = {action["id"] for action in actions if action["action"] == "resume"}
        outdated = sum(item.listed_id in resumed and not (item.book.can_resume and self.catalog.sent.get(item.sha))
                       for item in self.catalog.items())
        result = self.whole_run(["mirror", "--json"], self.followed())
        if result.code != 0:
            return
        if not requested <= set(self.followed()):
            return  # The run also does what was asked for by name.
        done = result.events[-1]
        # A file that moves and is replaced counts as replaced.
        replaced = {action["id"] for action in actions if action["action"] == "replace"}
        words = {"fetch": "fetched", "resume": "resumed", "replace": "replaced", "rename": "renamed", "adopt": "adopted",
                 "expire": "expired"}
        planned = {word: sum(action["action"] == word and (word == "replace" or action["id"] not in replaced)
                             for action in actions) for word in words}
        # The server alone knows that a partial file is of an older version: its episode is fetched anew.
        anew = min(max(0, done["fetched"] - planned["fetch"]), outdated)
        planned["fetch"] += anew
        planned["resume"] -= anew
        for word, past in words.items():
            # A run first finishes what an interrupted one left, and plans then.
            require(planned[word] == done[past] or self.trouble and word == "adopt",
                    f"the plan has {planned[word]} to {word}; the run reports {done[past]} {past}")

    # Transfers.

    def waiting(self, number):
        """An episode that waits, and that the store knows: one that is missing, or else one that a limited run leaves."""
        if not self.missing_whole() and not self.catalog.has_faults() and not self.edits:
            self.do_limited(0, number, 0)
            self.settle()
        return pick(self.missing_whole(), number)

    def missing_whole(self):
        """Episodes that the store knows and of which no version is on disk."""
        there = {self.catalog.known.get(sha, (0, 0))[:2] for sha in self.shelved().values()}
        return [item for item in self.missing() if item in self.seen and (item.book.id, item.number) not in there]

    def do_pause(self, a, b, c):
        """Two of three times an episode that waits: it must be paused, and not be asked for by any run."""
        item = self.waiting(a) if c % 3 else None
        if item is None:
            self.steer("pause", a)
            return
        before, _ = self.begin()
        document = self.document("pause", self.reference(item))
        self.check(before, "pause")
        if document is None:
            return
        require(document["episodes"] == 1, f"{item} waits, and pause did {document}")
        self.paused[item] = True
        queue = self.document("queue")
        states = [entry["state"] for entry in queue if entry["id"] == item.listed_id]
        require(states == ["paused"], f"{item} was paused, and is in the queue as {states}")
        if b % 2:
            self.settle()
            self.do_mirror(0, 0, 0)

    def do_resume(self, a, b, c):
        """A paused episode is fetched by the next run."""
        item = self.paused_item(a) if c % 3 else None
        if item is None and c % 3:
            self.do_pause(a, 0, 1)
            self.settle()
            item = self.paused_item(a)
        if item is None:
            self.steer("resume", a)
            return
        before, _ = self.begin()
        document = self.document("resume", self.reference(item))
        self.check(before, "resume")
        if document:
            require(document["episodes"] == 1 or item in self.dropped, f"{item} was paused, and resume did {document}")
            self.paused[item] = False
            self.requested.add(item.book)
            if b % 2:
                self.settle()
                self.do_mirror(0, 0, 0)

    def paused_item(self, number):
        return pick([item for item in self.items() if self.paused.get(item) is True], number)

    def do_cancel(self, a, b, c):
        """A cancelled episode loses its partial file, and is fetched from the start by the next run."""
        item = self.waiting(a) if c % 3 else None
        if item is None:
            self.steer("cancel", a)
            return
        before, _ = self.begin()
        document = self.document("cancel", self.reference(item))
        self.check(before, "cancel")
        if document:
            count = 0 if self.cancelled.get(item) else 1
            is_known = self.cancelled.get(item, True) is not None
            require(document["episodes"] == count or not is_known, f"{item} waits, and cancel did {document}")
            self.cancelled[item] = True
            require(item.sha not in self.partials(), f"{item} was cancelled, and its partial file is there")

    def steer(self, verb, number):
        """Pauses, resumes or cancels any episode."""
        item = pick(self.items(), number)
        if item is None:
            return
        before, _ = self.begin()
        result = self.run(verb, self.reference(item), expect=(0,) if item in self.seen else (0, 66))
        if verb == "cancel" and item in self.seen:
            self.cancelled[item] = True
        elif item in self.cancelled:
            self.cancelled[item] = None
        self.check(before, verb)
        if result.code == 0:
            is_missing = item.sha not in self.shelved().values() and self.removed.get(item) is not True
            if verb == "resume":
                self.paused[item] = False
                self.requested.add(item.book)
            elif is_missing:
                self.paused[item] = None

    # Removal and the trash.

    def do_remove(self, a, b, c):
        item = pick(self.items(), a)
        if item is None:
            return
        before, _ = self.begin()
        codes = (0,) if item in self.seen else (0, 66)
        # A file that is another than the one that was fetched stays.
        result = self.run("remove", self.reference(item), "--yes", expect=codes + (75,) if self.edits else codes)
        self.check(before, "remove")
        if result.code in (0, 75):
            there = self.shelved()
            is_there = item.sha in there.values() or self.is_edited(item, there)
            require(not is_there or self.is_edited(item) or self.touched, f"{item} was removed, and is there: {result.errors}")
            # A file that the listener moved or edited meanwhile may be recognised again.
            self.removed[item] = None if is_there else True
            self.paused[item] = None

    def do_forget(self, a, b, c):
        item = pick([item for item in self.items() if self.removed.get(item)] or self.items(), a)
        if item is None:
            return
        before, _ = self.begin()
        result = self.run("remove", self.reference(item), "--forget", expect=(0,) if item in self.seen else (0, 66))
        after = self.check(before, "remove --forget")
        require(self.on_shelf(before) == self.on_shelf(after), "remove --forget touched a file")
        if result.code == 0:
            if self.removed.get(item, False) is not False:
                self.cancelled[item] = None  # Until a run has begun it there is nothing to cancel.
            self.removed[item] = False
            self.paused[item] = False if self.paused.get(item, False) is False else None

    def do_remove_undo(self, a, b, c):
        """An episode is removed, and undo brings its file back to where it was."""
        item = pick(self.items(), a)
        # The clock says what was removed last.
        if item is None or self.touched or self.went_back or item.sha not in self.shelved().values():
            return
        before, _ = self.begin()
        if self.run("remove", self.reference(item), "--yes", expect=(0, 66)).code != 0:
            return
        self.check(before, "remove")
        if self.paths_of(before, item.sha) == self.paths_of(self.audio_files(), item.sha):
            return
        self.run("undo")
        self.has_pinned_names = True
        after = self.check(before, "undo")
        require(self.on_shelf(before) == self.on_shelf(after), "undo brought back another shelf")

    @classmethod
    def paths_of(cls, files, sha):
        return sorted(path for path, other in cls.on_shelf(files).items() if other == sha)

    def do_restore(self, a, b, c):
        """`trash restore --all` brings a version of each file in the trash back to its place; mostly there is one."""
        if c % 4:
            self.do_remove(a, b, c)
            self.settle()
        before, _ = self.begin()
        trash = {}
        for path, sha in self.in_trash(before).items():
            trash.setdefault("L/" + path.split("/", 4)[4], set()).add(sha)
        # What is in the way of a file keeps it in the trash, and is named.
        is_blocked = self.touched or self.edits or self.had_lost_store or self.trouble
        result = self.run("trash", "restore", "--all", expect=(0, 73, 75) if is_blocked else (0,))
        after = self.check(before, "trash restore --all")
        self.note_brought_back(before, after)
        if result.code == 0 and not is_blocked:
            for path, shas in trash.items():
                require(after.get(path) in shas or shas & set(self.on_shelf(after).values()),
                        f"{path} was to come back from the trash: {result.errors}")
        # It brings older versions back as well, which stay until the catalog changes.
        self.doubt(self.items())
        self.has_pinned_names = True

    def do_undo(self, a, b, c):
        before, _ = self.begin()
        is_blocked = self.touched or self.edits or self.had_lost_store or self.trouble
        # A file that was renamed, and then moved by hand, stays where that put it.
        codes = (0, 73, 75) if is_blocked else (0, 75) if self.renamed_by_hand else (0,)
        self.run("undo", expect=codes)
        self.note_brought_back(before, self.check(before, "undo"))
        self.doubt(self.items())
        self.has_pinned_names = True

    def do_empty(self, a, b, c):
        """What was in the trash is gone; what a run that was killed had yet to remove comes into it, and stays."""
        before, _ = self.begin()
        if self.run("trash", "empty", "--yes").code == 0:
            # A rebuilt store does not know the trash; doctor names the files.
            left = self.in_trash(before).keys() & self.in_trash(self.audio_files()).keys()
            require(self.had_lost_store or not left, f"the trash is not empty: {left}")
        self.check(before, "trash empty", set(self.in_trash(before).values()))

    # Digests.

    def do_verify(self, a, b, c):
        """verify finds exactly the files that hashlib finds."""
        before, _ = self.begin()
        wrong = self.wrong_files()
        result = self.run("verify", "--anew", expect=(75,) if wrong else (0,))
        self.check(before, "verify")
        for path in wrong if result.code == 75 else []:
            require(path in result.errors + result.output, f"verify does not name {path}: {result.errors}")

    def wrong_files(self, books=None):
        """Files that are listed with a digest and are not so on disk."""
        books = self.catalog.books if books is None else books
        return [entry["path"] for entries in self.listed(books).values() for entry in (entries or {}).values()
                if entry["path"] and entry["sha256"] and not (
                    (self.library / entry["path"]).is_file()
                    and entry["sha256"] == self.digest(self.library / entry["path"]))]

    def do_repair(self, a, b, c):
        before, _ = self.begin()
        self.forbidden.clear()
        there = self.shelved().values()
        for item in self.items():
            # A bad file is asked for again, though the trash may have it.
            if item.sha not in there:
                again = sum(fault.times for fault in self.catalog.faults if not fault.lists)
                self.allowed[item.sha] = self.catalog.sent.get(item.sha, 0) + len(item.data) * (1 + again)
        may_fail = self.edits or self.touched or self.catalog.has_faults() or self.trouble or self.dropped or any(
            item.locked for item in self.items())
        codes = EXIT_CODES_OF_TROUBLE if self.catalog.has_faults() else {0, 69, 75, 77} if may_fail else {0}
        result = self.run("verify", "--repair", "--anew", expect=codes)
        self.check(before, "verify --repair", self.rotten)
        if result.code == 0:
            wrong = self.wrong_files()
            # What a run put in place and had no room to record is for the next run to record.
            require(not wrong or self.trouble, f"verify --repair ended with 0; wrong by hashlib are {wrong}")
            self.touched.clear()

    def do_accept(self, a, b, c):
        """verify --accept records the edited files of a book as they are, and touches none."""
        owners = [item.book for item in self.edits.values() if item and self.is_edited(item)]
        if not owners and b % 2:
            self.do_hand_edit(a, b, c)
            owners = [item.book for item in self.edits.values() if item and self.is_edited(item)]
        book = pick(owners or self.catalog.books, a)
        before, _ = self.begin()
        result = self.run("verify", self.addresses[book.id], "--accept", expect=(0, 66, 75))
        require(self.on_shelf(before) == self.on_shelf(self.check(before, "verify --accept")), "verify --accept touched a file")
        if result.code == 0:
            wrong = [path for path in self.wrong_files([book]) if (self.library / path).is_file()]
            require(not wrong, f"verify --accept ended with 0; not recorded as they are: {wrong}")

    # Files from and for elsewhere.

    def do_adopt(self, a, b, c):
        """A file from elsewhere is recognised as a missing episode, and comes into the library."""
        self.waiting(a)
        there = [self.catalog.known.get(sha, (0, 0))[:2] for sha in self.audio_files().values()]
        missing = [item for item in self.items() if item in self.seen and not item.locked
                   and (item.book.id, item.number) not in there]
        item, way = pick(missing, a), pick(["--copy", "--move"], b)
        if item is None:
            return
        folder = self.incoming / f"{a}-{b}"
        folder.mkdir(exist_ok=True)
        # A number in its name that is another episode's would keep it from being taken for this one.
        (folder / f"{self.section(item):03d} of mine.mp3").write_bytes(item.data)
        before, _ = self.begin()
        is_clear = (self.is_wanted(item) and self.is_sure(item) and not self.edits and not self.trouble
                    and item in self.seen and not self.catalog.has_faults())
        # A catalog that answers with 404 may know the book no longer.
        self.run("adopt", str(folder), "--book", self.addresses[item.book.id], way,
                 expect=(0,) if is_clear else (0, 65, 66, 69, 75) if self.catalog.has_faults() else (0, 65, 69, 75))
        self.check(before, "adopt")
        if not is_clear:
            self.doubt([item])
        else:
            require(item.sha in self.shelved().values(), f"{item} was not adopted")
            require((way == "--copy") == any(folder.iterdir()), f"adopt {way} left {list(folder.iterdir())}")

    def do_export(self, a, b, c):
        """An export is written for each book that has files, names those on disk, and holds no secret."""
        kind = pick(["m3u8", "opf", "metadata", "rss", "csv"], a)
        suffix = {"m3u8": ".m3u8", "opf": ".opf", "metadata": ".json", "rss": ".xml", "csv": ".csv"}[kind]
        for path in self.library.rglob(f"*{suffix}"):
            if ".booksync" not in path.parts:
                path.unlink()
        if not self.run_log:
            # What a killed run had begun to move is moved by whatever changes the library next.
            self.run("export", kind, expect=(0, 75))
        before, _ = self.begin()
        # Of two books that share a folder, by their title or because the listener moved files, one gets no file.
        listed = self.listed(self.catalog.books)
        titles = [row["title"] for row in self.document("list") or []]
        homes = {(book.id, entry["path"].rpartition("/")[0]) for book in self.catalog.books
                 for entry in (listed[book.id] or {}).values() if entry["path"]}
        shared = len(set(titles)) < len(titles) or len({home for _, home in homes}) < len(homes)
        result = self.run("export", kind, "--json", expect=(0, 75) if shared else (0,))
        after = self.check(before, "export")
        require(self.on_shelf(before) == self.on_shelf(after), "export touched audio")
        if result.code != 0:
            return
        files = [path for path in self.library.rglob(f"*{suffix}") if ".booksync" not in path.parts]
        texts = {path: path.read_text(errors="replace") for path in files}
        for path, text in texts.items():
            require("signatureThat" not in text and "tokenThat" not in text, f"{path} holds a secret")
            if kind in ("opf", "rss"):
                XML.fromstring(text)
            elif kind == "metadata":
                json.loads(text)
        for book in self.catalog.books:
            paths = [entry["path"] for entry in (listed[book.id] or {}).values()
                     if entry["path"] and entry["state"] == "finished" and (self.library / entry["path"]).is_file()]
            if paths and not self.touched:
                self.require_exported(kind, book, paths, texts)

    def require_exported(self, kind, book, paths, texts):
        if kind == "m3u8":
            found = {str((file.parent / line).resolve().relative_to(self.library.resolve())) for file, text in texts.items()
                     for line in text.splitlines() if line and not line.startswith("#")}
            require(set(paths) <= found, f"m3u8 lists {found}; on disk of {book.id} are {paths}")
        elif kind == "csv":
            rows = [row for text in texts.values() for row in csv.DictReader(io.StringIO(text))]
            require(set(paths) <= {row["path"] for row in rows}, f"csv lacks some of {paths}")
        else:
            title = self.title(book)
            require(any(title in text for text in texts.values()), f"export {kind} has no file with {title}: {list(texts)}")

    def do_sums(self, a, b, c):
        """A table of digests, judged by sha256sum, of the files that the listener left alone."""
        if self.touched:
            return
        result = self.run("export", "csv", "--output", "-")
        if result.code != 0:
            return
        files = self.audio_files()
        rows = [row for row in csv.DictReader(io.StringIO(result.output)) if row["sha256"] and row["state"] == "finished"]
        count = sum(entry["state"] == "finished" and bool(entry["sha256"])
                    for entries in self.listed(self.catalog.books).values() for entry in (entries or {}).values())
        require(len(rows) == count, f"the table has {len(rows)} files; list has {count}")
        lines = "".join(f"{row['sha256']}  {row['path']}\n" for row in rows
                        if "L/" + row["path"] in files and files["L/" + row["path"]] not in self.edits)
        if lines:
            judge = subprocess.run(["sha256sum", "-c", "--quiet", "--strict"], input=lines, text=True, cwd=self.library,
                                   capture_output=True)
            require(judge.returncode == 0, f"sha256sum: {judge.stdout}{judge.stderr}")
