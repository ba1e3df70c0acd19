import { expect, test } from 'bun:test'
import type { Alike } from '../../../src/features/reports/alike.ts'
import { listSummaries } from '../../../src/features/reports/store/unattributed.ts'
import { type Group, groupBody, groupsOf } from '../../../src/features/reports/unattributed.ts'
import { forEachEngine } from '../../support/databases.ts'
import { Chance, randomEntry, stage } from '../rollup/scene.ts'

const ADA = { uid: 'usr_1' as const, email: 'ada@example.com', name: 'Ada' }
const BOB = { uid: 'usr_2' as const, email: 'bob@example.com', name: 'Bob' }

function alike(what: Partial<Alike>): Alike {
  return {
    manager: ADA,
    harness: 'codex',
    agent: 'builder',
    model: 'gpt-5',
    labels: {},
    ids: [1],
    entries: 1,
    unpricedEntries: 0,
    tokens: { input: 1n, output: 2n, cacheRead: 3n, cacheWrite: 4n, cacheWrite1h: 5n },
    costNanos: 1n,
    firstAt: 10,
    lastAt: 20,
    exampleKey: 1,
    ...what,
  }
}

const body = (group: Group | undefined) => groupBody({ group: group!, example: 'ent_1', suggested: undefined }, {})
const commonOf = (...values: string[]) =>
  body(groupsOf(values.map((branch) => alike({ labels: { repository: 'r', branch } })))[0]).common.filter(
    ({ field }) => field === 'labels.branch',
  )

test('a repository is one group whoever worked on it, and without one a person’s agent is', () => {
  const groups = groupsOf([
    alike({ labels: { repository: 'acme/web' }, costNanos: 2n }),
    alike({ labels: { repository: 'acme/web' }, costNanos: 3n, manager: BOB, lastAt: 30, exampleKey: 9 }),
    alike({ costNanos: 4n, labels: { team: 'x' } }),
    alike({ costNanos: null, unpricedEntries: 1, manager: BOB }),
  ])
  expect(
    groups.map(({ repository, manager, entries, costNanos }) => [repository, manager?.name, entries, costNanos]),
  ).toEqual([
    ['acme/web', undefined, 2, 5n],
    [undefined, 'Ada', 1, 4n],
    [undefined, 'Bob', 1, null],
  ])
  expect(groups[0]).toMatchObject({ firstAt: 10, lastAt: 30, exampleKey: 9, agent: 'builder', harness: 'codex' })
  expect(body(groups[1]).rule.conditions).toEqual([
    { field: 'agent_harness', matches: 'codex' },
    { field: 'agent_name', matches: 'builder' },
    { field: 'agent_manager', matches: 'ada@example.com' },
  ])
  expect(body(groups[1]).list).toContain('without_label=repository')
})

test('labels are common as far as their values begin alike, up to a joint of the name', () => {
  expect(commonOf('feature/ACME-1', 'feature/ACME-12')).toEqual([{ field: 'labels.branch', matches: 'feature/ACME-*' }])
  expect(commonOf('feature/a', 'feature/b', 'fix/c')).toEqual([])
  expect(commonOf('main', 'main')).toEqual([{ field: 'labels.branch', matches: 'main' }])
  expect(commonOf('mainly', 'main')).toEqual([])
  expect(
    body(groupsOf([alike({ labels: { repository: 'r', team: 'x' } }), alike({ labels: { repository: 'r' } })])[0])
      .common,
  ).not.toContainEqual({ field: 'labels.team', matches: 'x' })
})

test('a value that would be read as a glob or as an expression becomes an expression of its own', () => {
  expect(commonOf('a*b')).toEqual([{ field: 'labels.branch', matches: '/^a\\*b$/' }])
  expect(commonOf('/x/')).toEqual([{ field: 'labels.branch', matches: '/^\\/x\\/$/' }])
  expect(commonOf('')).toEqual([{ field: 'labels.branch', matches: '/^$/' }])
  expect(commonOf('what?/1', 'what?/2')).toEqual([{ field: 'labels.branch', matches: '/^what\\?\\//' }])
})

forEachEngine('Summaries', (open) => {
  test('of a set of entries are known if there are at most two, and if every entry has one', async () => {
    const db = await open({ priced: true })
    const scene = await stage(db)
    const idsOf = async (...summaries: (string | null)[]) => {
      const rows = summaries.map((summary, at) => ({ ...randomEntry(new Chance(at), scene), summary }))
      const { entries } = db.read.tables
      const added = await db.write((tx) =>
        tx
          .insert(entries)
          .values(rows as never)
          .returning({ id: entries.id }),
      )
      return added.map(({ id }) => id)
    }
    const sets = [
      await idsOf('one'),
      await idsOf('two', 'one'),
      await idsOf('one', 'one', 'one'),
      await idsOf('one', 'one', 'two'),
      await idsOf('one', 'one', null),
      await idsOf(null, 'one'),
      await idsOf(null, null, 'one'),
    ]
    expect(await listSummaries(db.read, sets)).toEqual([['one'], ['one', 'two'], ['one'], [], [], [], []])
  })
})
