"""States of a disk after a power cut: everything that was synced, and a random choice of the rest.

Two kinds of disks:

- "ext4": changes of names, attributes, modes and shortened files become durable in order, as a prefix. Each sync of a file or
  folder that was changed since the last one makes all earlier ones of its disk durable. Journals do this (ext4, XFS).
- "strict": the promises of POSIX alone, as on ext2 or FAT. Each change of a name survives or not by itself, until its folder is
  synced; a rename survives whole, or with both names, or not at all. A sync of a file keeps its bytes, not its name.

On both, each block that was not synced may be old, new, zero where the file grew, or torn at a sector; the length may have
grown without the bytes.
"""
from tree import Tree

SECTOR, BLOCK = 512, 4096
STYLES = {"nothing": 15, "everything": 8, "names": 15, "bytes": 10, "mixed": 52}


class Durability:
    """The part of the first `count` changes that is durable in any case."""

    def __init__(self, recording, count, kind):
        self.changes = recording.changes[:count]
        self.bytes, self.facts = {}, {}     # number → line up to which its bytes, its attributes and names are durable
        # Of the journal of each disk: changes that are durable in any case.
        self.prefix = dict.fromkeys(["", *recording.disks], 0)
        # number → index of its last change that fsync, and that fdatasync, has to commit the journal for
        last, grown = {}, {}
        lengths = {number: len(node.data) for number, node in recording.before.nodes.items()}
        for index, change in enumerate(self.changes):
            if change.kind == "sync":
                number = change.number
                self.bytes[number] = change.begin
                if change.value == "all":
                    self.facts[number] = change.begin
                disk = recording.disk[number]
                if (last if change.value == "all" else grown).get(number, -1) >= self.prefix[disk]:
                    self.prefix[disk] = next(
                        (place + 1 for place in range(index - 1, -1, -1) if self.changes[place].end <= change.begin), 0)
            elif change.kind == "names":
                for folder, _, number in change.value:
                    last[folder] = grown[folder] = index
                    if number is not None:
                        last[number] = grown[number] = index
            elif change.kind in ("data", "size"):
                last[change.number] = index
                length = change.value if change.kind == "size" else change.value[0] + len(change.value[1])
                if change.kind == "size" or length > lengths.get(change.number, 0):
                    grown[change.number] = index
                    lengths[change.number] = length
            elif change.kind in ("attribute", "mode", "time"):
                last[change.number] = index
        if kind != "ext4":
            self.prefix = dict.fromkeys(self.prefix, 0)


def state(recording, count, kind, random):
    """A tree that the disk may hold when power fails after `count` changes, and a description of the choice."""
    durable = Durability(recording, count, kind)
    changes = durable.changes
    style = random.choices(list(STYLES), STYLES.values())[0]
    chance = {"nothing": 0, "everything": 1, "names": 1, "bytes": 0}.get(style)
    if chance is None:
        chance = random.choice((0.1, 0.5, 0.9))
    prefix = dict.fromkeys(durable.prefix, count)
    if kind == "ext4" and style not in ("everything", "names"):
        prefix = {disk: random.randint(least, count) if style == "mixed" else least for disk, least in durable.prefix.items()}

    def is_in_journal(index, number):
        return kind == "ext4" and index < prefix[recording.disk[number]]

    def survives(index, number, is_synced):
        """True if a change of names or attributes is on disk."""
        if kind == "ext4":
            return is_in_journal(index, number) or is_synced
        return is_synced or random.random() < chance

    tree = Tree()
    kinds = {number: node.kind for number, node in recording.now.nodes.items()}
    tree.nodes = {number: node.copy() for number, node in recording.before.nodes.items()}
    epochs, seen = dict.fromkeys(tree.nodes, 0), dict.fromkeys(recording.now.nodes, 0)
    for number, node in recording.now.nodes.items():
        if number not in tree.nodes:
            fresh = tree.nodes[number] = node.copy()
            fresh.entries, fresh.data, fresh.attributes = {}, node.data if node.kind == "link" else b"", {}
            epochs[number] = 0
    pending = {}        # number → changes of its bytes that are not durable for sure
    for index, change in enumerate(changes):
        if change.kind == "names":
            chosen = apply_names(tree, change, index, durable, kinds, survives, random, kind)
            for (folder, _, _), is_chosen in zip(change.value, chosen):
                seen[folder] = seen.get(folder, 0) + 1
                if is_chosen:
                    epochs[folder] = seen[folder]
        elif change.kind in ("data", "size"):
            if change.end <= durable.bytes.get(change.number, -1):
                apply(tree.nodes[change.number], change)
                epochs[change.number] = change.epoch
            else:
                pending.setdefault(change.number, []).append((index, change))
        elif change.kind in ("attribute", "mode", "time"):
            if survives(index, change.number, change.end <= durable.facts.get(change.number, -1)):
                node = tree.nodes[change.number]
                if change.kind == "mode":
                    node.mode = change.value
                elif change.kind == "time":
                    epochs[change.number] = max(epochs[change.number], change.epoch)
                elif change.value[1] is None:
                    node.attributes.pop(change.value[0], None)
                else:
                    node.attributes[change.value[0]] = change.value[1]
    for number, left in pending.items():
        if kind == "ext4":
            left = [(index, change) for index, change in left
                    if change.kind == "data" or is_in_journal(index, number) or change.value > len(tree.nodes[number].data)]
        choose_bytes(tree.nodes[number], [change for _, change in left], style, random)
        reached = [change.epoch for index, change in left if kind != "ext4" or is_in_journal(index, number)]
        if reached and random.random() < 0.7:
            epochs[number] = max(epochs[number], random.choice(reached) if style == "mixed" else reached[-1])
    for number, node in tree.nodes.items():
        node.data = bytes(node.data)
        node.time = recording.times.get((number, epochs.get(number, 0)), node.time)
    if kind == "strict":
        return tree, style
    words = [f"{'the disk ' + disk + ' ' if disk else ''}{prefix[disk]} of {count} names, {least} of them synced"
             for disk, least in durable.prefix.items()]
    return tree, f"{style}: {'; '.join(words)}"


def apply_names(tree, change, index, durable, kinds, survives, random, kind):
    """Applies the surviving part of a change of names; returns which of its entries survived."""
    synced = [change.end <= durable.facts.get(folder, durable.bytes.get(folder, -1)) or
              change.end <= durable.bytes.get(folder, -1) for folder, _, _ in change.value]
    folder = change.value[0][0]
    if len(change.value) == 1 or kind == "ext4":
        chosen = [survives(index, folder, any(synced))] * len(change.value)
    elif change.value[0][0] == change.value[1][0] or change.value[1][2] is not None or kinds[change.value[0][2]] == "folder":
        chosen = [survives(index, folder, any(synced))] * 2     # within a folder, exchanged, or of a folder: whole or not at all
    else:
        comes = survives(index, folder, any(synced))    # the old name never goes without the new one
        chosen = [comes, comes and survives(index, folder, synced[1])]
    for (folder, name, number), is_chosen in zip(change.value, chosen):
        if not is_chosen:
            continue
        entries = tree.nodes[folder].entries
        if number is not None:
            entries[name] = number
            continue
        gone = entries.get(name)
        if gone is not None and tree.nodes[gone].kind == "folder" and tree.nodes[gone].entries and len(change.value) == 1:
            continue    # no disk deletes a folder that has something in it
        entries.pop(name, None)
    return chosen


def apply(node, change):
    data = node.data = node.data if isinstance(node.data, bytearray) else bytearray(node.data)
    if change.kind == "size":
        if change.value < len(data):
            del data[change.value:]
        else:
            data.extend(bytes(change.value - len(data)))
        return
    offset, new = change.value
    if offset > len(data):
        data.extend(bytes(offset - len(data)))
    data[offset:offset + len(new)] = new


def choose_bytes(node, changes, style, random):
    """Applies some of the changes that were not synced, by the style."""
    if not changes or style == "nothing":
        return
    old = bytes(node.data)
    if style == "names":
        # A length without its bytes, as file systems without an order between both leave it.
        if random.random() < 0.3:
            apply_all(node, changes)
            length = len(node.data)
            node.data = bytearray(old[:length] + bytes(max(0, length - len(old))))
        return
    if style in ("everything", "bytes"):
        return apply_all(node, changes)
    way = random.choice(("old", "new", "prefix", "prefix", "blocks", "blocks", "zeros"))
    if way == "old":
        return None
    if way == "new":
        return apply_all(node, changes)
    if way == "prefix":
        count = random.randrange(len(changes) + 1)
        apply_all(node, changes[:count])
        if count < len(changes) and changes[count].kind == "data":
            offset, data = changes[count].value
            torn = random.randrange(0, len(data) + 1) // SECTOR * SECTOR
            patch(node, offset, data[:torn])
        return None
    lengths, versions = [len(old)], [old]
    for change in changes:
        apply(node, change)
        lengths.append(len(node.data))
        if len(versions) < 8 or change is changes[-1]:
            versions.append(bytes(node.data))
    length = random.choice((lengths[-1], random.choice(lengths)))
    if way == "zeros":
        node.data = bytearray(old[:length] + bytes(max(0, length - len(old))))
        return None
    result = bytearray()
    for begin in range(0, length, BLOCK):
        size = min(BLOCK, length - begin)
        block = random.choice((versions[0], versions[-1], random.choice(versions)))[begin:begin + size]
        block += bytes(size - len(block))
        if random.random() < 0.15:
            other = versions[-1][begin:begin + size]
            torn = random.randrange(0, size + 1) // SECTOR * SECTOR
            block = other[:torn] + bytes(max(0, min(torn, size) - len(other))) + block[torn:]
        result += block[:size]
    node.data = result
    return None


def patch(node, offset, data):
    content = node.data = bytearray(node.data)
    if data:
        content.extend(bytes(max(0, offset - len(content))))
        content[offset:offset + len(data)] = data


def apply_all(node, changes):
    for change in changes:
        apply(node, change)
