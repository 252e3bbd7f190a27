"""A disk with a library on it, the catalog that it follows, and the built program."""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import trace
from recording import Recording
from tree import Tree, sha256

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Model"))
from catalog import TOKEN, Book, Catalog, Fault  # noqa: E402
from server import Server  # noqa: E402

HANG = 120      # seconds: only what hangs takes so long
PLAIN, NUMBERED = "{title}/{section} {name}.{ext}", "{title}/Part {section}/{section} - {name}.{ext}"


def can_mount():
    """True if this process may mount a tmpfs that keeps extended attributes."""
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True).returncode != 0:
            return False
        try:
            os.setxattr(folder, "user.test", b"1")
            return True
        except OSError:
            return False
        finally:
            subprocess.run(["umount", folder], check=False)


class Run:
    """A finished run of the program."""

    def __init__(self, arguments, process, output, errors):
        self.arguments, self.code, self.output, self.errors = arguments, process.returncode, output, errors

    def __str__(self):
        return f"{' '.join(self.arguments)} ended with {self.code}: {self.errors[-1500:]}{self.output[-1500:]}"


class World:
    """One disk: everything below `disk`, which a power cut may change. The configuration is beside it."""

    def __init__(self, folder, binary, boot, report, seed=0):
        self.folder, self.binary, self.boot, self.report = Path(os.path.realpath(folder)), binary, boot, report
        self.seed, self.boots = seed, 0
        self.disk = self.folder / "disk"
        self.library, self.attic, self.incoming = self.disk / "library", self.disk / "attic", self.disk / "incoming"
        self.disk.mkdir(parents=True)
        (self.folder / "home").mkdir()
        self.reboot()
        self.catalog = Catalog(random.Random(0))
        self.catalog.books = [Book("book-resource", "11", 5, random.Random(7))]
        self.book = self.catalog.books[0]
        self.catalog.note()
        self.server = Server(self.catalog)
        self.former = {}    # item → the bytes of its last version
        self.has_attic, self.path, self.min_split_size = False, None, "64Mi"
        self.disks = ["state"]      # folders that are disks of their own: the state is on the disk of the home folder
        self.configure()

    def reboot(self):
        """Gives the runs before the power cut another boot id."""
        self.boots += 1
        (self.folder / "boot_id").write_text(f"{self.boots:08d}-1111-2222-3333-444444444444\n")

    def close(self):
        self.server.close()
        if os.path.ismount(self.attic):
            subprocess.run(["umount", "-l", self.attic], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def configure(self, naming=PLAIN):
        place = f"libraries: {{ home: {self.library}, attic: {self.attic} }}\nlibrary: home" if self.has_attic \
            else f"library: {self.library}"
        self.config = self.folder / "config.yaml"
        self.config.write_text(f"""
{place}
downloads: {{ retries: 1, min-free-space: 4k, jobs: 3, connect-timeout: 5s }}
naming: "{naming}"
sources:
  cat:
    type: book-resource
    url: http://127.0.0.1:{self.server.port}/list
    query: {{ token: {TOKEN} }}
    page-size: 50
    allow-private-addresses: true
subscriptions:
  - {{ book: "cat:11" }}
""")
        self.config.chmod(0o600)

    # Running the program.

    def start(self, *arguments, log=None, old_boot=False):
        """Starts the program. log: the file for the trace. old_boot: before the power cut."""
        environment = {
            "HOME": str(self.folder / "home"), "PATH": self.path or os.environ["PATH"], "LANG": "C.UTF-8", "TZ": "UTC",
            "XDG_STATE_HOME": str(self.disk / "state"), "LLVM_PROFILE_FILE": "/dev/null",
            "BOOKSYNC_MIN_SPLIT_SIZE": self.min_split_size}
        if "TMPDIR" in os.environ:
            environment["TMPDIR"] = os.environ["TMPDIR"]
        line = [self.binary, *arguments, "--config", str(self.config)]
        old = {"LD_PRELOAD": self.boot, "BOOT_ID": str(self.folder / "boot_id")} if old_boot else {}
        if log:
            line = trace.command(log) + [f"-E{name}={value}" for name, value in old.items()] + line
        else:
            environment.update(old)
        return subprocess.Popen(
            line, cwd=self.disk, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments, **how):
        """Runs the program to its end."""
        return self.ended(self.start(*arguments, **how), arguments)

    def ended(self, process, arguments):
        try:
            output, errors = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            errors = b"it hangs: " + errors
        run = Run(arguments, process, output.decode("utf-8", "replace"), errors.decode("utf-8", "replace"))
        self.report(f"    {run}")
        return run

    def prepare(self, *arguments, code=0):
        """A step before the power cut that must go well."""
        run = self.run(*arguments, old_boot=True)
        if run.code != code:
            raise RuntimeError(f"the preparation failed: {run}")
        return run

    def interrupt(self, sent, *arguments):
        """Runs the program until the server has sent so many bytes, then ends it with SIGTERM: it keeps what it has."""
        self.catalog.hold_at = sent
        process = self.start(*arguments, old_boot=True)
        if not self.catalog.held.wait(HANG):
            raise RuntimeError("the run to interrupt never asked for enough bytes")
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        self.ended(process, arguments)
        self.catalog.is_hung_up, self.catalog.hold_at = True, None
        self.catalog.release.set()
        self.catalog.quiet()
        self.catalog.is_hung_up = False

    def record(self, *arguments, codes=(0,)):
        """Runs the command with its calls recorded."""
        before = Tree.read(self.disk)
        log = self.folder / "trace"
        run = self.run(*arguments, log=log, old_boot=True)
        if run.code not in codes:
            raise RuntimeError(f"the recorded command failed: {run}")
        self.catalog.quiet()
        recording = Recording(log, self.disk, before, Tree.read(self.disk), self.disks)
        log.unlink()
        return recording

    # The disk and the catalog.

    def enlarge(self):
        """Makes two episodes so long that they are fetched in parts, by all jobs once the others are done."""
        for number in (1, 3):
            self.item(number).frames = 400 + number
        self.catalog.note()
        self.min_split_size = "64k"

    def tree(self):
        return Tree.read(self.disk)

    def mount_attic(self):
        """Makes the second library's folder a disk of its own."""
        self.attic.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "tmpfs", self.attic], check=True)
        self.disks.append("attic")

    def item(self, number):
        return next(item for item in self.book.items if item.number == number)

    def new_version(self, number):
        item = self.item(number)
        self.former[item] = item.data
        item.version += 1
        item.frames += 3
        self.catalog.note()

    def fault(self, kind, times=1):
        self.catalog.faults.append(Fault(kind, times))

    def heal(self):
        self.catalog.faults.clear()


def is_own(path):
    """True if a path belongs to the program: below .booksync or in its state."""
    return "/.booksync/" in path or path.startswith("state/")


def user_files(tree):
    """Path → SHA-256 of the files that a user sees: in the libraries, and in the folder of files to adopt."""
    return {path: sha256(node.data) for path, node in tree.files().items() if not is_own(path)}


def all_digests(tree):
    """SHA-256 of every file of the disk."""
    return {sha256(node.data) for node in tree.files().values()}


def trashed_digests(tree):
    return {sha256(node.data) for path, node in tree.files().items() if "/.booksync/trash/" in path}
