import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { largestChange, largestFactor } from '../../../src/features/prices/price-change.ts'
import type { UpdatesConfig } from '../../../src/features/prices/service.ts'
import { readTableFile } from '../../../src/features/prices/table-source.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { runJobs } from '../../support/jobs.ts'
import { startMailServer, type TestMailServer } from '../../support/mail-server.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const HOUR = 3_600_000

/** What the source serves at a path, until the test ends. */
const served = new Map<string, (request: Request) => Response>()
let source: ReturnType<typeof Bun.serve>
let mail: TestMailServer
beforeAll(async () => {
  source = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => served.get(new URL(request.url).pathname)?.(request) ?? new Response('', { status: 404 }),
  })
  mail = await startMailServer()
})
afterEach(() => {
  served.clear()
  mail.letters.length = 0
})
afterAll(async () => {
  await source.stop(true)
  await mail.close()
})

const at = (path: string) => `http://127.0.0.1:${source.port}${path}`
const serve = (text: string, headers: Record<string, string> = {}, path = '/prices.json') => {
  served.set(path, () => new Response(text, { headers }))
  return at(path)
}

/** A table of `model input` at one provider, `count` times under other names. */
function tableOf(rows: Record<string, number>): string {
  return JSON.stringify({
    prices: Object.entries(rows).map(([model, input]) => ({ provider: 'openai', model, input, output: 10 })),
  })
}

const many = (count: number, input: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`model-${index}`, input]))

describe('a source of prices', () => {
  const refusal = async (place: string, timeoutMs = 100_000) =>
    readTableFile(place, { timeoutMs }).then(
      () => 'read',
      (error) => `${error.code}: ${error.detail}`,
    )

  test('is as old as its response says, and its name has no query, which may be a secret', async () => {
    serve('{}', { 'last-modified': 'Sun, 01 Nov 2026 10:00:00 GMT' })
    expect(await readTableFile(`${at('/prices.json')}?token=secret`)).toEqual({
      text: '{}',
      name: at('/prices.json'),
      modifiedAt: Date.UTC(2026, 10, 1, 10),
      isDownload: true,
    })
  })

  test('may be a file, which is as old as it was modified', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tally-prices-'))
    try {
      const path = join(folder, 'prices.csv')
      writeFileSync(path, 'model,input,output\n')
      utimesSync(path, new Date(NOW), new Date(NOW))
      expect(await readTableFile(path)).toEqual({ text: 'model,input,output\n', name: 'prices.csv', modifiedAt: NOW })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('is only read encrypted, except on this machine, and without a password', async () => {
    expect(await refusal('http://example.com/prices.json')).toContain('must be an https:// address')
    expect(await refusal('ftp://example.com/prices.json')).toContain('must be an https:// address')
    expect(await refusal('file:///etc/passwd')).toContain('must be an https:// address')
    expect(await refusal('https://user:secret@example.com/')).toBe(
      'price_source_failed: The address contains a password, which Tally does not send.',
    )
  })

  test('may redirect a few times, but not to an unencrypted address elsewhere', async () => {
    serve('{}')
    const redirect = (path: string, to: string) => served.set(path, () => Response.redirect(to))
    redirect('/moved', at('/prices.json'))
    redirect('/out', 'http://169.254.169.254/latest/meta-data')
    redirect('/round', at('/round'))
    expect(await refusal(at('/moved'))).toBe('read')
    expect(await refusal(at('/out'))).toContain('redirects to http://169.254.169.254, which is not encrypted')
    expect(await refusal(at('/round'))).toContain('redirects more than 5 times')
  })

  test('that is missing, too large, too slow, cut off or no text is reported as such', async () => {
    serve('x'.repeat(17 * 1_048_576), {}, '/large')
    served.set('/slow', () => new Response(new ReadableStream({ start() {} })))
    served.set('/binary', () => new Response(new Uint8Array([0xff, 0xfe])))
    expect(await refusal(at('/none'))).toContain('returned 404')
    expect(await refusal(at('/large'))).toContain('is larger than 16 MiB')
    expect(await refusal(at('/slow'), 200)).toContain('timed out after 0.2 s')
    expect(await refusal(at('/binary'))).toContain('is not valid UTF-8 text')
    const cut = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket) => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"prices": [')
          socket.end()
        },
      },
    })
    expect(await refusal(`http://127.0.0.1:${cut.port}/`)).toMatch(
      /price_source_failed: .*(ended after|cannot be downloaded)/,
    )
    cut.stop(true)
    expect(await refusal(`http://127.0.0.1:${cut.port}/`)).toContain('cannot be downloaded')
  })
})

test('changes are measured over all prices of a row, at any length', () => {
  const none = { cacheRead: null, cacheWrite: null, cacheWrite1h: null, tiers: [] }
  const row = { input: 10n, output: 100n, ...none }
  expect(largestChange(row, row)).toBe(0)
  expect(largestChange(row, { ...row, output: 94n })).toBeCloseTo(0.06)
  const tiered = (input: bigint) => ({ ...row, tiers: [{ fromTokens: 200_001, prices: { input } }] })
  expect(largestChange(tiered(20n), tiered(30n))).toBe(0.5)
  expect(largestChange({ ...row, input: 0n }, row)).toBe(Number.POSITIVE_INFINITY)
  expect(largestChange(row, { ...row, cacheRead: 1n })).toBe(0.9)
  // An absent cache price is not a price that could change ten times.
  expect([largestFactor(row, { ...row, cacheRead: 1n }), largestFactor(row, { ...row, input: 1n })]).toEqual([1, 10])
})

forEachEngine('updates of prices', (open) => {
  async function stage(
    config?: Partial<UpdatesConfig>,
    { db, withMail = false }: { db?: Database; withMail?: boolean } = {},
  ) {
    const clock = { at: NOW, now: () => clock.at }
    const database = db ?? (await open())
    const services = createServices({
      db: database,
      clock,
      ...(withMail && { mail: { ...mail.address, from: 'tally@agents.example' } }),
      priceUpdates: config && { from: undefined, everyMs: undefined, ...config },
    })
    const { prices, priceUpdates } = services
    const update = (options: { from?: string; dryRun?: boolean; allowOlder?: boolean } = {}) =>
      priceUpdates.update({ by: TALLY, ...options })
    const priceOf = async (model: string) => (await prices.resolve(model, 'openai')).price?.input
    return { db: database, clock, services, prices, priceUpdates, update, priceOf }
  }

  async function use(services: ReturnType<typeof createServices>, model: string) {
    const caller = await addReporter(services.people)
    const times = { started_at: '2026-11-20T19:00:00Z', ended_at: '2026-11-20T19:10:00Z' }
    await services.entries.reporting.reportEntry(reportBody({ model, ...times }), caller)
  }

  test('load the configured source, record it, and value what had no price', async () => {
    const from = serve(tableOf({ 'gpt-99': 1 }), { 'last-modified': 'Sun, 01 Nov 2026 10:00:00 GMT' })
    const { update, services, priceUpdates, priceOf } = await stage({ from })
    await services.prices.loadDefaultPrices()
    await use(services, 'gpt-99')
    expect(await update({ dryRun: true })).toMatchObject({ load: null, valued: null })
    expect(await priceUpdates.state()).toMatchObject({ isConfigured: true, attemptedAt: null })

    const updated = await update()
    expect(updated).toMatchObject({ load: expect.stringMatching(/^pld_/), valued: { entries: 1 } })
    expect(updated.origin).toMatchObject({ name: from, asOf: { date: Date.UTC(2026, 10, 1), from: 'modified' } })
    expect(await priceOf('gpt-99')).toBe(1_000_000n)
    expect(await priceUpdates.state()).toMatchObject({
      source: from,
      attemptedAt: NOW,
      succeededAt: NOW,
      error: null,
      failures: 0,
    })
    expect((await update()).load).toBeNull()
  })

  test('need a source, which nobody names by default', async () => {
    const { update } = await stage()
    await expect(update()).rejects.toMatchObject({ code: 'price_source_not_set' })
  })

  test('that fail change nothing, and say why', async () => {
    const { update, priceUpdates, clock, priceOf } = await stage({ from: serve(tableOf({ 'gpt-99': 1 })) })
    await update()
    clock.at += HOUR
    for (const broken of ['{"prices": [{"provider": "openai", "mod', '<html>moved</html>', '[]']) {
      serve(broken)
      await expect(update()).rejects.toMatchObject({
        code: expect.stringMatching(/unreadable_price_table|implausible/),
      })
    }
    expect(await priceUpdates.state()).toMatchObject({
      failures: 3,
      succeededAt: NOW,
      attemptedAt: NOW + HOUR,
      error: expect.any(String),
    })
    expect(await priceOf('gpt-99')).toBe(1_000_000n)
    serve(tableOf({ 'gpt-99': 1 }))
    await update()
    expect(await priceUpdates.state()).toMatchObject({ failures: 0, error: null, succeededAt: NOW + HOUR })
  })

  test('refuse a price that changes more than ten times, by name, and load the rest', async () => {
    const { update, priceOf } = await stage({ from: serve(tableOf({ one: 1, two: 1, three: 1 })) })
    await update()
    serve(tableOf({ one: 11, two: 1.2, three: 0 }))
    const { plan } = await update()
    expect(plan.refused.map(({ model, reasons }) => [model, reasons[0]!.code])).toEqual([
      ['one', 'changed_too_much'],
      ['three', 'changed_too_much'],
    ])
    expect([await priceOf('one'), await priceOf('two')]).toEqual([1_000_000n, 1_200_000n])
  })

  test('refuse a table that changes everything, or that lost most of its models', async () => {
    const { update, priceOf } = await stage({ from: serve(tableOf(many(40, 1))) })
    await update()
    for (const rows of [many(40, 11), many(40, 2.5), many(19, 1)]) {
      serve(tableOf(rows))
      await expect(update()).rejects.toMatchObject({ code: 'implausible_price_update' })
    }
    expect(await priceOf('model-0')).toBe(1_000_000n)
    serve(tableOf({ ...many(40, 1), 'model-1': 2.5 }))
    expect((await update()).plan.additions).toHaveLength(1)
  })

  test('run on their schedule in one of several servers, and again after a failure', async () => {
    let requests = 0
    served.set('/prices.json', () => {
      requests += 1
      return new Response(tableOf({ 'gpt-99': requests }))
    })
    const config = { from: at('/prices.json'), everyMs: 24 * HOUR }
    const one = await stage(config)
    await one.prices.loadDefaultPrices()
    const others = [await stage(config, { db: one.db }), await stage(config, { db: await open({ sharing: one.db }) })]
    const servers = [one, ...others]
    const runAll = async () => {
      const running = servers.map(({ priceUpdates }) => runJobs(priceUpdates.jobs))
      const happened = () =>
        running.flatMap(({ logged, errors }) => [...logged, ...errors.map((error) => (error as { code: string }).code)])
      while (happened().length === 0) await Bun.sleep(5)
      await Promise.all(running.map((each) => each.stop()))
      return happened()
    }
    expect(await runAll()).toEqual(['updated prices'])
    for (const server of servers) server.clock.at += 24 * HOUR
    served.clear()
    expect(await runAll()).toEqual(['price_source_failed'])
    for (const server of servers) server.clock.at += HOUR
    served.set('/prices.json', () => new Response(tableOf({ 'gpt-99': 1 })))
    expect(await runAll()).toEqual(['updated prices'])
    expect(requests).toBe(1)
  })

  test('tell admins and billing by e-mail if the price of a model in use changes by more than 5%', async () => {
    const from = serve(tableOf({ 'gpt-99': 1, other: 1 }))
    const { update, services, priceUpdates } = await stage({ from }, { withMail: true })
    await update()
    await use(services, 'gpt-99')
    const people = [
      ['grace', 'billing'],
      ['later', 'admin'],
      ['max', 'member'],
    ] as const
    for (const [name, role] of people) {
      await services.people.addUser({ email: `${name}@example.com`, name, role }, TALLY)
    }
    for (const rows of [
      { 'gpt-99': 1, other: 2 },
      { 'gpt-99': 1.05, other: 2 },
    ]) {
      serve(tableOf(rows))
      await update()
      await priceUpdates.sendNotices()
    }
    expect(mail.letters).toEqual([])

    serve(tableOf({ 'gpt-99': 1.2, other: 2 }))
    const { load } = await update()
    await priceUpdates.sendNotices()
    await priceUpdates.sendNotices()
    expect(mail.letters.map(({ to }) => to.join()).sort()).toEqual(['ada@example.com', 'grace@example.com'])
    const [letter] = mail.letters
    expect(letter!.headers.get('subject')).toBe('Prices of 1 model in use have changed')
    expect(letter!.text).toContain(`gpt-99 (openai), from 2026-11-20\n  input           $1.05 -> $1.2`)
    expect(letter!.text).toContain(`tally prices undo ${load}`)
    expect(letter!.text).not.toContain('other')
  })

  test('send a notice again to those of whom the mail server did not take it, and to nobody twice', async () => {
    const from = serve(tableOf({ 'gpt-99': 1 }))
    const { update, services, priceUpdates, clock } = await stage({ from }, { withMail: true })
    await update()
    await use(services, 'gpt-99')
    await services.people.addUser({ email: 'later@example.com', name: 'Later', role: 'billing' }, TALLY)
    serve(tableOf({ 'gpt-99': 2 }))
    await update()
    const receivers = () => mail.letters.flatMap(({ to }) => to)
    for (let at = 0; at < 3; at += 1) {
      await priceUpdates.sendNotices()
      clock.at += HOUR
    }
    expect(receivers()).toEqual(['ada@example.com'])
    await services.people.changeUser('later@example.com', { email: 'grace@example.com' }, TALLY)
    for (let at = 0; at < 3; at += 1) {
      await priceUpdates.sendNotices()
      clock.at += HOUR
    }
    expect(receivers()).toEqual(['ada@example.com', 'grace@example.com'])
    await services.people.changeUser('grace@example.com', { email: 'later@example.com' }, TALLY)
    serve(tableOf({ 'gpt-99': 3 }))
    await update()
    await priceUpdates.sendNotices()
    clock.at += 72 * HOUR
    await priceUpdates.sendNotices()
    expect(receivers()).toEqual(['ada@example.com', 'grace@example.com', 'ada@example.com'])
    expect(new Set(mail.letters.map(({ headers }) => headers.get('message-id'))).size).toBe(3)
  })
})
