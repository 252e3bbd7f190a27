"""The end of a sequence: all is well again, and everything wanted must be there, whole, once."""
import shutil
import subprocess

from rules import Rules
from world import require


class Ending(Rules):
    def heal(self):
        """Ends all faults, takes all wishes back and fetches everything; then the next run must do nothing."""
        for fault in self.catalog.faults:
            fault.times = 0
        self.keep = None
        self.write_config()
        self.run("resume", "--all", expect=(0, 66))
        self.run("mirror", expect=self.run_codes() | {75})
        for name, state in self.subscribed.items():
            if state is None:
                self.run("subscribe", self.addresses[name])
                self.subscribed[name] = True
                # A file that the lost store had is recognised first, and replaced by the run after it where it is outdated.
                self.run("mirror", expect=self.run_codes() | {75})
        self.settle()
        self.doubt(self.items())
        result = self.forced()
        if result.code == 75:
            # What the listener edited and then removed is where the episode is to be again.
            for path, sha in self.shelved().items():
                if sha in self.edits:
                    (self.folder / path).unlink()
            result = self.forced()
        require(result.code == 0, f"all is well, and the last run ends with {result.code}: {result.errors}")
        self.trouble = False
        self.settle()
        self.do_repair(0, 0, 0)
        there, books = self.shelved(), self.followed()
        missing = [str(item) for item in self.items(books)
                   if not item.locked and item.sha not in there.values() and not self.is_edited(item, there)
                   and not self.is_brought_back(item, there)]
        require(not missing, f"the last run ended with 0; missing are {missing}")
        self.touched.clear()
        self.removed.clear()
        self.paused.clear()
        # What is locked cannot be fetched, and stays removed if it was.
        self.doubt([item for item in self.items() if item.locked])
        self.check_list(books, is_complete=True)
        self.settle()
        _, given = self.begin()
        result = self.whole_run(["mirror", "--json"], books)
        require(result.code == 0 and result.events[-1]["bytes_received"] == 0 and self.catalog.given == given,
                f"there was nothing to do, and the run did something: {result.errors}")
        asked = self.catalog.asked_since(self.first_request)
        require(not asked, f"there was nothing to do; asked for was {[str(item) for item in asked]}")
        # What the catalog no longer gives cannot be repaired.
        is_beyond_repair = any(
            item is None or item in self.dropped or item.locked or item.book not in books for item in self.edits.values())
        self.run("verify", "--anew", expect=(0, 75) if is_beyond_repair else (0,))
        left = [str(item) for item in self.items(books) if item.sha in self.partials() and not item.locked]
        require(not left, f"left over are parts of {left}")
        self.require_once(there)
        self.judge(there)

    def require_once(self, there):
        """Each episode is on the shelf once, and no older version beside it."""
        current = {item.sha for item in self.items() if not item.locked}
        for sha in current & set(there.values()):
            paths = [path for path, other in there.items() if other == sha]
            require(len(paths) == 1, f"{self.catalog.known[sha]} is there {len(paths)} times: {paths}")
        for path, sha in there.items():
            key = self.catalog.known.get(sha)
            is_old = key and sha not in current and sha not in self.brought_back and any(
                (item.book.id, item.number) == key[:2] and not item.locked for item in self.items(self.followed()))
            require(not is_old, f"{path} is left of an older version, {key}")

    def forced(self):
        self.settle()
        before, _ = self.begin()
        self.forbidden.clear()
        result = self.run("mirror", "--force", "--json", expect=(0, 75) if self.edits else (0,))
        self.note_run(["mirror"], result.code)
        self.check(before, "the last run", self.rotten)
        return result

    def judge(self, there):
        """What sqlite3 and mpg123 say of the store and of the files."""
        store = self.library / ".booksync/store.sqlite"
        if shutil.which("sqlite3"):
            shell = subprocess.run(
                ["sqlite3", store, "PRAGMA integrity_check; PRAGMA foreign_key_check;"], capture_output=True, text=True)
            require(shell.stdout.strip() == "ok", f"sqlite3: {shell.stdout}{shell.stderr}")
        files = [path for path, sha in there.items() if sha in self.catalog.known]
        if files and shutil.which("mpg123"):
            player = subprocess.run(["mpg123", "-q", "-t", *files], cwd=self.folder, capture_output=True, text=True)
            require(player.returncode == 0 and not player.stderr, f"mpg123: {player.stderr}")
