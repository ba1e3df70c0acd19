import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JobStatus } from '../../src/lib/jobs.ts'
import { createMetrics, type Sources } from '../../src/metrics.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { startReceiver } from '../support/receivers.ts'
import { backupFailed, OPERATOR } from '../support/webhooks.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp({ webhookNetworks: ['127.0.0.0/8'] })
})
afterAll(() => app.close())

const ENTRY = {
  agent_harness: 'curl',
  agent_name: 'figures',
  model: 'claude-sonnet-4-5',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T10:30:00Z',
  tokens: { input: 1, output: 1 },
}

const read = (headers: Record<string, string> = {}) => fetch(`${app.url}/metrics`, { headers })

/** The value of the line that begins so, as Prometheus reads it. */
async function figure(line: string): Promise<number | undefined> {
  const text = await (await read()).text()
  const found = text.split('\n').find((each) => each.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

test('counts requests by route and status, entries by what became of them, batches and commits', async () => {
  const token = await app.token('svc')
  await app.call('POST /api/v1/token-entries', { token, json: ENTRY })
  await app.call('POST /api/v1/token-entries', { token, json: { ...ENTRY, tokens: { input: -1, output: 1 } } })
  const session = { ...ENTRY, session_id: 's1' }
  await app.call('POST /api/v1/token-entries/batch', {
    token,
    json: [session, session, { ...ENTRY, ended_at: '2026-11-20T09:00:00Z' }],
  })
  await app.call('GET /api/v1/nothing/here', { token })
  const requests = (status: number, route = '/api/v1/token-entries', method = 'POST') =>
    figure(`tally_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`)
  expect(await requests(201)).toBe(1)
  expect(await requests(422)).toBe(1)
  expect(await requests(404, 'none', 'GET')).toBe(1)
  expect(await figure('tally_entries_reported_total{outcome="created"}')).toBe(2)
  expect(await figure('tally_entries_reported_total{outcome="repeated"}')).toBe(1)
  expect(await figure('tally_entries_reported_total{outcome="rejected"}')).toBe(1)
  expect(await figure('tally_batch_entries_sum')).toBe(3)
  expect(await figure('process_resident_memory_bytes')).toBeGreaterThan(1e7)
})

/** Metrics with the gauges of the services. */
function watchedMetrics(jobs: JobStatus[] = [], others: Partial<Sources> = {}) {
  const { reports, bills, priceUpdates, webhooks } = app.services
  const metrics = createMetrics()
  metrics.watch({
    ...{ databaseFile: undefined, diskSpace: undefined, replica: undefined },
    ...{ backups: undefined, remoteBackups: undefined },
    waitingWrites: () => 0,
    outbox: bills.deliveries.count,
    priceUpdates: priceUpdates.state,
    waitingEvents: webhooks.countWaiting,
    totals: reports.progress,
    jobs: () => jobs,
    ...others,
  })
  return metrics
}

test('counts attempts to deliver to webhooks by outcome, and the events that wait for one', async () => {
  const { db, events, webhooks } = app.services
  const metrics = watchedMetrics()
  webhooks.watchAttempts(metrics.webhookDelivery)
  const shown = async () => [...((await metrics.text()).match(/^tally_webhook_\S+ \d+/gm) ?? [])]
  expect(await shown()).toEqual(['tally_webhook_waiting_events 0'])
  const hook = await startReceiver((_request, response) => {
    // The second of three fails.
    response.writeHead(hook.received.length === 2 ? 500 : 200).end()
  })
  const { id } = await webhooks.addWebhook({ name: 'Hook', url: hook.url, types: ['backup.failed'] }, OPERATOR)
  await db.write((tx) => events.record(tx, ['one', 'two', 'three'].map(backupFailed)))
  expect(await shown()).toEqual(['tally_webhook_waiting_events 3'])
  await webhooks.dispatcher.deliverDue()
  const after = [
    'tally_webhook_deliveries_total{outcome="delivered"} 1',
    'tally_webhook_deliveries_total{outcome="failed"} 1',
    'tally_webhook_waiting_events 2',
  ]
  expect(await shown()).toEqual(after)
  await webhooks.disableWebhook(id, OPERATOR)
  expect(await shown()).toEqual([...after.slice(0, 2), 'tally_webhook_waiting_events 0'])
  await hook.close()
})

test('shows the others if one cannot be read, whose value is unknown then', async () => {
  const unreadable = () => Promise.reject(new Error('no such table'))
  const metrics = watchedMetrics([], { waitingEvents: unreadable, outbox: unreadable })
  const text = await metrics.text()
  expect(text.match(/^tally_(webhook_waiting_events|outbox_mails|report_days)\b.* .+/gm)).toEqual([
    'tally_webhook_waiting_events Nan',
    'tally_report_days 0',
  ])
})

test('shows for each job when it last succeeded, how long that took, and whether it fails, runs or is late', async () => {
  const fine = { name: 'fine', succeededAt: 1_700_000_000_000, tookMs: 250, failures: 1, failedInRow: 0 }
  const failing = { name: 'failing', succeededAt: null, tookMs: null, failures: 4, failedInRow: 3 }
  const metrics = watchedMetrics([
    { ...fine, isRunning: true, isLate: false },
    { ...failing, isRunning: false, isLate: true },
  ])
  for (let scrape = 0; scrape < 2; scrape += 1) {
    expect((await metrics.text()).match(/^tally_job_\S+ .+/gm)).toEqual([
      'tally_job_last_success_timestamp_seconds{name="fine"} 1700000000',
      'tally_job_last_success_timestamp_seconds{name="failing"} 0',
      'tally_job_last_duration_seconds{name="fine"} 0.25',
      'tally_job_last_duration_seconds{name="failing"} 0',
      'tally_job_failures_total{name="fine"} 1',
      'tally_job_failures_total{name="failing"} 4',
      'tally_job_consecutive_failures{name="fine"} 0',
      'tally_job_consecutive_failures{name="failing"} 3',
      'tally_job_running{name="fine"} 1',
      'tally_job_running{name="failing"} 0',
      'tally_job_late{name="fine"} 0',
      'tally_job_late{name="failing"} 1',
    ])
  }
})

test('shows how many days have entries, and how many of those have totals', async () => {
  const metrics = watchedMetrics()
  const shown = async () => (await metrics.text()).match(/^tally_report_days\S* \d+/gm)
  await app.call('POST /api/v1/token-entries', { token: await app.token('svc'), json: ENTRY })
  expect(await shown()).toEqual(['tally_report_days 0', 'tally_report_days_ready 0'])
  while ((await app.services.reports.rollup.step()) !== 'idle');
  expect(await shown()).toEqual(['tally_report_days 1', 'tally_report_days_ready 1'])
})

test('is for this machine, and for read tokens from others', async () => {
  expect((await read()).headers.get('content-type')).toStartWith('text/plain')
  // Behind a proxy everyone seems to be on this machine.
  const proxied = { 'x-forwarded-for': '203.0.113.9' }
  expect((await read(proxied)).status).toBe(401)
  expect((await read({ ...proxied, authorization: `Bearer ${await app.token('read')}` })).status).toBe(200)
  expect((await read({ authorization: `Bearer ${await app.token('svc')}` })).status).toBe(403)
  expect((await read({ authorization: 'Bearer tally_read_nonsense' })).status).toBe(401)
})

test('contains no names of people, tokens or projects', async () => {
  const token = await app.token('svc')
  await app.call('POST /api/v1/token-entries', { token, json: { ...ENTRY, project: 'secret-project' } })
  await app.call('GET /api/v1/projects/secret-project', { session: await app.session() })
  const text = await (await read()).text()
  expect(text).not.toContain('secret-project')
  expect(text).not.toContain('person-')
})
