"""What the commands that only read must print, as JSON and as text.

They are asked right after a run that ended with 0, when the model knows the library: from the catalog it serves, the files on
disk, and the wishes it gave. The text is held to what any wording must contain: names, numbers, paths.
"""
import collections
import json

from rules import Rules
from world import pick, require


class Outputs(Rules):
    def do_look(self, a, b, c):
        """A run; then commands that read, which must tell the truth and change nothing."""
        if self.catalog.has_faults():
            return
        result = self.whole_run(["mirror", "--json"], self.followed())
        if result.code != 0:
            return
        self.settle()
        commands = [self.look_at_books, self.look_at_book, self.look_at_episode, self.look_at_queue, self.look_at_runs,
                    self.look_at_search, self.look_at_subscriptions, self.look_at_trash, self.look_at_catalog,
                    self.look_at_plans, self.look_at_doctor, self.look_at_dry_runs]
        before, listed = self.snapshot(), self.listed(self.followed())
        for look in {pick(commands, a), pick(commands, b), pick(commands, c)}:
            self.begin()
            look(listed, b + c)
            self.require_unchanged(before, look.__name__)

    def both(self, *arguments):
        """The JSON document and the text that a command prints."""
        document = self.document(*arguments)
        return document, self.run(*arguments).output

    @staticmethod
    def require_words(text, words, what):
        absent = [word for word in words if str(word) not in text]
        require(not absent, f"{what} does not print {absent}: {text[:1500]}")

    def numbers(self, book, entries):
        """What a book's row must say, counted by the model. None for what it cannot know."""
        there = [entry for entry in entries.values() if entry["path"]]
        is_sure = all(self.is_sure(item) for item in book.items) and not any(item.book is book for item in self.dropped)
        files = self.shelved()
        waiting = [item for item in book.items if not item.locked and self.removed.get(item) is not True
                   and item.sha not in files.values() and not self.is_edited(item, files)
                   and not self.is_brought_back(item, files)]
        # A book-resource has no title: it is made from the names of the episodes.
        title = {"feed": book.title, "directory": book.id}.get(book.kind)
        # What the catalog lists no longer, and has no file, is of the past, also where it is listed as removed.
        ids = {item.listed_id for item in book.items}
        listed = [entry for entry in entries.values() if entry["path"]
                  or entry["state"] != "gone" and (entry["state"] != "removed" or entry["id"] in ids)]
        return {"title": title, "episodes": len(listed),
                "present": len(there), "bytes": sum(entry["size"] for entry in there),
                "missing": len(waiting) if is_sure else None}

    def require_numbers(self, row, book, entries, what):
        for key, value in self.numbers(book, entries).items():
            require(value is None or row[key] == value, f"{what} prints {row[key]} as {key} of {book.id}, not {value}")

    def title(self, book):
        """The book's title as `list` has it."""
        return next((row["title"] for row in self.document("list") or []
                     if f"{row['source']}:{row['id']}" == self.addresses[book.id]), None)

    # One method for each command.

    def look_at_books(self, listed, number):
        rows, text = self.both("list")
        for book in self.followed():
            row = next((row for row in rows if f"{row['source']}:{row['id']}" == self.addresses[book.id]), None)
            require(row, f"list does not have {book.id}")
            self.require_numbers(row, book, listed[book.id], "list")
            line = next((line for line in text.splitlines() if line.startswith(self.addresses[book.id] + " ")), "")
            self.require_words(line, [row["title"], f"{row['present']}/{row['episodes']}"], "list")

    def look_at_book(self, listed, number):
        book = pick(self.followed(), number)
        row, text = self.both("show", self.addresses[book.id])
        self.require_numbers(row, book, listed[book.id], "show")
        self.require_words(text, [row["title"], row["episodes"], row["bytes"] if row["bytes"] > 999 else ""], "show")
        paths = [entry["path"] for entry in listed[book.id].values() if entry["path"]]
        names = [entry["name"] for entry in listed[book.id].values()]
        self.require_words(self.run("list", self.addresses[book.id]).output, paths + names, "list")
        for state in ("finished", "removed"):
            entries = self.document("list", self.addresses[book.id], "--state", state)
            expected = [entry["id"] for entry in listed[book.id].values() if entry["state"] == state]
            found = [entry["id"] for entry in entries]
            require(sorted(found) == sorted(expected), f"list --state {state} has {found}, not {expected}")

    def look_at_episode(self, listed, number):
        items = [item for item in self.items(self.followed()) if self.is_sure(item) and self.entry(item, listed)]
        item = pick(items, number)
        if item is None:
            return
        entry = self.entry(item, listed)
        for command in ("show", "explain"):
            document, text = self.both(command, self.reference(item))
            for key in ("id", "name", "state", "path", "sha256", "size"):
                require(document[key] == entry[key], f"{command} prints {document[key]} as {key} of {item}, list {entry[key]}")
            require(document["name"] == item.listed_name, f"{command} prints {document['name']} as name of {item}")
            self.require_words(text, [item.listed_name, entry["path"] or ""], command)
        actions = {action["action"] for action in document["actions"]}
        is_left = entry["state"] in ("finished", "removed", "locked", "paused", "gone")
        require(not is_left or actions <= {"keep", "skip"}, f"explain has {actions} of {item}, which is {entry['state']}")

    def look_at_queue(self, listed, number):
        entries, text = self.both("queue")
        queued = {(entry["book_id"], entry["id"]) for entry in entries}
        there = self.shelved()
        for item in self.items(self.followed()):
            if self.is_sure(item) and not self.is_edited(item, there) and not self.is_brought_back(item, there):
                is_queued = (self.addresses[item.book.id].split(":", 1)[1], item.listed_id) in queued
                is_waiting = self.paused.get(item) is True and item.sha not in there.values() and not item.locked
                require(is_queued == is_waiting, f"queue {'has' if is_queued else 'lacks'} {item}: {entries}")
        self.require_words(text, [entry["name"] for entry in entries], "queue")
        require(len(text.splitlines()) == (len(entries) + 1 if entries else 0), f"queue prints not one line for each: {text}")

    def look_at_runs(self, listed, number):
        rows, text = self.both("runs", "--last", "1000")
        expected = self.run_log
        found = [(row["command"], row["exit_code"]) for row in rows][-len(expected):]
        require(found == expected, f"runs has {found}, made were {expected}")
        require(rows[-1]["state"] == "ended", f"runs has {rows[-1]['state']} as the state of a run that ended")
        require(len(text.splitlines()) == len(rows) + 1, f"runs prints not one line for each: {text}")

    def look_at_search(self, listed, number):
        items = [item for item in self.items(self.followed()) if self.entry(item, listed)]
        item = pick(items, number)
        if item is None:
            return
        hits, text = self.both("search", item.listed_name, "--limit", "0")
        ids = [hit["id"] for hit in hits if hit["kind"] == "episode"]
        require(item.listed_id in ids, f"search {item.listed_name} does not find {item}: {hits}")
        self.require_words(text, [item.listed_name], "search")
        if item.book.kind == "feed":
            hits = self.document("search", item.book.title)
            ids = [hit["id"] for hit in hits if hit["kind"] == "book"]
            require(self.addresses[item.book.id].split(":", 1)[1] in ids, f"search {item.book.title} does not find it: {hits}")
        require(self.document("search", "xyzzy") == [], "search finds what no catalog lists")

    def look_at_subscriptions(self, listed, number):
        rows, text = self.both("subscriptions")
        found = {f"{row['source']}:{row['id']}" for row in rows}
        expected = {self.addresses[name] for name, state in self.subscribed.items() if state}
        # The address of a folder is a directory only once it has answered.
        found = {name.replace("feed:", "directory:") if name.endswith("/files/") else name for name in found}
        if None not in self.subscribed.values():
            require(found == expected, f"subscriptions has {found}, subscribed are {expected}")
        self.require_words(text, [row["id"] for row in rows], "subscriptions")

    def look_at_trash(self, listed, number):
        rows, text = self.both("trash", "list")
        if self.had_lost_store:
            return  # A rebuilt store does not know the trash; doctor names the files.
        there = self.in_trash(self.audio_files())
        expected = collections.Counter(path.split("/", 4)[4] for path in there)
        found = collections.Counter(row["path"] for row in rows)
        require(found == expected, f"trash list has {found}; in the trash are {expected}")
        self.require_words(text, list(found), "trash list")

    def look_at_catalog(self, listed, number):
        book = pick(self.catalog.books, number)
        document, text = self.both("catalog", self.addresses[book.id])
        items = [item for item in book.items if not (item.locked and book.kind == "feed")]
        expected = sorted((item.listed_id, item.listed_name, len(item.data), item.locked) for item in items)
        found = sorted((entry["id"], entry["name"], entry["size"], entry["url"] is None) for entry in document["episodes"])
        require(found == expected, f"catalog has {found}; the server lists {expected}")
        self.require_words(text, [item.listed_name for item in items], "catalog")

    def look_at_plans(self, listed, number):
        """After a run that ended with 0 there is nothing to do."""
        for arguments in (["plan"], ["plan", "--offline"], ["mirror", "--dry-run"]):
            result = self.run(*arguments, "--json")
            events = [json.loads(line) for line in result.output.splitlines()]
            plans = [event for event in events if event["event"] == "plan"]
            # Of a list a plan says what it comes to.
            books = [book for book in self.followed() if book.is_on_list is None]
            require(len(plans) >= len(books), f"{arguments} has {len(plans)} books")
            lists = [event for event in events if event["event"] == "collection"]
            is_asked = arguments == ["plan"] and self.subscribed["list"] is not None
            require(not is_asked or len(lists) == self.subscribed["list"], f"{arguments} has the lists {lists}")
            # What the run downloaded counts among the newest files of a keep rule from the next run on.
            idle = ("keep", "skip", "rename", "expire")
            work = [action for plan in plans for action in plan["actions"] if action["action"] not in idle]
            require(not work, f"{arguments} after a run that ended with 0 has {work}")

    def look_at_doctor(self, listed, number):
        document, text = self.both("doctor")
        checks = {check["check"]: check for check in document["checks"]}
        for name in ("configuration", "library", "store", "space", "source cat", "source feed"):
            require(name in checks, f"doctor does not check {name}: {list(checks)}")
        problems = [check for check in document["checks"] if check["status"] == "problem"]
        require(document["exit_code"] == 0 and not problems, f"doctor finds {problems} where all is well")
        lines = text.splitlines()
        require(len(lines) >= len(checks), f"doctor prints {len(lines)} lines for {len(checks)} checks: {text}")
        words = [check["check"] for check in document["checks"] if check["status"] == "ok"]
        self.require_words(text, words, "doctor")

    def look_at_dry_runs(self, listed, number):
        item = pick([item for item in self.items(self.followed()) if self.entry(item, listed)], number)
        self.run("undo", "--dry-run", expect=(0, 75))  # 75: a file that was moved since would keep its name
        if item:
            self.run("remove", self.reference(item), "--dry-run")
            self.run("fetch", self.reference(item), "--dry-run", expect=(0, 75))
