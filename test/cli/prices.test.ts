import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { addDays, dayAt } from '../../src/lib/calendar.ts'
import { CommandLine, type RunningServer } from '../support/command-line.ts'
import { rowsAt } from '../support/databases.ts'
import { reportBody } from '../support/reports.ts'

const FIXTURES = join(import.meta.dir, '../fixtures/prices')
const TABLES = join(import.meta.dir, '../../../shared/data')
const LITELLM = join(FIXTURES, 'litellm.json')

let tally: CommandLine
let server: RunningServer
let token: string
let reads: string

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  server = await tally.serve()
  token = (await tally.createToken()).token
  reads = (await tally.createToken('read')).token
})
afterAll(() => tally.remove())

async function report(model: string): Promise<{ id: string; cost: number | null }> {
  const answer = await fetch(`${server.url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(reportBody({ model, tokens: { input: 1000, output: 500 } })),
  })
  return (await answer.json()) as { id: string; cost: number | null }
}

/** Runs from a terminal, with what a person types. Answers everything that the terminal shows. */
async function atTerminal(args: string[], typed: string): Promise<{ code: number; shown: string }> {
  const words = [await tally.executable(), ...args].map((word) => `'${word}'`).join(' ')
  const child = Bun.spawn(['script', '-qec', words, '/dev/null'], {
    cwd: tally.folder,
    env: { ...tally.env, TERM: 'xterm' },
    stdin: Buffer.from(typed),
    stdout: 'pipe',
    stderr: 'ignore',
  })
  return { shown: await child.stdout.text(), code: await child.exited }
}

describe('tally prices load', () => {
  test.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])('takes a table of today, the day in %s', async (timeZone) => {
    await tally.done(['settings', 'set', '--time-zone', timeZone])
    const today = dayAt(Date.now(), timeZone)
    const load = (asOf: string) =>
      tally.run(['prices', 'load', '-', '--dry-run', '--json', '--as-of', asOf], {
        stdin: 'provider,model,input,output\nacme,new,1,1\n',
      })
    expect(JSON.parse((await load(today)).stdout)).toMatchObject({ as_of: today, as_of_from: 'given' })
    expect(await load(addDays(today, 1))).toMatchObject({ code: 2, stderr: expect.stringContaining('in the future') })
    await tally.done(['settings', 'set', '--time-zone', 'UTC'])
  })

  test('shows what is new and what is refused, loads it, and a second time adds nothing', async () => {
    const planned = await tally.done(['prices', 'load', LITELLM, '--dry-run'])
    expect(planned.stdout).toContain('Format litellm: 11 new, 0 changed, 0 unchanged, 9 refused, 4 skipped.')
    expect(planned.stdout).toContain('2 prices had more decimals than pico-dollars per token and were rounded.')
    expect(planned.stdout).toMatch(/anthropic +claude-9-haiku +cache_write_1h is 24 times the input price/)
    expect(planned.stdout).toMatch(
      /^Skipped \d+ rows?: the (row is not a model|model is for [a-z ]+, not for text)\.$/m,
    )
    expect(planned.stdout).not.toContain('Loaded')
    // Nothing but the result is written where no terminal is.
    expect(planned.stderr).toBe('')
    expect((await tally.json(['prices', 'list', '--provider', 'azure', '--search', 'gpt-9'])).data).toEqual([])

    const loaded = await tally.json(['prices', 'load', LITELLM, '--yes'])
    expect(loaded).toMatchObject({ dry_run: false, counts: { new: 11, refused: 9 }, valued: { entries: 0 } })
    const again = await tally.done(['prices', 'load', LITELLM, '--format', 'litellm', '--yes'])
    expect(again.stdout).toContain('0 new, 0 changed, 11 unchanged')
    expect(again.stdout).toContain('Nothing was added.')
  })

  test('shows what changes, from when', async () => {
    const load = (input: string, args: string[] = []) =>
      tally.done(['prices', 'load', '-', '--yes', ...args], {
        stdin: `provider,model,input,output\nx,turning,${input},2\n`,
      })
    await load('1')
    const { stdout } = await load('1.5', ['--effective-from', '2027-01-01'])
    expect(stdout).toMatch(/x +turning +input +1 +1\.5 +\+50% +2027-01-01/)
    expect(stdout).toContain('0 new, 1 changed')
  })

  test('loads free and suspicious prices with --allow-free and --force', async () => {
    const stdin = 'provider,model,input,output\nx,gift,0,0\nx,dear,1500,1\n'
    expect((await tally.json(['prices', 'load', '-', '--yes'], { stdin })).counts.refused).toBe(2)
    const args = ['prices', 'load', '-', '--force', '--allow-free', '--effective-from', 'always', '--yes']
    expect((await tally.json(args, { stdin })).new).toMatchObject([
      { model: 'gift', input: 0, effective_from: null },
      { model: 'dear', input: 1500, effective_from: null },
    ])
  })

  test('reads a URL, and reports what is wrong with one', async () => {
    const files = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        const { pathname } = new URL(url)
        if (pathname === '/table') return new Response(Bun.file(join(FIXTURES, 'models-dev.json')))
        if (pathname === '/moved') return Response.redirect('/table')
        if (pathname === '/large') return new Response(new Uint8Array(17 * 1_048_576))
        return new Response('gone', { status: 410 })
      },
    })
    const load = (path: string) =>
      tally.run(['prices', 'load', `http://127.0.0.1:${files.port}${path}`, '--json', '--yes'])
    try {
      expect(JSON.parse((await load('/moved')).stdout)).toMatchObject({
        format: 'models-dev',
        counts: { new: 2, changed: 2 },
      })
      expect((await load('/gone')).stderr).toContain('returned 410 Gone')
      expect((await load('/large')).stderr).toContain('larger than 16 MiB')
    } finally {
      await files.stop(true)
    }
    const { code, stderr } = await load('/table')
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^tally: http.* cannot be downloaded: [^\n]+\n$/)])
  })

  test.each([
    [['no-such-file.json'], 1, 'no-such-file.json cannot be read'],
    [[LITELLM, '--format', 'models-dev'], 1, 'it is not in the format models-dev'],
    [[LITELLM, '--format', 'excel'], 2, 'Allowed choices are tally, litellm, models-dev, genai-prices'],
    [[LITELLM, '--effective-from', 'soon'], 2, 'Use a date'],
    [['-'], 1, 'it is neither JSON'],
  ])('refuses %j', async (args, exitCode, message) => {
    const { code, stderr, stdout } = await tally.run(['prices', 'load', ...args, '--yes'], { stdin: 'hello' })
    expect([code, stdout]).toEqual([exitCode, ''])
    expect(stderr).toContain(message)
  })

  describe.skipIf(!Bun.which('script'))('at a terminal', () => {
    const table = (model: string) => {
      const path = join(tally.folder, `${model}.csv`)
      return Bun.write(path, `model,input,output\n${model},1,2\n`).then(() => path)
    }
    const isPriced = async (model: string) => (await tally.json(['prices', 'resolve', model])).price !== null

    test('asks before it writes, and takes no for an answer', async () => {
      const path = await table('asked')
      const refused = await atTerminal(['prices', 'load', path], 'n\n')
      expect(refused.shown).toContain('Load 1 row? [y/N]')
      expect(refused.shown).toContain('Nothing was changed.')
      expect([refused.code, await isPriced('asked')]).toEqual([1, false])
      const agreed = await atTerminal(['prices', 'load', path], 'y\n')
      expect(agreed.shown).toContain('Loaded 1 row.')
      expect([agreed.code, await isPriced('asked')]).toEqual([0, true])
    })

    test('asks nothing with --yes, and shows the way while it takes time', async () => {
      for (let count = 0; count < 3; count += 1) await report('with-progress')
      const { shown } = await atTerminal(['prices', 'load', await table('with-progress'), '--yes'], '')
      expect(shown).not.toContain('[y/N]')
      expect(shown).toContain('Valuing entries █')
      expect(shown).toContain('100% (3 of 3)')
      expect(shown).toContain('3 entries without a price valued, list value $0.006.')
    })
  })
})

test('a running server uses a table that the command line loads, from the next report on', async () => {
  const before = await report('loaded-while-it-runs')
  expect(before.cost).toBeNull()
  const loading = tally.done(['prices', 'load', '-', '--yes'], {
    stdin: 'model,input,output\nloaded-while-it-runs,1,2\n',
  })
  const { stdout } = await loading
  expect(stdout).toContain('1 entry without a price valued, list value $0.002.')
  const after = await report('loaded-while-it-runs')
  expect(after.cost).toBe(0.002)
  const answer = await fetch(`${server.url}/api/v1/token-entries/${before.id}`, {
    headers: { authorization: `Bearer ${reads}` },
  })
  expect(await answer.json()).toMatchObject({ cost: 0.002, list_value: 0.002 })
})

describe('tally prices', () => {
  test('list, show and resolve tell of the embedded table, also where no server has run', async () => {
    const fresh = await CommandLine.make()
    try {
      await fresh.addUser()
      const { stdout } = await fresh.done(['prices', 'list', '--search', 'sonnet-4-5', '--provider', 'anthropic'])
      expect(stdout).toMatch(/anthropic +claude-sonnet-4-5 +3 +15 +0\.3 +3\.75 +6 +200,001 +always +default/)
      const shown = await fresh.done(['prices', 'show', 'gpt-5-codex'])
      expect(shown.stdout).toContain("'gpt-5-codex' is an alias of 'gpt-5' at openai (default).")
      expect(shown.stdout).toContain('costs input 1.25, output 10, cache read 0.125 per million tokens')
      const resolved = await fresh.done(['prices', 'resolve', 'claude-sonnet-4-5-20250930'])
      expect(resolved.stdout).toMatch(/4 maker +not listed +'claude-sonnet-4-5-20250930' is not listed by anthropic\n/)
      expect(resolved.stdout).toMatch(
        /6 without date +found +'claude-sonnet-4-5' at anthropic, in effect from 2026-04-30/,
      )
      expect(resolved.stdout).toMatch(/\(default, from (\S+ \S+ of \d{4}-\d\d-\d\d(, )?)+\)\./)
      const request = ['prices', 'resolve', 'claude-opus-4-6', '--input', '1000', '--speed', 'fast', '--region', 'us']
      const calculated = await fresh.done([...request, '--tool', 'web_search=3'])
      expect(calculated.stdout).toContain('× 6 (speed fast)\n')
      expect(calculated.stdout).toContain('+ 3 web_search × $0.01 = $0.03\nTotal, rounded to 9 decimals: $0.063\n')
      const tier = await fresh.json([...request, '--service-tier', 'nightly'])
      expect(tier.value.note).toBe('service_tier_unpriced')
      expect((await fresh.run(['prices', 'resolve', 'gpt-5', '--tool', 'Search=1'])).stderr).toContain('web_search:3')
      const { stdout: charges } = await fresh.done(['prices', 'resolve', 'gpt-5.4'])
      expect(charges).toMatch(/\nOther prices:\n {2}from 272,001 tokens: input 5, output 22\.5/)
      expect(charges).toMatch(/\n {2}service tier batch: input 1\.25, output 7\.5, .*; from 272,001 tokens: input 2\.5/)
      expect(charges).toMatch(/\n {2}speed fast: input 5, output 30/)
      const unpriced = await fresh.done(['prices', 'resolve', 'auto'])
      expect(unpriced.stdout).toContain("'auto' has no price on ")
      expect(await fresh.json(['prices', 'resolve', 'o3', '--at', '2025-06-09'])).toMatchObject({
        price: { input: 10 },
      })
    } finally {
      await fresh.remove()
    }
  })

  test('set adds a price that takes precedence, only once, and refuses invalid prices', async () => {
    const args = [
      'prices',
      'set',
      'own',
      '--provider',
      'openai',
      '--input',
      '1',
      '--output',
      '8',
      '--cache-read',
      '0.1',
      '--yes',
    ]
    const made = await tally.json([...args, '--effective-from', '2026-12-01'])
    expect(made).toMatchObject({
      added: true,
      price: { provider: 'openai', model: 'own', cache_read: 0.1, effective_from: '2026-12-01T00:00:00.000Z' },
    })
    expect((await tally.done([...args, '--effective-from', '2026-12-01'])).stdout).toContain('already exists')
    expect((await tally.json([...args, '--effective-from', 'always'])).price.effective_from).toBeNull()
    for (const input of ['-1', 'one', '0.0000001', '']) {
      const { code, stderr } = await tally.run(['prices', 'set', 'own', '--input', input, '--output', '1'])
      expect([input, code]).toEqual([input, 2])
      expect(stderr).toContain('Use US dollars per million tokens')
    }
    const dear = await tally.run(['prices', 'set', 'own', '--input', '5000', '--output', '1', '--yes'])
    expect([dear.code, dear.stderr]).toEqual([
      1,
      'tally: input is $5,000 per million tokens, above the limit of $1,000; check the unit\n',
    ])
  })

  test('set takes tiers, variants, hours and tools, and refuses what the API refuses', async () => {
    const set = ['prices', 'set', 'other-charges', '--input', '2', '--output', '8', '--yes']
    const charges = {
      tiers: [{ from_tokens: 272_001, input: 4, output: 12.1 }],
      variants: [{ service_tier: 'batch', multiplier: 0.5 }],
      hours: [{ from: '16:30', to: '00:30', multiplier: 0.25 }],
    }
    const flags = Object.entries(charges).flatMap(([name, list]) => [`--${name}`, JSON.stringify(list)])
    const { stdout } = await tally.done([...set, ...flags, '--tool', 'web_search=0.01', '--tool', 'fetch=0.002'])
    expect(stdout).toContain('272,001')
    expect(stdout).toContain(
      'batch: × 0.5\n16:30 to 00:30 UTC: × 0.25\nfetch: 0.002 per use\nweb_search: 0.01 per use\n',
    )
    expect((await tally.json(['prices', 'resolve', 'other-charges', '--at', '2027-01-01'])).price).toMatchObject({
      ...charges,
      tools: { web_search: 0.01, fetch: 0.002 },
    })
    for (const [flag, value, message] of [
      ['--tiers', '{}', 'Use a JSON list'],
      ['--tiers', '[{}]', '--tiers: has a tier without from_tokens'],
      ['--variants', '[', 'Use a JSON list'],
      ['--tool', 'web_search', 'Use name=dollars'],
      ['--variants', '[{"speed":"fast"}]', 'the variant fast must have either a multiplier or prices'],
      ['--tool', 'web_search=2000', 'must be US dollars per use, at most 1,000'],
    ] as const) {
      const { code, stderr } = await tally.run([...set, flag, value])
      expect([flag, value, code]).toEqual([flag, value, 2])
      expect(stderr).toContain(message)
    }
  })

  test('set keeps what is not given and shows it first, and withdraw brings back the price of the table', async () => {
    const openai = ['--provider', 'openai']
    const { stdout } = await tally.done(['prices', 'set', 'gpt-5', ...openai, '--input', '1', '--dry-run'])
    expect(stdout).toMatch(/^input +1\.25 +1$/m)
    expect(stdout).toMatch(/^cache read +0\.125 +0\.125 +kept$/m)
    const refused = await tally.run(['prices', 'set', 'gpt-5', ...openai, '--input', '1'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('Add --yes')])
    const set = await tally.json(['prices', 'set', 'gpt-5', ...openai, '--input', '1', '--yes'])
    expect(set).toMatchObject({ added: true, price: { input: 1, output: 10, cache_read: 0.125, source: 'admin' } })
    const missing = await tally.run(['prices', 'set', 'nobody-lists-this', '--input', '1', '--yes'])
    expect([missing.code, missing.stderr]).toEqual([
      2,
      "tally: --output: is required, because 'nobody-lists-this' has no output price at that time that could be kept\n",
    ])

    const withdraw = ['prices', 'withdraw', 'gpt-5', ...openai]
    const shown = await tally.done([...withdraw, '--dry-run'])
    expect(shown.stdout).toMatch(/From \d{4}-\d\d-\d\d on: input 1\.25, output 10, 'gpt-5' at openai \(default\)\./)
    expect((await tally.done([...withdraw, '--yes'])).stdout).toMatch(/Withdrawn from \d{4}-\d\d-\d\d on\.\n$/)
    expect((await tally.json(['prices', 'resolve', 'gpt-5', ...openai])).price).toMatchObject({
      input: 1.25,
      source: 'default',
    })
    const again = await tally.run([...withdraw, '--yes'])
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("A price of 'gpt-5' at openai")])
  })

  test('alias adds, lists and removes other names', async () => {
    await report('coder')
    const added = await tally.done(['prices', 'alias', 'add', 'coder', 'gpt-5'])
    expect(added.stdout).toContain("'coder' is now an alias of 'gpt-5'.")
    expect(added.stdout).toContain('1 entry without a price valued, list value $0.00625.')
    expect((await tally.json(['prices', 'alias', 'list'])).data).toMatchObject([
      { alias: 'coder', model: 'gpt-5', provider: null, source: 'admin' },
    ])
    expect((await tally.done(['prices', 'alias', 'remove', 'coder'])).stdout).toBe("Removed the alias 'coder'.\n")
    expect((await tally.run(['prices', 'alias', 'remove', 'coder'])).code).toBe(1)
  })

  test('reprice previews first, and changes only the requested entries', async () => {
    const { id } = await report('moving')
    await tally.done(['prices', 'set', 'moving', '--input', '1', '--output', '2', '--yes'])
    await tally.done([
      'prices',
      'set',
      'moving',
      '--input',
      '3',
      '--output',
      '2',
      '--effective-from',
      'always',
      '--yes',
    ])
    const change = ['prices', 'reprice', '--all', '--model', 'moving', '--from', '2026-11-20', '--to', '2026-11-21']
    const planned = await tally.done([...change, '--dry-run'])
    expect(planned.stdout).toMatch(/moving +1 +0\.002 +0\.004\n/)
    expect(planned.stdout).toContain('1 entry would change: list value $0.002 → $0.004, cost $0.002 → $0.004.')
    expect((await tally.json(['prices', 'reprice', '--yes'])).entries).toBe(0)
    expect((await tally.json([...change, '--yes'])).list_value).toEqual({ before: 0.002, after: 0.004 })
    expect((await tally.done([...change, '--yes'])).stdout).toBe('No list values change.\n')
    expect((await tally.run(['prices', 'reprice', '--model', 'moving', '--yes'])).code).toBe(2)

    const { stdout } = await tally.done(['entries', 'show', id])
    expect(stdout).toContain(
      "at the price of 'moving' at any provider (admin, always in effect), found in lookup step 1:",
    )
    expect(stdout).toMatch(/input +1,000 +3 +0\.003\n/)
    expect(stdout).toMatch(/output +500 +2 +0\.001\n/)
    expect(stdout).toContain('Total, rounded to 9 decimals: $0.004\n')
    expect(stdout).toMatch(/Tally repriced it: list value from \$0\.002 to \$0\.004$/m)
    expect(await tally.json(['entries', 'show', id])).toMatchObject({ id, valuation: { list_value: 0.004 } })
    expect((await tally.run(['entries', 'show', 'ent_none'])).code).toBe(1)
  })

  test('export prints what load reads back to the same rows, in either format', async () => {
    for (const format of ['csv', 'json']) {
      const { stdout } = await tally.done(['prices', 'export', '--format', format])
      expect(await tally.json(['prices', 'load', '-', '--yes'], { stdin: stdout })).toMatchObject({
        counts: { new: 0, changed: 0, refused: 0 },
      })
      const fresh = await CommandLine.make()
      try {
        await fresh.addUser()
        await fresh.done(['prices', 'load', '-', '--force', '--allow-free', '--yes'], { stdin: stdout })
        expect((await fresh.done(['prices', 'export', '--format', format])).stdout).toBe(stdout)
      } finally {
        await fresh.remove()
      }
    }
    const { stdout } = await tally.done(['prices', 'list', '--provider', 'azure', '--csv'])
    expect(stdout.split('\r\n')[1]).toMatch(/^azure,/)
  })
})

test.skipIf(!existsSync(TABLES))('the whole table of LiteLLM loads, every refused row by name', async () => {
  const { stdout } = await tally.done(['prices', 'load', join(TABLES, 'litellm-prices.json'), '--yes'])
  expect(stdout).toContain('237 refused, 573 skipped.')
  expect(stdout).toContain('… and ')
  expect(stdout.match(/check the unit/g)).toHaveLength(30)
  expect(stdout.match(/unknown, not free/g)).toHaveLength(127)
  expect(stdout.match(/is free for both/g)).toHaveLength(83)
})

test('a day is one of the organization, and shown as one; those of a table are in UTC', async () => {
  const berlin = await CommandLine.make()
  try {
    await berlin.addUser()
    await berlin.done(['settings', 'set', '--time-zone', 'Europe/Berlin'])
    const stdin = 'provider,model,input,output,effective_from\nacme,coder,2,1,2026-11-05\n'
    expect((await berlin.done(['prices', 'load', '-', '--yes'], { stdin })).stdout).toMatch(/coder .* 2026-11-05 UTC/)
    const name = ['coder', '--provider', 'acme']
    const day = ['--effective-from', '2026-11-10', '--effective-until', '2026-11-20']
    expect((await berlin.done(['prices', 'set', ...name, '--input', '5', ...day, '--yes'])).stdout).toContain(
      'in effect from 2026-11-10 until 2026-11-20',
    )
    expect((await berlin.done(['prices', 'list', '--provider', 'acme'])).stdout).toMatch(/2026-11-10 +2026-11-20/)
    const at = async (when: string) => (await berlin.json(['prices', 'resolve', ...name, '--at', when])).price.input
    expect([await at('2026-11-09'), await at('2026-11-10'), await at('2026-11-20')]).toEqual([2, 5, 2])
    const undated = { stdin: 'provider,model,input,output\nacme,coder,7,1\n' }
    await berlin.done(['prices', 'load', '-', '--effective-from', '2026-12-01', '--yes'], undated)
    expect(await at('2026-11-30T23:00:00Z')).toBe(7)
    const withdrawn = await berlin.done(['prices', 'withdraw', ...name, '--from', '2026-11-15', '--yes'])
    expect(withdrawn.stdout).toContain('Withdrawn from 2026-11-15 on.')
    expect([await at('2026-11-14'), await at('2026-11-15')]).toEqual([5, 2])
  } finally {
    await berlin.remove()
  }
})

test('commands that read prices change nothing, and say that the table of this version is missing', async () => {
  const before = await CommandLine.make({ isFirst: true })
  try {
    // As the database of an earlier version before its first server, or one whose process was killed early.
    await before.addUser()
    const emptied = [
      'DELETE FROM price_aliases',
      'DELETE FROM prices',
      'DELETE FROM price_loads',
      'DELETE FROM owed_work',
    ]
    for (const statement of emptied) await rowsAt(before.location, statement)
    for (const args of [
      ['list'],
      ['show', 'gpt-5'],
      ['check'],
      ['export'],
      ['resolve', 'gpt-5'],
      ['reprice', '--dry-run'],
    ]) {
      const { stderr } = await before.done(['prices', ...args])
      expect([args, stderr]).toEqual([args, expect.stringContaining('is not in the database yet')])
    }
    const counts = await rowsAt(
      before.location,
      'SELECT (SELECT count(*) FROM prices) + (SELECT count(*) FROM owed_work) AS rows',
    )
    expect(counts.map(({ rows }) => Number(rows))).toEqual([0])
  } finally {
    await before.remove()
  }
})
