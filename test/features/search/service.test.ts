/** The search, the inbox and what open pages receive, on both engines. */
import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { approvalViewerOf, type Viewer } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { TokenEntryReport } from '../../../src/features/entries/schema.ts'
import { INBOX_KINDS } from '../../../src/features/inbox/kinds.ts'
import { SEARCH_TYPES } from '../../../src/features/search/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, projects, entries, prices, search } = services
  await prices.loadDefaultPrices()
  const add = async (name: string) => {
    const user = `${name}@example.com`
    await people.addUser({ email: user, name, role: 'member' }, TALLY)
    const { secret } = await people.createToken({ kind: 'svc', user, name: 'test' }, TALLY)
    const caller = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    return { caller, person: caller.person, viewer: approvalViewerOf(caller.person) }
  }
  const [ada, lead, other] = [await add('ada'), await add('lead'), await add('other')]
  await projects.addProject(OPERATOR, { key: 'ACME', leads: ['lead@example.com'] })
  const report = (body: Partial<TokenEntryReport>) =>
    entries.reporting.reportEntry(reportBody({ project: 'ACME', ...body }), ada.caller)
  const found = async (text: string, viewer: Viewer, types = SEARCH_TYPES) => {
    const { data } = await search.search({ viewer, types }, { text, limit: 20 })
    return data.map(({ type, name, detail }) => `${type} ${name}${type === 'model' ? `: ${detail}` : ''}`)
  }
  return { services, ada, lead, other, report, found }
}

forEachEngine('the search', (open) => {
  test('finds sessions and entries of those who may see them', async () => {
    const { ada, lead, other, report, found } = await stage(await open({ priced: true }))
    const { entry } = await report({ session_id: 'Session-Ä-1', summary: 'Ünusual 100% of it' })
    for (const { viewer } of [ada, lead]) {
      expect(await found('Session-Ä', viewer)).toEqual(['session Session-Ä-1'])
      expect(await found('usual 100%', viewer)).toEqual(['entry Ünusual 100% of it'])
      expect(await found(entry.id.slice(0, 20), viewer)).toEqual(['entry Ünusual 100% of it'])
    }
    for (const text of ['Session-Ä', 'usual 100%', entry.id]) expect(await found(text, other.viewer)).toEqual([])
    expect(await found('usual_100', ada.viewer)).toEqual([])
  })

  test('finds models without a price by the entries that somebody sees, after better matches', async () => {
    const { ada, lead, other, report, found } = await stage(await open({ priced: true }))
    await report({ session_id: 'a', model: 'In-House-Model' })
    await report({ session_id: 'b', model: 'claude-opus-4-8-in-house' })
    for (const { viewer } of [ada, lead]) {
      expect(await found('in-house', viewer)).toEqual([
        'model In-House-Model: No price',
        'model claude-opus-4-8-in-house: No price',
      ])
    }
    expect(await found('in-house', other.viewer)).toEqual([])
    expect((await found('claude-opus-4-8', other.viewer))[0]).toBe('model claude-opus-4-8: null')
    // A token that reads prices, and no entries.
    expect(await found('in-house', ada.viewer, ['model'] as unknown as typeof SEARCH_TYPES)).toEqual([])
    expect((await found('builder', ada.viewer)).filter((hit) => hit.startsWith('model'))).toEqual([])
  })
})

forEachEngine('what waits and what has changed', (open) => {
  test('concerns the lead and the owner, and nobody else', async () => {
    const { services, ada, lead, other, report } = await stage(await open({ priced: true }))
    const { changes, inbox, sheets } = services
    const read = (viewer: Viewer, after?: number) => changes.read({ viewer, isAdmin: false, after })
    const { position } = await read(ada.viewer)
    await report({ session_id: 'a', reported_cost: 2 })
    await report({ session_id: 'b', reported_cost: 3, model: 'nobody-knows-it' })
    const kinds = new Set(INBOX_KINDS)
    const seen: unknown[] = []
    for (const { person, viewer } of [ada, lead, other]) {
      const { data } = await inbox.inbox({ person, viewer, kinds })
      const { entries } = await sheets.listApprovals(await sheets.readApprovals({}), { person, viewer })
      seen.push({
        changed: (await read(viewer, position)).kinds,
        waiting: data.filter(({ kind }) => kind === 'entries_to_approve').map(({ count, cost }) => [count, cost]),
        approvals: [entries.entries, entries.cost, entries.projects.map(({ project }) => project?.key)],
      })
    }
    expect(seen).toEqual([
      { changed: ['entries'], waiting: [], approvals: [0, 0, []] },
      { changed: ['entries'], waiting: [[2, 5]], approvals: [2, 5, ['ACME']] },
      { changed: [], waiting: [], approvals: [0, 0, []] },
    ])
  })
})
