"""A folder and its content in memory: read from a disk, compared, written back."""
import hashlib
import os
import re
import shutil
import stat

# What the note of a partial file says of the file that it was made for: its inode, and its time. A power cut leaves a file its
# inode, and a file that is written back gets another one: in memory the word `own` is in its place.
NOTED = re.compile(rb"^changed (\d+|own) (\d+)", re.MULTILINE)


class Node:
    """A file, folder or symbolic link. Names that share a file share its node's number."""
    __slots__ = ("kind", "mode", "time", "data", "attributes", "entries")

    def __init__(self, kind, mode, time, data=b"", attributes=None):
        self.kind, self.mode, self.time, self.data = kind, mode, time, data
        self.attributes = attributes or {}
        self.entries = {}   # of a folder: name → number

    def copy(self):
        other = Node(self.kind, self.mode, self.time, self.data, dict(self.attributes))
        other.entries = dict(self.entries)
        return other


class Tree:
    """Nodes by number; the folder itself is number 1."""

    def __init__(self):
        self.nodes = {}

    def copy(self):
        other = Tree()
        other.nodes = {number: node.copy() for number, node in self.nodes.items()}
        return other

    @classmethod
    def read(cls, folder):
        tree, numbers = cls(), {}

        def visit(path):
            facts = os.lstat(path)
            key = facts.st_dev, facts.st_ino
            if key in numbers:
                return numbers[key]
            number = numbers[key] = len(numbers) + 1
            kind = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}[stat.S_IFMT(facts.st_mode)]
            node = tree.nodes[number] = Node(kind, stat.S_IMODE(facts.st_mode), facts.st_mtime_ns)
            if kind == "file":
                with open(path, "rb") as file:
                    node.data = file.read()
            if kind == "link":
                node.data = os.fsencode(os.readlink(path))
            else:
                node.attributes = attributes(path)
            if kind == "file":
                for name, value in node.attributes.items():
                    node.attributes[name] = with_inode(value, b"own", instead_of=b"%d" % facts.st_ino)
            if kind == "folder":
                for name in sorted(os.listdir(path)):
                    node.entries[name] = visit(os.path.join(path, name))
            return number

        visit(str(folder))
        return tree

    def files(self):
        """Path → node of all reachable files."""
        found = {}

        def visit(number, path):
            node = self.nodes[number]
            if node.kind == "folder":
                for name, child in node.entries.items():
                    visit(child, f"{path}/{name}" if path else name)
            elif node.kind == "file":
                found[path] = node

        visit(1, "")
        return found

    def write(self, folder):
        """Replaces the content of the folder by the tree."""
        folder = str(folder)
        empty(folder)
        written = {}

        def visit(number, path):
            node = self.nodes[number]
            if number in written:
                return os.link(written[number], path)
            if node.kind == "link":
                return os.symlink(os.fsdecode(bytes(node.data)), path)
            if node.kind == "file":
                written[number] = path
                with open(path, "wb") as file:
                    file.write(node.data)
            else:
                if not os.path.ismount(path) and number != 1:
                    os.mkdir(path)
                for name, child in node.entries.items():
                    visit(child, os.path.join(path, name))
            for name, value in node.attributes.items():
                os.setxattr(path, name, with_inode(value, b"%d" % os.stat(path).st_ino, instead_of=b"own"))
            os.chmod(path, node.mode)
            os.utime(path, ns=(node.time, node.time))
            return None

        visit(1, folder)


def empty(folder):
    """Deletes the content of a folder, and that of a disk mounted in it."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if os.path.ismount(path):
            empty(path)
        elif os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def with_inode(value, inode, instead_of):
    """The value of an attribute with another inode in its notes, where it has that one."""
    def note(match):
        return b"changed %s %s" % (inode if match[1] == instead_of else match[1], match[2])
    return NOTED.sub(note, value)


def attributes(path):
    try:
        return {name: os.getxattr(path, name) for name in os.listxattr(path) if name.startswith("user.")}
    except OSError:
        return {}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def differences(one, other):
    """The differences between two trees, as text."""
    def facts(tree):
        found = {}
        links = {}

        def visit(number, path):
            node = tree.nodes[number]
            links.setdefault(number, path)
            content = bytes(node.data) if node.kind != "folder" else b""
            if path.endswith("-shm"):
                content = b""
            found[path] = (node.kind, node.mode, content, links[number], sorted(node.attributes.items()))
            for name, child in sorted(node.entries.items()):
                visit(child, f"{path}/{name}")

        visit(1, "")
        return found

    first, second = facts(one), facts(other)
    wrong = []
    for path in sorted(first.keys() | second.keys()):
        if path not in first or path not in second:
            wrong.append(f"{path}: only {'here' if path in first else 'there'}")
        elif first[path] != second[path]:
            which = [word for word, a, b in zip(("kind", "mode", "content", "links", "attributes"), first[path], second[path])
                     if a != b]
            wrong.append(f"{path}: {', '.join(which)}")
    return wrong
