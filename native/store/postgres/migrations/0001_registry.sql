-- The registry. Names and values are bytea, because any bytes are legal in them
-- (text holds no U+0000 and no invalid UTF-8) and because bytea sorts bytewise in
-- every database, whatever its collation. Times are microseconds since 1970-01-01
-- UTC, so that no session setting can change what is read.

-- A namespace's key is the SHA-256 of its path, so that an object is found by
-- name with one look-up, however long the path is. Row '' is the root: it exists
-- so that the parent of every namespace is a row that can be locked.
CREATE TABLE namespaces (
    key             bytea    PRIMARY KEY,
    path            bytea    NOT NULL,
    parent          bytea    REFERENCES namespaces (key),
    name            bytea    NOT NULL,
    id              uuid     NOT NULL,
    owner           bytea    NOT NULL,
    property_names  bytea[]  NOT NULL,
    property_values bytea[]  NOT NULL,
    created         bigint   NOT NULL,
    updated         bigint   NOT NULL
);
CREATE INDEX namespaces_listed ON namespaces (parent, name);
-- Paths may be longer than an index entry may be.
CREATE INDEX namespaces_exported ON namespaces (substring(path, 1, 1024));

-- Tables and views, which share their names. No object can be created in a
-- namespace that is being dropped, and no namespace dropped that holds one: the
-- foreign key locks the namespace's row.
--
-- A commit changes location, previous, generation and updated. None of them is in
-- an index, so that the row's new version can stay in its page without new index
-- entries; the room for it is left by the fill factor. Pointers are found by the
-- folder they are in, which a commit does not change.
CREATE TABLE objects (
    namespace  bytea    NOT NULL REFERENCES namespaces (key),
    name       bytea    NOT NULL,
    kind       smallint NOT NULL,
    id         uuid     NOT NULL,
    location   bytea    NOT NULL,
    previous   bytea    NOT NULL,
    generation bigint   NOT NULL,
    created    bigint   NOT NULL,
    updated    bigint   NOT NULL,
    folder     bytea    NOT NULL,
    PRIMARY KEY (namespace, name)
) WITH (fillfactor = 75);
CREATE INDEX objects_listed ON objects (namespace, kind, name);
CREATE INDEX objects_folders ON objects (folder);

-- The commit log. It outlives its objects. The transaction that wrote a row is
-- remembered so that a writer whose connection broke can find out whether its
-- commit was made.
CREATE TABLE commits (
    object          uuid   NOT NULL,
    generation      bigint NOT NULL,
    from_location   bytea  NOT NULL,
    to_location     bytea  NOT NULL,
    time            bigint NOT NULL,
    principal       bytea  NOT NULL,
    request         bytea  NOT NULL,
    idempotency_key bytea  NOT NULL,
    transaction     uuid   NOT NULL,
    PRIMARY KEY (object, generation)
);

CREATE TABLE receipts (
    key         bytea  PRIMARY KEY,
    fingerprint bytea  NOT NULL,
    outcome     bytea  NOT NULL,
    created     bigint NOT NULL,
    expires     bigint NOT NULL
);
CREATE INDEX receipts_expire ON receipts (expires);

-- States: 1 waiting, 2 running, 3 done, 4 failed.
CREATE TABLE jobs (
    id              uuid     PRIMARY KEY,
    kind            bytea    NOT NULL,
    object          uuid     NOT NULL,
    namespace       bytea[]  NOT NULL,
    name            bytea    NOT NULL,
    object_kind     smallint NOT NULL,
    location        bytea    NOT NULL,
    state           smallint NOT NULL,
    progress        bytea    NOT NULL,
    attempts        bigint   NOT NULL,
    last_error      bytea    NOT NULL,
    lease           bytea    NOT NULL,
    leased_until    bigint   NOT NULL,
    not_before      bigint   NOT NULL,
    created         bigint   NOT NULL,
    updated         bigint   NOT NULL,
    time            bigint   NOT NULL,
    principal       bytea    NOT NULL,
    request         bytea    NOT NULL,
    idempotency_key bytea    NOT NULL
);
CREATE INDEX jobs_open ON jobs (id) WHERE state < 3;
CREATE INDEX jobs_finished ON jobs (updated) WHERE state >= 3;

-- What a transaction that wrote no row of the commit log leaves behind, for the
-- same purpose. Rows are of use for minutes and are removed after a day.
CREATE TABLE outcomes (
    transaction uuid   PRIMARY KEY,
    time        bigint NOT NULL
);
CREATE INDEX outcomes_expire ON outcomes (time);

-- At most one row. Roles: 1 the source of a migration, 2 its destination, 3 moved.
CREATE TABLE fence (
    role      smallint NOT NULL,
    migration uuid     NOT NULL,
    peer      bytea    NOT NULL,
    since     bigint   NOT NULL
);
