"""Some forty ways to break booksync: each is a wrapper around the binary that breaks one command or one guarantee.

Run as `sabotages.py NAME BINARY ARGUMENTS…`, a sabotage is in the place of the binary. See `sabotage`.
"""
import ctypes
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

TABLE = {}  # name → what it breaks, the commands it concerns, the function


def sabotage(breaks, *commands):
    """Enters a function into the table. Commands that it does not concern run as they are."""
    def entered(function):
        TABLE[function.__name__] = breaks, commands, function
        return function
    return entered


class Call:
    """A call of the program, as the wrapper got it."""

    def __init__(self, binary, arguments):
        self.binary, self.arguments = binary, arguments
        self.command = arguments[0]
        self.is_json = "--json" in arguments
        # A command that knows several libraries is not given one.
        self.library = Path(self.value("--library")) if "--library" in arguments else None
        self.config = Path(self.value("--config"))
        # `mirror --dry-run` is another command than `mirror`, as are the two of `trash` and those of `verify`.
        self.is_dry = "--dry-run" in arguments
        self.references = [argument for argument in arguments[1:]
                           if re.match(r"(cat|feed|directory):", argument)]

    def value(self, option):
        return self.arguments[self.arguments.index(option) + 1]

    def become(self, *arguments):
        """Is the real program from here on."""
        os.execv(self.binary, [self.binary, *(arguments or self.arguments)])

    def run(self, arguments=None):
        """Runs the real program; hands signals on to it, and does not outlive it."""
        process = None
        for kind in (signal.SIGTERM, signal.SIGINT):
            signal.signal(kind, lambda number, frame: process and process.send_signal(number))
        process = subprocess.Popen([self.binary, *(arguments or self.arguments)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        output, errors = process.communicate()
        return process.returncode, output, errors

    def shelf(self):
        return sorted(path for path in self.library.rglob("*.mp3") if ".booksync" not in path.parts)

    def trash(self):
        return sorted((self.library / ".booksync/trash").rglob("*.mp3"))

    def store(self, *statements):
        path = self.library / ".booksync/store.sqlite"
        if path.exists():
            with sqlite3.connect(path) as connection:
                for statement in statements:
                    try:
                        connection.execute(statement)
                    except sqlite3.OperationalError:
                        pass  # There is nothing in the store yet.


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def reply(code, output="", errors=""):
    sys.stdout.write(output)
    sys.stderr.write(errors)
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


def edited(call, edit):
    """Prints the real program's JSON document after an edit; its text stays."""
    if not call.is_json:
        call.become()
    code, output, errors = call.run()
    try:
        document = json.loads(output)
    except ValueError:
        reply(code, output, errors)
    changed = edit(document)
    reply(code, json.dumps(document if changed is None else changed), errors)


def edited_summary(call, edit):
    """Prints the real run's events with another summary."""
    code, output, errors = call.run()
    lines = output.splitlines()
    if lines and '"summary"' in lines[-1]:
        summary = json.loads(lines[-1])
        edit(summary)
        code, lines[-1] = (summary["exit_code"] if code in (0, 75) else code), json.dumps(summary)
    reply(code, "".join(line + "\n" for line in lines), errors)


# Runs.

@sabotage("a run does nothing and reports success", "mirror")
def skipped_run(call):
    counts = ("books fetched resumed replaced renamed adopted kept locked failed held_back paused removed expired gone filtered "
              "left bytes_received bytes_reused seconds exit_code").split()
    reply(0, json.dumps({"event": "summary", **dict.fromkeys(counts, 0)}) + "\n")


@sabotage("a run leaves the last subscription out", "mirror")
def forgotten_subscription(call):
    config = call.config.with_name("shorter.yaml")
    config.write_text(call.config.read_text().rstrip().rpartition("\n")[0] + "\n")
    config.chmod(0o600)
    call.become(*[str(config) if argument == str(call.config) else argument for argument in call.arguments])


@sabotage("a run reports 0 where 75 is due", "mirror", "fetch")
def zero_for_75(call):
    edited_summary(call, lambda summary: summary.update(exit_code=0))


@sabotage("a run that was interrupted reports 0", "mirror")
def zero_when_interrupted(call):
    code, output, errors = call.run()
    reply(0 if code in (130, 143) else code, output, errors)


@sabotage("the summary counts half of the bytes", "mirror", "fetch")
def halved_bytes(call):
    edited_summary(call, lambda summary: summary.update(bytes_received=summary["bytes_received"] // 2))


@sabotage("--max-episodes is ignored", "mirror")
def ignored_limit(call):
    if "--max-episodes" in call.arguments:
        place = call.arguments.index("--max-episodes")
        call.become(*call.arguments[:place], *call.arguments[place + 2:])
    call.become()


@sabotage("partial files are lost before a run", "mirror")
def lost_partials(call):
    for path in (call.library / ".booksync/partial").glob("*"):
        path.unlink()
    call.become()


@sabotage("a run downloads a file twice", "mirror")
def downloaded_twice(call):
    code, output, errors = call.run()
    if code == 0 and '"fetched":0' not in output and call.shelf() and not call.is_dry:
        newest = max(call.shelf(), key=lambda path: path.stat().st_ctime)
        newest.unlink()
        call.run()
    reply(code, output, errors)


@sabotage("a run leaves a second copy of a file", "mirror")
def duplicated_file(call):
    code, output, errors = call.run()
    if call.shelf() and not call.is_dry:
        first = call.shelf()[0]
        shutil.copyfile(first, first.with_name("copy of " + first.name))
    reply(code, output, errors)


@sabotage("a file is torn: its last bytes are lost after a run", "mirror")
def torn_file(call):
    code, output, errors = call.run()
    if call.shelf() and not call.is_dry:
        last = call.shelf()[-1]
        os.truncate(last, last.stat().st_size - 417)
    reply(code, output, errors)


@sabotage("a run deletes a file from the trash", "mirror")
def lost_trash(call):
    if call.trash() and not call.is_dry:
        call.trash()[0].unlink()
    call.become()


@sabotage("--dry-run is ignored", "mirror", "remove", "fetch")
def wet_run(call):
    call.become(*[argument for argument in call.arguments if argument != "--dry-run"],
                *(["--yes"] if call.command == "remove" and call.is_dry else []))


@sabotage("a run prints the token of a source", "mirror", "fetch")
def printed_token(call):
    token = re.search(r"token: (\w+)", call.config.read_text())
    sys.stderr.write(f"asking with token={token[1]}\n")
    sys.stderr.flush()
    call.become()


# Wishes.

@sabotage("remove leaves no tombstone", "remove")
def dropped_tombstone(call):
    code, output, errors = call.run()
    if code == 0 and not call.is_dry and "--forget" not in call.arguments:
        call.run([*[argument for argument in call.arguments if argument != "--yes"], "--forget"])
    reply(code, output, errors)


@sabotage("remove deletes the file instead of moving it to the trash", "remove")
def removed_for_good(call):
    before = set(call.trash())
    code, output, errors = call.run()
    for path in set(call.trash()) - before:
        path.unlink()
    reply(code, output, errors)


@sabotage("pause does nothing", "pause")
def no_pause(call):
    reply(0, json.dumps({"event": "paused", "episodes": 1}) if call.is_json else "", "1 episode paused\n")


@sabotage("a pause is forgotten at the next start", "mirror", "fetch")
def forgotten_pause(call):
    call.run(["resume", "--all", "--config", str(call.config), "--library", str(call.library)])
    call.become()


@sabotage("resume does nothing", "resume")
def no_resume(call):
    reply(0, json.dumps({"event": "resumed", "episodes": 1}) if call.is_json else "", "1 episode resumed\n")


@sabotage("undo does nothing", "undo")
def no_undo(call):
    if call.is_dry:
        call.become()
    reply(0)


@sabotage("trash restore does nothing", "trash")
def no_restore(call):
    if "restore" in call.arguments:
        reply(0)
    call.become()


@sabotage("subscribe does nothing", "subscribe")
def no_subscription(call):
    reply(0, "", "subscribed\n")


@sabotage("a run forgets the lists of books that are followed", "mirror")
def forgotten_list(call):
    call.store("DELETE FROM subscription WHERE key LIKE 'opml:%'")
    call.become()


def with_users(call, edit):
    """Changes what a server that starts knows of its users."""
    path = call.library / ".booksync/serve-users"
    if "--listen" in call.arguments and path.exists():
        content = json.loads(path.read_text())
        edit(content["users"])
        path.write_text(json.dumps(content))
    call.become()


@sabotage("a server lets everybody in, whatever users there are", "serve")
def open_door(call):
    with_users(call, lambda users: users.clear())


@sabotage("a user who may see one book sees all", "serve")
def all_seen(call):
    with_users(call, lambda users: [user.pop("books", None) for user in users])


@sabotage("the newest user is forgotten when the server starts", "serve")
def forgotten_user(call):
    with_users(call, lambda users: users.pop() if len(users) > 1 else None)


@sabotage("positions are forgotten when the server starts", "serve")
def forgotten_positions(call):
    call.store("DELETE FROM listening_position", "DELETE FROM book_listening")
    call.become()


# Settings.

@sabotage("keep rules are ignored", "mirror")
def ignored_keep(call):
    config = call.config.with_name("keepless.yaml")
    config.write_text(re.sub(r", keep: [^,}]*", "", call.config.read_text()))
    config.chmod(0o600)
    call.become(*[str(config) if argument == str(call.config) else argument for argument in call.arguments])


@sabotage("a change of naming is ignored", "mirror")
def ignored_naming(call):
    config = call.config.with_name("named.yaml")
    naming = 'naming: "{title}/{section} {name}.{ext}"'
    config.write_text(re.sub(r"naming: .*", lambda match: naming, call.config.read_text()))
    config.chmod(0o600)
    call.become(*[str(config) if argument == str(call.config) else argument for argument in call.arguments])


# What is printed.

@sabotage("list leaves out the last episode of a book", "list")
def short_list(call):
    edited(call, lambda document: document[:-1] if call.references else document)


@sabotage("list prints a wrong digest", "list")
def wrong_digest(call):
    def edit(document):
        for entry in document[:1]:
            if entry.get("sha256"):
                entry["sha256"] = entry["sha256"][::-1]
    edited(call, edit)


@sabotage("show counts one file too few", "show")
def wrong_count(call):
    edited(call, lambda document: document.update(present=document["present"] + 1) if "present" in document else None)


@sabotage("explain has the state of another episode", "explain")
def wrong_explanation(call):
    edited(call, lambda document: document.update(state="waiting", path=None))


@sabotage("queue is always empty", "queue")
def empty_queue(call):
    reply(0, "[]" if call.is_json else "")


@sabotage("runs leaves out the last run", "runs")
def short_runs(call):
    edited(call, lambda document: document[:-1])


@sabotage("search finds nothing", "search")
def blind_search(call):
    reply(0, "[]" if call.is_json else "", "no matches\n")


@sabotage("trash list leaves out a file", "trash")
def short_trash_list(call):
    if "list" in call.arguments:
        edited(call, lambda document: document[:-1])
    call.become()


@sabotage("catalog leaves out the last episode", "catalog")
def short_catalog(call):
    edited(call, lambda document: document["episodes"].pop() and None)


@sabotage("doctor, runs, queue, search, show and explain print garbage", "doctor", "runs", "queue", "search", "show", "explain")
def garbage(call):
    reply(0, "garbage\n")


@sabotage("plan lists nothing to fetch", "plan")
def blind_plan(call):
    code, output, errors = call.run()
    lines = [json.loads(line) for line in output.splitlines()] if call.is_json else []
    for line in lines:
        line["actions"] = [action for action in line.get("actions", []) if action["action"] != "fetch"]
    reply(code, "".join(json.dumps(line) + "\n" for line in lines) or output, errors)


# Files.

@sabotage("verify finds nothing", "verify")
def blind_verify(call):
    reply(0)


@sabotage("verify --accept does nothing", "verify")
def no_accept(call):
    if "--accept" in call.arguments:
        reply(0)
    call.become()


@sabotage("adopt does nothing", "adopt")
def no_adoption(call):
    reply(0)


@sabotage("export writes nothing", "export")
def no_export(call):
    if "--output" in call.arguments:
        call.become()
    reply(0, "[]")


def main():
    name, binary, *arguments = sys.argv[1:]
    _, commands, function = TABLE[name]
    call = Call(binary, arguments)
    if call.command in commands and call.library:
        function(call)
    call.become()


if __name__ == "__main__":
    main()
