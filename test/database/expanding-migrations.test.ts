/** The rule for migrations that run while the version before goes on, which `migrations/index.ts` explains. */
import { describe, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../migrations/index.ts'
import { oldestSchemaAfter } from '../../src/database/schema/compatibility.ts'
import { contractingStatements } from '../support/contracting.ts'

/** Migrations that remove what no version uses any more that is still compatible: the reason by the name. */
const CONTRACTED: Record<string, string> = {
  cheaper_references: 'Triggers check the references of the constraints that it removes, with the same kind of error.',
}

test('migrations after which earlier versions go on only add to the schema, on both engines', () => {
  for (const { name, version, sql, compatibleFrom = version } of MIGRATIONS) {
    expect(compatibleFrom).toBeLessThanOrEqual(version)
    if (compatibleFrom === version || name in CONTRACTED) continue
    expect([name, contractingStatements(sql.postgres)]).toEqual([name, []])
    // A table may be written anew there, under its name: one process uses the file.
    expect([name, /\bDROP COLUMN|RENAME COLUMN/i.test(sql.sqlite)]).toEqual([name, false])
  }
})

describe('adds only:', () => {
  test.each([
    'ALTER TABLE entries ADD COLUMN note text COLLATE "C"',
    "ALTER TABLE entries ADD COLUMN kind text NOT NULL DEFAULT 'plain'",
    'ALTER TABLE entries ADD COLUMN flag boolean DEFAULT false NOT NULL',
    'CREATE TABLE notes (id bigint PRIMARY KEY, entry_id bigint NOT NULL REFERENCES entries); CREATE UNIQUE INDEX notes_by_entry ON notes (entry_id); ALTER TABLE notes ADD UNIQUE (entry_id)',
    'CREATE INDEX CONCURRENTLY entries_by_note ON entries (note); CREATE INDEX CONCURRENTLY entries_by_kind ON entries (kind)',
    'ALTER TABLE entries ADD CONSTRAINT noted CHECK (length(note) > 0) NOT VALID',
    'ALTER TABLE entries VALIDATE CONSTRAINT noted',
    'CREATE OR REPLACE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM notes; DROP TABLE x; END $$; CREATE TRIGGER t AFTER INSERT ON entries FOR EACH ROW EXECUTE FUNCTION f()',
    "INSERT INTO settings VALUES ('DROP TABLE x') -- DROP TABLE y",
  ])('%s', (sql) => {
    expect(contractingStatements(sql)).toEqual([])
  })
})

describe('is not for servers that go on:', () => {
  test.each([
    'DROP TABLE notes',
    'ALTER TABLE entries DROP COLUMN note',
    'ALTER TABLE entries DROP CONSTRAINT noted',
    'ALTER TABLE entries RENAME COLUMN note TO remark',
    'ALTER TABLE entries RENAME TO usage',
    'ALTER TABLE entries ALTER COLUMN note TYPE bytea USING note::bytea',
    'ALTER TABLE entries ALTER COLUMN note SET NOT NULL',
    'ALTER TABLE entries ADD COLUMN note text NOT NULL',
    'ALTER TABLE entries ADD COLUMN note text UNIQUE',
    'ALTER TABLE entries ADD COLUMN bill bigint REFERENCES bills',
    'ALTER TABLE entries ADD COLUMN uid uuid DEFAULT gen_random_uuid()',
    'ALTER TABLE entries ADD CONSTRAINT noted CHECK (length(note) > 0)',
    'ALTER TABLE entries ADD FOREIGN KEY (bill_id) REFERENCES bills',
    'CREATE INDEX entries_by_note ON entries (note)',
    'CREATE UNIQUE INDEX CONCURRENTLY entries_by_note ON entries (note)',
    'CREATE INDEX CONCURRENTLY entries_by_note ON entries (note); ALTER TABLE entries ADD COLUMN kind text',
    'UPDATE entries SET note = summary',
    'DELETE FROM entries',
    'LOCK TABLE entries',
    'CREATE TABLE notes (id bigint); ALTER TABLE entries ADD COLUMN a text, DROP COLUMN b',
  ])('%s', (sql) => {
    expect(contractingStatements(sql)).not.toEqual([])
  })
})

test('servers that do not know slices stop after the migration that adds them', () => {
  const slices = MIGRATIONS.find(({ name }) => name === 'slices')!
  expect(oldestSchemaAfter(MIGRATIONS)).toBeGreaterThanOrEqual(slices.version)
})
