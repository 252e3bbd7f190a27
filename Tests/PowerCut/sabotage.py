"""Recordings as a program with a defect would have made them: the judge must find each."""


def is_store(path):
    return "/store.sqlite" in path


def without(recording, what):
    """Leaves out the syncs of files, of folders or of the store."""
    kinds = {number: node.kind for number, node in recording.now.nodes.items()}

    def is_left_out(change):
        if change.kind != "sync":
            return False
        if what == "fsync-folder":
            return kinds[change.number] == "folder"
        if what == "fsync-store":
            return kinds[change.number] == "file" and is_store(change.path)
        return kinds[change.number] == "file" and not is_store(change.path)

    recording.changes = [change for change in recording.changes if not is_left_out(change)]


def rename_first(recording):
    """Moves each rename into the library before the sync and the announcement of the file."""
    changes = recording.changes
    for rename in [change for change in changes if change.kind == "names" and change.call.startswith("rename")
                   and "/.booksync/" not in change.path]:
        number, end = rename.value[0][2], changes.index(rename)
        first = next((index for index, change in enumerate(changes[:end])
                      if change.kind in ("data", "sync") and change.number == number), None)
        needed = max((index for index, change in enumerate(changes[:end]) if change.kind == "names" and any(
            folder == rename.value[0][0] or child == rename.value[0][0] for folder, _, child in change.value)), default=-1)
        if first is None:
            continue
        place = max(first, needed) + 1
        if place < end:
            changes.insert(place, changes.pop(end))
            rename.begin = rename.end = changes[place - 1].end
