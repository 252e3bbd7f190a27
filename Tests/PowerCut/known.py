"""Known defects: each is reported, and is not a failure. Delete an entry when its defect is fixed."""
import collections
import re

Known = collections.namedtuple("Known", "name scenarios modes pattern reason")

FINDINGS = [
    Known(
        "partial name", None, ("strict",), r"bytes of .* are synced, and they are not on disk|bytes were committed|0 were missing: it was synced and announced",
        "The folder of partial files is not synced before their lengths are committed: without a journal the name of a new one may "
        "be lost, and its bytes are downloaded again (TransferAttempt.committedOffset)."),
    Known(
        "two names", ("adopt",), ("strict",), r"'incoming/|leads to other files: (?!.*(missing |with other bytes))",
        "Without a journal a rename between folders may leave both names: adopt leaves the one in the folder that it took the file "
        "from (AdoptedFilePlacement.adopt)."),
]


def finding(scenario, mode, wrong):
    """The known defect that explains the message; None if it is a new one."""
    return next((known for known in FINDINGS if (known.scenarios is None or scenario in known.scenarios)
                 and mode in known.modes and re.search(known.pattern, wrong)), None)
