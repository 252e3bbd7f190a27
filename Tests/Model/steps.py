"""All that can happen to a library, and how often."""
from ending import Ending
from exchange import Exchange


class Steps(Exchange, Ending):
    """A library with all steps (do_…) and its end (heal)."""


WEIGHTS = {
    # Runs.
    "mirror": 6, "mirror_force": 4, "fetch": 4, "fetch_force": 2, "fetch_one": 3, "limited": 2, "plan_then_mirror": 3,
    # Looking.
    "look": 9,
    # Wishes.
    "pause": 4, "resume": 2, "cancel": 2, "remove": 4, "forget": 2, "remove_undo": 2, "restore": 2, "undo": 1, "empty": 1,
    # Files.
    "verify": 2, "repair": 2, "accept": 2, "adopt": 3, "export": 3, "sums": 2,
    "subscribe": 4, "keep": 2, "naming": 2, "tag": 1, "join": 1, "import": 1, "move": 1,
    # What happens to a run.
    "kill": 6, "kill_early": 3, "kill_fetch": 2, "stop": 2, "steered": 3, "two_runs": 1, "serve": 3, "users": 3, "serve_beside": 2,
    # The catalog.
    "add": 5, "drop": 3, "relist": 2, "rename": 3, "swap_names": 2, "new_version": 4, "lock": 2, "rotate": 2, "list_change": 2,
    "audio_fault": 2, "list_fault": 2,
    # The listener's hands, and the machine.
    "hand_rename": 3, "hand_move": 2, "hand_delete": 3, "hand_edit": 2, "rot": 1, "save_store": 2, "restore_store": 1,
    "lose_store": 1, "clock": 2, "full_disk": 2,
}
