"""Steps: users of `serve`, with passwords and positions of their own."""
import signal

from serving import Serving
from world import require

# The first may change the library; the other sees one book, and changes nothing.
OWNER, GUEST, SEEN = "Ann", "Tim", "11"


class Users(Serving):
    def do_users(self, a, b, c):
        """A user comes, goes, or gets another password; then a server lets in those who are users, and nobody else."""
        before, _ = self.begin()
        if self.had_lost_store and self.is_store_lost():
            return      # Users need a store; only a run begins another one.
        if OWNER not in self.passwords:
            self.add_user(OWNER)
        elif GUEST in self.passwords:
            if a % 3 == 0:
                self.former.append((OWNER, self.passwords[OWNER], self.cookies.pop(OWNER, None)))
                self.set_password("--passwd", OWNER)
            else:
                self.remove_user(GUEST)
        elif a % 3 == 0:
            self.remove_user(OWNER)
        elif any(row["id"] == SEEN for row in self.document("list", expect=(0, 66)) or []):
            self.add_user(GUEST, "--books", self.addresses[SEEN])
        names = {user["name"] for user in self.document("serve", "--list-users") or []}
        require(names == self.passwords.keys(), f"serve --list-users has {names}; users are {self.passwords.keys()}")
        process, address = self.started_server()
        if address is not None:
            try:
                self.require_access(address)
                self.post_position(address, b, c)
            except BaseException:
                process.kill()
                raise
            self.end_server(process, signal.SIGKILL if b % 2 else signal.SIGTERM)
        self.check(before, "a change of users")

    def add_user(self, name, *rights):
        self.set_password("--add-user", name, *rights)
        if name == OWNER:
            # What was listened to without a name is the first user's.
            self.positions = {(OWNER, item): seconds for (_, item), seconds in self.positions.items()}

    def remove_user(self, name):
        if self.run("serve", "--remove-user", name, "--yes").code == 0:
            self.former.append((name, self.passwords.pop(name), self.cookies.pop(name, None)))
            self.positions = {key: seconds for key, seconds in self.positions.items() if key[0] != name}

    def set_password(self, option, name, *rights):
        self.words += 1
        password = f"password number {self.words}"
        file = self.folder / "password"
        file.write_text(password + "\n")
        with open(file) as input:
            arguments = ["serve", option, name, *rights]
            result = self.ended(self.start_command(self.command(*arguments), input), arguments, {0})
        require(password not in result.output + result.errors, f"{arguments} shows the password")
        self.passwords[name] = password

    def require_access(self, address):
        """Each comes in with the own password, and to what is theirs."""
        if not self.passwords:
            require(self.status(address, "books") == 200, "without users nobody is let in")
            return
        self.require_closed(address)
        old, self.cookies = self.cookies, {}
        for name in self.passwords:
            require(self.log_in(address, name, "another password") is None, f"{name} is let in with a wrong password")
            # A login holds over restarts, until the password changes.
            if name in old:
                self.cookies[name] = old[name]
            require(self.status(address, "books", name) == 200, f"{name} is not let in")
        for name, password, cookie in self.former[-3:]:
            require(self.log_in(address, name, password) is None, f"{name} is let in with a former password")
            status = cookie and self.status(address, "books", cookie=cookie)
            require(status in (None, 401), f"{name} is let in by a login that has ended: {status}")
        books = {row["id"] for row in self.get(address, "books", OWNER)}
        listed = {row["id"] for row in self.document("list", expect=(0, 66)) or []}
        require(books == listed, f"{OWNER} sees {books}; the library has {listed}")
        if GUEST in self.passwords:
            books = {row["id"] for row in self.get(address, "books", GUEST)}
            require(books == {SEEN} & listed, f"{GUEST} sees {books}")
            for book in sorted({"11", "12", "13"} & listed):
                for user, expected in ((OWNER, 200), (GUEST, 200 if book == SEEN else 404)):
                    status = self.status(address, f"books/cat/{book}/episodes", user)
                    require(status == expected, f"{user} asks for book {book}, and the response is {status}")
            for verb, body in (("mirror", {}), ("pause", {"refs": [self.addresses[SEEN]]}), ("remove", {"refs": [self.addresses[SEEN]]})):
                require(self.post(address, verb, body, GUEST, refused=403) == 403, f"{GUEST} may {verb}")
