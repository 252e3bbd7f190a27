"""Steps: what the catalog, the listener's own hands and the machine change."""
import os
import random
import re
import shutil

from catalog import NAMES, Fault
from users import Users
from world import DAY, pick, require


class Changes(Users):
    # The catalog.

    def do_add(self, a, b, c):
        pick(self.catalog.books, a).add(random.Random(b))

    def do_drop(self, a, b, c):
        item = pick(self.items(), a)
        if item and len(item.book.items) > 1:
            item.book.items.remove(item)
            self.dropped.append(item)

    def do_relist(self, a, b, c):
        item = pick(self.dropped, a)
        if item and all(other.number != item.number for other in item.book.items):
            self.dropped.remove(item)
            item.book.items.append(item)
            item.book.items.sort(key=lambda item: item.number)

    def do_list_change(self, a, b, c):
        """The list of books names another one, or one less; never none."""
        books = [book for book in self.catalog.books if book.is_on_list is not None]
        book = pick(books, a)
        if not book.is_on_list or all(book.is_on_list for book in books):
            book.is_on_list = not book.is_on_list

    def do_rename(self, a, b, c):
        item = pick([item for item in self.items() if item.book.kind != "directory"], a)
        if item:
            item.name = pick(NAMES, b).format(item.number)

    def do_swap_names(self, a, b, c):
        book = pick([book for book in self.catalog.books if book.kind == "book-resource"], a)
        if len(book.items) > 1:
            first, second = book.items[b % len(book.items)], book.items[c % len(book.items)]
            first.name, second.name = second.name, first.name

    def do_new_version(self, a, b, c):
        item = pick(self.items(), a)
        if item:
            item.version += 1
            item.frames += 1 + b % 5

    def do_lock(self, a, b, c):
        item = pick([item for item in self.items() if item.book.kind == "book-resource"], a)
        if item:
            item.locked = not item.locked

    def do_rotate(self, a, b, c):
        """All addresses of a book change, as those of signed URLs do."""
        book = pick(self.catalog.books, a)
        if book.kind != "directory":
            for item in book.items:
                item.salt += 1

    def do_audio_fault(self, a, b, c):
        self.trouble = True
        self.catalog.faults.append(Fault(pick(["503", "404", "403", "closed", "cut", "cut", "429"], a), 1 + b % 3))

    def do_list_fault(self, a, b, c):
        self.trouble = True
        self.catalog.faults.append(Fault(pick(["503", "closed", "cut", "404", "429"], a), 1 + b % 3, lists=True))

    # The listener's hands.

    def pick_file(self, number):
        path = pick(sorted(self.shelved()), number)
        return self.folder / path if path else None

    def touch(self, path):
        self.touched.add(str(path.relative_to(self.folder)))

    def do_hand_rename(self, a, b, c):
        path = self.pick_file(a)
        if path:
            self.renamed_by_hand.add(self.owner(path))
            path.rename(path.with_name(f"mine {b % 7} {path.name}"[-120:]))
            self.touch(path)

    def do_hand_move(self, a, b, c):
        path = self.pick_file(a)
        if path:
            folder = self.library / pick(["moved", "Book 11/disc 2", "Book 12", "elsewhere/deep"], b)
            folder.mkdir(parents=True, exist_ok=True)
            # Where another file was before, it would be taken for that one, edited; where one is to come, it is in its way.
            target = folder / (path.name if folder == path.parent else f"moved {path.name}"[-120:])
            if not target.exists() and str(target.relative_to(self.folder)) not in self.touched:
                self.renamed_by_hand.add(self.owner(path))
                path.rename(target)
                self.touch(path)

    def do_hand_delete(self, a, b, c):
        path = self.pick_file(a)
        if path:
            # Until a run looks, the store has it as finished.
            self.seen.discard(self.owner(path))
            path.unlink()
            self.touch(path)

    def do_hand_edit(self, a, b, c):
        path = self.pick_file(a)
        if path:
            item = self.owner(path)
            with open(path, "ab") as file:
                file.write(f"edited {a} {b}".encode())
            self.edited(path, item)

    def do_rot(self, a, b, c):
        """One bit changes without a write."""
        path = self.pick_file(a)
        if path and path.stat().st_size > 600:
            item, facts = self.owner(path), path.stat()
            with open(path, "r+b") as file:
                file.seek(500)
                byte = file.read(1)[0]
                file.seek(500)
                file.write(bytes([byte ^ 1]))
            os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
            self.edited(path, item)
            self.rotten.add(self.digest(path))

    def owner(self, path):
        sha = self.digest(path)
        key = self.catalog.known.get(sha)
        if key is None:
            return self.edits.get(sha)
        return next((item for item in self.items() + self.dropped if (item.book.id, item.number) == key[:2]), None)

    def edited(self, path, item):
        self.edits[self.digest(path)] = item
        self.touch(path)

    # The machine.

    def do_save_store(self, a, b, c):
        store = self.library / ".booksync/store.sqlite"
        if self.is_store_whole and store.exists():
            self.run("list")
            self.saved = {path.name: path.read_bytes() for path in store.parent.glob("store.sqlite*")
                          if not path.name.endswith("-shm")}

    def do_restore_store(self, a, b, c):
        folder = self.library / ".booksync"
        if self.saved and folder.is_dir():
            for path in folder.glob("store.sqlite*"):
                path.unlink()
            for name, data in self.saved.items():
                (folder / name).write_bytes(data)
            self.forget_wishes()
            self.is_store_whole = True

    def do_lose_store(self, a, b, c):
        folder = self.library / ".booksync"
        # A known defect: by a copy of the store from before an episode came back it is removed though it is there.
        if any(is_removed is not True for is_removed in self.removed.values()):
            shutil.rmtree(folder / "backup", ignore_errors=True)
        for path in folder.glob("store.sqlite*") if folder.is_dir() else []:
            path.unlink()
            self.forget_wishes()

    def forget_wishes(self):
        """The store is another one: the model cannot know what is removed, paused or subscribed to."""
        self.doubt(self.items() + self.dropped)
        self.touched |= set(self.shelved())
        self.had_lost_store, self.is_store_whole = True, False
        # Without what the store noted of them they are no more than bytes of some version.
        self.stale_partials = set(self.partials())
        self.seen.clear()
        self.has_pinned_names = True
        self.note_unknown_run()
        self.positions.clear()
        self.subscribed.update({"13": None, "list": None})
        self.requested |= set(self.catalog.books)

    def do_clock(self, a, b, c):
        days = pick([0.1, 1, 3, 10, -1, -3, 40, -400, 400], a)
        self.offset += int(days * DAY)
        self.went_back = self.went_back or days < 0
        with open(self.folder / "clock", "r+b") as file:
            file.write(self.offset.to_bytes(8, "little", signed=True))
        self.cookies.clear()    # A login lasts for 30 days.

    def do_full_disk(self, a, b, c):
        """A run on a disk with little room: it deletes nothing but from the trash, and reports how much."""
        if not self.has_small_disk:
            return
        facts = os.statvfs(self.library)
        used = (facts.f_blocks - facts.f_bfree) * facts.f_frsize // 1024
        self.trouble = True
        before, given = self.begin()
        self.resize(used + 4 + a % 200)
        try:
            result = self.run("mirror", "--json", expect=self.run_codes() | {73, 74})
        finally:
            self.resize(64 << 10)
        self.note_unknown_run()
        after = self.audio_files()
        gone = [path for path, sha in self.in_trash(before).items() if path not in after and sha not in after.values()]
        expired = [path for path in gone if self.has_expired(path)]
        reported = self.reported_from_trash(result)
        require(len(gone) - len(expired) <= reported, f"{gone} went from the trash, and the run reports {reported}")
        self.check(before, "a run on a full disk", {before[path] for path in gone})
        self.check_run(result, self.followed(), given, is_clean=False)

    @staticmethod
    def reported_from_trash(result):
        """How many files the run reports that it deleted from the trash."""
        return sum(int(count) for count in re.findall(r"(\d+) files? deleted from the trash", result.errors + result.output))
