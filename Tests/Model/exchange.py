"""Steps: what goes between libraries and programs: a book moves to another library and back, an archive is imported."""
import json
import signal
import time

from features import Features
from world import pick, require


class Exchange(Features):
    def do_import(self, a, b, c):
        """What another program's archive has, and has no file of, counts as removed: it is not fetched."""
        book = self.catalog.book("serial")
        there = {self.catalog.known[sha][:2] for sha in self.audio_files().values() if sha in self.catalog.known}
        items = [item for item in book.items if (book.id, item.number) not in there] or [book.add(self.random)]
        item = pick(items, a)
        # Of an edited file nobody knows here whose it is.
        if self.catalog.has_faults() or self.edits or item.sha in self.partials():
            return
        self.settle()
        archive = self.folder / "archive.json"
        # podcast-dl's keys: host and path of the feed, and the guid.
        archive.write_text(json.dumps([f"127.0.0.1/serial.xml-{item.id}"]))
        before, _ = self.begin()
        result = self.run("import", "podcast-dl", str(archive), "--book", self.addresses["serial"], "--no-subscribe")
        after = self.check(before, "import")
        require(self.on_shelf(before) == self.on_shelf(after), "import of an archive touched a file")
        if result.code == 0:
            self.removed[item] = True
            self.paused[item] = None
            self.is_store_whole = True

    def do_move(self, a, b, c):
        """A book moves to another library and back: each has it whole or not at all, and nothing is fetched."""
        if not self.is_mirrored() or self.keep:
            return
        book = self.catalog.book("12")
        before, _ = self.begin()
        entries = self.listed([book])["12"] or {}
        paths = [entry["path"] for entry in entries.values() if f"L/{entry['path']}" in before]
        if not paths or self.edits:
            return
        if c % 2:
            process = self.start_between("move", self.addresses["12"], "--to", "attic")
            time.sleep(self.last_run_seconds * (a % 100) / 100)
            process.send_signal(signal.SIGKILL)
            self.ended(process, ["move"], {0})
        self.ended(self.start_between("move", self.addresses["12"], "--to", "attic"), ["move"], {0})
        for path in paths:
            require(not (self.library / path).exists(), f"{path} was moved, and is still in the old library")
            moved = self.folder / "attic" / path
            require(moved.is_file() and self.digest(moved) == before[f"L/{path}"],
                    f"{path} was moved, and is not in the new library")
        rows = json.loads(self.ended(self.start_between("list", "--json"), ["list"], {0}).output)
        homes = [row["library"] for row in rows if row["id"] == "12"]
        require(homes == ["attic"], f"12 was moved to attic, and list has it in {homes}")
        self.ended(self.start_between("move", self.addresses["12"], "--to", "home"), ["move"], {0})
        after = self.check(before, "move")
        require(self.on_shelf(before) == self.on_shelf(after), "a book that moved there and back is not as it was")
        again = self.listed([book])["12"]
        require(again == entries, f"a book that moved there and back is listed as {again}, and was {entries}")

    def start_between(self, *arguments):
        """Starts a command that knows both libraries."""
        (self.folder / "attic").mkdir(exist_ok=True)
        config = self.folder / "two.yaml"
        config.write_text(f"libraries: {{ home: {self.library}, attic: {self.folder}/attic }}\nlibrary: home\n"
                          + self.config.read_text())
        config.chmod(0o600)
        command = self.command(*arguments)
        end = len(command) - 4
        return self.start_command([*command[:end], "--config", str(config)])
