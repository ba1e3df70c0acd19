/** What a dry run of a batch shows, in random scenarios, is what the batch does then. TALLY_TEST_RECORDING_RUNS as in `sets.test.ts`. */
import { expect, test } from 'bun:test'
import type { CallerOf } from '../../../../src/access/caller.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { TokenEntry } from '../../../../src/features/entries/schema.ts'
import { getViews } from '../../../../src/features/entries/store.ts'
import { toTokenEntry } from '../../../../src/features/entries/wire.ts'
import { contentOf, forEachEngine, locationOf, rowsAt } from '../../../support/databases.ts'
import { stageOf } from '../../../support/recording.ts'
import { scenarioOf } from '../../../support/recording-acts.ts'
import { runs } from '../../../support/tier.ts'

const RUNS = Number(process.env.TALLY_TEST_RECORDING_RUNS ?? runs(8, 2))

const ACTS = 30

const UID = /(ent|prj|tkt)_[0-9a-f]{32}/g

/** Without its times of recording, and without ids, which new rows get by chance. */
function contentOfEntry({ created_at: _, updated_at: __, ...entry }: TokenEntry): string {
  return JSON.stringify(entry).replace(UID, '$1')
}

async function allEntries(db: Database): Promise<Map<string, TokenEntry>> {
  const { entries } = db.read.tables
  const rows = await db.read.select({ id: entries.id }).from(entries)
  const views = await getViews(
    db.read,
    rows.map(({ id }) => id),
  )
  return new Map(views.map((view) => [view.entry.uid, toTokenEntry(view)]))
}

/** Everything that is stored, and on PostgreSQL the ids that are used up. */
async function storedIn(db: Database): Promise<unknown[]> {
  const location = locationOf(db)
  const { 'tally.db-shm': _, ...content } = await contentOf(location)
  const sequences =
    db.engine === 'postgres' &&
    (await rowsAt(
      location,
      'SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema() ORDER BY 1',
    ))
  const digests = Object.entries(content).map(([name, bytes]) => [name, Bun.hash(bytes).toString()])
  return [Object.fromEntries(digests), sequences]
}

forEachEngine('a dry run of a batch', (open) => {
  test('shows every entry as it is and as it will be, and stores nothing', async () => {
    const db = await open()
    const { services, carryOut } = await stageOf({ db, together: true })
    const { reporting } = services.entries
    const { reportEntries } = reporting
    const seen = { created: 0, updated: 0, repeated: 0 }

    async function compare(items: readonly unknown[], caller: CallerOf<'service'>, options?: object) {
      const [entries, stored] = [await allEntries(db), await storedIn(db)]
      const tried = await reporting.tryOutEntries(items, caller, options)
      expect(await storedIn(db)).toEqual(stored)
      const results = await reportEntries(items, caller, options)
      expect(tried.items.map(({ outcome }) => outcome)).toEqual(results.map(({ outcome }) => outcome))

      const recorded = await allEntries(db)
      const planned = Map.groupBy(tried.entries, ({ result }) => result)
      const created = [...recorded.values()].filter(({ id }) => !entries.has(id))
      expect((planned.get('created') ?? []).map(({ after }) => contentOfEntry(after)).sort()).toEqual(
        created.map(contentOfEntry).sort(),
      )
      for (const { before, after } of tried.entries) {
        if (before === null) continue
        expect(before).toEqual(entries.get(before.id)!)
        expect(contentOfEntry(after)).toBe(contentOfEntry(recorded.get(before.id)!))
        // That of a session which nobody was identified for becomes theirs.
        expect(after.agent_manager.id).toBe(caller.person.uid)
      }
      const shown = new Set(tried.entries.map(({ before }) => before?.id))
      for (const [id, entry] of entries) {
        if (shown.has(id)) continue
        const now = recorded.get(id)!
        // A ticket that gets its project takes the person's other entries there.
        const project = now.ticket === null ? entry.project : now.project
        expect(contentOfEntry({ ...entry, project })).toBe(contentOfEntry(now))
      }
      for (const { result } of tried.entries) seen[result] += 1
      return results
    }

    reporting.reportEntries = compare
    reporting.reportEntry = async (body, caller, idempotencyKey) => {
      const item = (await compare([body], caller, { idempotencyKey }))[0]!
      if (item.outcome === 'rejected') throw item.error
      return { outcome: item.outcome, replayed: false, entry: item.entry }
    }
    for (let seed = 1; seed <= RUNS; seed += 1) {
      // One after the other: what is recorded meanwhile is not what the dry run has seen.
      const acts = scenarioOf(seed, { acts: ACTS, independent: true }).flatMap((act) =>
        act.what === 'group' ? act.sent.map((each) => ({ ...each, after: act.after })) : [act],
      )
      for (const act of acts) await carryOut(act)
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
  }, 600_000)
})
