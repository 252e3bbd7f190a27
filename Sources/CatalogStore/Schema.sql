-- The store's schema, from top to bottom. StoreSchema has its version.
--
-- The schema carries the invariants, so that a defect above it is refused instead of stored. What a catalog claims (sizes,
-- numbers) is not held to anything: a catalog may claim what it likes.
--
-- Times are milliseconds since 1970, except a file's modification time, which is nanoseconds as the system gives it.

-- A book is here from the first page of its listing on; its title may come later.
CREATE TABLE book (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT CHECK (title <> ''),
    author TEXT,
    narrator TEXT,
    summary TEXT,
    cover TEXT,
    declared INTEGER,
    complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)),
    updated_at INTEGER NOT NULL,
    -- By what the catalog is asked whether the last complete listing has changed: of each of its pages and with its time, as JSON.
    listing_validator TEXT,
    -- BCP 47.
    language TEXT,
    -- What served addresses call it (SOURCE/BOOK); NULL where those are the catalog's own names.
    slug TEXT CHECK (slug LIKE '%~%'),
    -- The names that the last listings had in a row, where the files do not follow them yet.
    candidate_names TEXT CHECK (candidate_names <> ''),
    candidate_listings INTEGER NOT NULL DEFAULT 0 CHECK (candidate_listings >= 0),
    UNIQUE (source, key)
) STRICT;

CREATE TABLE episode (
    id INTEGER PRIMARY KEY,
    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    section INTEGER NOT NULL,
    position INTEGER NOT NULL CHECK (position >= 0),
    name TEXT NOT NULL,
    address TEXT,
    locked INTEGER NOT NULL CHECK (locked = (address IS NULL)),
    size INTEGER,
    duration REAL,
    published_at INTEGER,
    modified_at INTEGER,
    media_type TEXT,
    guid TEXT,
    number INTEGER,
    season INTEGER,
    digest_algorithm TEXT CHECK (digest_algorithm IN ('md5', 'sha1', 'sha256')),
    digest TEXT CHECK ((digest IS NULL) = (digest_algorithm IS NULL)),
    gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
    removed_at INTEGER,
    -- NULL for the user.
    removed_by TEXT CHECK (removed_by IN ('keep_rule', 'missing_file', 'imported')),
    -- The catalog's own name for it; NULL where that is the key, or no listing has said so.
    raw_key TEXT,
    -- What served addresses call it; NULL where that is the key.
    slug TEXT CHECK (slug LIKE '~%'),
    -- The section before the book was renumbered, as long as undo restores it.
    former_section INTEGER,
    -- What the catalog lists of chapters: the list of JSON Chapters, and the address of such a document.
    chapters TEXT,
    chapters_address TEXT,
    UNIQUE (book_id, key)
) STRICT;

-- The order of the shelf, and all that the counts of the shelf need.
CREATE INDEX episode_in_order ON episode (book_id, section, position, gone, locked, removed_at);

-- Present means finished: the file is whole, at its place, and known by its digest.
CREATE TABLE local_file (
    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE RESTRICT,
    path TEXT NOT NULL UNIQUE CHECK (path <> '' AND path NOT GLOB '/*'),
    folder TEXT NOT NULL GENERATED ALWAYS AS (rtrim(rtrim(path, replace(path, '/', '')), '/')) STORED,
    size INTEGER NOT NULL CHECK (size >= 0),
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
    mtime INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    etag TEXT,
    last_modified TEXT,
    validator_age INTEGER,
    catalog_size INTEGER,
    catalog_modified_at INTEGER,
    fetched_at INTEGER NOT NULL,
    verification TEXT NOT NULL CHECK (
        verification = 'digest' OR verification = 'length' OR verification = 'unverified'),
    fetched_from TEXT,
    -- True if the name is the user's own.
    is_named_by_user INTEGER NOT NULL DEFAULT 0 CHECK (is_named_by_user IN (0, 1)),
    -- Of a file that has tags embedded: what it was when it was fetched, and the digest of its audio, the same in both.
    original_size INTEGER CHECK (original_size >= 0),
    original_sha256 TEXT CHECK ((original_sha256 IS NULL) = (original_size IS NULL)),
    stream_sha256 TEXT CHECK ((stream_sha256 IS NULL) = (original_size IS NULL))
) STRICT;

-- When files were replaced, as far as that is within 30 days of the last time. Apart from the trash, which may be emptied.
CREATE TABLE replacement (
    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
    replaced_at INTEGER NOT NULL,
    PRIMARY KEY (episode_id, replaced_at)
) STRICT, WITHOUT ROWID;

-- A finished transfer has no row: it became a local file in the same transaction.
CREATE TABLE transfer (
    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE RESTRICT,
    -- A list behind IN would become a table of its own for each row that is written.
    state TEXT NOT NULL CHECK (
        state = 'waiting' OR state = 'downloading' OR state = 'paused' OR state = 'failed' OR state = 'cancelled'),
    etag TEXT,
    last_modified TEXT,
    validator_age INTEGER,
    total INTEGER CHECK (total >= 0),
    committed_length INTEGER NOT NULL
        CHECK (committed_length >= 0 AND (total IS NULL OR committed_length <= total)),
    boot_id TEXT,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    -- JSON: a message that can be said in any language.
    error TEXT CHECK (json_type(error) = 'array'),
    next_try_at INTEGER,
    -- Since when the server has not had the file, and when it was last asked.
    missing_since INTEGER,
    missing_until INTEGER,
    -- False of what was paused before a run was to fetch it: to resume it lifts the pause, and asks for nothing.
    planned INTEGER NOT NULL DEFAULT TRUE CHECK (planned IN (FALSE, TRUE))
) STRICT;

CREATE TABLE subscription (
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT,
    only_sections TEXT,
    latest INTEGER CHECK (latest > 0),
    "match" TEXT,
    "exclude" TEXT,
    subscribed_at INTEGER,
    since TEXT CHECK (since <> ''),
    transfer_order TEXT CHECK (transfer_order IN ('first', 'last', 'listed')),
    max_episodes INTEGER CHECK (max_episodes > 0),
    max_bytes INTEGER CHECK (max_bytes > 0),
    naming TEXT CHECK (naming <> ''),
    keep TEXT CHECK (keep <> ''),
    max_size INTEGER CHECK (max_size > 0),
    language TEXT CHECK (language <> ''),
    min_hours REAL CHECK (min_hours > 0),
    max_books INTEGER CHECK (max_books > 0),
    PRIMARY KEY (source, key)
) STRICT;

-- The sums of each book's episodes and files, so that a list of books need not look at every episode. A row is there only
-- while it is true: whatever changes an episode or a file in what is counted deletes the row of its book. A book without a
-- row is counted when it is read, and its row is written at the end of a run.
CREATE TABLE shelf_count (
    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
    episodes INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    locked INTEGER NOT NULL,
    present INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    folder TEXT
) STRICT;

-- Each page that brings episodes updates its book: a trigger for each episode would cost a listing a twentieth more.
CREATE TRIGGER book_is_recounted AFTER UPDATE OF updated_at ON book BEGIN
    DELETE FROM shelf_count WHERE book_id = new.id;
END;
CREATE TRIGGER episode_is_recounted AFTER UPDATE OF book_id, gone, locked, removed_at ON episode
WHEN old.gone IS NOT new.gone OR old.locked IS NOT new.locked OR old.removed_at IS NOT new.removed_at
    OR old.book_id IS NOT new.book_id
BEGIN
    DELETE FROM shelf_count WHERE book_id = new.book_id;
    DELETE FROM shelf_count WHERE book_id = old.book_id;
END;
CREATE TRIGGER episode_is_uncounted AFTER DELETE ON episode BEGIN
    DELETE FROM shelf_count WHERE book_id = old.book_id;
END;
CREATE TRIGGER file_is_counted AFTER INSERT ON local_file BEGIN
    DELETE FROM shelf_count WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE TRIGGER file_is_recounted AFTER UPDATE OF size, path ON local_file
WHEN old.size IS NOT new.size OR old.path IS NOT new.path
BEGIN
    DELETE FROM shelf_count WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE TRIGGER file_is_uncounted AFTER DELETE ON local_file BEGIN
    DELETE FROM shelf_count WHERE book_id = (SELECT book_id FROM episode WHERE id = old.episode_id);
END;

-- The index of the names that a search looks in. It holds tokens without the names, and is brought up to date at the end of a
-- run. What it lacks is known at any time (episodes beyond "indexed_to", and the rows of unindexed_name), and is searched
-- without it. Tokens of names that changed stay in it: each name that is found is compared with the words of the search.
-- This one is of episodes, by their ids.
CREATE VIRTUAL TABLE name_index USING fts5(
    tokens, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
);

-- Of books: title, author and narrator. Apart, so that a search of them meets no episode.
CREATE VIRTUAL TABLE title_index USING fts5(
    tokens, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
);

CREATE TABLE name_index_state (indexed_to INTEGER NOT NULL) STRICT;
INSERT INTO name_index_state VALUES (0);

-- The id of an episode, or the negative one of a book.
CREATE TABLE unindexed_name (id INTEGER PRIMARY KEY) STRICT;
CREATE TRIGGER book_is_named AFTER INSERT ON book BEGIN
    INSERT OR IGNORE INTO unindexed_name VALUES (-new.id);
END;
CREATE TRIGGER book_is_renamed AFTER UPDATE OF title, author, narrator ON book
WHEN old.title IS NOT new.title OR old.author IS NOT new.author OR old.narrator IS NOT new.narrator
BEGIN
    INSERT OR IGNORE INTO unindexed_name VALUES (-new.id);
END;
CREATE TRIGGER episode_is_renamed AFTER UPDATE OF name ON episode WHEN old.name IS NOT new.name BEGIN
    INSERT OR IGNORE INTO unindexed_name
    SELECT new.id FROM name_index_state WHERE new.id <= indexed_to;
END;

-- The greatest id may be given again.
CREATE TRIGGER episode_goes AFTER DELETE ON episode BEGIN
    UPDATE name_index_state SET indexed_to = (SELECT COALESCE(MAX(id), 0) FROM episode)
    WHERE indexed_to > (SELECT COALESCE(MAX(id), 0) FROM episode);
END;

-- What booksync wrote beside the audio, so that it never overwrites what the user made or changed.
CREATE TABLE exported_file (
    path TEXT PRIMARY KEY CHECK (path <> '' AND path NOT GLOB '/*'),
    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
    previous TEXT CHECK (length(previous) = 64 AND previous NOT GLOB '*[^0-9a-f]*'),
    origin TEXT
) STRICT;
CREATE INDEX exported_file_of_book ON exported_file (book_id);

-- A round of reading files against their records. A scope is what was asked for; '' is everything.
CREATE TABLE verification (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX verification_under_way ON verification (scope) WHERE ended_at IS NULL;

-- The last round in which a file was read whole and had the digest that was recorded then.
CREATE TABLE verified_file (
    episode_id INTEGER PRIMARY KEY REFERENCES local_file (episode_id) ON DELETE CASCADE,
    round INTEGER NOT NULL REFERENCES verification (id),
    verified_at INTEGER NOT NULL,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*')
) STRICT;

-- The journal of operations: each durable change of a file of the library is here before the file is moved, and done once the
-- store says where it is. What is done stays while it can be taken back: what is in the trash, and the last batches of renames.
CREATE TABLE operation (
    id INTEGER PRIMARY KEY,
    -- When the command or the run began that it belongs to: the same for all that one of them did.
    batch INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('rename', 'trash', 'replace', 'publish')),
    state TEXT NOT NULL DEFAULT 'begun' CHECK (state IN ('begun', 'done', 'reversing')),
    done_at INTEGER CHECK ((done_at IS NULL) = (state = 'begun')),
    to_path TEXT NOT NULL CHECK (to_path <> '' AND to_path NOT GLOB '/*'),
    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE RESTRICT,
    -- The row of the file before it is moved; of one that is published, as it is to be.
    path TEXT NOT NULL CHECK (path <> '' AND path NOT GLOB '/*'),
    size INTEGER NOT NULL CHECK (size >= 0),
    sha256 TEXT NOT NULL,
    mtime INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    etag TEXT,
    last_modified TEXT,
    validator_age INTEGER,
    catalog_size INTEGER,
    catalog_modified_at INTEGER,
    fetched_at INTEGER NOT NULL,
    verification TEXT NOT NULL,
    is_named_by_user INTEGER NOT NULL CHECK (is_named_by_user IN (0, 1)),
    fetched_from TEXT,
    original_size INTEGER CHECK (original_size >= 0),
    original_sha256 TEXT CHECK ((original_sha256 IS NULL) = (original_size IS NULL)),
    stream_sha256 TEXT CHECK ((stream_sha256 IS NULL) = (original_size IS NULL))
) STRICT;
CREATE INDEX operation_of_episode ON operation (episode_id);
CREATE UNIQUE INDEX operation_under_way ON operation (to_path) WHERE state <> 'done';
CREATE INDEX operation_of_batch ON operation (batch) WHERE state = 'done';
CREATE INDEX operation_renamed ON operation (batch) WHERE state = 'done' AND kind = 'rename';
CREATE INDEX operation_in_trash ON operation (batch) WHERE state = 'done' AND kind <> 'rename';
CREATE TRIGGER replacement_is_counted AFTER UPDATE OF state ON operation
WHEN new.kind = 'replace' AND old.state = 'begun' AND new.state = 'done'
BEGIN
    DELETE FROM replacement WHERE episode_id = new.episode_id AND replaced_at < new.batch - 2592000000;
    INSERT OR IGNORE INTO replacement VALUES (new.episode_id, new.batch);
END;

-- What is remembered of books in which there was nothing to do. A row is there only while the store says of its book what it
-- said when the row came: whatever a plan depends on deletes it as it changes. It comes before the plan is made, without it,
-- so that what changes meanwhile deletes it as well. A book with transfers has none: those wait for times.
CREATE TABLE cached_plan (
    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
    -- JSON.
    plan TEXT CHECK (json_type(plan) = 'object')
) STRICT;
CREATE TRIGGER book_unsettles AFTER UPDATE OF updated_at, title, author, declared ON book BEGIN
    DELETE FROM cached_plan WHERE book_id = new.id;
END;
CREATE TRIGGER episode_unsettles AFTER UPDATE OF book_id, gone, locked, removed_at ON episode BEGIN
    DELETE FROM cached_plan WHERE book_id = new.book_id;
    DELETE FROM cached_plan WHERE book_id = old.book_id;
END;
CREATE TRIGGER episode_unsettles_by_going AFTER DELETE ON episode BEGIN
    DELETE FROM cached_plan WHERE book_id = old.book_id;
END;
CREATE TRIGGER file_unsettles_by_coming AFTER INSERT ON local_file BEGIN
    DELETE FROM cached_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE TRIGGER file_unsettles AFTER UPDATE ON local_file BEGIN
    DELETE FROM cached_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE TRIGGER file_unsettles_by_going AFTER DELETE ON local_file BEGIN
    DELETE FROM cached_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = old.episode_id);
END;
CREATE TRIGGER operation_unsettles AFTER INSERT ON operation BEGIN
    DELETE FROM cached_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE TRIGGER transfer_unsettles AFTER INSERT ON transfer BEGIN
    DELETE FROM cached_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;

-- Without an end a run is under way, or was cut off.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    command TEXT NOT NULL CHECK (command <> ''),
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    exit_code INTEGER CHECK ((exit_code IS NULL) = (ended_at IS NULL)),
    books INTEGER NOT NULL DEFAULT 0,
    -- JSON: the counts of one that has ended.
    summary TEXT CHECK (json_type(summary) = 'object'),
    -- JSON: the message of its first failure.
    error TEXT CHECK (json_type(error) = 'array')
) STRICT;

-- What fails run after run.
CREATE TABLE outage (
    subject TEXT PRIMARY KEY CHECK (subject <> ''),
    since INTEGER NOT NULL,
    runs INTEGER NOT NULL CHECK (runs > 0),
    -- JSON: the message of its last failure.
    error TEXT NOT NULL CHECK (json_type(error) = 'array'),
    -- True if the user was alerted to it.
    told INTEGER NOT NULL CHECK (told IN (0, 1))
) STRICT;

-- The newest episode of a book that appears bit by bit, and the milliseconds usually between two of them.
CREATE TABLE publication_watch (
    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
    latest INTEGER NOT NULL,
    usual_gap INTEGER NOT NULL CHECK (usual_gap > 0),
    told INTEGER NOT NULL CHECK (told IN (0, 1))
) STRICT;

-- The folders that a subscription is filed under: names within each other, the outermost first, one a line.
CREATE TABLE subscription_tag (
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    path TEXT NOT NULL CHECK (path <> ''),
    UNIQUE (source, key, path),
    FOREIGN KEY (source, key) REFERENCES subscription (source, key) ON DELETE CASCADE
) STRICT;
CREATE INDEX local_file_by_age ON local_file (fetched_at);
CREATE INDEX transfer_begun ON transfer (state) WHERE state <> 'waiting';

-- User 0 has no name: whoever comes with the shelf's own password, or needs none. Passwords are in a file beside the store.
CREATE TABLE user (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE CHECK ((name IS NULL) = (id = 0) AND name <> '')
) STRICT;
INSERT INTO user (id) VALUES (0);

-- Where a user stopped in each episode.
CREATE TABLE listening_position (
    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
    -- From the beginning, and of the whole as the player found it.
    seconds REAL NOT NULL CHECK (seconds >= 0 AND seconds <= 1e9),
    duration REAL CHECK (duration > 0 AND duration <= 1e9),
    finished INTEGER NOT NULL CHECK (finished IN (0, 1)),
    updated_at INTEGER NOT NULL,
    -- What it was listened to with, as its user knows it.
    device TEXT CHECK (device <> ''),
    PRIMARY KEY (user_id, episode_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX listening_position_by_age ON listening_position (user_id, updated_at);
CREATE INDEX listening_position_by_episode ON listening_position (episode_id);

CREATE TABLE bookmark (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
    seconds REAL NOT NULL CHECK (seconds >= 0 AND seconds <= 1e9),
    note TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX bookmark_by_episode ON bookmark (episode_id, user_id);
CREATE INDEX bookmark_by_user ON bookmark (user_id);

-- How a user listens to a book: its speed; hidden from "go on" until something of it is listened to again.
CREATE TABLE book_listening (
    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    speed REAL CHECK (speed >= 0.25 AND speed <= 4),
    dismissed_at INTEGER,
    PRIMARY KEY (user_id, book_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX book_listening_by_book ON book_listening (book_id);

-- Some of the books of a run; the run's row has their number.
CREATE TABLE run_book (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

-- What users asked for. A run takes it, in whatever process, and it goes when that run has done it. It is read four times a
-- second while a run is under way.
CREATE TABLE request (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- 'cancel': the run under way must not download everything, a book or an episode.
    kind TEXT NOT NULL CHECK (kind IN ('fetch', 'list', 'join', 'mirror', 'cancel')),
    source TEXT CHECK (kind = 'cancel' OR (source IS NULL) = (kind = 'mirror')),
    key TEXT CHECK ((key IS NULL) = (source IS NULL)),
    episode_key TEXT CHECK (episode_key IS NULL OR kind = 'cancel' AND key IS NOT NULL),
    only_sections TEXT,
    latest INTEGER CHECK (latest > 0),
    "match" TEXT,
    "exclude" TEXT,
    since TEXT CHECK (since <> ''),
    force INTEGER NOT NULL CHECK (force IN (0, 1)),
    requested_at INTEGER NOT NULL
) STRICT;

-- What the file with this digest says of itself.
CREATE TABLE media (
    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    duration REAL CHECK (duration >= 0),
    chapters INTEGER NOT NULL CHECK (chapters >= 0),
    -- JSON; null where it cannot be read as audio, for the reason in "error".
    info TEXT,
    error TEXT
) STRICT;

-- The files that booksync joined of a book's episodes.
CREATE TABLE joined_file (
    -- Absolute, or relative to the library.
    path TEXT PRIMARY KEY,
    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    -- A digest of the episodes' digests, and of how they were joined.
    made_of TEXT NOT NULL
) STRICT;

-- A list of books that is followed, as the last listing had it.
CREATE TABLE collection (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    -- What the books were chosen by, and the template by which their files are named.
    filter TEXT NOT NULL,
    naming TEXT CHECK (naming <> ''),
    -- Listings are numbered; this is the last one that began.
    listing INTEGER NOT NULL DEFAULT 0,
    -- Where it goes on; NULL where it has ended, or read no page.
    cursor TEXT,
    UNIQUE (source, key)
) STRICT;

CREATE TABLE collection_book (
    id INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL REFERENCES collection (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    -- Whether the filter lets it through.
    wanted INTEGER NOT NULL CHECK (wanted IN (0, 1)),
    -- What the list says of it that changes when the book does, empty where it says nothing; and what it said when the
    -- book was fetched whole.
    facts TEXT NOT NULL,
    fetched_facts TEXT,
    -- The first and the last listing that had it.
    first_listing INTEGER NOT NULL,
    listing INTEGER NOT NULL,
    gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1)),
    UNIQUE (source, key, collection_id)
) STRICT;
CREATE INDEX collection_book_in_order ON collection_book (collection_id);
CREATE INDEX book_by_slug ON book (slug) WHERE slug IS NOT NULL;
CREATE INDEX episode_by_slug ON episode (book_id, slug) WHERE slug IS NOT NULL;
CREATE INDEX book_by_author ON book (author);
CREATE INDEX book_by_age ON book (updated_at DESC, source, key);

-- Episodes whose addresses are stored without their secrets.
CREATE INDEX episode_with_secret ON episode (book_id) WHERE instr(address, '***');
CREATE INDEX removed_episode ON episode (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX verified_file_by_round ON verified_file (round);
CREATE INDEX joined_file_of_book ON joined_file (book_id);
