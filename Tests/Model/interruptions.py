"""Steps: what happens to a run on its way. It is killed, stopped, steered from another process, or has a second one beside it."""
import random
import signal
import time

from commands import Commands
from world import HANG, Violation, pick, require

MIRROR = ["mirror", "--json"]
PAUSE_SECONDS = 1.5  # in one second a run obeys, by the contract


class Interruptions(Commands):
    def outstanding(self, number):
        """The bytes that a run is sure to ask for now. Sees to it that there are some."""
        self.give_work(number, 1 + number % 3)
        parts = self.partials()
        items = [item for item in self.missing() if item not in self.seen or not self.trouble]
        return sum(len(item.data) - parts.get(item.sha, 0) for item in items)

    def hold_after(self, count):
        """Has the server hold all audio once it has given so many more bytes."""
        self.catalog.held.clear()
        self.catalog.release.clear()
        self.catalog.is_hung_up = False
        self.catalog.hold_at = self.catalog.given + count

    def interrupted(self, number):
        """Starts a run and waits until a share of the bytes it needs was given; returns it and whether it is held there."""
        return self.held_run(random.Random(number).randrange(max(1, self.outstanding(number) - 2048)), MIRROR)

    def held_run(self, count, arguments):
        """Starts a run and waits until the server holds it, or it ends; returns it and whether it is held."""
        self.hold_after(count)
        process = self.start(*arguments)
        held, end = self.catalog.held, time.monotonic() + HANG
        while not held.is_set() and process.poll() is None and time.monotonic() < end:
            # The pipe does not fill up: it holds a few lines.
            held.wait(0.02)
        is_held = held.is_set() and process.poll() is None
        self.kills += 1
        self.hits += is_held
        return process, is_held

    def released(self, is_client_gone=False):
        self.catalog.is_hung_up = is_client_gone
        self.catalog.hold_at = None
        self.catalog.release.set()

    def do_kill(self, a, b, c):
        """A run is killed when some of its bytes were given."""
        kind = pick([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT], b)
        before, _ = self.begin()
        process, is_held = self.interrupted(a)
        if is_held:
            self.require_all_received()
        self.killed(process, kind, is_held)
        self.check(before, f"a run ended by {kind.name}")

    def do_kill_fetch(self, a, b, c):
        """A fetch of a book that nobody follows is killed: the next run does it, unless the listener interrupted it."""
        book = pick([book for book in self.catalog.books if book not in self.followed()], b)
        if book is None or self.trouble or self.catalog.has_faults():
            self.do_kill(a, b, c)
            return
        kind = pick([signal.SIGKILL, signal.SIGTERM, signal.SIGINT], c)
        book.add(random.Random(a))
        self.settle()
        before, _ = self.begin()
        arguments = ["fetch", self.addresses[book.id], "--json"]
        process, is_held = self.held_run(1, arguments)
        self.killed(process, kind, is_held, arguments)
        self.check(before, f"a fetch ended by {kind.name}")
        is_left = is_held and kind != signal.SIGINT
        if is_left:
            self.requested.add(book)
        self.settle()
        self.whole_run(MIRROR, self.followed() + ([book] if is_left else []))

    def killed(self, process, kind, is_held=False, arguments=MIRROR):
        """Ends a run by a signal; it must end with that signal's code, or with its own if it was done already."""
        code = {signal.SIGTERM: 143, signal.SIGINT: 130}.get(kind)
        codes = {code} if is_held and code else self.run_codes() | ({code} if code else set())
        if process.poll() is None:
            process.send_signal(kind)
            end = time.monotonic() + HANG
            # It must end by itself, though the server goes on with nothing.
            while is_held and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
        self.released(is_client_gone=is_held)
        result = self.ended(process, arguments, codes)
        self.is_mirror_left |= arguments is MIRROR and kind != signal.SIGINT
        if arguments is MIRROR and kind != signal.SIGKILL and result.code in (0, 75):
            self.touched.clear()
        # Where it was when it was killed decides if it is in the log of runs.
        self.note_unknown_run()
        self.is_store_whole = self.is_store_whole or is_held

    def require_all_received(self):
        """All bytes given away come to be on disk, though the run still waits for more."""
        end = time.monotonic() + HANG
        while time.monotonic() < end:
            # A run may move a file to the trash meanwhile, by a keep rule or for a newer version.
            there, parts = set(self.audio_files(self.library).values()), self.partials()
            lost = {}
            for item in self.items():
                sent, part = self.catalog.sent.get(item.sha, 0), parts.get(item.sha, 0)
                # In all as much may be given as was before and is not there any more, and once the whole of it.
                if item.sha not in there and sent > self.allowed[item.sha] - len(item.data) + part:
                    lost[str(item)] = (sent, part)
            if not lost:
                return
            time.sleep(0.01)
        raise Violation(f"bytes that were given away are not on disk: {lost}")

    def do_kill_early(self, a, b, c):
        """A run is killed at a moment of its usual time, wherever it is."""
        self.give_work(b, 2)
        before, _ = self.begin()
        process = self.start(*MIRROR)
        time.sleep(self.last_run_seconds * (a % 90) / 100)
        self.kills += 1
        self.hits += process.poll() is None
        self.killed(process, signal.SIGKILL)
        self.check(before, "a run killed early")

    def do_stop(self, a, b, c):
        """A run sleeps while another is tried and others look; then it ends as if nothing had been."""
        had_faults = self.catalog.has_faults()
        before, given = self.begin()
        process, is_held = self.interrupted(a)
        if is_held:
            process.send_signal(signal.SIGSTOP)
            self.run("fetch", self.addresses["11"], "--json", expect=(75,))
            self.run(*pick([["list"], ["queue"], ["doctor"], ["plan", "--offline"]], b))
            process.send_signal(signal.SIGCONT)
        self.released()
        result = self.ended(process, MIRROR, self.run_codes())
        self.note_run(MIRROR, result.code)
        if result.code in (0, 75) and not had_faults:
            self.touched.clear()
            self.seen |= set(self.items(self.followed()))
        self.check(before, "a run that slept")
        self.check_run(result, self.followed(), given)

    def do_steered(self, a, b, c):
        """An episode is paused, cancelled or removed while a run is under way."""
        item, verb = pick(self.items(), b), pick(["pause", "cancel", "remove"], c)
        if item is None:
            return
        before, _ = self.begin()
        is_waiting = item in self.missing_whole() and not self.trouble
        process, is_held = self.interrupted(a)
        result = self.run(verb, self.reference(item), *(["--yes"] if verb == "remove" else []), expect=(0, 66))
        # By now it may be complete already; if not it is waiting or under way, and stops.
        is_paused = (verb == "pause" and result.code == 0 and is_held and is_waiting
                     and item.sha not in self.shelved().values())
        if is_held:
            time.sleep(PAUSE_SECONDS if is_paused else (a % 500) / 1000)
        self.released()
        ended = self.ended(process, MIRROR, self.run_codes() | {75})
        self.note_unknown_run()
        self.is_store_whole = self.is_store_whole or ended.code in (0, 75)
        self.steered(item, verb, result.code, is_paused)
        self.check(before, f"{verb} during a run")

    def steered(self, item, verb, code, is_paused):
        """What the model knows of an episode that was acted on during a run that has ended.

        is_paused: whether it was paused for long enough before all of its bytes were given.
        """
        self.paused[item] = True if is_paused else None
        require(not is_paused or item.sha not in self.shelved().values(), f"{item} was paused during a run, and was downloaded")
        if verb == "remove":
            self.removed[item] = True if code == 0 else None
        self.allowed[item.sha] = self.allowed.get(item.sha, 0) + len(item.data)

    def do_two_runs(self, a, b, c):
        """Two runs at once, one of which waits: both end well."""
        before, _ = self.begin()
        first, second = pick(self.catalog.books, a), pick(self.catalog.books, b)
        commands = [["fetch", self.addresses[first.id], "--json"], ["fetch", self.addresses[second.id], "--json"]]
        processes = [(self.start(*command, "--wait", "60s"), command) for command in commands]
        for process, command in processes:
            result = self.ended(process, command, self.run_codes())
        self.note_unknown_run()
        self.is_store_whole = self.is_store_whole or result.code in (0, 75)
        # The second one does not know what the first one was asked to wait for.
        self.catalog.complaints[:] = [complaint for complaint in self.catalog.complaints if "Retry-After" not in complaint]
        self.check(before, "two runs at once")
