"""Reads a trace of strace: the system calls of a program and its children, in the order in which they happened.

strace stops a thread before and after each call and writes both down in the order in which it sees them. So a call whose
end is on an earlier line than another's beginning was over before the other began, whichever threads made them.
"""
import re
import shutil
import subprocess

# Calls that change or sync files, and those that say which file a descriptor means.
CALLS = (
    "open,openat,creat,dup,dup2,dup3,fcntl,clone,clone3,fork,vfork,lseek,read,write,pwrite64,writev,pwritev,pwritev2,"
    "ftruncate,truncate,fallocate,copy_file_range,sendfile,splice,ioctl,mmap,rename,renameat,renameat2,link,linkat,"
    "unlink,unlinkat,mkdir,mkdirat,rmdir,symlink,symlinkat,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,"
    "fremovexattr,utimensat,chmod,fchmod,fchmodat,fsync,fdatasync,sync_file_range,sync,syncfs,"
    "stat,lstat,fstat,newfstatat,statx")


class TraceError(Exception):
    """The trace has a call that the simulator does not understand."""


class Call:
    """A finished system call. `begin` and `end` are lines of the trace."""
    __slots__ = ("thread", "name", "arguments", "result", "begin", "end", "time", "resultpath")

    def __init__(self, thread, name, arguments, result, begin, end, time):
        self.thread, self.name, self.arguments, self.result = thread, name, arguments, result
        self.begin, self.end, self.time = begin, end, time

    def __repr__(self):
        return f"{self.begin}-{self.end} {self.name}({', '.join(a[:120] for a in self.arguments)}) = {self.result}"

    def number(self, index):
        return int(self.arguments[index], 0)

    def descriptor(self, index=0):
        """The number of a descriptor argument, and the path that strace printed for it."""
        return descriptor(self.arguments[index])

    def data(self, index):
        return decoded(self.arguments[index])

    def path(self, index):
        return decoded(self.arguments[index]).decode("utf-8", "surrogateescape")


def is_missing():
    """The reason why nothing can be recorded here; None if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    if subprocess.run(["strace", "-f", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        return "strace may not trace here"
    return None


def command(log):
    """The words to put before the command line of a program. All text is hexadecimal, so that a comma only ever separates."""
    return ["strace", "-f", "-y", "-xx", "-v", "-ttt", "-s", "4000000", "--seccomp-bpf", "-e", "signal=none",
            "-e", f"trace={CALLS}", "-o", str(log)]


def decoded(text):
    """The bytes of "\\x48\\x49"."""
    if not text.startswith('"'):
        raise TraceError(f"expected text, got {text[:60]}")
    end = text.index('"', 1)
    if text[end + 1:].startswith("..."):
        raise TraceError("strace cut a text off")
    return bytes.fromhex(text[1:end].replace("\\x", ""))


def descriptor(text):
    number, _, rest = text.partition("<")
    path = None
    if rest.startswith("\\x2f"):
        path = bytes.fromhex(rest[:rest.rindex(">")].split(">")[0].replace("\\x", "")).decode("utf-8", "surrogateescape")
    return (None if number == "AT_FDCWD" else int(number)), path


LINE = re.compile(r"^(\d+)\s+(\d+\.\d+) (.*)$", re.DOTALL)
RESUMED = re.compile(r"^<\.\.\. (\w+) resumed>(.*)$", re.DOTALL)
ENDED = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+|\?)(.*)$", re.DOTALL)


def split(text):
    """The arguments of a call, also where one of them is a structure."""
    if "{" not in text and "[" not in text:
        return text.split(", ") if text else []
    parts, depth, begin = [], 0, 0
    for match in re.finditer(r"[{\[(]|[}\])]|, ", text):
        sign = match.group()
        if sign == ", ":
            if depth == 0:
                parts.append(text[begin:match.start()])
                begin = match.end()
        else:
            depth += 1 if sign in "{[(" else -1
    return parts + [text[begin:]]


def read(path):
    """All calls that succeeded, by their ends."""
    calls, unfinished = [], {}
    with open(path, encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines):
            match = LINE.match(line.rstrip("\n"))
            if not match:
                continue
            thread, time, rest = int(match.group(1)), float(match.group(2)), match.group(3)
            begin = number
            if rest.startswith(("+++", "---")):
                continue
            if rest.endswith("<unfinished ...>"):
                unfinished[thread] = (rest[:-len("<unfinished ...>")].rstrip(), number)
                continue
            resumed = RESUMED.match(rest)
            if resumed:
                if thread not in unfinished:
                    continue
                head, begin = unfinished.pop(thread)
                rest = head + resumed.group(2)
            ended = ENDED.match(rest)
            if not ended or ended.group(3) in ("?",) or ended.group(3).startswith("-"):
                continue
            call = Call(thread, ended.group(1), split(ended.group(2)), int(ended.group(3), 0), begin, number, time)
            call.resultpath = ended.group(4)
            calls.append(call)
    return calls
