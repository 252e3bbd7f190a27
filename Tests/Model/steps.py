"""What can happen to a library: the program's commands, the catalog's changes, the listener's hand, the machine's faults.

Each step takes three numbers, and picks by them among what is there at the time: so a sequence stays one whatever is taken
out of it.
"""
import csv
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import urllib.request

from audio import audio, sha256
from catalog import NAMES, Fault
from world import DAY, HANG, IS_ROOT, PROXY_FREE, Violation, World, require


def pick(things, number):
    return things[number % len(things)] if things else None


class Steps(World):
    # Commands.

    def begin(self):
        self.first_request = len(self.catalog.asked)
        return self.audio_files(), self.catalog.given

    def do_mirror(self, a, b, c):
        self.whole_run(["mirror", "--json"], self.catalog.books)

    def do_fetch(self, a, b, c):
        book = pick(self.catalog.books, a)
        self.whole_run(["fetch", self.addresses[book.id], "--json"], [book])

    def do_fetch_force(self, a, b, c):
        book = pick(self.catalog.books, a)
        self.whole_run(["fetch", self.addresses[book.id], "--force", "--json"], [book], force=True)

    def do_fetch_one(self, a, b, c):
        item = pick(self.items(), a)
        before, given = self.begin()
        result = self.run("fetch", self.reference(item), "--json")
        if result.code == 0 and self.is_wanted(item) and self.is_sure(item):
            require(item.sha in self.shelved().values() or self.is_edited(item), f"{self.name(item)} is not there")
        self.paused[item] = self.removed[item] = None
        self.check(before, "fetch of one episode")

    def whole_run(self, arguments, books, force=False):
        before, given = self.begin()
        rotten = self.rotten if force else ()
        if force:
            # The trash and the files kept aside may serve; they need not.
            for item in self.items(books):
                self.removed[item] = self.paused[item] = None
        result = self.run(*arguments)
        if result.code in (0, 75) and books is self.catalog.books and not self.has_faults():
            self.touched.clear()
        self.check(before, " ".join(arguments), rotten)
        self.check_run(result, books, given, force)
        if force and result.code == 0:
            for item in self.items(books):
                self.removed[item] = self.paused[item] = False
        return result

    def has_faults(self):
        return any(fault.times > 0 for fault in self.catalog.faults)

    def do_plan_then_mirror(self, a, b, c):
        if self.has_faults():
            return
        if not self.has_store():
            return
        before = self.everything()
        plan = self.run("plan", "--json")
        self.require_unchanged(before, "plan")
        if plan.code != 0:
            return
        result = self.whole_run(["mirror", "--json"], self.catalog.books)
        if result.code != 0:
            return
        done = result.events[-1]
        actions = [action for event in plan.events for action in event.get("actions", [])]
        # What moves and is replaced is counted as replaced; what a run was cut off in is ended before anything is planned.
        replaced = {action["id"] for action in actions if action["action"] == "replace"}
        words = {"fetch": "fetched", "resume": "resumed", "replace": "replaced", "rename": "renamed", "adopt": "adopted"}
        for word, past in words.items():
            planned = sum(action["action"] == word and (word == "replace" or action["id"] not in replaced)
                          for action in actions)
            require(planned == done[past] or self.trouble and word == "adopt",
                    f"{planned} to {word}, says the plan; {done[past]} {past}, the run")

    def require_unchanged(self, before, what):
        after = self.everything()
        if before != after:
            changed = [(path, before.get(path), after.get(path)) for path in before.keys() | after.keys()
                       if before.get(path) != after.get(path)]
            raise Violation(f"{what} changed {changed}")

    def do_look(self, a, b, c):
        """What only reads changes nothing."""
        book, item = pick(self.catalog.books, a), pick(self.items(), b)
        commands = [["list"], ["list", self.addresses[book.id]], ["show", self.addresses[book.id]], ["queue"], ["runs"],
                    ["plan", "--offline"], ["plan"], ["search", "夜航"], ["subscriptions"], ["trash", "list"],
                    ["doctor"], ["mirror", "--dry-run"], ["catalog", self.addresses[book.id]], ["undo", "--dry-run"]]
        if item:
            commands += [["explain", self.reference(item)], ["show", self.reference(item)],
                         ["remove", self.reference(item), "--dry-run"], ["fetch", self.reference(item), "--dry-run"]]
        command = pick(commands, c)
        if not self.has_store():
            return
        before = self.everything()
        self.run(*command, *([] if b % 2 else ["--json"]))
        self.require_unchanged(before, " ".join(command))

    def do_pause(self, a, b, c):
        self.steer("pause", a)

    def do_resume(self, a, b, c):
        self.steer("resume", a)

    def do_cancel(self, a, b, c):
        self.steer("cancel", a)

    def steer(self, verb, number):
        item = pick(self.items(), number)
        if item is None:
            return
        before, _ = self.begin()
        result = self.run(verb, self.reference(item))
        self.check(before, verb)
        if result.code != 0:
            return
        if verb == "pause" and item.sha not in self.shelved().values() and self.removed.get(item) is not True:
            self.paused[item] = True if not self.is_edited(item) and self.removed.get(item, False) is False else None
        elif verb == "resume":
            self.paused[item] = False
        elif verb == "cancel":
            self.paused[item] = None

    def do_remove(self, a, b, c):
        item = pick(self.items(), a)
        if item is None:
            return
        before, _ = self.begin()
        result = self.run("remove", self.reference(item), "--yes")
        self.check(before, "remove")
        if result.code == 0:
            self.removed[item] = True
            self.paused[item] = None
            require(item.sha not in self.shelved().values() or self.is_edited(item) or self.touched,
                    f"{self.name(item)} was removed, and is there: {result.errors}{open('/proc/locks').read()}")

    def do_forget(self, a, b, c):
        item = pick([item for item in self.items() if self.removed.get(item)] or self.items(), a)
        if item is None:
            return
        before, _ = self.begin()
        result = self.run("remove", self.reference(item), "--forget")
        after = self.check(before, "remove --forget")
        require(self.on_shelf(before) == self.on_shelf(after), "remove --forget touched a file")
        if result.code == 0:
            self.removed[item] = False
            self.paused[item] = None if self.paused.get(item) else False

    def do_remove_undo(self, a, b, c):
        item = pick(self.items(), a)
        # What was removed last is told by the clock.
        if item is None or self.touched or self.went_back or item.sha not in self.shelved().values():
            return
        before, _ = self.begin()
        if self.run("remove", self.reference(item), "--yes").code != 0:
            return
        self.check(before, "remove")
        if self.library_path(before, item.sha) == self.library_path(self.audio_files(), item.sha):
            return
        result = self.run("undo")
        require(result.code == 0, f"undo ends with {result.code}: {result.errors}")
        after = self.check(before, "undo")
        require(self.on_shelf(before) == self.on_shelf(after), "undo brought back another shelf")

    @staticmethod
    def on_shelf(files):
        """Without the trash, which may come to its end meanwhile, and the files kept aside."""
        return {path: sha for path, sha in files.items() if "/.booksync/" not in path}

    @staticmethod
    def library_path(files, sha):
        return sorted(path for path, other in files.items() if other == sha and "/.booksync/" not in path)

    def do_restore(self, a, b, c):
        before, _ = self.begin()
        result = self.run("undo" if a % 2 else "trash", *([] if a % 2 else ["restore"]))
        self.check(before, "undo" if a % 2 else "trash restore")
        if result.code in (0, 75):
            self.removed = {item: None for item in self.removed}

    def do_empty(self, a, b, c):
        before, _ = self.begin()
        trash = {sha for path, sha in before.items() if "/.booksync/trash/" in path}
        if self.run("trash", "empty", "--yes").code == 0:
            # What a lost store knew of the trash nobody knows any more; doctor names it.
            require(self.had_lost_store or not any("/.booksync/trash/" in path for path in self.audio_files()),
                    "the trash is not empty")
        self.check(before, "trash empty", trash)

    def do_verify(self, a, b, c):
        before, _ = self.begin()
        wrong = self.wrong_files()
        result = self.run("verify", "--anew")
        self.check(before, "verify")
        if wrong is not None and result.code in (0, 75):
            require((result.code == 75) == bool(wrong),
                    f"verify ends with {result.code}; wrong by hashlib are {wrong}: {result.errors}")

    def wrong_files(self):
        """What is recorded as whole and is not so on disk."""
        wrong = []
        for book in self.catalog.books:
            for entry in (self.listed(book) or {}).values():
                if entry["path"] and entry["sha256"]:
                    path = self.library / entry["path"]
                    if not path.is_file() or entry["sha256"] not in (None, self.digest(path)):
                        wrong.append(entry["path"])
        return wrong

    def do_repair(self, a, b, c):
        before, given = self.begin()
        for item in self.items():
            # What is bad is asked for again; the trash may hold it.
            if item.sha not in self.shelved().values():
                self.allowed[item.sha] = self.catalog.sent.get(item.sha, 0) + len(item.data)
        result = self.run("verify", "--repair", "--anew")
        self.check(before, "verify --repair", self.rotten)
        if result.code == 0:
            wrong = self.wrong_files()
            # What a run put in place and had no room to record is for the next run to record.
            require(not wrong or self.trouble, f"verify --repair is done; wrong by hashlib are {wrong}")
            self.touched.clear()

    def do_accept(self, a, b, c):
        book = pick(self.catalog.books, a)
        before, _ = self.begin()
        self.run("verify", self.addresses[book.id], "--accept")
        require(self.on_shelf(before) == self.on_shelf(self.check(before, "verify --accept")), "verify --accept touched a file")

    def do_adopt(self, a, b, c):
        there = [self.catalog.known.get(sha, (0, 0))[:2] for sha in self.audio_files().values()]
        missing = [item for item in self.items() if (item.book.id, item.number) not in there and not item.locked]
        item, way = pick(missing, a), pick(["--copy", "--move"], b)
        if item is None or not self.listed(item.book):
            return
        folder = self.incoming / f"{a}-{b}"
        folder.mkdir(exist_ok=True)
        (folder / f"{item.number:03d} of mine.mp3").write_bytes(item.data)
        before, _ = self.begin()
        result = self.run("adopt", str(folder), "--book", self.addresses[item.book.id], way)
        self.check(before, "adopt")
        if result.code == 0 and self.is_wanted(item) and self.is_sure(item) and not self.edits and not self.trouble:
            require(item.sha in self.shelved().values(), f"{self.name(item)} was not adopted: {result.errors}")

    def do_export(self, a, b, c):
        kind = pick(["m3u8", "opf", "metadata", "rss", "csv"], a)
        before, _ = self.begin()
        self.run("export", kind)
        after = self.check(before, "export")
        require(self.on_shelf(before) == self.on_shelf(after), "export touched audio")
        for path in self.library.rglob("*"):
            if path.is_file() and path.suffix in (".m3u8", ".opf", ".json", ".xml", ".csv"):
                text = path.read_text(errors="replace")
                require("signatureThat" not in text and "tokenThat" not in text, f"{path} holds a secret")

    def do_sums(self, a, b, c):
        """A table of digests, judged by sha256sum, of what nobody touched."""
        if self.touched:
            return
        result = self.run("export", "csv", "--output", "-")
        if result.code != 0:
            return
        files = self.audio_files()
        rows = [row for row in csv.DictReader(io.StringIO(result.output)) if row["sha256"] and row["state"] == "finished"]
        lines = "".join(f"{row['sha256']}  {row['path']}\n" for row in rows
                        if "L/" + row["path"] in files and files["L/" + row["path"]] not in self.edits)
        if lines:
            judge = subprocess.run(["sha256sum", "-c", "--quiet", "--strict"], input=lines, text=True, cwd=self.library,
                                   capture_output=True)
            require(judge.returncode == 0, f"sha256sum: {judge.stdout}{judge.stderr}")

    # What happens to a run.

    def interrupted(self, number, arguments):
        """Starts a run and waits until so many bytes were given, or it ended; returns it and whether it is held."""
        catalog = self.catalog
        catalog.held.clear()
        catalog.release.clear()
        catalog.is_hung_up = False
        catalog.hold_at = catalog.given + number
        process = self.start(*arguments)
        end = time.monotonic() + HANG
        while not catalog.held.is_set() and process.poll() is None and time.monotonic() < end:
            # The pipe must not fill up; what it holds is a few lines.
            catalog.held.wait(0.02)
        return process, catalog.held.is_set() and process.poll() is None

    def released(self, to_nobody=False):
        self.catalog.is_hung_up = to_nobody
        self.catalog.hold_at = None
        self.catalog.release.set()

    def do_kill(self, a, b, c):
        """A run is killed when so many bytes were given."""
        kind = pick([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT], b)
        before, _ = self.begin()
        process, is_held = self.interrupted(a * 3, ["mirror", "--json"])
        if is_held:
            self.require_all_received()
        self.killed(process, kind, is_held)
        self.check(before, f"a run ended by {kind.name}")

    def killed(self, process, kind, is_held=False):
        if process.poll() is None:
            process.send_signal(kind)
        self.released(to_nobody=is_held)
        result = self.ended(process, ["mirror", "--json"])
        if kind != signal.SIGKILL and result.code in (0, 75):
            self.touched.clear()

    def require_all_received(self):
        """All bytes that were given away come to be on disk, though the run still waits for more."""
        end = time.monotonic() + HANG
        while time.monotonic() < end:
            there, parts = set(self.shelved().values()), self.partials()
            lost = {}
            for item in self.items():
                sent, part = self.catalog.sent.get(item.sha, 0), parts.get(item.sha, 0)
                # What may be given in all is what was given before and is not there any more, and once the whole of it.
                if item.sha not in there and sent > self.allowed[item.sha] - len(item.data) + part:
                    lost[self.name(item)] = (sent, part)
            if not lost:
                return
            time.sleep(0.01)
        raise Violation(f"bytes that were given away are not on disk: {lost}")

    def do_kill_early(self, a, b, c):
        """A run is killed after some milliseconds, wherever it is."""
        before, _ = self.begin()
        process = self.start("mirror", "--json")
        time.sleep((a % 120) / 1000)
        self.killed(process, signal.SIGKILL)
        self.check(before, "a run killed early")

    def do_stop(self, a, b, c):
        """A run sleeps while another is tried, and others look."""
        before, given = self.begin()
        process, is_held = self.interrupted(a, ["mirror", "--json"])
        if is_held:
            process.send_signal(signal.SIGSTOP)
            other = self.run("fetch", self.addresses["11"], "--json")
            require(other.code == 75, f"beside a run that holds the lock another ends with {other.code}: {other.errors}")
            self.run(*pick([["list"], ["queue"], ["doctor"], ["plan", "--offline"]], b))
            process.send_signal(signal.SIGCONT)
        self.released()
        result = self.ended(process, ["mirror", "--json"])
        if result.code in (0, 75) and not self.has_faults():
            self.touched.clear()
        self.check(before, "a run that slept")
        self.check_run(result, self.catalog.books, given)

    def do_steered(self, a, b, c):
        """An episode is paused, cancelled or removed while a run is under way."""
        item, verb = pick(self.items(), b), pick(["pause", "cancel", "remove"], c)
        if item is None:
            return
        before, _ = self.begin()
        process, is_held = self.interrupted(a, ["mirror", "--json"])
        result = self.run(verb, self.reference(item), *(["--yes"] if verb == "remove" else []))
        if is_held:
            time.sleep((a % 500) / 1000)
        self.released()
        self.ended(process, ["mirror", "--json"])
        if verb == "remove":
            self.removed[item] = True if result.code == 0 else None
        self.paused[item] = None
        self.allowed[item.sha] = self.allowed.get(item.sha, 0) + len(item.data)
        self.check(before, f"{verb} during a run")

    def do_two_runs(self, a, b, c):
        """Two runs at once, one of which waits."""
        before, _ = self.begin()
        first, second = pick(self.catalog.books, a), pick(self.catalog.books, b)
        commands = [["fetch", self.addresses[first.id], "--json"], ["fetch", self.addresses[second.id], "--json"]]
        processes = [(self.start(*command, "--wait", "60s"), command) for command in commands]
        for process, command in processes:
            self.ended(process, command)
        self.check(before, "two runs at once")

    def do_serve(self, a, b, c):
        """A button of the shelf's pages, and the end of the server, gentle or not."""
        before, given = self.begin()
        process = self.start("serve", "--listen", "127.0.0.1:0")
        try:
            address = process.stdout.readline().strip().split(" ")[-1].rstrip("/")
            verb = None
            if not address and process.wait() == 74 and self.is_store_lost():
                return
            require(address.startswith("http://"), f"serve does not say where it is: {address}")
            item, book = pick(self.items(), b), pick(self.catalog.books, b)
            ref = [self.addresses[book.id]]
            deeds = [("mirror", {}), ("fetch", {"refs": ref}), ("pause", {"refs": ref}), ("resume", {"refs": ref}),
                     ("cancel", {"refs": ref}), ("mirror", {}), ("mirror", {})]
            verb, body = pick(deeds, a)
            ended = len(self.get(address, "runs?last=1000"))
            answer = self.post(address, verb, body)
            if verb in ("mirror", "fetch") and answer == 200:
                if c % 3 == 0:
                    time.sleep((c % 97) / 1000)
                else:
                    self.wait_for_run(address, ended, process)
            elif answer == 200:
                for item in book.items:
                    self.paused[item] = False if verb == "resume" else None
            process.send_signal(signal.SIGKILL if c % 2 else signal.SIGTERM)
        except BaseException:
            process.kill()
            raise
        finally:
            self.released()
            result = self.ended(process, ["serve"])
        require(c % 2 or result.code in (0, 143), f"serve ends with {result.code}")
        self.check(before, f"serve, asked to {verb}")

    def get(self, address, path):
        return json.load(PROXY_FREE.open(f"{address}/api/v1/{path}", timeout=HANG))

    def post(self, address, verb, body):
        request = urllib.request.Request(
            f"{address}/api/v1/{verb}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        try:
            return PROXY_FREE.open(request, timeout=HANG).status
        except urllib.error.HTTPError as error:
            require(error.code in (404, 422), f"{verb} is answered {error.code}: {error.read()}")
            return error.code

    def wait_for_run(self, address, count, process):
        end = time.monotonic() + HANG
        while time.monotonic() < end:
            runs = self.get(address, "runs?last=1000")
            if len(runs) > count and runs[-1]["state"] != "running":
                return
            require(process.poll() is None, "serve ended by itself")
            time.sleep(0.02)
        raise Violation(f"the run that was asked for does not end: {runs[-1:]}")

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
        book = pick(self.catalog.books, a)
        if book.kind != "directory":
            for item in book.items:
                item.salt += 1

    def do_audio_fault(self, a, b, c):
        self.trouble = True
        self.catalog.faults.append(Fault(pick(["503", "404", "403", "closed", "cut", "cut"], a), 1 + b % 3))

    def do_list_fault(self, a, b, c):
        self.trouble = True
        self.catalog.faults.append(Fault(pick(["503", "closed", "cut", "404"], a), 1 + b % 3, lists=True))

    # The listener's hand.

    def pick_file(self, number):
        path = pick(sorted(self.shelved()), number)
        return self.folder / path if path else None

    def do_hand_rename(self, a, b, c):
        path = self.pick_file(a)
        if path:
            path.rename(path.with_name(f"mine {b % 7} {path.name}"[-120:]))
            self.touched |= {str(path.relative_to(self.folder))}

    def do_hand_move(self, a, b, c):
        path = self.pick_file(a)
        if path:
            folder = self.library / pick(["moved", "Book 11/disc 2", "Book 12", "elsewhere/deep"], b)
            folder.mkdir(parents=True, exist_ok=True)
            # Where another file was before, it would be taken for that one, edited; where one is to come, it is in its way.
            target = folder / (path.name if folder == path.parent else f"moved {path.name}"[-120:])
            if not target.exists() and str(target.relative_to(self.folder)) not in self.touched:
                path.rename(target)
                self.touched |= {str(path.relative_to(self.folder))}

    def do_hand_delete(self, a, b, c):
        path = self.pick_file(a)
        if path:
            path.unlink()
            self.touched |= {str(path.relative_to(self.folder))}

    def do_hand_edit(self, a, b, c):
        path = self.pick_file(a)
        if path:
            item = self.owner(path)
            with open(path, "ab") as file:
                file.write(f"edited {a} {b}".encode())
            self.edited(path, item)

    def do_rot(self, a, b, c):
        """One bit, though nobody wrote to the file."""
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
        self.touched.add(str(path.relative_to(self.folder)))

    # The machine.

    def do_save_store(self, a, b, c):
        store = self.library / ".booksync/store.sqlite"
        if store.exists():
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

    def do_lose_store(self, a, b, c):
        folder = self.library / ".booksync"
        for path in folder.glob("store.sqlite*") if folder.is_dir() else []:
            path.unlink()
            self.forget_wishes()

    def forget_wishes(self):
        """The store is another one: what was removed or paused since nobody can say."""
        for item in self.items() + self.dropped:
            self.removed[item] = self.paused[item] = None
        self.touched |= set(self.shelved())
        self.had_lost_store = True
        # Without what the store noted of them they are no more than bytes of some version.
        self.stale_partials = set(self.partials())

    def do_clock(self, a, b, c):
        days = pick([0.1, 1, 3, 10, -1, -3, 40, -400, 400], a)
        self.offset += int(days * DAY)
        self.went_back = self.went_back or days < 0
        if days > 29:
            self.trash_may_empty = True
        with open(self.folder / "clock", "r+b") as file:
            file.write(self.offset.to_bytes(8, "little", signed=True))

    def do_full_disk(self, a, b, c):
        """A run on a disk with little room left."""
        if not self.disk:
            return
        facts = os.statvfs(self.library)
        used = (facts.f_blocks - facts.f_bfree) * facts.f_frsize // 1024
        self.trouble = True
        before, given = self.begin()
        self.resize(used + 4 + a % 200)
        try:
            result = self.run("mirror", "--json")
        finally:
            self.resize(64 << 10)
        # The trash is the first to go, and the run says how much of it went.
        said = sum(int(count) for count in re.findall(r"(\d+) files? deleted from the trash", result.errors + result.output))
        after = self.audio_files()
        gone = [path for path in before if "/.booksync/trash/" in path and path not in after]
        require(len(gone) <= said or self.trash_may_empty, f"{gone} went from the trash, and the run says {said}")
        self.check(before, "a run on a full disk", {before[path] for path in gone})
        self.check_run(result, self.catalog.books, given, is_clean=False)

    # The end.

    def heal(self):
        """All is well again, and what is wanted is to be had: then it is all there, and stays."""
        for fault in self.catalog.faults:
            fault.times = 0
        self.run("resume", "--all")
        self.run("mirror")
        self.settle()
        for item in self.items():
            self.removed[item] = self.paused[item] = None
        result = self.forced()
        if result.code == 75 and "is left alone" in result.errors:
            # What the listener edited and then removed stands where the episode is to be again.
            for path, sha in self.shelved().items():
                if sha in self.edits:
                    (self.folder / path).unlink()
            result = self.forced()
        require(result.code == 0, f"all is well, and the last run ends with {result.code}: {result.errors}")
        self.settle()
        self.do_repair(0, 0, 0)
        there = self.shelved()
        missing = [self.name(item) for item in self.items() if not item.locked and item.sha not in there.values() and not self.is_edited(item)]
        require(not missing, f"the last run is done; missing are {missing}")
        self.touched.clear()
        self.removed.clear()
        self.paused.clear()
        for book in self.catalog.books:
            self.check_list(book)
        self.settle()
        before, given = self.begin()
        result = self.whole_run(["mirror", "--json"], self.catalog.books)
        require(result.code == 0 and result.events[-1]["bytes_received"] == 0 and self.catalog.given == given,
                f"there was nothing to do, and the run did it: {result.errors}")
        asked = [target for target, _ in self.catalog.asked[self.first_request:] if target in self.catalog.listed]
        require(not asked, f"nothing was to do; asked for was {asked}")
        result = self.run("verify", "--anew")
        # What the catalog no longer gives cannot be repaired.
        is_beyond_repair = any(item is None or item in self.dropped or item.locked for item in self.edits.values())
        require(result.code == 0 or is_beyond_repair, f"verify finds something at the end: {result.errors}")
        left = [self.name(item) for item in self.items() if item.sha in self.partials() and not item.locked]
        require(not left, f"left over are parts of {left}")
        current = {item.sha for item in self.items() if not item.locked}
        for sha in current & set(there.values()):
            paths = [path for path, other in there.items() if other == sha]
            require(len(paths) == 1, f"{self.catalog.known[sha]} is there {len(paths)} times: {paths}")
        for path, sha in there.items():
            key = self.catalog.known.get(sha)
            if key and sha not in current and any((i.book.id, i.number) == key[:2] and not i.locked for i in self.items()):
                raise Violation(f"{path} is left of an older version, {key}")
        self.judge(there)

    def forced(self):
        self.settle()
        before = self.audio_files()
        result = self.run("mirror", "--force", "--json")
        self.check(before, "the last run", self.rotten)
        return result

    def judge(self, there):
        """What other programs say of the store and the files."""
        store = self.library / ".booksync/store.sqlite"
        if shutil.which("sqlite3"):
            shell = subprocess.run(
                ["sqlite3", store, "PRAGMA integrity_check; PRAGMA foreign_key_check;"], capture_output=True, text=True)
            require(shell.stdout.strip() == "ok", f"sqlite3: {shell.stdout}{shell.stderr}")
        files = [path for path, sha in there.items() if sha in self.catalog.known]
        if files and shutil.which("mpg123"):
            player = subprocess.run(["mpg123", "-q", "-t", *files], cwd=self.folder, capture_output=True, text=True)
            require(player.returncode == 0 and not player.stderr, f"mpg123: {player.stderr}")


# How often each step is taken.
WEIGHTS = {
    "mirror": 8, "fetch": 6, "fetch_force": 2, "fetch_one": 3, "plan_then_mirror": 3, "look": 6, "pause": 3, "resume": 2,
    "cancel": 2, "remove": 4, "forget": 2, "remove_undo": 2, "restore": 2, "empty": 1, "verify": 2, "repair": 2,
    "accept": 1, "adopt": 2, "export": 2, "sums": 2, "kill": 6, "kill_early": 3, "stop": 2, "steered": 3, "two_runs": 2,
    "serve": 4, "add": 6, "drop": 3, "relist": 2, "rename": 3, "swap_names": 2, "new_version": 4, "lock": 2, "rotate": 2,
    "audio_fault": 2, "list_fault": 2, "hand_rename": 3, "hand_move": 2, "hand_delete": 3, "hand_edit": 3, "rot": 1,
    "save_store": 2, "restore_store": 1, "lose_store": 1, "clock": 2, "full_disk": 2,
}
