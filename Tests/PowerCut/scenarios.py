"""The commands during which power fails, each with the steps before and after it."""
import random

import disk
from world import NUMBERED, PLAIN

MIRROR = ("mirror", "--json")


class Scenario:
    """A recorded command, and the result that the runs after the power cut must reach.

    moves_forward: the next run completes the change; otherwise each episode is as before the command or as after it.
    follow: the next run. again: a command after it that completes the change in any case.
    keeps: all audio that was there before must still be somewhere.
    needs_ffmpeg, needs_mount: requirements; without them the scenario is skipped.
    """
    name, command, codes = None, MIRROR, (0,)
    moves_forward, keeps, needs_ffmpeg, needs_mount = True, True, False, False
    follow, again = MIRROR, None

    def prepare(self, world):
        """The steps before the recorded command."""

    def recover(self, world):
        """Changes to the catalog between the power cut and the next run."""


class Fetch(Scenario):
    """A book of five episodes is fetched into an empty folder."""
    name, command = "fetch", ("fetch", "cat:11", "--json")

    def prepare(self, world):
        world.library.mkdir()


class Make(Scenario):
    """The same where there is not even a folder for the library."""
    name, command = "make", ("fetch", "cat:11", "--json")


class Resume(Scenario):
    """Transfers that were interrupted go on."""
    name = "resume"

    def prepare(self, world):
        world.interrupt(30_000, *MIRROR)


class Broken(Scenario):
    """Connections are cut off during the run, which keeps the received bytes."""
    name, codes = "broken", (0, 75)
    follow = ("mirror", "--json", "--force")

    def prepare(self, world):
        world.library.mkdir()
        world.fault("cut", 6)

    def recover(self, world):
        world.heal()


class Parts(Scenario):
    """Large episodes are fetched in parts."""
    name = "parts"

    def prepare(self, world):
        world.library.mkdir()
        world.enlarge()


class ResumeParts(Scenario):
    """The parts of an interrupted run are gone on from."""
    name = "resume-parts"

    def prepare(self, world):
        world.enlarge()
        world.interrupt(200_000, *MIRROR)


class NoRanges(ResumeParts):
    """After the power cut the server takes no requests for parts any more: the episodes begin anew."""
    name = "no-ranges"

    def recover(self, world):
        world.book.ranges = "ignored"


class OtherParts(ResumeParts):
    """There are new versions of episodes of which parts are there."""
    name = "other-parts"

    def prepare(self, world):
        super().prepare(world)
        world.new_version(1)
        world.new_version(3)


class Replace(Scenario):
    """The catalog has new versions of two episodes."""
    name = "replace"

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.new_version(2)
        world.new_version(4)


class Rename(Scenario):
    """The naming rule changed: all files get other names, in a folder of a folder."""
    name = "rename"

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.configure(NUMBERED)


class Remove(Scenario):
    name, command, moves_forward = "remove", ("remove", "cat:11/2", "cat:11/4-5", "--yes", "--json"), False

    def prepare(self, world):
        world.prepare(*MIRROR)

    again = command


class Restore(Scenario):
    name, command, moves_forward = "restore", ("trash", "restore", "--all", "--json"), False

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.prepare("remove", "cat:11/2", "cat:11/4-5", "--yes")


class Undo(Scenario):
    """A removal is taken back."""
    name, command, moves_forward = "undo", ("undo", "--json"), False

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.prepare("remove", "cat:11/2", "cat:11/4-5", "--yes")


class UndoRename(Scenario):
    """A renaming is taken back."""
    name, command = "undo-rename", ("undo", "--json")

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.configure(NUMBERED)
        world.prepare(*MIRROR)
        world.configure(PLAIN)


class Tag(Scenario):
    """Tags are embedded in all files."""
    name, command, moves_forward, keeps, needs_ffmpeg = "tag", ("tag", "cat:11", "--json"), False, False, True
    again = command

    def prepare(self, world):
        world.prepare(*MIRROR)


class Untag(Scenario):
    """Tags are taken out again: the files are what was fetched."""
    name, command, moves_forward, keeps, needs_ffmpeg = (
        "untag", ("tag", "cat:11", "--restore", "--json"), False, False, True)
    again = command

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.prepare("tag", "cat:11")


class Join(Scenario):
    """One file is made of a book."""
    name, command, moves_forward, needs_ffmpeg = "join", ("join", "cat:11", "--format", "mp3", "--json"), False, True
    again = command

    def prepare(self, world):
        world.prepare(*MIRROR)


class Move(Scenario):
    """A book is handed over to another library of the same disk."""
    name, command, moves_forward = "move", ("move", "cat:11", "--to", "attic", "--json"), False

    def prepare(self, world):
        world.has_attic = True
        self.make_attic(world)
        world.configure()
        world.prepare("fetch", "cat:11", "--library", "home")

    def make_attic(self, world):
        world.attic.mkdir()


class MoveFar(Move):
    """A book is handed over to a library on another disk, which loses and keeps by itself."""
    name, needs_mount = "move-far", True

    def make_attic(self, world):
        world.mount_attic()


class Adopt(Scenario):
    """Files from elsewhere are moved into the library."""
    name, moves_forward = "adopt", False

    def prepare(self, world):
        world.library.mkdir()
        world.incoming.mkdir()
        for item in world.book.items:
            (world.incoming / f"{item.number:03d} of mine.mp3").write_bytes(item.data)
        world.prepare("plan", "cat:11")
        self.command = ("adopt", str(world.incoming), "--book", "cat:11", "--move", "--json")
        self.follow, self.again = self.command, MIRROR


class Export(Scenario):
    """Playlists and metadata are written beside the audio, over older ones."""
    name, command, moves_forward = "export", ("export", "m3u8", "--json"), False
    again = command

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.prepare("export", "m3u8")
        world.prepare("remove", "cat:11/3", "--yes")


class Empty(Scenario):
    """The trash is emptied."""
    name, command, moves_forward, keeps = "empty", ("trash", "empty", "--yes", "--json"), False, False

    def prepare(self, world):
        world.prepare(*MIRROR)
        world.prepare("remove", "cat:11/2", "cat:11/4-5", "--yes")


class Twice(Scenario):
    """Power fails a second time, in the run after a power cut."""
    name = "twice"

    def prepare(self, world):
        source = random.Random(world.seed)
        first = source.choice((Fetch, Replace, Rename))()
        first.prepare(world)
        recording = world.record(*first.command)
        count = source.randrange(len(recording.changes) // 3, len(recording.changes))
        tree, how = disk.state(recording, count, "ext4", source)
        world.report(f"  first cut: {first.name}, {count} of {len(recording.changes)}, {how}")
        tree.write(world.disk)
        world.reboot()


ALL = {scenario.name: scenario for scenario in (
    Fetch, Parts, Replace, Rename, Remove, Restore, ResumeParts, Undo, Resume, NoRanges, Broken, Make, OtherParts,
    UndoRename, Tag, Untag, Join, Move, MoveFar, Adopt, Export, Empty, Twice)}
