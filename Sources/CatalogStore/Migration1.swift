import GRDB

extension StoreSchema {
    static func migrateToVersion1(_ database: Database) throws {
        try database.execute(
            sql: """
                -- A book is here from the first page of its listing on; its title may come later.
                CREATE TABLE book (
                    id INTEGER PRIMARY KEY,
                    source TEXT NOT NULL,
                    key TEXT NOT NULL,
                    title TEXT CHECK (title <> ''),
                    author TEXT,
                    announcer TEXT,
                    summary TEXT,
                    cover TEXT,
                    declared INTEGER,
                    complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)),
                    updated_at INTEGER NOT NULL,
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
                    UNIQUE (book_id, key)
                ) STRICT;
                -- The order of the shelf, and all that the counts of the shelf need.
                CREATE INDEX episode_in_order ON episode (book_id, section, position, gone, locked, removed_at);

                -- The element as the catalog sent it, apart from the episode so that scans stay small.
                CREATE TABLE episode_element (
                    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
                    element TEXT NOT NULL
                ) STRICT;

                -- Present means finished: the file is whole, at its place, and known by its digest.
                CREATE TABLE local_file (
                    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE RESTRICT,
                    path TEXT NOT NULL UNIQUE CHECK (path <> '' AND path NOT GLOB '/*'),
                    folder TEXT NOT NULL GENERATED ALWAYS AS (rtrim(rtrim(path, replace(path, '/', '')), '/')) STORED,
                    pending_path TEXT UNIQUE CHECK (pending_path <> '' AND pending_path NOT GLOB '/*'),
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
                    verification TEXT NOT NULL CHECK (verification IN ('digest', 'length', 'unverified'))
                ) STRICT;

                -- A finished transfer has no row here: it became a local file in the same transaction.
                CREATE TABLE transfer (
                    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE RESTRICT,
                    state TEXT NOT NULL
                        CHECK (state IN ('waiting', 'downloading', 'verifying', 'paused', 'failed', 'cancelled')),
                    etag TEXT,
                    last_modified TEXT,
                    validator_age INTEGER,
                    total INTEGER CHECK (total >= 0),
                    committed_length INTEGER NOT NULL
                        CHECK (committed_length >= 0 AND (total IS NULL OR committed_length <= total)),
                    boot_id TEXT,
                    sha256 TEXT CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
                    path TEXT CHECK (path <> '' AND path NOT GLOB '/*'),
                    attempts INTEGER NOT NULL CHECK (attempts >= 0),
                    error TEXT,
                    next_try_at INTEGER,
                    CHECK (state <> 'verifying' OR (sha256 IS NOT NULL AND path IS NOT NULL))
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
                    PRIMARY KEY (source, key)
                ) STRICT;
                """)
    }
}
