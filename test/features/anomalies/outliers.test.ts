import { expect, test } from 'bun:test'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING, type Viewer, viewerOf } from '../../../src/access/visibility.ts'
import { forEachEngine } from '../../support/databases.ts'
import { stage } from './stage.ts'

/** The Monday before the present of the stage. */
const DAY = '2026-11-23'

forEachEngine('Sessions far above the usual', (open) => {
  async function outliersOf(staged: Awaited<ReturnType<typeof stage>>, viewer: Viewer = EVERYTHING, texts = {}) {
    const { reports, anomalies } = staged.services
    const asked = await reports.readPeriod({ starting_at: '2026-10-01', ...texts }, COMMAND_LINE)
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
