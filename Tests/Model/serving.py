"""Steps: `booksync serve`, its API beside the command line, and the listener's positions."""
import json
import re
import signal
import time
import urllib.error
import urllib.parse
import urllib.request

from interruptions import PAUSE_SECONDS, Interruptions
from world import HANG, Violation, pick, require

BROWSER = "booksync-visit=AAAAAAAAAAAAAAAAAAAAAA"  # what tells a browser apart before anybody has logged in


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


PROXY_FREE = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect())


class Serving(Interruptions):
    def __init__(self, seed, binary, clock, say):
        super().__init__(seed, binary, clock, say)
        self.positions = {}     # (user, item) → seconds, as they were posted; without users the user is None
        self.passwords = {}     # of the users, by their names
        self.cookies = {}       # of their sessions
        self.former = []        # users that are gone, or had another password: (name, password, cookies)
        self.words = 0          # how many passwords there were

    def do_serve(self, a, b, c):
        """A server does what it is asked for, and ends, gently or not."""
        before, _ = self.begin()
        process, address = self.started_server()
        if address is None:
            return
        verb = None
        try:
            self.require_positions(address)
            book = pick(self.catalog.books, b)
            refs = {"refs": [self.addresses[book.id]]}
            verb, body = pick([("mirror", {}), ("fetch", refs), ("pause", refs), ("resume", refs), ("cancel", refs),
                               ("mirror", {}), ("position", None), ("mirror", {})], a)
            if verb == "position":
                self.post_position(address, b, c)
            else:
                ended = len(self.get(address, "runs?last=1000"))
                status = self.post(address, verb, body)
                if verb in ("mirror", "fetch", "resume") and status == 200:
                    # A run begins, also of what is resumed.
                    self.note_unknown_run()
                    self.requested |= {book} if verb != "mirror" else set()
                    self.is_mirror_left |= verb == "mirror"
                if verb in ("mirror", "fetch") and status == 200:
                    if c % 3 == 0:
                        time.sleep((c % 97) / 1000)
                    else:
                        self.wait_for_run(address, ended, process)
                        self.is_store_whole = True
                elif status == 200:
                    for item in book.items:
                        self.paused[item] = False if verb == "resume" else None
        except BaseException:
            process.kill()
            raise
        self.end_server(process, signal.SIGKILL if c % 2 else signal.SIGTERM)
        self.check(before, f"serve, asked to {verb}")

    def do_serve_beside(self, a, b, c):
        """A mirror by the API is held in the middle while an episode is paused or removed, by the API or the command line."""
        item, verb = pick(self.items(self.followed()), b), pick(["pause", "remove"], c)
        if self.catalog.has_faults() or item is None or not item.book.id.isdigit():
            return
        self.outstanding(a)
        before, _ = self.begin()
        is_waiting = item in self.missing_whole()
        process, address = self.started_server()
        if address is None:
            return
        try:
            ended = len(self.get(address, "runs?last=1000"))
            self.hold_after(0)
            require(self.post(address, "mirror", {}) == 200, "serve does not begin a run")
            is_held = self.catalog.held.wait(HANG / 6)
            if c % 4 < 2:
                name = {"source": "cat", "book_id": item.book.id, "id": item.id}
                code = 0 if self.post(address, verb, {"episodes": [name]}) == 200 else 66
            else:
                code = self.run(verb, self.reference(item), *(["--yes"] if verb == "remove" else []), expect=(0, 66)).code
            require(code == 0 or item not in self.seen, f"{verb} {item} ends with {code} during a run")
            is_paused = verb == "pause" and code == 0 and is_held and is_waiting
            if is_paused:
                time.sleep(PAUSE_SECONDS)
            self.released()
            self.wait_for_run(address, ended, process)
            self.is_store_whole = True
            self.note_unknown_run()
            self.require_same_list(address, item.book)
        except BaseException:
            process.kill()
            raise
        finally:
            self.released()
        self.end_server(process, signal.SIGTERM)
        self.steered(item, verb, code, is_paused)
        self.check(before, f"{verb} during a run by the API")

    def require_same_list(self, address, book):
        """The API's list of a book is the command line's, a few seconds later at most."""
        keys, end = ("id", "section", "state", "path", "sha256", "size"), time.monotonic() + HANG / 20
        while True:
            by_command = self.document("list", self.addresses[book.id], expect=(0, 66))
            if by_command is None:
                return
            by_api = self.get(address, f"books/cat/{book.id}/episodes")
            by_api, by_command = ([[entry[key] for key in keys] for entry in list] for list in (by_api, by_command))
            if by_api == by_command:
                return
            require(time.monotonic() < end, f"the API lists {by_api}; the command {by_command}")

    # Positions.

    def post_position(self, address, b, c):
        item = pick([item for item in self.items() if item in self.seen and item.book.id.isdigit()], b)
        if item is None:
            return
        user = pick(list(self.passwords) or [None], c)
        position = {"source": "cat", "book_id": item.book.id, "id": item.id, "seconds": float(c)}
        if self.post(address, "position", {"position": position}, user) == 200:
            # The guest, who is no first user, sees one book.
            require(user in list(self.passwords)[:1] + [None] or item.book.id == "11", f"{user} has a position in {item}")
            self.positions[user, item] = float(c)
            self.require_positions(address)

    def require_positions(self, address):
        """Positions are as they were posted, over all restarts and killed runs."""
        for (user, item), seconds in self.positions.items():
            found = self.get(address, f"positions/cat/{item.book.id}/{item.id}", user)
            require(found["seconds"] == seconds, f"the position of {user} in {item} was {seconds}, and is {found}")

    # The server.

    def started_server(self):
        """Starts `serve`; returns the process and its address, or no address where there is no store to serve."""
        process = self.start("serve", "--listen", "127.0.0.1:0")
        if self.is_mirror_left:
            self.note_unknown_run()
        address = process.stdout.readline().strip().split(" ")[-1].rstrip("/")
        if not address and process.wait() in (66, 74) and self.is_store_lost():
            self.ended(process, ["serve"], {66, 74})
            return process, None
        if not address.startswith("http://"):
            process.kill()
            raise Violation(f"serve does not print its address: {address} {process.communicate()}")
        try:
            self.require_closed(address)
        except BaseException:
            process.kill()
            raise
        return process, address

    def end_server(self, process, kind):
        process.send_signal(kind)
        self.released()
        self.ended(process, ["serve"], {0, 143})

    def require_closed(self, address):
        """Where there are users, nobody else is let in."""
        status = self.status(address, "books", cookie=BROWSER)
        require(status == (401 if self.passwords else 200), f"the users are {list(self.passwords)}, and somebody else gets {status}")

    def cookie(self, address, user=None):
        """By which the user is known to the server, after a login; without a name that of the first user, or of nobody."""
        user = user or next(iter(self.passwords), None)
        if user and user not in self.cookies:
            self.cookies[user] = self.log_in(address, user, self.passwords[user])
            require(self.cookies[user], f"{user} cannot log in")
        return self.cookies.get(user, BROWSER)

    def log_in(self, address, name, password):
        """The cookies of a new session; None where the password was not taken."""
        page = self.send(address + "/login", cookie=BROWSER)
        token = re.search(r'name="token" value="([^"]+)"', page.read().decode())[1]
        form = urllib.parse.urlencode({"name": name, "password": password, "token": token, "return": "/queue"})
        answer = self.send(address + "/actions/login", form.encode(), "application/x-www-form-urlencoded", BROWSER)
        cookies = [field.partition(";")[0] for field in answer.headers.get_all("Set-Cookie") or []]
        require(answer.status in (303, 403), f"a login of {name} has the response {answer.status}")
        is_taken = answer.status == 303 and "/login" not in answer.headers["Location"]
        return "; ".join(cookies) if is_taken else None

    @staticmethod
    def send(address, body=None, type="application/json", cookie=BROWSER):
        request = urllib.request.Request(address, body, {"Content-Type": type, "Cookie": cookie})
        try:
            return PROXY_FREE.open(request, timeout=HANG)
        except urllib.error.HTTPError as error:
            return error

    def status(self, address, path, user=None, cookie=None):
        return self.send(f"{address}/api/v1/{path}", cookie=cookie or self.cookie(address, user)).status

    def get(self, address, path, user=None):
        answer = self.send(f"{address}/api/v1/{path}", cookie=self.cookie(address, user))
        body = answer.read()
        require(answer.status == 200, f"{path} has the response {answer.status}: {body}")
        return json.loads(body)

    def post(self, address, verb, body, user=None, refused=None):
        answer = self.send(f"{address}/api/v1/{verb}", json.dumps(body).encode(), cookie=self.cookie(address, user))
        said = answer.read()
        require(answer.status in (200, 404, 422, refused), f"{verb} has the response {answer.status}: {said}")
        return answer.status

    def wait_for_run(self, address, count, process):
        end = time.monotonic() + HANG
        while time.monotonic() < end:
            runs = self.get(address, "runs?last=1000")
            if len(runs) > count and runs[-1]["state"] != "running":
                return
            require(process.poll() is None, "serve ended by itself")
            time.sleep(0.02)
        raise Violation(f"the run that was asked for does not end: {runs[-1:]}")
