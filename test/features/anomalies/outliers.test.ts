import { expect, test } from 'bun:test'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING, type Viewer, viewerOf } from '../../../src/access/visibility.ts'
import { createRollup } from '../../../src/features/rollup/service.ts'
import { forEachEngine } from '../../support/databases.ts'
import { stage } from './stage.ts'

/** The Monday before the present of the stage. */
const DAY = '2026-11-23'

forEachEngine('Sessions far above the usual', (open) => {
  async function outliersOf(staged: Awaited<ReturnType<typeof stage>>, viewer: Viewer = EVERYTHING, texts = {}) {
    const { reports, anomalies } = staged.services
    const asked = await reports.readOutliers({ starting_at: '2026-10-01', ...texts }, COMMAND_LINE)
    const { data } = await anomalies.outliers(viewer, asked)
    return JSON.parse(JSON.stringify(data)) as { id: string; cost: number; usual: number; times: number }[]
  }

  test('are those that are found as anomalies of their day', async () => {
    const staged = await stage(open)
    await staged.reportUsual()
    const id = await staged.report(DAY, 60, { summary: 'Reads everything again' })
    await staged.report(DAY, 11)
    const [found, ...others] = await outliersOf(staged)
    expect(others).toEqual([])
    expect(found).toMatchObject({ id, cost: 60, usual: 11, times: 5.5, summary: 'Reads everything again' })
    const anomalies = (await staged.services.anomalies.anomaliesOf(DAY)).filter(({ subject }) => subject === 'session')
    expect(anomalies).toMatchObject([{ entry: { uid: id }, usualNanos: 11_000_000_000n }])
  })

  test('are none after a costlier one of the four weeks before', async () => {
    const staged = await stage(open)
    await staged.reportUsual()
    const first = await staged.report('2026-11-16', 60)
    await staged.report(DAY, 50)
    await staged.report(DAY, 60)
    expect((await outliersOf(staged)).map(({ id }) => id)).toEqual([first])
    const second = await staged.report(DAY, 61)
    expect((await outliersOf(staged)).map(({ id }) => id)).toEqual([second, first])
  })

  test('are the same once days are in columns', async () => {
    const staged = await stage(open)
    const bob = await staged.addPerson('Bob')
    await staged.reportUsual()
    await staged.reportUsual(undefined, bob)
    await staged.report(DAY, 60)
    await staged.report('2026-11-20', 70, { caller: bob })
    await staged.report(DAY, 65, { caller: bob })
    const viewers = [EVERYTHING, viewerOf(bob.person)]
    const before = await Promise.all(viewers.map((viewer) => outliersOf(staged, viewer)))
    expect(before.map((found) => found.map(({ cost }) => cost))).toEqual([[70, 60], [70]])
    const { db, clock } = staged
    const rollup = createRollup({ db, clock, timeZone: async () => 'Europe/Berlin', quietMs: 0, restFactor: 0 })
    while ((await rollup.step()) !== 'idle');
    expect(await Promise.all(viewers.map((viewer) => outliersOf(staged, viewer)))).toEqual(before)
  })

  test('are none without a past, and none that are usual', async () => {
    const staged = await stage(open)
    await staged.report(DAY, 60)
    expect(await outliersOf(staged)).toEqual([])
    await staged.reportUsual()
    expect(await outliersOf(staged, EVERYTHING, { ending_at: DAY })).toEqual([])
  })

  test('of a member are of their own sessions, compared with those alone', async () => {
    const staged = await stage(open)
    const bob = await staged.addPerson('Bob')
    await staged.reportUsual()
    await staged.reportUsual(undefined, bob)
    await staged.report(DAY, 60)
    const own = await staged.report(DAY, 50, { caller: bob })
    expect((await outliersOf(staged)).map(({ cost }) => cost)).toEqual([60, 50])
    expect(await outliersOf(staged, viewerOf(bob.person))).toMatchObject([{ id: own, cost: 50, usual: 11 }])
  })
})
