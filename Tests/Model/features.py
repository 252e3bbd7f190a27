"""Steps: subscriptions, keep rules, naming and its undo, tags and joined files."""
import json
import re
import shutil
import subprocess

from changes import Changes
from world import NAMINGS, pick, require

KEPT = 3  # the newest episodes of a book, which no rule may take


class Features(Changes):
    # Subscriptions by command.

    def do_subscribe(self, a, b, c):
        """A book, or a list of books, is followed from `subscribe` to `unsubscribe`, which leaves its files."""
        name = pick(["13", "list"], b)
        address, state = self.addresses[name], self.subscribed[name]
        verb = "unsubscribe" if state or state is None and a % 2 else "subscribe"
        before, _ = self.begin()
        result = self.run(verb, address, expect=(0, 66) if state is None else (0,))
        after = self.check(before, verb)
        require(self.on_shelf(before) == self.on_shelf(after), f"{verb} touched a file")
        if result.code == 0:
            self.subscribed[name] = verb == "subscribe"
            rows = self.document("subscriptions") or []
            is_listed = any(f"{row['source']}:{row['id']}" == address for row in rows)
            require(is_listed == self.subscribed[name], f"after {verb} {address} subscriptions has {rows}")
        if self.subscribed[name] is not None and c % 2:
            self.settle()
            self.do_mirror(0, 0, 0)

    # Keep rules.

    def do_keep(self, a, b, c):
        """`keep: last 3` moves the older episodes of a book to the trash, and never the three newest."""
        book = self.catalog.book("11")
        if self.keep:
            self.keep = None
            self.write_config()
            self.doubt(book.items)
            return
        while len(book.items) < KEPT + 2:
            book.add(self.random)
        if not self.is_mirrored():
            return
        self.keep = f"last {KEPT}"
        self.write_config()
        there, folder = self.episodes_there(book), f"L/{self.title(book)}/"
        result = self.whole_run(["mirror", "--json"], self.followed())
        if result.code == 0:
            after = self.audio_files()
            paths = [path for _, path in there]
            kept = {path for path in paths if path in after}
            require(set(paths[-KEPT:]) <= kept, f"keep: {self.keep} took one of {paths[-KEPT:]}")
            # What the listener named or edited stays, as does what the catalog does not list or has locked.
            old = [path for _, path in there[:-KEPT] if path.startswith(folder + "0") and path in kept]
            is_plain = all(item and not item.locked for item, _ in there) and not any(self.is_brought_back(item, after) for item in book.items)
            # So do files whose names an undo has restored under another naming.
            require(not (is_plain and old) or self.has_pinned_names, f"keep: {self.keep}, and these older ones are on the shelf: {old}")
        self.doubt(book.items[:-KEPT])

    def is_mirrored(self):
        """Whether a run now ends with 0, so that the next one only does what a new setting asks for."""
        if self.catalog.has_faults():
            return False
        self.settle()
        is_done = self.whole_run(["mirror", "--json"], self.followed()).code == 0
        self.settle()
        return is_done

    def episodes_there(self, book):
        """The book's episodes on disk, in any version, by number: the item, or None if it is not listed now, and its path."""
        found = []
        for path, sha in self.shelved().items():
            owner = self.edits.get(sha)
            key = (owner.book.id, owner.number) if owner else self.catalog.known.get(sha, (0, 0))[:2]
            if key[0] == book.id:
                item = next((item for item in book.items if item.number == key[1] and not owner), None)
                found.append((key[1], path, item))
        return [(item, path) for _, path, item in sorted(found, key=lambda row: row[:2])]

    # Naming.

    def do_naming(self, a, b, c):
        """Another naming renames the files in the next run, and nothing else; undo gives the old names back."""
        naming = pick([naming for naming in NAMINGS if naming != self.naming], a)
        # What a run fetches may have others expire in the next one.
        if not self.is_mirrored() or self.keep and not self.is_mirrored():
            return
        self.naming = naming
        self.write_config()
        before = self.shelved()
        result = self.whole_run(["mirror", "--json"], self.followed())
        if result.code != 0:
            return
        after = self.shelved()
        require(sorted(before.values()) == sorted(after.values()), "a change of naming changed more than names")
        require(not self.catalog.asked_since(self.first_request), "a change of naming asked for audio")
        if not self.has_pinned_names and not self.keep:
            self.require_named(after)
        if result.events[-1]["renamed"] and not self.went_back and b % 2:
            self.settle()
            self.begin()
            self.run("undo")
            require(self.shelved() == before, f"undo after a change of naming: {self.shelved()}, not {before}")
            self.has_pinned_names = True

    def require_named(self, files):
        """Each file that no hand named has the path of the naming."""
        titles = {book: self.title(book) for book in self.followed()}
        for path, sha in files.items():
            key = self.catalog.known.get(sha)
            item = key and next((item for item in self.items() if item.sha == sha), None)
            if item is None or not self.is_sure(item) or item in self.renamed_by_hand:
                continue
            if item.book not in titles or item.book.kind == "directory":
                continue
            title = titles.get(item.book)
            # Where two books have the same title, a file may have its id behind its number.
            pattern = {NAMINGS[0]: r"/{} .*\.mp3", NAMINGS[1]: r"/{}( \[\w+\])?\.mp3",
                       NAMINGS[2]: r"/all/{} .*\.mp3"}[self.naming]
            pattern = re.escape(f"L/{titles[item.book]}") + pattern.format(f"{item.number:03d}")
            require(re.fullmatch(pattern, path), f"{path} is not named by {self.naming}")

    # ffmpeg.

    def do_tag(self, a, b, c):
        """Tags are embedded, the player still plays the file, and --restore gives back the very bytes that were fetched."""
        item = self.present_item(a)
        if item is None or not shutil.which("ffmpeg"):
            return
        before, _ = self.begin()
        path = self.folder / self.paths_of(before, item.sha)[0]
        self.run("tag", self.reference(item))
        probe = self.ffprobe(path, "-show_format")
        title = probe["format"].get("tags", {}).get("title")
        require(title == item.listed_name, f"{path} was tagged, and ffprobe finds the title {title}")
        self.run("tag", self.reference(item), "--restore")
        after = self.check(before, "tag --restore")
        require(self.on_shelf(before) == self.on_shelf(after), "tag --restore did not give the files back as they were")

    def do_join(self, a, b, c):
        """A joined file has a chapter for each episode on disk; the episodes stay as they are."""
        item = self.present_item(a)
        if item is None or not shutil.which("ffmpeg"):
            return
        before, _ = self.begin()
        book, folder = item.book, self.folder / f"joined-{a}"
        folder.mkdir(exist_ok=True)
        self.run("join", self.addresses[book.id], "--format", "mka", "--incomplete", "--output", str(folder))
        after = self.check(before, "join")
        require(self.on_shelf(before) == self.on_shelf(after), "join touched an episode")
        files = sorted(folder.rglob("*.mka"))
        require(len(files) == 1, f"join made {files}")
        chapters = len(self.ffprobe(files[0], "-show_chapters")["chapters"])
        count = len([path for path, sha in self.on_shelf(before).items()
                     if any(other.sha == sha for other in book.items)])
        require(chapters == count, f"the joined file has {chapters} chapters; on disk are {count} episodes")

    def present_item(self, number):
        """An episode of a book of which all is on disk as the catalog has it, right after a run."""
        if not shutil.which("ffprobe") or not self.is_mirrored() or self.keep:
            return None
        there = set(self.shelved().values())
        books = [book for book in self.followed() if all(item.sha in there for item in book.items)
                 and not any(item.book is book for item in self.dropped) and book.kind != "directory"]
        return pick([item for book in books for item in book.items if self.is_sure(item)], number)

    @staticmethod
    def ffprobe(path, *arguments):
        probe = subprocess.run(["ffprobe", "-v", "error", "-of", "json", *arguments, path], capture_output=True, text=True)
        return json.loads(probe.stdout)
