"""The calls of one run, replayed as changes of numbered files and folders, with the lines that the run printed in between."""
import os
import re

import trace
from trace import TraceError
from tree import NOTED, Node, differences, with_inode

WRITES = {"write", "pwrite64", "writev", "pwritev", "pwritev2"}
TIME = re.compile(r"st_mtime=(-?\d+)(?: /\*.*?\*/)?, st_mtime_nsec=(\d+)")


class Change:
    """A change of the disk, a sync, or a line of output.

    kind: "data" (number, offset, bytes), "size" (number, size), "mode" (number, mode), "attribute" (number, name, value or None),
    "time" (number), "names" ([(folder, name, number or None)]), "sync" (number, "all" or "data"), "printed" (text).
    epoch: the number of the change among those that set the time of the file; `Recording.times` has each time.
    """
    __slots__ = ("kind", "number", "value", "begin", "end", "epoch", "path", "call")

    def __init__(self, kind, number, value, call, path, epoch=None):
        self.kind, self.number, self.value, self.path, self.epoch = kind, number, value, path, epoch
        self.begin, self.end, self.call = call.begin, call.end, call.name

    def __repr__(self):
        value = f"{self.value[0]}+{len(self.value[1])}" if self.kind == "data" else str(self.value)[:200]
        return f"{self.call} {self.path}: {self.kind} {value}"


class Open:
    """An open file, shared by duplicated descriptors."""
    __slots__ = ("number", "place", "appends")

    def __init__(self, number, appends):
        self.number, self.place, self.appends = number, 0, appends


class Recording:
    """The changes that a run made to the folder `root`, whose content was `before`."""

    def __init__(self, log, root, before, after, disks=()):
        self.root, self.before = str(root), before
        self.disks = disks                  # folders below the root that are disks of their own
        self.disk = {1: ""}                 # number → its disk
        self.place_on_disks(1, "")
        self.now = before.copy()            # the folder as the run sees it
        for node in self.now.nodes.values():
            if node.kind == "file":
                node.data = bytearray(node.data)
        self.changes, self.opened, self.notes = [], {}, {}
        self.next = max(self.now.nodes) + 1
        self.epochs = {number: 0 for number in self.now.nodes}
        self.times = {(number, 0): node.time for number, node in self.now.nodes.items()}
        self.deleted = {}                   # path → number of the file that was last deleted there
        self.text = b""
        calls = trace.read(log)
        self.parents = {}
        for call in calls:
            if call.name in ("clone", "clone3", "fork", "vfork"):
                self.parents[call.result] = call.thread, "CLONE_THREAD" in "".join(call.arguments)
        self.main = calls[0].thread if calls else 0
        self.known = set()
        for call in calls:
            try:
                self.replay(call)
            except (TraceError, KeyError, IndexError, ValueError) as error:
                raise TraceError(f"{call}: {type(error).__name__} {error}") from error
        self.check(after)

    def place_on_disks(self, number, disk):
        for name, child in self.before.nodes[number].entries.items():
            self.disk[child] = name if number == 1 and name in self.disks else disk
            self.place_on_disks(child, self.disk[child])

    # Processes and descriptors.

    def process(self, thread):
        while thread in self.parents and self.parents[thread][1]:
            thread = self.parents[thread][0]
        if thread not in self.known:
            self.known.add(thread)
            if thread in self.parents:
                parent = self.process(self.parents[thread][0])
                for (owner, descriptor), file in list(self.opened.items()):
                    if owner == parent:
                        self.opened[thread, descriptor] = file
        return thread

    def below(self, path):
        """The parts of a path below the root; None if it is outside."""
        if path is None:
            return None
        path = os.path.normpath(path)
        if path == self.root:
            return []
        return path[len(self.root) + 1:].split("/") if path.startswith(self.root + "/") else None

    def find(self, path):
        parts = self.below(path)
        if parts is None:
            return None
        number = 1
        for part in parts:
            number = self.now.nodes[number].entries.get(part)
            if number is None:
                return None
        return number

    def absolute(self, call, index):
        """The path of argument `index`, which may be relative to the descriptor before it."""
        path = call.path(index)
        if path.startswith("/"):
            return path
        if index > 0 and "<" in call.arguments[index - 1]:
            folder = call.descriptor(index - 1)[1]
            return f"{folder}/{path}" if path else folder
        return f"{self.root}/{path}"

    def parent(self, path):
        """The number of the folder and the last name of a path; None if the path is outside the root."""
        parts = self.below(path)
        if not parts:
            return None
        folder = self.find(os.path.dirname(os.path.normpath(path)))
        if folder is None:
            raise TraceError(f"the folder of {path} is not known")
        return folder, parts[-1]

    def file(self, call, index=0):
        """The open file of a descriptor; None if it is outside the root."""
        descriptor, path = call.descriptor(index)
        if self.below(path) is None:
            return None
        process = self.process(call.thread)
        opened = self.opened.get((process, descriptor))
        if opened is None:
            number = self.find(path)
            if number is None:
                number = self.deleted[path]
            opened = self.opened[process, descriptor] = Open(number, False)
        return opened

    # Changes.

    def add(self, kind, number, value, call, path, touches=True):
        epoch = None
        if touches:
            epoch = self.epochs[number] = self.epochs[number] + 1
            self.times[number, epoch] = int(call.time * 1e9)
        change = Change(kind, number, value, call, path, epoch)
        self.changes.append(change)
        return change

    def name(self, changes, call, path):
        self.add("names", None, changes, call, path, touches=False)
        for folder, name, number in changes:
            epoch = self.epochs[folder] = self.epochs[folder] + 1
            self.times[folder, epoch] = int(call.time * 1e9)
            entries = self.now.nodes[folder].entries
            if number is None:
                entries.pop(name, None)
            else:
                entries[name] = number

    def create(self, kind, mode, call, path, data=b""):
        number, self.next = self.next, self.next + 1
        self.now.nodes[number] = Node(kind, mode, 0, bytearray(data) if kind == "file" else data)
        self.epochs[number] = 0
        self.times[number, 0] = int(call.time * 1e9)
        folder, name = self.parent(path)
        self.disk[number] = name if folder == 1 and name in self.disks else self.disk[folder]
        self.name([(folder, name, number)], call, path)
        return number

    def resize(self, number, size, call, path):
        data = self.now.nodes[number].data
        if size < len(data):
            del data[size:]
        else:
            data.extend(bytes(size - len(data)))
        self.add("size", number, size, call, path)

    def write(self, number, offset, data, call, path):
        content = self.now.nodes[number].data
        if offset > len(content):
            content.extend(bytes(offset - len(content)))
        content[offset:offset + len(data)] = data
        self.add("data", number, (offset, bytes(data)), call, path)

    def replay(self, call):
        handler = getattr(self, "on_" + call.name, None)
        if handler:
            handler(call)

    def on_openat(self, call, index=1):
        path, flags = self.absolute(call, index), call.arguments[index + 1]
        if str(path) == "/proc/sys/kernel/random/boot_id":
            raise TraceError("the recorded run has the boot id of the run after the cut: boot.c does not replace this call")
        if self.below(path) is None:
            return
        number = self.find(path)
        if number is None:
            if "O_CREAT" not in flags:
                raise TraceError(f"{path} was opened and is not known")
            mode = int(mode_of(call, index), 8) & ~0o022
            number = self.create("file", mode, call, path)
        elif "O_TRUNC" in flags and self.now.nodes[number].data:
            self.resize(number, 0, call, path)
        self.opened[self.process(call.thread), call.result] = Open(number, "O_APPEND" in flags)

    def on_open(self, call):
        self.on_openat(call, 0)

    def on_creat(self, call):
        call.arguments.insert(1, "O_CREAT|O_TRUNC")
        self.on_openat(call, 0)

    def duplicate(self, call, target):
        process, source = self.process(call.thread), call.descriptor()[0]
        opened = self.opened.get((process, source))
        if opened is not None:
            self.opened[process, target] = opened
        else:
            self.opened.pop((process, target), None)

    def on_dup(self, call):
        self.duplicate(call, call.result)

    on_dup2 = on_dup3 = on_dup

    def on_fcntl(self, call):
        if "F_DUPFD" in call.arguments[1]:
            self.duplicate(call, call.result)

    def on_lseek(self, call):
        file = self.file(call)
        if file:
            file.place = call.result

    def on_read(self, call):
        descriptor, path = call.descriptor()
        if self.below(path) is not None:
            self.file(call).place += call.result

    def on_write(self, call):
        descriptor, path = call.descriptor()
        if descriptor == 1 and self.process(call.thread) == self.main:
            return self.record_output(call)
        file = self.file(call)
        if not file or call.result == 0:
            return None
        data = b"".join(bytes.fromhex(part.replace("\\x", "")) for part in re.findall(r'iov_base="([^"]*)"', call.arguments[1])) \
            if call.name.endswith("v") or call.name == "pwritev2" else call.data(1)
        data = data[:call.result]
        if call.name.startswith("p"):
            offset = call.number(3)
        else:
            offset = len(self.now.nodes[file.number].data) if file.appends else file.place
            file.place = offset + len(data)
        return self.write(file.number, offset, data, call, path)

    on_pwrite64 = on_writev = on_pwritev = on_pwritev2 = on_write

    def record_output(self, call):
        self.text += call.data(1)[:call.result] if call.name == "write" else b""
        *lines, self.text = self.text.split(b"\n")
        for line in lines:
            self.add("printed", None, line.decode("utf-8", "replace"), call, "stdout", touches=False)

    def on_ftruncate(self, call):
        file = self.file(call)
        if file:
            self.resize(file.number, call.number(1), call, call.descriptor()[1])

    def on_truncate(self, call):
        path = self.absolute(call, 0)
        if self.below(path) is not None:
            self.resize(self.find(path), call.number(1), call, path)

    def on_fallocate(self, call):
        file = self.file(call)
        if file and "KEEP_SIZE" not in call.arguments[1]:
            if call.arguments[1] != "0":
                raise TraceError("fallocate of this kind is not understood")
            size = call.number(2) + call.number(3)
            if size > len(self.now.nodes[file.number].data):
                self.resize(file.number, size, call, call.descriptor()[1])

    def on_copy_file_range(self, call):
        self.copy(call, source=0, target=2, offsets=(1, 3))

    def on_sendfile(self, call):
        self.copy(call, source=1, target=0, offsets=(2,))

    def copy(self, call, source, target, offsets):
        file, other = self.file(call, target), self.file(call, source)
        if not file:
            return
        if not other or any(call.arguments[index] != "NULL" for index in offsets):
            raise TraceError("a copy of this kind is not understood")
        data = bytes(self.now.nodes[other.number].data[other.place:other.place + call.result])
        self.write(file.number, file.place, data, call, call.descriptor(target)[1])
        file.place, other.place = file.place + call.result, other.place + call.result

    def on_ioctl(self, call):
        if "CLONE" in call.arguments[1] and self.file(call):
            raise TraceError("a clone of a file is not understood")

    def on_mmap(self, call):
        if "MAP_SHARED" in call.arguments[3] and "PROT_WRITE" in call.arguments[2] and "<" in call.arguments[4]:
            path = call.descriptor(4)[1]
            if self.below(path) is not None and not path.endswith("-shm"):
                raise TraceError(f"{path} is written through a memory map")

    def rename(self, call, source, target):
        origin, place = self.parent(source), self.parent(target)
        if origin is None and place is None:
            return
        if origin is None or place is None:
            raise TraceError("a rename crosses the border of the folder")
        number = self.now.nodes[origin[0]].entries[origin[1]]
        if "EXCHANGE" in "".join(call.arguments[4:]):
            other = self.now.nodes[place[0]].entries[place[1]]
            return self.name([(*place, number), (*origin, other)], call, target)
        replaced = self.now.nodes[place[0]].entries.get(place[1])
        if replaced == number:
            return None   # two names of one file: nothing happens
        return self.name([(*place, number), (*origin, None)], call, target)

    def on_rename(self, call):
        self.rename(call, self.absolute(call, 0), self.absolute(call, 1))

    def on_renameat(self, call):
        self.rename(call, self.absolute(call, 1), self.absolute(call, 3))

    on_renameat2 = on_renameat

    def link(self, call, source, target):
        if self.below(target) is None:
            return
        number = self.find(source)
        if number is None:
            raise TraceError(f"{source} is not known")
        self.name([(*self.parent(target), number)], call, target)

    def on_link(self, call):
        self.link(call, self.absolute(call, 0), self.absolute(call, 1))

    def on_linkat(self, call):
        self.link(call, self.absolute(call, 1), self.absolute(call, 3))

    def on_symlink(self, call):
        path = self.absolute(call, 1)
        if self.below(path) is not None:
            self.create("link", 0o777, call, path, call.data(0))

    def on_symlinkat(self, call):
        path = self.absolute(call, 2)
        if self.below(path) is not None:
            self.create("link", 0o777, call, path, call.data(0))

    def remove(self, call, path):
        if self.below(path) is None:
            return
        number = self.find(path)
        if number is None:
            raise TraceError(f"{path} was deleted and is not known")
        self.deleted[path] = number
        self.name([(*self.parent(path), None)], call, path)

    def on_unlink(self, call):
        self.remove(call, self.absolute(call, 0))

    on_rmdir = on_unlink

    def on_unlinkat(self, call):
        self.remove(call, self.absolute(call, 1))

    def on_mkdir(self, call, index=0):
        path = self.absolute(call, index)
        if self.below(path) is not None:
            self.create("folder", int(call.arguments[index + 1], 8) & ~0o022, call, path)

    def on_mkdirat(self, call):
        self.on_mkdir(call, 1)

    def attribute(self, call, number, value):
        if number is None:
            return
        name = call.path(1)
        if not name.startswith("user."):
            return
        if value is None:
            self.now.nodes[number].attributes.pop(name, None)
        else:
            noted = NOTED.search(value)
            # A note that was made for another file is not its own.
            if noted and self.notes.setdefault(noted[0], number) == number:
                value = with_inode(value, b"own", instead_of=noted[1])
            self.now.nodes[number].attributes[name] = value
        self.add("attribute", number, (name, value), call, name, touches=False)

    def on_setxattr(self, call):
        self.attribute(call, self.find(self.absolute(call, 0)), call.data(2))

    def on_fsetxattr(self, call):
        file = self.file(call)
        self.attribute(call, file and file.number, call.data(2))

    def on_removexattr(self, call):
        self.attribute(call, self.find(self.absolute(call, 0)), None)

    def on_fremovexattr(self, call):
        file = self.file(call)
        self.attribute(call, file and file.number, None)

    on_lsetxattr, on_lremovexattr = on_setxattr, on_removexattr

    def on_utimensat(self, call):
        if call.arguments[1] == "NULL":
            file = self.file(call)
            number = file and file.number
        else:
            number = self.find(self.absolute(call, 1))
        times = re.findall(r"tv_sec=(-?\d+).*?tv_nsec=(\d+)", call.arguments[2])
        if number is None or "UTIME_OMIT" in call.arguments[2].rpartition("{")[2]:
            return
        self.add("time", number, None, call, "")
        if len(times) == 2:
            self.times[number, self.epochs[number]] = int(times[1][0]) * 10**9 + int(times[1][1])

    def mode(self, call, number, text):
        if number is not None:
            self.now.nodes[number].mode = int(text, 8)
            self.add("mode", number, int(text, 8), call, "", touches=False)

    def on_chmod(self, call):
        self.mode(call, self.find(self.absolute(call, 0)), call.arguments[1])

    def on_fchmod(self, call):
        file = self.file(call)
        self.mode(call, file and file.number, call.arguments[1])

    def on_fchmodat(self, call):
        self.mode(call, self.find(self.absolute(call, 1)), call.arguments[2])

    def on_fsync(self, call):
        file = self.file(call)
        if file:
            self.add("sync", file.number, "all" if call.name == "fsync" else "data", call, call.descriptor()[1], touches=False)

    on_fdatasync = on_fsync

    def on_sync(self, call):
        raise TraceError("sync of the whole disk is not understood")

    on_syncfs = on_sync

    def on_newfstatat(self, call, index=1):
        """Takes over the exact time that the program saw: the store may have recorded it."""
        if index and not call.path(index):
            file = self.file(call)
            number = file and file.number
        else:
            number = self.find(self.absolute(call, index))
        match = TIME.search(call.arguments[index + 1])
        if number and match:
            self.times[number, self.epochs[number]] = int(match.group(1)) * 10**9 + int(match.group(2))

    def on_stat(self, call):
        self.on_newfstatat(call, 0)

    on_lstat = on_stat

    def on_fstat(self, call):
        file = self.file(call)
        match = TIME.search(call.arguments[1])
        if file and match:
            self.times[file.number, self.epochs[file.number]] = int(match.group(1)) * 10**9 + int(match.group(2))

    def check(self, after):
        """Requires that the replayed changes lead to the folder that the run really left."""
        wrong = differences(self.now, after)
        if wrong:
            raise TraceError("the replayed calls do not lead to the folder on disk: " + "; ".join(wrong[:8]))
        numbers = {}

        def pair(number, other):
            if numbers.setdefault(number, other) == other:
                self.times[number, self.epochs[number]] = after.nodes[other].time
            for name, child in self.now.nodes[number].entries.items():
                pair(child, after.nodes[other].entries[name])

        pair(1, 1)


def mode_of(call, index):
    return call.arguments[index + 2] if len(call.arguments) > index + 2 else "0644"
