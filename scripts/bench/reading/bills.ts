/** A bill of many entries, sent while reports arrive. */
import { printProgress } from '../clean-up.ts'
import { startLoad } from '../reporting/throughput.ts'
import { reportingLoad } from './reporting.ts'
import { type Line, ms, seconds, whole } from './results.ts'
import type { Subject } from './subject.ts'

const ENTRIES = 100_000
const SEND_GOAL_MS = 2_000
const WAIT_GOAL_MS = 250

/** A few agents that report all the time: enough to notice every wait. */
const LOAD = { connections: 4, pauseMs: 2 }
const LOAD_LIMIT_SECONDS = 600

/** October 2026 in the seeded organization's time zone. */
const MONTH = '2026-10'
const [FROM, UNTIL] = [Date.parse('2026-10-01T00:00:00+02:00'), Date.parse('2026-11-01T00:00:00+01:00')]

/** What sends a bill to the client with the number of entries that is next to the goal's; undefined without any. */
export async function billOf(subject: Subject) {
  const [client] = await subject.database.read<{ name: string }>(
    `SELECT clients.name FROM entries
     JOIN projects ON projects.id = entries.project_id JOIN clients ON clients.id = projects.client_id
     WHERE entries.started_at >= ? AND entries.started_at < ? AND entries.status <> 'rejected'
     GROUP BY clients.id ORDER BY abs(count(*) - ?) LIMIT 1`,
    FROM,
    UNTIL,
    ENTRIES,
  )
  return client && { month: MONTH, client: client.name, currency: 'USD', include_earlier: false, leave_unpriced: true }
}

interface Sent {
  entries?: number
  totals?: { entries?: number }
  detail?: string
}

/** Sends it without an e-mail. */
export async function sendBill({ server, tokens }: Subject, body: object) {
  const answer = await server.call('POST', '/api/v1/bills', {
    token: tokens.writing,
    body: { ...body, deliver_to: [] },
  })
  return { answer, bill: (await answer.json()) as Sent }
}

export async function measureBill(subject: Subject): Promise<Line[]> {
  printProgress(`looking for a client with about ${whole(ENTRIES)} entries in a month`)
  const body = await billOf(subject)
  const figures = { bill: `bill of about ${whole(ENTRIES)} entries`, wait: 'longest wait of a report meanwhile' }
  if (!body) return [{ figure: figures.bill, measured: 'no client has entries' }]
  printProgress(`sending a bill to ${body.client}`)
  const running = startLoad({ ...reportingLoad(subject), ...LOAD, seconds: LOAD_LIMIT_SECONDS })
  await Bun.sleep(1_000)
  const startedAt = performance.now()
  const { answer, bill } = await sendBill(subject, body)
  const tookMs = performance.now() - startedAt
  running.stop()
  const { maxMs, p50Ms, statuses } = await running.result
  if (!answer.ok) return [{ figure: figures.bill, measured: `refused: ${answer.status} ${bill.detail ?? ''}` }]
  const entries = bill.entries ?? bill.totals?.entries ?? 0
  const refused = Object.keys(statuses).filter((status) => status !== '201')
  return [
    {
      figure: figures.bill,
      goal: `≤ ${seconds(SEND_GOAL_MS)}`,
      measured: `${seconds(tookMs)}, ${whole(entries)} entries`,
      isMet: tookMs <= SEND_GOAL_MS,
    },
    {
      figure: figures.wait,
      goal: `≤ ${WAIT_GOAL_MS} ms, none refused`,
      measured: `${ms(maxMs)} ms, p50 ${ms(p50Ms)} ms${refused.length > 0 ? `, refused: ${JSON.stringify(statuses)}` : ''}`,
      isMet: maxMs <= WAIT_GOAL_MS && refused.length === 0,
    },
  ]
}
