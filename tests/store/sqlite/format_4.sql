-- A crawl of format 4 that was killed with two URLs leased, as its own code wrote it.
BEGIN TRANSACTION;
CREATE TABLE courtesies (
  host TEXT PRIMARY KEY, requests INTEGER NOT NULL, robots_txt INTEGER NOT NULL, status_429 INTEGER NOT NULL,
  status_503 INTEGER NOT NULL, unanswered INTEGER NOT NULL, retry_afters INTEGER NOT NULL,
  longest_retry_after_s REAL NOT NULL, sooner INTEGER NOT NULL, inside INTEGER NOT NULL, waited_s REAL NOT NULL,
  least_gap_s REAL, least_gap_at REAL, asked_gap_s REAL, first_at REAL, last_at REAL, busy_from REAL NOT NULL,
  busy_until REAL NOT NULL, held_from REAL NOT NULL, held_until REAL NOT NULL, last_status INTEGER, agent TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "courtesies" VALUES('example.org',6,0,0,0,0,0,0.0,0,0,0.0,NULL,NULL,NULL,NULL,NULL,0.0,0.0,0.0,0.0,NULL,'');
CREATE TABLE forgotten (host INTEGER PRIMARY KEY, at REAL NOT NULL);
CREATE TABLE found (seq INTEGER PRIMARY KEY, at REAL NOT NULL, source TEXT);
INSERT INTO "found" VALUES(0,10.0,NULL);
INSERT INTO "found" VALUES(2,20.0,'https://example.org/');
CREATE TABLE hosts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,
  ready_at REAL NOT NULL, backoff REAL NOT NULL DEFAULT 0, due REAL,
  leased INTEGER NOT NULL DEFAULT 0, cut_at REAL, in_scope INTEGER NOT NULL DEFAULT 0, pages INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "hosts" VALUES(1,'example.org','https://example.org',30.0,0.0,NULL,1,NULL,1,2);
INSERT INTO "hosts" VALUES(2,'example.net','https://example.net',0.0,0.0,NULL,1,NULL,1,0);
INSERT INTO "hosts" VALUES(3,'far.example','https://far.example',20.0,0.0,NULL,0,NULL,0,0);
CREATE TABLE leased (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO "leased" VALUES(1,-8371802863444450426,3);
INSERT INTO "leased" VALUES(2,8946083658921663530,1);
CREATE TABLE robots (
  origin TEXT PRIMARY KEY, result TEXT NOT NULL, dialect TEXT NOT NULL, fetched_at REAL NOT NULL,
  valid_until REAL NOT NULL, status INTEGER, failure TEXT, body BLOB NOT NULL, good_at REAL,
  cut_bytes INTEGER NOT NULL, tries INTEGER NOT NULL, failing_since REAL, site_answers INTEGER NOT NULL
);
INSERT INTO "robots" VALUES('https://example.org','successful','rfc9309',9.0,86409.0,200,NULL,X'557365722D6167656E743A202A0A446973616C6C6F773A202F6E6F0A',9.0,0,0,NULL,0);
CREATE TABLE robots_versions (
  origin TEXT NOT NULL, first_at REAL NOT NULL, last_at REAL NOT NULL, fetches INTEGER NOT NULL, result TEXT NOT NULL,
  status INTEGER, failure TEXT, digest TEXT, bytes INTEGER, PRIMARY KEY (origin, first_at)
) WITHOUT ROWID;
INSERT INTO "robots_versions" VALUES('https://example.org',9.0,9.0,1,'successful',200,NULL,'631eb24aa648491886aa8b76e1af5ff6a61a0fd2ed6dec4d0bd23bdb192d8a1f',28);
CREATE TABLE to_index (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, file TEXT, offset INTEGER, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO "to_index" VALUES(1,-8370242829065689749,'1.warc.gz',7);
CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO "totals" VALUES('bytes',512);
INSERT INTO "totals" VALUES('disallowed',1);
INSERT INTO "totals" VALUES('failed',0);
INSERT INTO "totals" VALUES('gone',1);
INSERT INTO "totals" VALUES('hosts',2);
INSERT INTO "totals" VALUES('leased',2);
INSERT INTO "totals" VALUES('out-of-scope',1);
INSERT INTO "totals" VALUES('ready',2);
INSERT INTO "totals" VALUES('urls',9);
INSERT INTO "totals" VALUES('visited',2);
CREATE TABLE urls (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, state INTEGER NOT NULL,
  rank INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, public_only INTEGER NOT NULL, hops INTEGER NOT NULL,
  ready_at REAL, refused TEXT, path TEXT NOT NULL,
  PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO "urls" VALUES(1,-8371802863444450426,3,0,16255,0,0,0,NULL,NULL,'/plain');
INSERT INTO "urls" VALUES(1,-8371169832818282690,5,2,16255,1,0,0,90.0,NULL,'/retry');
INSERT INTO "urls" VALUES(1,-8371131780780157013,4,4,16255,0,0,0,NULL,NULL,'/no');
INSERT INTO "urls" VALUES(1,-8370936474466428678,6,3,16255,0,0,0,NULL,NULL,'/redirect');
INSERT INTO "urls" VALUES(1,-8370438676309112743,7,0,16255,0,0,0,NULL,NULL,'/late');
INSERT INTO "urls" VALUES(1,-8370242829065689749,0,3,8063,0,0,0,NULL,NULL,'/');
INSERT INTO "urls" VALUES(1,-8370120854678037942,2,7,16255,0,0,0,NULL,NULL,'/gone');
INSERT INTO "urls" VALUES(2,8946083658921663530,1,0,8063,0,0,0,NULL,NULL,'/');
INSERT INTO "urls" VALUES(3,8562820412225357646,8,5,16255,0,0,0,NULL,'far','/');
CREATE TABLE visits (
  seq INTEGER PRIMARY KEY, at REAL NOT NULL, status INTEGER, digest TEXT, title TEXT, why TEXT NOT NULL,
  file TEXT, offset INTEGER, events TEXT NOT NULL
);
INSERT INTO "visits" VALUES(0,20.0,200,'sha1:00','Home','status 200','1.warc.gz',7,'[[20.0,"permission","allowed","Allow: /",3]]');
INSERT INTO "visits" VALUES(2,40.0,404,NULL,NULL,'status 404',NULL,NULL,'[]');
INSERT INTO "visits" VALUES(4,41.0,NULL,NULL,NULL,'Disallow: /no',NULL,NULL,'[[41.0,"permission","disallowed","Disallow: /no",4]]');
INSERT INTO "visits" VALUES(5,42.0,NULL,NULL,NULL,'timeout',NULL,NULL,'[]');
INSERT INTO "visits" VALUES(6,43.0,301,NULL,NULL,'status 301',NULL,NULL,'[]');
CREATE INDEX hosts_due ON hosts (due) WHERE due IS NOT NULL;
CREATE INDEX hosts_leased ON hosts (id) WHERE leased = 1;
CREATE INDEX urls_ready ON urls (host, rank, seq) WHERE state = 0;
CREATE INDEX urls_later ON urls (host, ready_at) WHERE state = 2;
CREATE VIEW due_hosts AS SELECT id, leased, max(ready_at, CASE
  WHEN EXISTS (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = hosts.id AND state = 0
    AND NOT EXISTS (SELECT 1 FROM leased WHERE leased.host = urls.host AND leased.hash = urls.hash)) THEN ready_at
  ELSE (SELECT min(urls.ready_at) FROM urls INDEXED BY urls_later WHERE host = hosts.id AND state = 2) END) AS due
FROM hosts;
CREATE VIEW records AS SELECT urls.host AS host, urls.hash AS hash, urls.seq AS seq, origin, path,
  iif(leased.seq IS NULL, state, 1) AS state, rank, refused, at, status, digest, title, why, file, offset
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  LEFT JOIN leased ON leased.host = urls.host AND leased.hash = urls.hash;
COMMIT;
