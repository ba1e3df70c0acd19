/**
 * The entries as a table that is partitioned by the month in which they were recorded, for databases with so many that
 * vacuuming and rebuilding the indexes of all at once takes too long. docs/design/storage.md describes why by that month.
 *
 * What was recorded before stays where it is: the table becomes the first partition, without being written anew.
 */
import type { Sql } from 'postgres'
import { firstIdOf, IDS_PER_MONTH, monthAfter, monthOf } from '../../monthly-ids.ts'
import { excludeOthers, inTransaction, whileMigrating, withShortLocks } from '../../schema/migrate.ts'

/** Those whose ids begin with the month. Sessions are not partitioned: their ids say where their entries begin. */
const NUMBERED = ['entries', 'sessions']

/** Autovacuum analyzes partitions, but never the table that they are of. */
const ANALYZE = 'ANALYZE entries'

/** The trigger that checks references. Each partition has its own, for a statement that inserts into the partition itself. */
const REFERRING = 'entries_referring_inserted'

const nameOf = (month: number) => `entries_${month}`

export async function isPartitioned(client: Sql): Promise<boolean> {
  const [{ kind }] = await client<
    [{ kind: string }]
  >`SELECT relkind AS kind FROM pg_class WHERE oid = 'entries'::regclass`
  return kind === 'p'
}

export interface Partitioned {
  /** The partition with everything that was recorded before. */
  earlier: string
  /** That of the first month with a partition of its own. */
  first: string
}

/**
 * Partitions the entries; those of an empty database as well. Servers may run meanwhile: they wait while the table is
 * exchanged and references to it are checked, half a second per million entries, and refuse reports with 503 after
 * their usual time. Undefined if they are partitioned already.
 *
 * @param client of a single connection
 * @param where names the database in messages
 */
export async function partitionEntries(client: Sql, where: string, now: number): Promise<Partitioned | undefined> {
  let partitioned: Partitioned | undefined
  await whileMigrating(client, where, async () => {
    if (await isPartitioned(client)) return
    const month = await firstMonth(client, now)
    const earlier = `entries_before_${month}`
    await checkIds(client, month)
    await inTransaction(client, async () => {
      await excludeOthers(client)
      await exchangeTable(client, earlier, month)
      await addPartition(client, month)
      // The sequence is new in this transaction, and would begin with 1.
      await client.unsafe(setNext('entries', month))
    })
    await startIds(client, month)
    await client.unsafe(ANALYZE)
    partitioned = { earlier, first: nameOf(month) }
  })
  return partitioned
}

/** This month, or one that no id begins with yet, if the rows come from a database that was partitioned. */
async function firstMonth(client: Sql, now: number): Promise<number> {
  const [{ last }] = await client.unsafe<[{ last: string }]>(
    `SELECT greatest(${NUMBERED.map((table) => `(SELECT coalesce(max(id), 0) FROM ${table})`)}) AS last`,
  )
  return Math.max(monthOf(now), monthAfter(Math.floor(Number(last) / IDS_PER_MONTH)))
}

/** What ATTACH PARTITION and the search for the entries of a session rely on. Checked while others write. */
async function checkIds(client: Sql, month: number): Promise<void> {
  const checks = {
    entries_earlier_check: `id < ${firstIdOf(month)}`,
    entries_session_month_check: `session_id / ${IDS_PER_MONTH} <= id / ${IDS_PER_MONTH}`,
  }
  for (const [name, check] of Object.entries(checks)) {
    await withShortLocks(client, async () => {
      await client.unsafe(`ALTER TABLE entries DROP CONSTRAINT IF EXISTS ${name}`)
      await client.unsafe(`ALTER TABLE entries ADD CONSTRAINT ${name} CHECK (${check}) NOT VALID`)
    })
    await client.unsafe(`ALTER TABLE entries VALIDATE CONSTRAINT ${name}`)
  }
}

/** Makes the table the first partition of a new one with its name, which has its indexes, constraints and triggers. */
async function exchangeTable(client: Sql, earlier: string, month: number): Promise<void> {
  const found = await client<
    { is: 'referring' | 'reference' | 'index' | 'trigger'; table: string; name: string; makes: string }[]
  >`
    SELECT CASE WHEN confrelid = 'entries'::regclass THEN 'referring' ELSE 'reference' END AS is,
      conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS makes
    FROM pg_constraint WHERE contype = 'f' AND 'entries'::regclass IN (conrelid, confrelid)
    UNION ALL
    SELECT 'index', 'entries', quote_ident(relname), pg_get_indexdef(indexrelid)
    FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = 'entries'::regclass AND NOT indisprimary
    UNION ALL
    SELECT 'trigger', 'entries', quote_ident(tgname), pg_get_triggerdef(oid)
    FROM pg_trigger WHERE tgrelid = 'entries'::regclass AND NOT tgisinternal`
  const { referring = [], reference = [], index = [], trigger = [] } = Object.groupBy(found, ({ is }) => is)
  const addConstraint = ({ table, name, makes }: (typeof found)[number]) =>
    `ALTER TABLE ${table} ADD CONSTRAINT ${name} ${makes}`
  const statements = [
    ...referring.map(({ table, name }) => `ALTER TABLE ${table} DROP CONSTRAINT ${name}`),
    ...trigger.filter(({ name }) => name !== REFERRING).map(({ name }) => `DROP TRIGGER ${name} ON entries`),
    ...index.map(({ name }) => `ALTER INDEX ${name} RENAME TO ${earlier}_${name}`),
    `ALTER INDEX entries_pkey RENAME TO ${earlier}_pkey`,
    'ALTER TABLE entries ALTER id DROP IDENTITY',
    `ALTER TABLE entries RENAME TO ${earlier}`,
    `CREATE TABLE entries (LIKE ${earlier} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (id)`,
    'ALTER TABLE entries DROP CONSTRAINT entries_earlier_check',
    'ALTER TABLE entries ALTER id ADD GENERATED BY DEFAULT AS IDENTITY',
    'ALTER TABLE entries ADD PRIMARY KEY (id)',
    ...index.map(({ makes }) => makes).filter((makes) => !isUnique(makes)),
    ...reference.map(addConstraint),
    `ALTER TABLE entries ATTACH PARTITION ${earlier} FOR VALUES FROM (MINVALUE) TO (${firstIdOf(month)})`,
    `ALTER TABLE ${earlier} DROP CONSTRAINT entries_earlier_check`,
    ...referring.map(addConstraint),
    ...trigger.map(({ makes }) => makes),
    ONCE_IN_ALL_PARTITIONS,
  ]
  await client.unsafe(statements.join(';\n'))
}

const isUnique = (index: string) => index.startsWith('CREATE UNIQUE ')

/**
 * An index is unique in its partition only, so these triggers look for the same part of a session, and the same public
 * id, in the others. Only entries of sessions of earlier months, and those with an old public id, as imports have them, can
 * be elsewhere: for usual reports, nothing is searched.
 */
const ONCE_IN_ALL_PARTITIONS = `
CREATE OR REPLACE FUNCTION refuse_entry_of_other_partition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  usual_uid bytea := decode(lpad(to_hex(
    (extract(epoch FROM date_trunc('month', now(), 'UTC') + interval '1 day') * 1000)::bigint), 12, '0'), 'hex');
BEGIN
  IF EXISTS (
    SELECT FROM added CROSS JOIN LATERAL (
      SELECT 1 FROM entries AS other
      WHERE other.session_id = added.session_id AND other.chain_model_id = added.chain_model_id
        AND other.part = added.part AND other.id <> added.id
        AND other.id >= added.session_id / ${IDS_PER_MONTH} * ${IDS_PER_MONTH}
      LIMIT 1
    ) AS twice
    WHERE added.session_id / ${IDS_PER_MONTH} < added.id / ${IDS_PER_MONTH}
  ) THEN
    RAISE EXCEPTION 'an entry has the part of another' USING ERRCODE = 'unique_violation', CONSTRAINT = 'entries_by_session';
  END IF;
  IF EXISTS (
    SELECT FROM added CROSS JOIN LATERAL (
      SELECT 1 FROM entries AS other WHERE other.uid = added.uid AND other.id <> added.id LIMIT 1
    ) AS twice
    WHERE added.uid < usual_uid
  ) THEN
    RAISE EXCEPTION 'an entry has the uid of another' USING ERRCODE = 'unique_violation', CONSTRAINT = 'entries_uid_key';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER entries_once AFTER INSERT ON entries REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_entry_of_other_partition();
CREATE TRIGGER entries_kept_unique BEFORE UPDATE OF id, uid, session_id, chain_model_id, part ON entries FOR EACH ROW
  WHEN ((OLD.id, OLD.uid, OLD.session_id, OLD.chain_model_id, OLD.part)
    IS DISTINCT FROM (NEW.id, NEW.uid, NEW.session_id, NEW.chain_model_id, NEW.part))
  EXECUTE FUNCTION refuse_change()`

/** Adds the partition of a month, with its unique indexes; all others come from the table. Readers need not wait. */
async function addPartition(client: Sql, month: number): Promise<void> {
  const name = nameOf(month)
  await client.unsafe(`
    CREATE TABLE ${name} (LIKE entries INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE);
    CREATE UNIQUE INDEX ${name}_uid_key ON ${name} (uid);
    CREATE UNIQUE INDEX ${name}_by_session ON ${name} (session_id, chain_model_id, part) WHERE session_id IS NOT NULL;
    CREATE TRIGGER ${REFERRING} AFTER INSERT ON ${name} REFERENCING NEW TABLE AS added
      FOR EACH STATEMENT EXECUTE FUNCTION check_inserted_entries();
    ALTER TABLE entries ATTACH PARTITION ${name} FOR VALUES FROM (${firstIdOf(month)}) TO (${firstIdOf(monthAfter(month))})`)
}

/**
 * Lets new ids begin with this month, and adds its partition before. Does nothing until a month begins, and nothing at all where
 * the entries are not partitioned. If it cannot be done now, entries are recorded with ids of the month before,
 * for which there is room.
 *
 * @param client of a single connection, through a pooler if need be
 * @returns the month that has begun
 */
export async function beginMonth(client: Sql, now: number): Promise<number | undefined> {
  if (!(await isPartitioned(client))) return undefined
  const month = monthOf(now)
  if (await hasStarted(client, month)) return undefined
  let isAdded = false
  await withShortLocks(client, async () => {
    await excludeOthers(client)
    isAdded = !(await hasPartition(client, month))
    if (isAdded) await addPartition(client, month)
  })
  await startIds(client, month)
  if (isAdded) await client.unsafe(ANALYZE)
  return month
}

async function hasPartition(client: Sql, month: number): Promise<boolean> {
  const [{ exists }] = await client<[{ exists: boolean }]>`SELECT to_regclass(${nameOf(month)}) IS NOT NULL AS exists`
  return exists
}

const sequenceOf = (table: string) => `pg_get_serial_sequence('${table}', 'id')::regclass`

/** The last id that the table's sequence has given. */
const lastOf = (table: string) => `coalesce(pg_sequence_last_value(${sequenceOf(table)}), 0)`

async function hasStarted(client: Sql, month: number): Promise<boolean> {
  const [{ last }] = await client.unsafe<[{ last: string }]>(`SELECT least(${NUMBERED.map(lastOf)}) AS last`)
  return Number(last) >= firstIdOf(month)
}

/**
 * Nobody has reserved ids and not used them yet, so no entry is of an earlier month than its session. A sequence keeps its
 * number if the transaction fails, so the partition must have been committed.
 */
async function startIds(client: Sql, month: number): Promise<void> {
  await withShortLocks(client, async () => {
    await excludeOthers(client)
    for (const table of NUMBERED) await client.unsafe(setNext(table, month))
  })
}

function setNext(table: string, month: number): string {
  const first = firstIdOf(month)
  return `SELECT setval(${sequenceOf(table)}, ${first}) WHERE ${lastOf(table)} < ${first}`
}
