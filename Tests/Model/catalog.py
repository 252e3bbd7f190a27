"""A catalog that changes, on a server that keeps account of every request and every byte it gives away.

It holds books of three kinds (book-resource JSON, a feed, a directory index) and is the model of what a listener is
to find on disk. It knows nothing of booksync's code.
"""
import dataclasses
import html
import json
import socket
import socketserver
import threading
import time
import urllib.parse
from email.utils import formatdate

from audio import audio, sha256

TOKEN, SIGNATURE = "tokenThatNobodyMaySee", "signatureThatNobodyMaySee"
NAMES = ["Opening", "第{}集 夜航", "The {}th & last", "It's {}", "Chapter {} é ü", "100% of {}", "{} 🎧", "What? {}"]
BEGIN = 1_790_000_000  # seconds: when the first episode was published


@dataclasses.dataclass(eq=False)
class Item:
    """An episode as the catalog has it now."""
    book: "Book"
    number: int
    name: str
    frames: int
    version: int = 1
    locked: bool = False
    salt: int = 0

    @property
    def id(self):
        return f"{self.book.id}{self.number:03d}"

    @property
    def data(self):
        return audio(f"{self.book.id}/{self.number}/{self.version}", self.frames)

    @property
    def sha(self):
        return sha256(self.data)

    @property
    def target(self):
        """The request target, byte for byte as the catalog lists it."""
        if self.book.kind == "directory":
            return f"/{self.book.id}/" + urllib.parse.quote(f"{self.number:03d} {self.book.fixed_name(self.number)}.mp3")
        query = f"?sc={SIGNATURE}&n={self.number};x='%20+&salt={self.salt}"
        return f"/audio/{self.book.id}/{self.number}%20(a),{self.book.kind[0]}.mp3{query}"

    @property
    def published(self):
        return BEGIN + self.number * 86400 + self.version

    @property
    def tag(self):
        return f'"{self.book.id}-{self.number}-{self.version}"'


class Book:
    """What one catalog lists of one book."""

    def __init__(self, kind, id, count, random):
        self.kind, self.id, self.items, self.title, self.last = kind, id, [], f"Book {id}", 0
        for _ in range(count):
            self.add(random)

    def fixed_name(self, number):
        return NAMES[number % len(NAMES)].format(number)

    def add(self, random):
        self.last += 1
        self.items.append(Item(self, self.last, self.fixed_name(self.last), random.randrange(12, 90)))


class Fault:
    """What is done to the next requests for audio or for lists."""

    def __init__(self, kind, times, lists=False):
        self.kind, self.times, self.lists = kind, times, lists


class Catalog:
    """The server, with its books and its record."""

    def __init__(self, random):
        self.random, self.lock = random, threading.RLock()
        self.books = [Book("book-resource", "11", random.randrange(1, 9), random),
                      Book("book-resource", "12", random.randrange(1, 5), random),
                      Book("feed", "serial", random.randrange(1, 6), random),
                      Book("directory", "files", random.randrange(1, 6), random)]
        self.known = {}     # SHA-256 → (book id, number, version), of all that was ever listed
        self.listed = {}    # request target → item, of all that was ever listed
        self.sent = {}      # SHA-256 → body bytes given away
        self.sending = 0    # answers with audio that are under way
        self.asked = []     # (target, status) of each request
        self.faults, self.complaints = [], []
        self.hold_at = None     # body bytes of audio after which everything is held
        self.given, self.held, self.release = 0, threading.Event(), threading.Event()
        self.is_hung_up = False     # what is held when it is released goes to nobody
        self.note()
        catalog = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                try:
                    while catalog.exchange(self.rfile, self.connection):
                        pass
                except OSError:
                    pass

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads, request_queue_size = True, True, 128

            def handle_error(self, request, address):
                catalog.complaints.append("the model's server failed")
                super().handle_error(request, address)

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.release.set()
        self.server.shutdown()
        self.server.server_close()

    def quiet(self):
        """Waits until what was being sent when a client went away is sent, or refused."""
        end = time.monotonic() + 5
        while self.sending and time.monotonic() < end:
            time.sleep(0.001)

    def note(self):
        """Remembers what is listed now."""
        for book in self.books:
            for item in book.items:
                self.known[item.sha] = (book.id, item.number, item.version)
                self.listed[item.target] = item

    def book(self, id):
        return next(book for book in self.books if book.id == id)

    def current(self, sha):
        """Whether these are the bytes that some episode has now."""
        key = self.known.get(sha)
        return key is not None and any(
            (item.number, item.version) == key[1:] for item in self.book(key[0]).items)

    # What is answered.

    def exchange(self, reader, connection):
        """Answers one request; returns whether the connection goes on."""
        line = reader.readline(65536).decode("latin-1").split(" ")
        if len(line) != 3:
            return False
        method, target, fields = line[0], line[1], {}
        while (field := reader.readline(65536).strip()):
            name, _, value = field.decode("latin-1").partition(":")
            fields[name.lower()] = value.strip()
        with self.lock:
            item = self.listed.get(target)
            is_list = item is None
            fault = next((f for f in self.faults if f.times > 0 and f.lists == is_list
                          # Who may not ask how long a file is takes what bears its mark for what the catalog lists.
                          and not (f.kind == "403" and method == "HEAD")), None)
            if fault:
                fault.times -= 1
        if fault and fault.kind == "closed":
            return self.log(target, 0) and False
        if fault and fault.kind in ("503", "404", "403"):
            return self.answer(connection, target, int(fault.kind), {}, b"no")
        if is_list:
            return self.answer_list(connection, target, fields, fault, method)
        with self.lock:
            if not any(other is item and other.target == target for other in item.book.items):
                return self.answer(connection, target, 410, {}, b"gone")
            data, tag, published = item.data, item.tag, item.published
            self.sending += 1
        try:
            self.answer_audio(connection, method, target, fields, fault, data, tag, published)
        finally:
            with self.lock:
                self.sending -= 1
        return fault is None

    def log(self, target, status):
        with self.lock:
            self.asked.append((target, status))
        return True

    def answer(self, connection, target, status, fields, body, method="GET"):
        self.log(target, status)
        head = [f"HTTP/1.1 {status} Because", f"Content-Length: {len(body)}"]
        head += [f"{name}: {value}" for name, value in fields.items()]
        connection.sendall("\r\n".join(head + ["", ""]).encode("latin-1") + (b"" if method == "HEAD" else body))
        return True

    def answer_audio(self, connection, method, target, fields, fault, data, tag, published):
        start, end, status = 0, len(data), 200
        asked = fields.get("range", "")
        if asked.startswith("bytes=") and fields.get("if-range", tag) == tag:
            first, _, last = asked[6:].partition("-")
            start, end = int(first), min(int(last) + 1, len(data)) if last else len(data)
            status = 206
            if start >= len(data):
                return self.answer(
                    connection, target, 416, {"Content-Range": f"bytes */{len(data)}", "ETag": tag}, b"")
        if fields.get("if-none-match") == tag:
            self.log(target, 304)
            return connection.sendall(f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode())
        self.log(target, status)
        head = [f"HTTP/1.1 {status} OK", "Content-Type: audio/mpeg", f"ETag: {tag}", "Accept-Ranges: bytes",
                f"Last-Modified: {formatdate(published, usegmt=True)}", f"Content-Length: {end - start}"]
        if status == 206:
            head.append(f"Content-Range: bytes {start}-{end - 1}/{len(data)}")
        connection.sendall("\r\n".join(head + ["", ""]).encode())
        if method == "HEAD":
            return None
        stop = (start + end) // 2 if fault and fault.kind == "cut" else end
        for place in range(start, stop, 2048):
            part = data[place:min(place + 2048, stop)]
            self.wait_where_held()
            connection.sendall(part)
            with self.lock:
                self.given += len(part)
                self.sent[sha256(data)] = self.sent.get(sha256(data), 0) + len(part)
        if stop < end:
            connection.shutdown(socket.SHUT_RDWR)
        return None

    def wait_where_held(self):
        with self.lock:
            is_held = self.hold_at is not None and self.given >= self.hold_at
        if is_held:
            self.held.set()
            self.release.wait()
            if self.is_hung_up:
                raise OSError("who asked is no more")

    def answer_list(self, connection, target, fields, fault, method):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        with self.lock:
            if path == "/list":
                if query.get("token") != TOKEN:
                    self.complaints.append(f"a list was asked for without its token: {target}")
                book = next((b for b in self.books if b.id == query.get("bookId")), None)
                if book is None:
                    body, type = '{"status":1,"msg":"no such book","list":null}', "application/json"
                else:
                    body, type = self.resource(book, query), "application/json"
            elif path == "/serial.xml":
                body, type = self.feed(self.book("serial")), "application/rss+xml"
            elif path == "/files/":
                body, type = self.index(self.book("files")), "text/html; charset=utf-8"
            else:
                if not path.endswith("robots.txt"):
                    self.complaints.append(f"what nobody listed was asked for: {target}")
                return self.answer(connection, target, 404, {}, b"not found")
        data = body.encode()
        tag = f'"{sha256(data)[:16]}"'
        if fields.get("if-none-match") == tag and not fault:
            self.log(target, 304)
            connection.sendall(f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode())
            return True
        if fault and fault.kind == "cut":
            self.log(target, 200)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {type}\r\nContent-Length: {len(data)}\r\n\r\n"
            connection.sendall(head.encode() + data[:len(data) // 2])
            return False
        return self.answer(connection, target, 200, {"Content-Type": type, "ETag": tag}, data, method)

    def resource(self, book, query):
        size, page = int(query.get("pageSize", 50)), int(query.get("pageNum", 1))
        listed = sorted(book.items, key=lambda item: item.number)
        elements = [{"id": int(item.id), "section": item.number, "name": item.name,
                     "path": None if item.locked else item.target, "size": len(item.data)}
                    for item in listed[(page - 1) * size:page * size]]
        return json.dumps({"status": 0, "msg": None, "sections": len(listed), "list": elements}, ensure_ascii=False)

    def feed(self, book):
        rows = "".join(
            f"<item><title>{html.escape(item.name)}</title><guid isPermaLink=\"false\">{item.id}</guid>"
            f"<pubDate>{formatdate(BEGIN + item.number * 86400, usegmt=True)}</pubDate>"
            f"<itunes:episode>{item.number}</itunes:episode><enclosure type=\"audio/mpeg\" length=\"{len(item.data)}\""
            f" url=\"http://127.0.0.1:{self.port}{html.escape(item.target)}\"/></item>"
            for item in reversed(book.items) if not item.locked)
        return ('<?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">'
                f"<channel><title>{html.escape(book.title)}</title>{rows}</channel></rss>")

    def index(self, book):
        rows = "".join(
            f'<a href="{html.escape(item.target.rpartition("/")[2])}">x</a>  '
            f"{formatdate(item.published, usegmt=True)[5:16].replace(' ', '-', 2)} 10:00  {len(item.data)}\n"
            for item in book.items)
        return f'<html><head><title>Index of /files/</title></head><body><pre><a href="../">../</a>\n{rows}</pre></body></html>'
