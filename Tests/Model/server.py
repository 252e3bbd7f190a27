"""The HTTP server of the catalog: lists, audio with ranges, and what servers do wrong."""
import html
import json
import socket
import socketserver
import threading
import time
import urllib.parse
from email.utils import formatdate

from audio import sha256
from catalog import BEGIN, LIST, TOKEN

MOVED = "/moved"  # what a redirect puts in front of a request target
RETRY_AFTER = 1   # seconds that a 429 asks for


class Server(socketserver.ThreadingTCPServer):
    """Answers for a catalog, on a port of its own."""
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 128

    def __init__(self, catalog):
        self.catalog = catalog
        super().__init__(("127.0.0.1", 0), Handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, request, client_address):
        self.catalog.complaints.append("the model's server failed")
        super().handle_error(request, client_address)

    def close(self):
        self.catalog.release.set()
        self.shutdown()
        self.server_close()


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self):
        self.catalog = self.server.catalog
        try:
            while self.exchange():
                pass
        except OSError:
            pass

    def exchange(self):
        """Answers one request; returns whether the connection goes on."""
        line = self.rfile.readline(65536).decode("latin-1").split(" ")
        if len(line) != 3:
            return False
        self.method, target, self.fields = line[0], line[1], {}
        while (field := self.rfile.readline(65536).strip()):
            name, _, value = field.decode("latin-1").partition(":")
            self.fields[name.lower()] = value.strip()
        is_moved = target.startswith(MOVED + "/")
        self.target = target[len(MOVED):] if is_moved else target
        item = self.catalog.listed.get(self.target)
        fault = self.fault(item is None)
        if fault == "closed":
            self.log(0)
            return False
        if fault == "429":
            return self.refuse_for_now()
        if fault in ("503", "404", "403"):
            return self.answer(int(fault), {}, b"no")
        if item and self.is_asked_too_soon():
            self.catalog.complaints.append(f"{self.target} was asked for again before Retry-After had passed")
        redirects = item.book.redirects if item else self.has_moved_list()
        if redirects and not is_moved:
            return self.answer(302, {"Location": MOVED + self.target}, b"")
        return self.answer_audio(item, fault) if item else self.answer_list(fault)

    def fault(self, is_list):
        """The kind of fault that this request meets, or None."""
        with self.catalog.lock:
            # A client that may not ask for a file's length believes its tag instead: a HEAD is never refused.
            fault = next((f for f in self.catalog.faults if f.times > 0 and f.lists == is_list
                          and not (f.kind == "403" and self.method == "HEAD")), None)
            if fault:
                fault.times -= 1
                return fault.kind
            return None

    def refuse_for_now(self):
        with self.catalog.lock:
            self.catalog.retry_at[self.target] = time.monotonic() + RETRY_AFTER - 0.1
        return self.answer(429, {"Retry-After": str(RETRY_AFTER)}, b"later")

    def is_asked_too_soon(self):
        with self.catalog.lock:
            return time.monotonic() < self.catalog.retry_at.pop(self.target, 0)

    def log(self, status):
        with self.catalog.lock:
            self.catalog.asked.append((self.target, status))

    def answer(self, status, fields, body):
        self.log(status)
        head = [f"HTTP/1.1 {status} Because", f"Content-Length: {len(body)}"]
        head += [f"{name}: {value}" for name, value in fields.items()]
        self.connection.sendall(
            "\r\n".join(head + ["", ""]).encode("latin-1") + (b"" if self.method == "HEAD" else body))
        return True

    # Audio.

    def validators(self, item):
        """The headers that tell this version from others."""
        tag = f"{item.book.id}-{item.number}-{item.version}"
        date = formatdate(item.published, usegmt=True)
        return {"strong": {"ETag": f'"{tag}"', "Last-Modified": date}, "weak": {"ETag": f'W/"{tag}"'},
                "date": {"Last-Modified": date}, "none": {}}[item.book.validator]

    def answer_audio(self, item, fault):
        with self.catalog.lock:
            if not any(other is item and other.target == self.target for other in item.book.items):
                return self.answer(410, {}, b"gone")
            data, sha, validators = item.data, item.sha, self.validators(item)
            ranges = item.book.ranges
            if ranges != "given":
                self.fields.pop("range", None)
            self.catalog.sending += 1
        try:
            self.send_audio(data, sha, validators if ranges == "none" else {**validators, "Accept-Ranges": "bytes"}, fault)
        finally:
            with self.catalog.lock:
                self.catalog.sending -= 1
        return fault is None

    def send_audio(self, data, sha, validators, fault):
        tag, date = validators.get("ETag"), validators.get("Last-Modified")
        is_same = (self.fields.get("if-none-match") == tag if "if-none-match" in self.fields
                   else self.fields.get("if-modified-since") == date)
        if is_same and (tag or date) and ("if-none-match" in self.fields or "if-modified-since" in self.fields):
            self.answer(304, validators, b"")
            return
        start, end, status = 0, len(data), 200
        asked, condition = self.fields.get("range", ""), self.fields.get("if-range")
        # A weak tag never makes a range safe (RFC 9110, 13.1.5).
        is_fit = condition is None or condition == date or condition == tag and not tag.startswith("W/")
        if asked.startswith("bytes=") and is_fit:
            first, _, last = asked[6:].partition("-")
            start, end = int(first), min(int(last) + 1, len(data)) if last else len(data)
            status = 206
            if start >= len(data):
                self.answer(416, {"Content-Range": f"bytes */{len(data)}", **validators}, b"")
                return
        self.log(status)
        head = [f"HTTP/1.1 {status} OK", "Content-Type: audio/mpeg",
                f"Content-Length: {end - start}", *(f"{name}: {value}" for name, value in validators.items())]
        if status == 206:
            head.append(f"Content-Range: bytes {start}-{end - 1}/{len(data)}")
        self.connection.sendall("\r\n".join(head + ["", ""]).encode())
        if self.method == "HEAD":
            return
        stop = (start + end) // 2 if fault == "cut" else end
        for place in range(start, stop, 2048):
            part = data[place:min(place + 2048, stop)]
            self.catalog.wait_where_held()
            self.connection.sendall(part)
            with self.catalog.lock:
                self.catalog.given += len(part)
                self.catalog.sent[sha] = self.catalog.sent.get(sha, 0) + len(part)
        if stop < end:
            self.connection.shutdown(socket.SHUT_RDWR)

    # Lists.

    def query(self):
        return dict(urllib.parse.parse_qsl(self.target.partition("?")[2]))

    def book_of_list(self):
        """The book whose list this is, or None."""
        path = self.target.partition("?")[0]
        if path == "/list":
            return next((book for book in self.catalog.books if book.id == self.query().get("bookId")), None)
        return next((book for book in self.catalog.books if path == book.address), None)

    def has_moved_list(self):
        book = self.book_of_list()
        # The addresses of a directory's files follow from the address of its index, and would move with it.
        return book is not None and book.redirects and book.kind != "directory"

    def answer_list(self, fault):
        path, book = self.target.partition("?")[0], self.book_of_list()
        with self.catalog.lock:
            if path == "/list":
                if self.query().get("token") != TOKEN:
                    self.catalog.complaints.append(f"a list was asked for without its token: {self.target}")
                type = "application/json"
                body = self.resource(book) if book else '{"status":1,"msg":"no such book","list":null}'
            elif path == LIST:
                type, body = "text/x-opml", self.opml()
            elif book and book.kind == "feed":
                type, body = "application/rss+xml", self.feed(book)
            elif book:
                type, body = "text/html; charset=utf-8", self.index(book)
            else:
                if not path.endswith("robots.txt"):
                    self.catalog.complaints.append(f"an address that no catalog lists was asked for: {self.target}")
                return self.answer(404, {}, b"not found")
        data = body.encode()
        tag = f'"{sha256(data)[:16]}"'
        if self.fields.get("if-none-match") == tag and not fault:
            return self.answer(304, {"ETag": tag}, b"")
        if fault == "cut":
            self.log(200)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {type}\r\nContent-Length: {len(data)}\r\n\r\n"
            self.connection.sendall(head.encode() + data[:len(data) // 2])
            return False
        return self.answer(200, {"Content-Type": type, "ETag": tag}, data)

    def resource(self, book):
        size, page = int(self.query().get("pageSize", 50)), int(self.query().get("pageNum", 1))
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
            f" url=\"http://127.0.0.1:{self.server.port}{html.escape(item.target)}\"/></item>"
            for item in reversed(book.items) if not item.locked)
        return ('<?xml version="1.0"?><rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">'
                f"<channel><title>{html.escape(book.title)}</title>{rows}</channel></rss>")

    def opml(self):
        """The list of books."""
        rows = "".join(f'<outline type="rss" text="{book.title}" xmlUrl="http://127.0.0.1:{self.server.port}{book.address}"/>'
                       for book in self.catalog.books if book.is_on_list)
        return f'<?xml version="1.0"?><opml version="2.0"><head><title>All</title></head><body>{rows}</body></opml>'

    def index(self, book):
        rows = "".join(
            f'<a href="{html.escape(item.target.rpartition("/")[2])}">x</a>  '
            f"{formatdate(item.published, usegmt=True)[5:16].replace(' ', '-', 2)} 10:00  {len(item.data)}\n"
            for item in book.items)
        return (f'<html><head><title>Index of /files/</title></head><body><pre><a href="../">../</a>\n{rows}'
                "</pre></body></html>")
