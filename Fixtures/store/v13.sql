-- A store of schema 13, as the booksync that shipped it wrote it (sqlite3 .dump). Never edited.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
    updated_at INTEGER NOT NULL, listing_etag TEXT, listing_last_modified TEXT, language TEXT, slug TEXT CHECK (slug LIKE '%~%'),
    UNIQUE (source, key)
) STRICT;
INSERT INTO book VALUES(1,'kting','30776','回到古代当兽医','甲','乙','一个兽医','http://kting.info:81/c.jpg',4,1,1700000000000,'"feed-1"',NULL,'zh',NULL);
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
    removed_at INTEGER, raw_key TEXT, removed_by TEXT CHECK (removed_by IN ('keep_rule', 'missing_file', 'imported')), slug TEXT CHECK (slug LIKE '~%'),
    UNIQUE (book_id, key)
) STRICT;
INSERT INTO episode VALUES(1,1,'id1',1,0,'第1集_回到古代当兽医','http://kting.info:81/asdb/fiction/1.mp3',0,9900001,1234.5670000000000072,1388534400123,1700000000002,'audio/mpeg','guid-1',1,2,'md5','d41d8cd98f00b204e9800998ecf8427e',0,NULL,'raw-41',NULL,NULL);
INSERT INTO episode VALUES(2,1,'id2',2,1,'第2集_回到古代当兽医','http://kting.info:81/asdb/fiction/2.mp3',0,9900002,1234.5670000000000072,1388534400123,1700000000003,'audio/mpeg','guid-2',2,2,'md5','d41d8cd98f00b204e9800998ecf8427e',0,NULL,'raw-42',NULL,NULL);
INSERT INTO episode VALUES(3,1,'id3',3,2,'第3集_回到古代当兽医','http://kting.info:81/asdb/fiction/3.mp3',0,9900003,1234.5670000000000072,1388534400123,1700000000004,'audio/mpeg','guid-3',3,2,'md5','d41d8cd98f00b204e9800998ecf8427e',0,1700000000777,'raw-43','keep_rule',NULL);
INSERT INTO episode VALUES(4,1,'id4',4,3,'第4集',NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,'raw-44',NULL,NULL);
CREATE TABLE episode_element (
    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
    element TEXT NOT NULL
) STRICT;
INSERT INTO episode_element VALUES(1,'{"id":1,"plays":1}');
INSERT INTO episode_element VALUES(2,'{"id":2,"plays":1}');
INSERT INTO episode_element VALUES(3,'{"id":3,"plays":1}');
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES('v1');
INSERT INTO grdb_migrations VALUES('v2');
INSERT INTO grdb_migrations VALUES('v3');
INSERT INTO grdb_migrations VALUES('v4');
INSERT INTO grdb_migrations VALUES('v5');
INSERT INTO grdb_migrations VALUES('v6');
INSERT INTO grdb_migrations VALUES('v7');
INSERT INTO grdb_migrations VALUES('v8');
INSERT INTO grdb_migrations VALUES('v9');
INSERT INTO grdb_migrations VALUES('v10');
INSERT INTO grdb_migrations VALUES('v11');
INSERT INTO grdb_migrations VALUES('v12');
INSERT INTO grdb_migrations VALUES('v13');
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
, named_by_listener INTEGER NOT NULL DEFAULT 0
    CHECK (named_by_listener IN (0, 1)), fetched_from TEXT, original_size INTEGER CHECK (original_size >= 0), original_sha256 TEXT CHECK ((original_sha256 IS NULL) = (original_size IS NULL)), stream_sha256 TEXT CHECK ((stream_sha256 IS NULL) = (original_size IS NULL))) STRICT;
INSERT INTO local_file VALUES(1,'萧十一狼/回到古代当兽医/1.mp3',NULL,1000,'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',1700000000123456789,-2,'"e1"','Mon, 01 Jan 2024 00:00:00 GMT',5,999,1699999999999,1700000100007,'length',1,'http://kting.info:81/asdb/fiction/1.mp3',980,'efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef','1212121212121212121212121212121212121212121212121212121212121212');
CREATE TABLE media (
    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    duration REAL CHECK (duration >= 0),
    chapters INTEGER NOT NULL CHECK (chapters >= 0),
    -- JSON; null where it cannot be read as audio, for the reason in "error".
    info TEXT,
    error TEXT
) STRICT;
INSERT INTO media VALUES(1,'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',1234.5,1,'{"container":"mp3","codec":"mp3","bitRate":64000,"isDurationEstimated":false,"duration":1234.5,"tags":{"title":"第1集"},"chapters":[{"start":0,"end":612.25,"title":"开头"}],"hasCover":false}',NULL);
CREATE TABLE subscription (
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    title TEXT,
    only_sections TEXT,
    latest INTEGER CHECK (latest > 0),
    "match" TEXT,
    "exclude" TEXT,
    subscribed_at INTEGER, since TEXT CHECK (since <> ''), transfer_order TEXT
    CHECK (transfer_order IN ('first', 'last', 'listed')), max_episodes INTEGER CHECK (max_episodes > 0), max_bytes INTEGER CHECK (max_bytes > 0), naming TEXT CHECK (naming <> ''), keep TEXT CHECK (keep <> ''), max_size INTEGER CHECK (max_size > 0), language TEXT CHECK (language <> ''), min_hours REAL CHECK (min_hours > 0), max_books INTEGER CHECK (max_books > 0),
    PRIMARY KEY (source, key)
) STRICT;
INSERT INTO subscription VALUES('kting','30776','兽医','1-20',20,'^第','预告',1700000000001,'30d','last',5,2000000000,'{title}/{section}','last 20, unheard',5000000000,'zh',2.5,100);
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
    next_try_at INTEGER, priority INTEGER NOT NULL DEFAULT 0, error_message TEXT,
    CHECK (state <> 'verifying' OR (sha256 IS NOT NULL AND path IS NOT NULL))
) STRICT;
INSERT INTO transfer VALUES(2,'downloading','W/"e2"','yesterday',0,1000,500,'6c1f','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','a/2.mp3',3,'the connection was cut',1700000200009,7,'["the connection was cut"]');
CREATE TABLE shelf_count (
    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
    episodes INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    locked INTEGER NOT NULL,
    present INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    folder TEXT
) STRICT;
INSERT INTO shelf_count VALUES(1,4,1,1,1,1000,'萧十一狼/回到古代当兽医');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','name_index','name_index',0,'CREATE VIRTUAL TABLE name_index USING fts5(
    tokens, content = '''', columnsize = 0, detail = none, tokenize = ''ascii''
)');
CREATE TABLE IF NOT EXISTS 'name_index_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO name_index_data VALUES(1,X'0421');
INSERT INTO name_index_data VALUES(10,X'000000000101010001010101');
INSERT INTO name_index_data VALUES(137438953473,X'0000006b023031010101320201013303010134040106e4bba3e5bd930101010106e585bde58cbb010101020588b0e58fa401010102028cbb01010102058fa4e4bba301010102059b9ee588b00101010205bd93e585bd0101010103e7acac010101010103e99b860101010104040404040b0b0a070a0a0a09');
CREATE TABLE IF NOT EXISTS 'name_index_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO name_index_idx VALUES(1,X'',2);
CREATE TABLE IF NOT EXISTS 'name_index_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO name_index_config VALUES('version',4);
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','title_index','title_index',0,'CREATE VIRTUAL TABLE title_index USING fts5(
    tokens, content = '''', columnsize = 0, detail = none, tokenize = ''ascii''
)');
CREATE TABLE IF NOT EXISTS 'title_index_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO title_index_data VALUES(1,X'0109');
INSERT INTO title_index_data VALUES(10,X'000000000101010001010101');
INSERT INTO title_index_data VALUES(137438953473,X'000000460430e4b999010205bba3e5bd93010106e585bde58cbb01020588b0e58fa40102028cbb0102058fa4e4bba30102059b9ee588b0010205bd93e585bd010103e794b201040608090805080808');
CREATE TABLE IF NOT EXISTS 'title_index_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO title_index_idx VALUES(1,X'',2);
CREATE TABLE IF NOT EXISTS 'title_index_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO title_index_config VALUES('version',4);
CREATE TABLE name_index_state (indexed_to INTEGER NOT NULL) STRICT;
INSERT INTO name_index_state VALUES(4);
CREATE TABLE unindexed_name (id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE exported_file (
    path TEXT PRIMARY KEY CHECK (path <> '' AND path NOT GLOB '/*'),
    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'),
    previous TEXT CHECK (length(previous) = 64 AND previous NOT GLOB '*[^0-9a-f]*'),
    origin TEXT
) STRICT;
INSERT INTO exported_file VALUES('萧十一狼/回到古代当兽医/metadata.opf',1,'opf','4f9a202908007af9f378ebde6e6a6ad609e9f1c3533bb5b65b0fba4ab1fa6289',NULL,NULL);
CREATE TABLE verification (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
INSERT INTO verification VALUES(4,'',1700000290000,1700000310000);
INSERT INTO verification VALUES(5,'kting:30776',1700000295000,NULL);
CREATE TABLE verified_file (
    episode_id INTEGER PRIMARY KEY REFERENCES local_file (episode_id) ON DELETE CASCADE,
    round INTEGER NOT NULL REFERENCES verification (id),
    verified_at INTEGER NOT NULL,
    sha256 TEXT NOT NULL CHECK (length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*')
) STRICT;
INSERT INTO verified_file VALUES(1,5,1700000300000,'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef');
CREATE TABLE renaming (
    batch INTEGER NOT NULL CHECK (batch > 0),
    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
    from_path TEXT NOT NULL CHECK (from_path <> '' AND from_path NOT GLOB '/*'),
    to_path TEXT NOT NULL CHECK (to_path <> '' AND to_path NOT GLOB '/*'),
    renamed_at INTEGER,
    PRIMARY KEY (batch, episode_id)
) STRICT, WITHOUT ROWID;
INSERT INTO renaming VALUES(2,1,'萧十一狼/兽医/1.mp3','萧十一狼/回到古代当兽医/1.mp3',1700000320000);
CREATE TABLE settled_plan (
    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
    fingerprint TEXT CHECK (fingerprint <> ''),
    folders TEXT NOT NULL DEFAULT '[]' CHECK (json_type(folders) = 'array'),
    kept INTEGER NOT NULL DEFAULT 0 CHECK (kept >= 0),
    skipped INTEGER NOT NULL DEFAULT 0 CHECK (skipped >= locked),
    locked INTEGER NOT NULL DEFAULT 0 CHECK (locked >= 0)
, removed INTEGER NOT NULL DEFAULT 0 CHECK (removed >= 0), gone INTEGER NOT NULL DEFAULT 0 CHECK (gone >= 0), filtered INTEGER NOT NULL DEFAULT 0 CHECK (filtered >= 0)) STRICT;
INSERT INTO settled_plan VALUES(1,'aaaa','["萧十一狼"]',1,2,1,1,0,0);
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    command TEXT NOT NULL CHECK (command <> ''),
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    exit_code INTEGER CHECK ((exit_code IS NULL) = (ended_at IS NULL)),
    books INTEGER NOT NULL DEFAULT 0,
    fetched INTEGER NOT NULL DEFAULT 0,
    resumed INTEGER NOT NULL DEFAULT 0,
    replaced INTEGER NOT NULL DEFAULT 0,
    renamed INTEGER NOT NULL DEFAULT 0,
    adopted INTEGER NOT NULL DEFAULT 0,
    kept INTEGER NOT NULL DEFAULT 0,
    locked INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    left_over INTEGER NOT NULL DEFAULT 0,
    bytes_received INTEGER NOT NULL DEFAULT 0,
    bytes_reused INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    error TEXT
, held_back INTEGER NOT NULL DEFAULT 0, paused INTEGER NOT NULL DEFAULT 0, removed INTEGER NOT NULL DEFAULT 0, gone INTEGER NOT NULL DEFAULT 0, filtered INTEGER NOT NULL DEFAULT 0, expired INTEGER NOT NULL DEFAULT 0, error_message TEXT) STRICT;
INSERT INTO run VALUES(1,'mirror',1700000400000,1700000441000,75,1,12,0,0,0,0,0,0,1,0,118900000,0,41.0,'kting:30776/2 cannot be fetched: the connection was cut, 6 times in a row',2,3,4,5,6,7,'["","kting:30776/2"," cannot be fetched: the connection was cut, ","6"," times in a row"]');
INSERT INTO run VALUES(2,'mirror',1700000500000,NULL,NULL,0,0,0,0,0,0,0,0,0,0,0,0,0.0,NULL,0,0,0,0,0,0,NULL);
CREATE TABLE outage (
    subject TEXT PRIMARY KEY CHECK (subject <> ''),
    since INTEGER NOT NULL,
    runs INTEGER NOT NULL CHECK (runs > 0),
    error TEXT NOT NULL,
    told INTEGER NOT NULL CHECK (told IN (0, 1))
, error_message TEXT) STRICT;
INSERT INTO outage VALUES('http://kting.info:81',1700000400000,2,'page 1 of kting:30776 cannot be fetched',1,'["page 1 of ","kting:30776"," cannot be fetched"]');
CREATE TABLE publication_watch (
    book_id INTEGER PRIMARY KEY REFERENCES book (id) ON DELETE CASCADE,
    latest INTEGER NOT NULL,
    usual_gap INTEGER NOT NULL CHECK (usual_gap > 0),
    told INTEGER NOT NULL CHECK (told IN (0, 1))
) STRICT;
INSERT INTO publication_watch VALUES(1,1700000000000,86400000,0);
CREATE TABLE subscription_tag (
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    path TEXT NOT NULL CHECK (path <> ''),
    UNIQUE (source, key, path),
    FOREIGN KEY (source, key) REFERENCES subscription (source, key) ON DELETE CASCADE
) STRICT;
INSERT INTO subscription_tag VALUES('kting','30776',replace('睡前\n长篇','\n',char(10)));
CREATE TABLE trashed_file (
    id INTEGER PRIMARY KEY,
    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE RESTRICT,
    removed_at INTEGER NOT NULL,
    moved_at INTEGER,
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
    named_by_listener INTEGER NOT NULL CHECK (named_by_listener IN (0, 1)),
    fetched_from TEXT
, original_size INTEGER CHECK (original_size >= 0), original_sha256 TEXT CHECK ((original_sha256 IS NULL) = (original_size IS NULL)), stream_sha256 TEXT CHECK ((stream_sha256 IS NULL) = (original_size IS NULL))) STRICT;
INSERT INTO trashed_file VALUES(1,3,1700000000777,1700000000778,'萧十一狼/0003.mp3',3,'abababababababababababababababababababababababababababababababab',1,2,'"e"',NULL,NULL,3,NULL,1700000000000,'length',0,'http://h/3.mp3',2,'1212121212121212121212121212121212121212121212121212121212121212','3434343434343434343434343434343434343434343434343434343434343434');
CREATE TABLE user (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT UNIQUE CHECK ((name IS NULL) = (id = 0) AND name <> ''),
    -- Salted and stretched, as in $scrypt$ln=15,r=8,p=1$SALT$HASH.
    password_hash TEXT CHECK ((password_hash IS NULL) = (id = 0) AND password_hash <> ''),
    -- Whether there is nothing on the shelf for them but what user_book names.
    limited INTEGER NOT NULL DEFAULT 0 CHECK (limited IN (0, 1))
) STRICT;
INSERT INTO user VALUES(0,NULL,NULL,0);
INSERT INTO user VALUES(1,'小林','$scrypt$ln=15,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',1);
CREATE TABLE user_book (
    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (user_id, source, key)
) STRICT, WITHOUT ROWID;
INSERT INTO user_book VALUES(1,'kting','30776');
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
INSERT INTO listening_position VALUES(0,1,612.24999999999999999,1234.5,0,1700000600000,NULL);
INSERT INTO listening_position VALUES(1,1,12.5,1234.5,1,1700000700000,'Firefox, Android');
CREATE TABLE bookmark (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    episode_id INTEGER NOT NULL REFERENCES episode (id) ON DELETE CASCADE,
    seconds REAL NOT NULL CHECK (seconds >= 0 AND seconds <= 1e9),
    note TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
INSERT INTO bookmark VALUES(1,1,1,61.25,'这里很好笑',1700000800000);
CREATE TABLE book_listening (
    user_id INTEGER NOT NULL REFERENCES user (id) ON DELETE CASCADE,
    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    speed REAL CHECK (speed >= 0.25 AND speed <= 4),
    dismissed_at INTEGER,
    PRIMARY KEY (user_id, book_id)
) STRICT, WITHOUT ROWID;
INSERT INTO book_listening VALUES(1,1,1.25,1700000900000);
CREATE TABLE run_book (
    run_id INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    source TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO run_book VALUES(1,0,'kting','30776');
CREATE TABLE retagging (
    episode_id INTEGER PRIMARY KEY REFERENCES episode (id) ON DELETE CASCADE,
    sha256 TEXT NOT NULL,
    original_size INTEGER,
    original_sha256 TEXT,
    stream_sha256 TEXT
) STRICT;
INSERT INTO retagging VALUES(1,'3434343434343434343434343434343434343434343434343434343434343434',980,'efefefefefefefefefefefefefefefefefefefefefefefefefefefefefefefef','1212121212121212121212121212121212121212121212121212121212121212');
CREATE TABLE joined_file (
    -- Absolute, or relative to the library.
    path TEXT PRIMARY KEY,
    book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE,
    size INTEGER NOT NULL,
    mtime INTEGER NOT NULL,
    -- A digest of the episodes' digests, and of how they were joined.
    made_of TEXT NOT NULL
) STRICT;
INSERT INTO joined_file VALUES('萧十一狼/回到古代当兽医.m4b',1,123456,1700000000123456789,'3434343434343434343434343434343434343434343434343434343434343434');
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
INSERT INTO collection VALUES(1,'internet-archive','collection:librivoxaudio','^第','{title}/{section}',3,'W3siYSI6MX1d');
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
INSERT INTO collection_book VALUES(1,1,'kting','30776','回到古代当兽医',1,'4/3600.0/',NULL,1,3,0);
INSERT INTO collection_book VALUES(2,1,'kting','30777','二',0,'','',1,2,1);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('user',1);
INSERT INTO sqlite_sequence VALUES('bookmark',1);
CREATE INDEX episode_in_order ON episode (book_id, section, position, gone, locked, removed_at);
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
CREATE TRIGGER book_is_named AFTER INSERT ON book BEGIN
    INSERT OR IGNORE INTO unindexed_name VALUES (-new.id);
END;
CREATE TRIGGER book_is_renamed AFTER UPDATE OF title, author, announcer ON book
WHEN old.title IS NOT new.title OR old.author IS NOT new.author OR old.announcer IS NOT new.announcer
BEGIN
    INSERT OR IGNORE INTO unindexed_name VALUES (-new.id);
END;
CREATE TRIGGER episode_is_renamed AFTER UPDATE OF name ON episode WHEN old.name IS NOT new.name BEGIN
    INSERT OR IGNORE INTO unindexed_name
    SELECT new.id FROM name_index_state WHERE new.id <= indexed_to;
END;
CREATE TRIGGER episode_goes AFTER DELETE ON episode BEGIN
    UPDATE name_index_state SET indexed_to = (SELECT COALESCE(MAX(id), 0) FROM episode)
    WHERE indexed_to > (SELECT COALESCE(MAX(id), 0) FROM episode);
END;
CREATE INDEX exported_file_of_book ON exported_file (book_id);
CREATE UNIQUE INDEX verification_under_way ON verification (scope) WHERE ended_at IS NULL;
CREATE INDEX renaming_of_episode ON renaming (episode_id);
CREATE TRIGGER book_unsettles AFTER UPDATE OF updated_at, title, author, declared ON book BEGIN
    DELETE FROM settled_plan WHERE book_id = new.id;
END;
CREATE TRIGGER episode_unsettles AFTER UPDATE OF book_id, gone, locked, removed_at ON episode BEGIN
    DELETE FROM settled_plan WHERE book_id = new.book_id;
    DELETE FROM settled_plan WHERE book_id = old.book_id;
END;
CREATE TRIGGER episode_unsettles_by_going AFTER DELETE ON episode BEGIN
    DELETE FROM settled_plan WHERE book_id = old.book_id;
END;
CREATE TRIGGER file_unsettles_by_coming AFTER INSERT ON local_file BEGIN
    DELETE FROM settled_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE TRIGGER file_unsettles AFTER UPDATE ON local_file BEGIN
    DELETE FROM settled_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE TRIGGER file_unsettles_by_going AFTER DELETE ON local_file BEGIN
    DELETE FROM settled_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = old.episode_id);
END;
CREATE TRIGGER transfer_unsettles AFTER INSERT ON transfer BEGIN
    DELETE FROM settled_plan WHERE book_id = (SELECT book_id FROM episode WHERE id = new.episode_id);
END;
CREATE INDEX local_file_by_age ON local_file (fetched_at);
CREATE INDEX transfer_begun ON transfer (state) WHERE state <> 'waiting';
CREATE UNIQUE INDEX trashed_file_on_its_way ON trashed_file (episode_id) WHERE moved_at IS NULL;
CREATE INDEX listening_position_by_age ON listening_position (user_id, updated_at);
CREATE INDEX listening_position_by_episode ON listening_position (episode_id);
CREATE INDEX bookmark_by_episode ON bookmark (episode_id, user_id);
CREATE INDEX bookmark_by_user ON bookmark (user_id);
CREATE INDEX book_listening_by_book ON book_listening (book_id);
CREATE INDEX preferred_transfer ON transfer (priority) WHERE priority > 0;
CREATE INDEX collection_book_in_order ON collection_book (collection_id);
CREATE INDEX book_by_slug ON book (slug) WHERE slug IS NOT NULL;
CREATE INDEX episode_by_slug ON episode (book_id, slug) WHERE slug IS NOT NULL;
CREATE INDEX book_by_author ON book (author);
CREATE INDEX book_by_age ON book (updated_at DESC, source, key);
CREATE INDEX episode_with_secret ON episode (book_id) WHERE instr(address, '***');
CREATE INDEX removed_episode ON episode (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX trashed_file_of_episode ON trashed_file (episode_id);
CREATE INDEX verified_file_by_round ON verified_file (round);
CREATE INDEX joined_file_of_book ON joined_file (book_id);
PRAGMA writable_schema=OFF;
COMMIT;
