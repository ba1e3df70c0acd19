/**
 * What checks each sentence of the page about backups: tests, as `file: how their names begin`, or `prose:` with the reason why
 * nothing can be checked. A sentence that is changed there has to be changed here, and what checks it to be looked at.
 */
export const CLAIMS: Record<string, Record<string, readonly string[]>> = {
  'Backup and restore': {
    'Let Tally back up its database by itself, upload encrypted backups to S3, check them, and restore one.': [
      'prose: what the page is about',
    ],
    'This page is about the embedded database (SQLite); with PostgreSQL, use its own tools.': [
      'cli/backup.test.ts: names the tool of PostgreSQL where the database is there',
    ],
  },
  'Schedule backups': {
    'Set how often, and a folder, best on another disk:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    '| option | variable | default | |': ['prose: the head of a table'],
    '| `--backup-every` | `TALLY_BACKUP_EVERY` | off | how often, such as `24h` or `6h` |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| `--backup-dir` | `TALLY_BACKUP_DIR` | `backups` in the data folder | where they go |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| `--backup-keep` | `TALLY_BACKUP_KEEP` | 14 | how many of the newest are kept |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| `--backup-keep-daily` | `TALLY_BACKUP_KEEP_DAILY` | 0 | of how many days the last one is kept as well |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| `--backup-keep-weekly` | `TALLY_BACKUP_KEEP_WEEKLY` | 0 | of how many weeks, from Monday |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| `--backup-keep-monthly` | `TALLY_BACKUP_KEEP_MONTHLY` | 0 | of how many months |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    'With systemd, put them into `/etc/tally.env` and allow the folder.': [
      'cli/doctor.test.ts: uses the options in the file of the package, after its comments',
    ],
    '**What is kept.**': ['prose: a heading'],
    'As with `restic forget` and `borg prune`, a backup is kept if any class keeps it, and periods without a backup do not count.':
      [
        'database/backup/retention.test.ts: leaves what any class keeps, counted once',
        'database/backup/retention.test.ts: as many as each class says are kept, if there are as many',
      ],
    '`TALLY_BACKUP_KEEP=3` with 7 daily, 4 weekly and 12 monthly ones is about 20 backups over a year.': [
      'docs/backup-page.test.ts: a year of daily backups leaves about twenty',
    ],
    'The same applies in S3.': [
      'database/backup/remote-backups.test.ts: only what this server uploaded is counted and removed',
    ],
    'Tally only removes backups of its own database that have the names that it gives (`tally-20261121T201500Z-5f0c2a9b.db`), after a new one is complete, and never the newest.':
      [
        'cli/backup.test.ts: makes a backup when none is there, keeps as many as it is told, and leaves other files alone',
        'database/backup/retention.test.ts: the newest backup that is not from the future is kept',
      ],
    'A backup with a date in the future, from when the clock was wrong, is neither removed nor counted: remove it yourself.':
      ['database/backup/retention.test.ts: none from the future is removed'],
  },
  'Whose a backup is': {
    'Several Tallys can share a folder, or a folder of a bucket.': [
      'cli/backup.test.ts: shares its folder with that of another database, and each has its own backups',
      'database/backup/remote-backups.test.ts: two databases that share the folder and the storage do not touch what the other made',
    ],
    'Each database has an id, which its backups contain, and a server counts and removes only what is of its own database.':
      ['database/backup/latest.test.ts: a backup is what its content says'],
    '`tally backup list` shows the origin of each backup, and `tally doctor` and `/metrics` count the others:': [
      'cli/backup.test.ts: shares its folder with that of another database',
      'cli/remote-backups.test.ts: uploads its backups, removes old ones, verifies with its private key',
    ],
    '| origin | |': ['prose: the head of a table'],
    '| this database | counted, and removed when it is not kept |': [
      'cli/backup.test.ts: makes a backup when none is there, keeps as many',
    ],
    '| of another timeline of this database | made before a restore, or by another copy of the database |': [
      'cli/backup.test.ts: begins a timeline, so that the restored database removes nothing of the original',
    ],
    '| of another database | made by another Tally |': [
      'cli/backup.test.ts: shares its folder with that of another database',
    ],
    '| made by an earlier version | up to 0.3.0, backups did not say whose they are; what 0.3.0 has uploaded and noted with its SHA-256 counts as of this database |':
      [
        'database/backup/latest.test.ts: a backup is what its content says',
        'database/backup/remote-backups.test.ts: what an earlier version has uploaded, and noted with its digest',
      ],
    '| in no manifest | in S3: uploaded by somebody else, or by an earlier version |': [
      'database/backup/remote-backups.test.ts: only what this server uploaded is counted and removed',
      'cli/remote-backups.test.ts: refuses an older backup under the name of a newer one',
    ],
    '| unusable | empty, incomplete, not a database of Tally, or with another name than it was made with |': [
      'database/backup/latest.test.ts: a backup is what its content says',
      'cli/backup.test.ts: refuses an older backup under the name of a newer one',
    ],
    'All but the first are neither counted nor removed: remove them yourself when you do not need them any more.': [
      'database/backup/remote-backups.test.ts: only what this server uploaded is counted and removed',
      'cli/backup.test.ts: makes a backup when none is there, keeps as many',
    ],
    'A restored database goes on with another **timeline**, as in PostgreSQL: eight digits, which the names of its backups contain.':
      ['cli/backup.test.ts: begins a timeline, so that the restored database removes nothing'],
    'So the restored database never removes what was backed up before, which may have entries that it does not have.': [
      'cli/backup.test.ts: begins a timeline, so that the restored database removes nothing',
    ],
    'The same holds for a backup that you put in place yourself.': [
      'cli/backup.test.ts: by hand begins a timeline as well, when the server is started',
    ],
    'If you start a copy of a database file, give it a folder of its own.': ['prose: what to do'],
    'If both upload to the same place, the second one notices, begins another timeline, and reports it as a failed upload, once.':
      ['database/backup/remote-backups.test.ts: and the original go on with timelines of their own'],
  },
  'Copy the files yourself': {
    '`tally backup` copies a running database at one moment.': [
      'cli/backup.test.ts: makes a backup when none is there, keeps as many',
    ],
    'With `cp` or `rsync`, stop the server first: it then empties the log, and `tally.db` alone is the whole database.':
      ['database/sqlite.test.ts: is empty after the last close, so that a copy of the file alone is whole'],
    'After a crash, copy `tally.db` and `tally.db-wal` together.': [
      'database/database-place.test.ts: left by a process that was killed before a checkpoint',
    ],
    'A snapshot of the whole file system contains both.': ['prose: what a snapshot is'],
    'A copy of `tally.db` without the log of a running server lacks the newest entries, and nothing in the file says so.':
      ['database/database-place.test.ts: left by a process that was killed before a checkpoint'],
    'A file next to the log of another database, or of another moment, is recognized: the server and all commands refuse to open it, and change neither file.':
      ['database/database-place.test.ts: an older copy of its database'],
    'To put a backup in place, use `tally restore`, which takes care of the log.': [
      'database/database-place.test.ts: and a restore that replaces the file keeps both unchanged',
    ],
    'With `cp`, move `tally.db-wal` away first.': ['database/database-place.test.ts: a backup of its database'],
  },
  'Upload backups to S3': {
    'A disk, a machine or an account can be lost as a whole.': ['prose: why to upload backups'],
    'Let the server upload each backup to S3-compatible storage elsewhere:': [
      'cli/remote-backups.test.ts: uploads its backups, removes old ones',
    ],
    'Amazon S3, Cloudflare R2, Backblaze B2, MinIO and the like.': [
      'prose: examples of storage of others; s3rver stands for them here, moto in s3-client.long.test.ts',
    ],
    'Backups are compressed and encrypted before they leave the machine.': [
      'cli/remote-backups.test.ts: backs up to S3, lists, verifies and restores',
    ],
    'Create a pair of keys, **not on the server**:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    'The command prints the public key, `age1…`.': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    'Store copies of the file in two safe places, such as a password manager and a safe: without it, nobody can restore the backups.':
      ['prose: advice for people'],
    'Create a bucket, and an access key for it that may list the bucket (`s3:ListBucket`) and read, write and delete its objects (`s3:GetObject`, `s3:PutObject`, `s3:DeleteObject`, `s3:AbortMultipartUpload`).':
      ['database/backup/s3-client.long.test.ts: accepts all requests'],
    'Add a lifecycle rule that removes incomplete multipart uploads after a day: they are never visible as objects, but take space.':
      [
        'prose: a setting of the storage; that incomplete uploads are no objects: an upload that is interrupted leaves no object',
      ],
    'Set these variables, such as in `/etc/tally.env`, and restart the server:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    'Check it with `tally doctor`, and verify a backup where the private key is.': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    '| option | variable | default | |': ['prose: the head of a table'],
    '| `--backup-s3` | `TALLY_BACKUP_S3` | off | bucket and folder |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| `--backup-recipients` | `TALLY_BACKUP_RECIPIENTS` | | public keys, separated by commas; any of their private keys decrypts |':
      ['docs/backup-page.test.ts: the options, variables and defaults are those of its tables'],
    '| `--backup-verify-every` | `TALLY_BACKUP_VERIFY_EVERY` | `7d` | how often the server downloads the newest one and verifies it; `off` for never |':
      ['docs/backup-page.test.ts: the options, variables and defaults are those of its tables'],
    '| `--identity` | `TALLY_BACKUP_IDENTITY_FILE` | | file with a private key, to restore and verify |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| | `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` | | credentials, as variables only; also `AWS_SECRET_ACCESS_KEY_FILE` and `AWS_SESSION_TOKEN` |':
      ['docs/backup-page.test.ts: the options, variables and defaults are those of its tables'],
    '| | `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL` | Amazon S3 | the storage; buckets are part of the path |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    '| | `AWS_REGION` | `us-east-1` | many other services accept any |': [
      'docs/backup-page.test.ts: the options, variables and defaults are those of its tables',
    ],
    'Profiles in `~/.aws` and roles of machines are not read.': [
      'docs/backup-page.test.ts: profiles and roles are not read',
    ],
    'The upload streams, in a process of its own with the lowest priority: it takes some 140 MB of memory for any size of the database, and no time of the server.':
      [
        'cli/remote-backups.test.ts: killed during an upload leaves no process and no object',
        'prose: memory was measured, as benchmarks do',
      ],
    'Before, the file is checked once more, in 15 seconds per GB, and what is damaged is not uploaded.': [
      'database/backup/remote-backups.test.ts: a file with the name of a backup and %s in it is not uploaded',
    ],
    'A database of 3.9 GB with ten million entries became an object of 1.7 GB, in 85 seconds of one core.': [
      'prose: a measurement',
    ],
    'Until all of it has arrived, there is no object, whether the connection, the process or the machine is lost in the middle.':
      [
        'database/backup/remote-backups.test.ts: a connection that is cut leaves no object',
        'cli/remote-backups.test.ts: killed during an upload leaves no process and no object',
      ],
    'A failed upload is repeated after a minute, then after longer and longer, up to an hour.': [
      'database/backup/remote-backups.test.ts: a connection that is cut leaves no object, and the upload is repeated after a while',
    ],
    '**The manifest.**': ['prose: a heading'],
    'Next to the backups, `tally-manifest-5f0c2a9b.jws` lists what was uploaded on a timeline, with sizes and SHA-256, signed with a key that is in the database and its backups (JWS, Ed25519).':
      [
        'database/backup/remote-backups.test.ts: lists each upload with its digest, signed, and names the manifest before',
      ],
    'The server remembers the last one that it wrote, in `remote-manifests-5f0c2a9b.json` next to the local backups: keep this file with them.':
      [
        'database/backup/remote-backups.test.ts: of a crash in the middle of an upload is not taken for that of another server',
      ],
    "With both, it tells its own backups from others', and notices whatever was removed, cut off, replaced or put back, also of the manifest itself.":
      [
        'database/backup/remote-backups.test.ts: that is removed, changed or replaced by an older one is reported',
        'database/backup/remote-backups.test.ts: finds that the newest was removed while older ones remain',
      ],
    'It reports that as a failed verification, and removes nothing until the next one succeeds.': [
      'database/backup/remote-backups.test.ts: that is removed, changed or replaced by an older one is reported, removes nothing',
    ],
    'A missing or changed manifest is written again with the next upload, and a backup that is missing and still here is uploaded again.':
      [
        'database/backup/remote-backups.test.ts: that is removed, changed or replaced by an older one is reported, removes nothing, and is written again',
        'database/backup/remote-backups.test.ts: finds that the newest was removed while older ones remain',
      ],
    'If the remembered one is lost, the server goes on with another timeline.': [
      'database/backup/remote-backups.test.ts: is assumed if the memory of the server was lost',
    ],
  },
  'Who can see what': {
    '**Who can read the bucket** sees when backups were made and how large they are.': [
      'database/backup/remote-backups.test.ts: lists each upload with its digest',
    ],
    'The content is encrypted for the public keys.': [
      'database/backup/encryption.test.ts: what is sealed is opened with the private key alone',
    ],
    '**Who has the server** also has the database itself, but cannot read older backups in the bucket, unless the private key is there too.':
      ['database/backup/encryption.test.ts: what is sealed is opened with the private key alone'],
    '**Who can write to the bucket** can delete backups, and can put others in their place, because public keys are no secret.':
      ['database/backup/remote-backups.test.ts: finds a backup that somebody else encrypted with the public key'],
    'The server notices both.': [
      'database/backup/remote-backups.test.ts: finds a backup that somebody else encrypted with the public key',
      'database/backup/remote-backups.test.ts: finds that the newest was removed while older ones remain',
    ],
    'Such an object is never counted as a backup and never restored as the latest, and no backup of yours is removed because of it.':
      [
        'database/backup/remote-backups.test.ts: only what this server uploaded is counted and removed',
        'cli/remote-backups.test.ts: refuses an older backup under the name of a newer one',
      ],
    '**Ransomware on the server** has the access key.': ['prose: what an attacker has'],
    'Turn on versioning or Object Lock of the bucket, or leave out `s3:DeleteObject`:': [
      'prose: settings of the storage',
    ],
    "Tally then logs that it can't remove old backups, and a lifecycle rule has to.": [
      'database/backup/remote-backups.test.ts: an access key that must not remove anything',
    ],
    'Credentials and private keys do not appear in logs, messages, metrics or settings, and are not accepted as flags.':
      [
        'cli/remote-backups.test.ts: uploads its backups, removes old ones, verifies with its private key, and shows no secret',
        'cli/remote-backups.test.ts: says what is wrong with keys, credentials and places, and repeats no secret',
      ],
  },
  'The format': {
    'An object is called `tally-20261121T201500Z-5f0c2a9b.db.zst.age`: the SQLite file, compressed with Zstandard, then encrypted in the format of age.':
      ['cli/remote-backups.test.ts: backs up to S3, lists, verifies and restores'],
    'This format authenticates chunks of 64 KiB with their order and their end, so that a file which was changed, cut off or reordered is refused.':
      [
        'database/backup/encryption.test.ts: one that was cut off, also between two chunks, extended, changed or reordered',
      ],
    'You need no Tally to read one:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
      'database/backup/encryption.test.ts: opens what is sealed',
    ],
  },
  'If the private key is lost': {
    "Backups that are encrypted for it alone can't be restored by anybody, while the local ones are not encrypted.": [
      'database/backup/encryption.test.ts: a backup for another key',
      'docs/backup-page.test.ts: a local backup is not encrypted',
    ],
    'Create a new pair, replace `TALLY_BACKUP_RECIPIENTS`, and restart: the next backup is for the new key.': [
      'docs/backup-page.test.ts: keys are replaced and combined',
    ],
    'To be prepared, use two public keys from the beginning, whose private keys are in different hands:': [
      'docs/backup-page.test.ts: keys are replaced and combined',
    ],
    '`TALLY_BACKUP_RECIPIENTS=age1…,age1…`.': ['docs/backup-page.test.ts: keys are replaced and combined'],
    'If a private key is stolen, do the same and delete the backups that are encrypted for it.': [
      'prose: advice; removing objects is up to the storage',
    ],
    'A key with a passphrase (`age-keygen | age --passphrase`) can be used as `age --decrypt key.age | tally restore … --identity /dev/stdin`.':
      ['docs/backup-page.long.test.ts: a key with a passphrase restores by way of the standard input'],
  },
  'Back up now': {
    'Also while the server runs:': ['cli/backup.test.ts: copies what is acknowledged while a server writes'],
    'To upload one, name a folder in S3:': ['docs/backup-page.long.test.ts: the commands of the page do what it says'],
    '`tally backup s3://my-backups/tally/`, with the variables above.': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    'It needs space for a copy of the database in the folder for backups, and lists the upload in the manifest like the server does.':
      [
        'cli/remote-backups.test.ts: refuses an older backup under the name of a newer one, and finds that the newest was removed',
        'cli/backup.test.ts: a disk that is too small is named',
      ],
    '`tally backup list` shows the backups in the folder and in S3, with their ages, sizes and origins.': [
      'cli/remote-backups.test.ts: backs up to S3, lists, verifies and restores',
    ],
    'A backup in a folder is one file: the whole database at one moment, made by SQLite while entries keep arriving, then checked, and readable only by its owner.':
      ['cli/backup.test.ts: copies what is acknowledged while a server writes, and the copy restored has equal totals'],
    'The file gets its final name only when it is complete, and never replaces another file.': [
      'cli/backup.test.ts: never replaces a file',
      'cli/backup.test.ts: refuses a damaged database, and leaves no copy that looks like one',
    ],
    'You can copy it elsewhere like any other file.': [
      'database/backup/latest.test.ts: a backup is what its content says',
    ],
    'It is not encrypted, and contains password hashes and secrets of webhooks: encrypt it if it leaves your machines.':
      ['docs/backup-page.test.ts: a local backup is not encrypted'],
    'Do **not** copy the files of a running server, and do not open them with `sqlite3` before 3.51.3: such versions (Debian 12 has 3.40, Debian 13 has 3.46) have a bug that can corrupt a database in use.':
      ['prose: a warning about other programs'],
    'To run a query, use `tally sql`.': ['cli/backup.test.ts: answers a question as a table and as JSON'],
  },
  'Restore a backup': {
    'Stop the server, restore, start it again:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    'From S3, with the private key; without a name, the newest there:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    '`latest` is the newest of the folder for backups and of `TALLY_BACKUP_S3`.': [
      'cli/remote-backups.test.ts: restores the latest, from this machine if it has it',
    ],
    'If there is a database in the data folder already, only backups of that one are the latest; on a new machine, add `--database` with the id that `tally backup list` shows if the place has backups of several databases.':
      [
        'cli/backup.test.ts: shares its folder with that of another database',
        'cli/remote-backups.test.ts: keeps the backups of two databases in one folder apart',
      ],
    'Store the id next to the private key and compare it with the one that `tally restore` prints, since who can write to the bucket could put backups of another database there.':
      ['cli/remote-backups.test.ts: keeps the backups of two databases in one folder apart'],
    'A file that you downloaded (`….db.zst.age`) is restored in the same way as any other, with `--identity`.': [
      'cli/remote-backups.test.ts: backs up to S3, lists, verifies and restores',
    ],
    'What was changed or is incomplete is refused, and nothing is left of it.': [
      'cli/remote-backups.test.ts: refuses objects that were changed, cut off or made large, and leaves nothing of them',
    ],
    'So is a backup under the name of another, such as an older one that somebody has renamed: give it a name of your own to restore it all the same.':
      [
        'cli/backup.test.ts: refuses an older backup under the name of a newer one, and one that somebody copied, until it has another name',
        'cli/remote-backups.test.ts: refuses an older backup under the name of a newer one',
      ],
    'Restoring needs free space of twice the size of the database.': [
      'cli/backup.test.ts: a disk that is too small is named',
      'prose: twice, as the decrypted file and the restored one are there at the same time',
    ],
    '`tally restore` refuses to run while any process uses the database.': [
      'cli/backup.test.ts: refuses while a server uses the database, which goes on as before',
    ],
    'With `--replace`, it keeps the previous database as a file next to the restored one, and prints its name.': [
      'cli/backup.test.ts: keeps the database that was there beside, and only when told to replace it',
    ],
    'A database that is damaged is kept with its log, `….replaced-…-wal`, which has its latest writes: do not separate the two.':
      ['database/backup/restore.test.ts: with %s is replaced, and kept with its log'],
    'The log of a database that is missing would damage the restored one, so without `--replace` a restore next to it is refused: move the database back next to its log if you still have it.':
      ['database/backup/restore.test.ts: a restore changes nothing, and says how the log is kept'],
    'Entries, bills and payments from after the backup are not in it: look at the replaced database before you send bills again, so that no number is used twice.':
      ['cli/backup.test.ts: keeps the database that was there beside', 'prose: advice about bills'],
    'Agents that report again do no harm, since the same session counts once.': [
      'features/entries/listing/changes.test.ts: leave a copy as it should be',
      'prose: sessions count once by their ids, which features/entries tests',
    ],
    'Programs that follow events or changes have to begin again, since the same ids are now given to others.': [
      'prose: what to do',
    ],
    'Tally refuses a position that the restored database has not reached yet, and cannot recognize it later.': [
      'features/entries/listing/changes.test.ts: since a moment leave out what was long before',
    ],
  },
  'Verify backups': {
    'From time to time, restore the latest backup into a temporary folder, and check it:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    'In S3, `tally backup verify s3://my-backups/tally/ --identity tally-backups.key` downloads the newest one and does the same.':
      ['docs/backup-page.long.test.ts: the commands of the page do what it says'],
    'It also fails if the manifest lists a newer one that is missing.': [
      'cli/remote-backups.test.ts: refuses an older backup under the name of a newer one, and finds that the newest was removed',
    ],
    'Run it daily on another machine that has the private key; the exit code is 1 if anything is wrong.': [
      'cli/remote-backups.test.ts: refuses objects that were changed, cut off or made large',
    ],
    '`TMPDIR` is the folder that it uses.': ['docs/backup-page.test.ts: a verification uses TMPDIR'],
    'The server checks the newest backup in S3 by itself, at first after an upload and then every week:': [
      'database/backup/remote-backups.test.ts: the newest backup is uploaded once, verified, and after a restart only once a week',
    ],
    '**With a private key** (`TALLY_BACKUP_IDENTITY_FILE`) it restores the backup in the folder for backups, and runs the checks of `tally verify`.':
      ['cli/remote-backups.test.ts: uploads its backups, removes old ones, verifies with its private key'],
    'Older backups can then be read by whoever has the server.': ['prose: who has the key can read them'],
    '**Without**, it downloads the object and compares its size and SHA-256 with what it uploaded.': [
      'database/backup/remote-backups.test.ts: without the private key compares with what was uploaded, and verifies nothing',
    ],
    'That finds what was changed or damaged in the storage, and not whether you can still decrypt it.': [
      'database/backup/remote-backups.test.ts: without the private key compares with what was uploaded, and verifies nothing',
    ],
    'Such a backup is "uploaded as made, not test-restored", and counts as compared, not as verified: verify it elsewhere.':
      [
        'database/backup/remote-backups.test.ts: without the private key compares with what was uploaded, and verifies nothing',
        'docs/backup-page.test.ts: a backup that was only compared is called so',
      ],
    'While the latest check has failed, no backup in S3 is removed, and it is repeated every hour.': [
      'database/backup/remote-backups.test.ts: that fails is reported, repeated after an hour, and keeps all older backups until one succeeds',
    ],
    'A backup is also removed only after a newer one was downloaded and found to be as it was uploaded: if none was since, the server does that first.':
      ['database/backup/remote-backups.test.ts: nothing is removed if the newest is not as it was uploaded'],
    '`tally verify` reads the whole database, also while a server is running, and checks the file itself, the states of entries and token sheets, sessions, bills against their documents and entries, telemetry, what is spent of budgets, and the precomputed totals of reports.':
      ['cli/verify.test.ts: names sums without entries and references to nothing'],
    'Each finding names what is wrong by its id and how to fix it; the exit code is 1 if there are any.': [
      'cli/verify.test.ts: names sums without entries and references to nothing, and exits with 1',
    ],
    '`--json` is for scheduled jobs.': ['cli/verify.test.ts: names sums without entries'],
  },
  'Know when backups fail': {
    'This is the same for backups, uploads and verifications:': [
      'features/notices/service.test.ts: of failed backups is an e-mail once until one succeeds',
    ],
    'Admins get an e-mail, once for each until it has succeeded again, however often the server restarts.': [
      'features/notices/service.test.ts: of failed backups is an e-mail once until one succeeds, however often the server starts',
    ],
    'The event `backup.failed` reports it, at most once a day for each.': [
      'features/notices/service.test.ts: of a failed backup comes once a day',
    ],
    'Send it to a chat with a webhook.': ['prose: a link to webhooks, which get every event'],
    "`tally doctor` warns if the latest backup of the database is older than a day and a half, or on the same disk as the database and not in S3, and if the storage can't be used or the latest verification failed.":
      [
        'docs/backup-page.test.ts: a backup that is old, or on the disk of the database, is a warning',
        'cli/remote-backups.test.ts: reports a failed upload and verification as an event and to admins',
      ],
    '`/metrics` has the times of the latest backup, upload, verification and comparison, how many failed, and how many backups are not of this database; see Monitoring.':
      ['cli/remote-backups.test.ts: uploads its backups, removes old ones'],
  },
  'Go back to any point in time': {
    'A backup is of one moment: what arrived after it is lost with the disk.': ['prose: what a backup is'],
    "To lose seconds instead of hours, replicate the write-ahead log continuously, with PostgreSQL's own archive, or with Litestream for the embedded database.":
      ['prose: programs of others'],
    'Litestream 0.5 works with Tally, under these conditions.': [
      'prose: about Litestream, with which it was tried by hand',
    ],
    'Restores of a server under load, also after `kill -9` of either program, had every acknowledged entry up to the last second, and passed `tally verify`.':
      ['prose: about Litestream, with which it was tried by hand'],
    '**It creates two tables in the database**, which Tally leaves alone.': [
      'database/database-place.test.ts: a file is still the same with tables of another program, and is not after another one was copied over it',
    ],
    '**Expect a longer log.**': ['prose: about Litestream, with which it was tried by hand'],
    'Litestream keeps a read transaction open, so that Tally cannot empty the log, and warns that "a long-running reader keeps the write-ahead log from being truncated".':
      ['prose: about Litestream, with which it was tried by hand'],
    'Litestream shortens it from time to time; watch `tally_wal_bytes`.': [
      'prose: about Litestream, with which it was tried by hand',
    ],
    '**Stop it for `tally compact` and `tally restore --replace`**, which need the database for themselves.': [
      'prose: about Litestream, with which it was tried by hand',
    ],
    'Afterwards it begins with a new snapshot.': ['prose: about Litestream, with which it was tried by hand'],
    '**It does not encrypt.**': ['prose: about Litestream, with which it was tried by hand'],
    "Versions since 0.5 have no encryption of their own: use a bucket that you trust with the database, and keep Tally's encrypted backups too.":
      ['prose: about Litestream, with which it was tried by hand'],
  },
  'Make the file smaller': {
    'A database keeps removed texts in its unused space until it needs that space.': [
      'features/personal-data/erasure.test.ts: neither file, log nor a new backup contain the words after compacting',
    ],
    'After an erasure or a retention run, write it anew at a quiet time:': [
      'docs/backup-page.long.test.ts: the commands of the page do what it says',
    ],
    'Reports wait while it runs, some 10 seconds per GB, and it needs free space of the size of the database.': [
      'cli/backup.test.ts: shrinks the database of a server that goes on recording',
      'prose: seconds per GB were measured',
    ],
    'Backups from before still contain what was removed.': ['prose: nothing changes a backup'],
  },
  Limits: {
    'A backup needs free space of the size of the database where it is written.': [
      'cli/backup.test.ts: a disk that is too small is named',
    ],
    'The shortest interval is 10 minutes.': ['docs/backup-page.test.ts: the shortest interval is ten minutes'],
    'For less, see above.': ['prose: a link'],
    'Changes of the retention apply after the next backup.': [
      'cli/backup.test.ts: makes a backup when none is there, keeps as many as it is told',
    ],
    'Incomplete multipart uploads are removed by the storage only.': ['prose: what Tally does not do'],
    'A backup is of the version that made it.': [
      'cli/backup.test.ts: refuses what is no backup, another program’s, a newer Tally’s or cut off',
    ],
    'A newer Tally upgrades it when it is opened; an older one refuses it.': [
      'cli/upgrades.test.ts: is upgraded once',
      'cli/backup.test.ts: refuses what is no backup, another program’s, a newer Tally’s or cut off',
    ],
  },
  Next: {
    Upgrades: ['prose: a link'],
    'Move to another machine or engine': ['prose: a link'],
  },
}
