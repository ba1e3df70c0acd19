import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TestApp } from '../support/app.ts'
import { freePort } from '../support/binary.ts'
import { CommandLine, type Ran } from '../support/command-line.ts'

let tally: CommandLine
let server: TestApp
let env: Record<string, string>
/** Begun before all tests, because its pauses take seconds in which the others run. */
let givingUp: Promise<Ran>

beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  server = await tally.app()
  env = { TALLY_URL: server.url, TALLY_TOKEN: (await tally.createToken()).token }
  givingUp = tally.run(['entries', 'report', ...flags(), '--url', `http://127.0.0.1:${freePort()}`], {
    env,
    asProcess: true,
  })
})
afterAll(() => tally.remove())

const STARTED_AT = '2026-11-20T17:53:04Z'

const entry = (change: Record<string, unknown> = {}) => ({
  agent_harness: 'codex',
  agent_name: 'reviewer',
  model: 'gpt-5-codex',
  started_at: STARTED_AT,
  ended_at: '2026-11-20T18:20:41Z',
  tokens: { input: 3153, output: 721, cache_read: 6150 },
  ...change,
})

const flags = (change: Record<string, string | undefined> = {}) =>
  Object.entries({
    harness: 'codex',
    agent: 'reviewer',
    model: 'gpt-5-codex',
    'started-at': STARTED_AT,
    input: '3153',
    output: '721',
    'cache-read': '6150',
    ...change,
  }).flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value]))

describe('tally entries report', () => {
  test('sends the values of the flags', async () => {
    const sent = await tally.json(
      [
        ...['entries', 'report', ...flags({ input: '9303', 'cache-write': '0', 'cache-write-1h': '0' })],
        ...['--input-includes-cache', '--ended-at', '2026-11-20T18:20:41+00:00', '--project', 'acme-web'],
        ...['--ticket', 'ACME-42', '--session', 's-1', '--cost', '0.0634', '--summary', 'Fix the login'],
        ...['--label', 'repository=acme/web', '--label', 'equation=a=b', '--provider', 'azure', '--requests', '7'],
      ],
      { env },
    )
    expect(sent).toMatchObject({
      agent_harness: 'codex',
      agent_name: 'reviewer',
      agent_manager: { name: 'ada' },
      model: 'gpt-5-codex',
      provider: 'azure',
      started_at: '2026-11-20T17:53:04.000Z',
      ended_at: '2026-11-20T18:20:41.000Z',
      tokens: { input: 3153, output: 721, cache_read: 6150, cache_write: 0, cache_write_1h: 0, total: 10024 },
      requests: 7,
      reported_cost: 0.0634,
      cost: 0.0634,
      project: { key: 'acme-web' },
      ticket: { key: 'ACME-42' },
      session_id: 's-1',
      summary: 'Fix the login',
      labels: { repository: 'acme/web', equation: 'a=b' },
    })
  })

  test('shows the result for people', async () => {
    const { stdout } = await tally.done(['entries', 'report', ...flags({ project: 'acme-web' })], { env })
    expect(stdout).toMatch(
      /^Created ent_[0-9a-f]{32} \(ada, submitted\)\n {2}cost {3}\$0\.01192 \(list value\)\n {2}place {2}acme-web\n$/,
    )
  })

  test('shows that an entry has no price', async () => {
    const { stdout } = await tally.done(['entries', 'report', ...flags({ model: 'home-grown' })], { env })
    expect(stdout).toContain("unpriced: no cost was reported, and the price table has no price for 'home-grown'")
    expect(stdout).toContain('unattributed')
  })

  test('updates the entry of a session instead of adding one', async () => {
    const report = (input: string) => ['entries', 'report', ...flags({ session: 's-2', input })]
    await tally.done(report('10'), { env })
    const { stdout } = await tally.done(report('20'), { env })
    expect(stdout).toStartWith('Already reported, up to date: ent_')
    const { data } = await tally.json(['entries', 'list', '--session-id', 's-2'])
    expect(data.map(({ tokens }: { tokens: { input: number } }) => tokens.input)).toEqual([20])
  })

  test('counts two runs with the same numbers as two entries', async () => {
    const report = ['entries', 'report', ...flags({ agent: 'twice', 'ended-at': '2026-11-20T18:20:41Z' })]
    await tally.done(report, { env })
    await tally.done(report, { env })
    expect((await tally.json(['entries', 'list', '--agent-name', 'twice'])).data).toHaveLength(2)
  })

  test('notes where another person has a session with the same id', async () => {
    await tally.addUser('bob@example.com', 'member')
    const { token } = await tally.createToken('svc', 'bob@example.com')
    const report = ['entries', 'report', ...flags({ session: 'run-4711', agent: 'shared' })]
    expect((await tally.done(report, { env })).stderr).toBe('')
    const { stderr } = await tally.done(report, { env: { ...env, TALLY_TOKEN: token } })
    expect(stderr).toMatch(
      /^Another person's session has the same id: see ent_\w+\. Both are kept\. Use unique session ids/,
    )
    expect((await tally.json(['entries', 'list', '--agent-name', 'shared'])).data).toHaveLength(2)
  })

  test('shows of a held entry what it may duplicate, and how to decide', async () => {
    const bob = await tally.createToken('svc', 'bob@example.com')
    const session = '7abded9e-af37-492b-8216-95394ad33034'
    const report = ['entries', 'report', ...flags({ session, agent: 'copied' }), '--ended-at', '2026-11-20T18:20:41Z']
    const first = await tally.json(report, { env })
    const held = await tally.json(report, { env: { ...env, TALLY_TOKEN: bob.token } })
    const again = await tally.done(report, { env: { ...env, TALLY_TOKEN: bob.token } })
    expect(again.stderr).toContain('This entry is held: it is not counted until')
    const { stdout } = await tally.done(['entries', 'show', held.id])
    expect(stdout).toContain(`another person's session has the same id: ${first.id}`)
    expect(stdout).toContain(`tally entries release ${held.id}`)
    expect((await tally.done(['entries', 'show', first.id])).stdout).not.toContain('duplicate')
  })

  test('shows the slices of a session by day and branch, with what each cost', async () => {
    const cell = (day: string, branch: string, input: number, active_seconds?: number) => ({
      ...{ started_at: `${day}T10:00:00Z`, ended_at: `${day}T10:10:00Z`, tokens: { input, output: 0 } },
      ...{ labels: { branch }, active_seconds },
    })
    const slices = [cell('2026-10-30', 'ACME-1', 1_000, 384), cell('2026-11-20', 'ACME-2', 500)]
    const body = { ...entry({ agent_name: 'sliced', session_id: 's-days', slices, tokens: undefined }) }
    await Bun.write(
      join(tally.folder, 'slices.json'),
      JSON.stringify({ ...body, started_at: '2026-10-30T10:00:00Z', ended_at: '2026-11-20T10:10:00Z' }),
    )
    await tally.done(['entries', 'report', '--file', 'slices.json'], { env })
    const { data } = await tally.json(['entries', 'list', '--session-id', 's-days', '--order', 'asc'])
    const { stdout } = await tally.done(['entries', 'show', data[0].id])
    expect(stdout).toMatch(/active time +6 min/)
    expect(stdout).toMatch(/2026-10-30 +ACME-1 .* 6 min +1,000 +0\.00125 +this entry/)
    expect(stdout).toMatch(/2026-11-20 +ACME-2 .* – +500 +0\.000625/)
    expect(await tally.json(['entries', 'show', data[0].id])).toMatchObject({ slice: { day: '2026-10-30' } })
    const [whole] = (await tally.json(['entries', 'list', '--session-id', 's-2'])).data
    expect((await tally.done(['entries', 'show', whole.id])).stdout).not.toContain('BRANCH')
  })

  test('takes a file, and keeps every digit of its numbers', async () => {
    const text = JSON.stringify(entry()).replace(/}$/, ', "reported_cost": 123456789.123456789}')
    await Bun.write(join(tally.folder, 'session.json'), text)
    const { stdout, stderr } = await tally.done(['entries', 'report', '--file', 'session.json'], { env })
    expect(stdout).toContain('$123456789.123456789 (as reported)')
    expect(stderr).toMatch(/^The reported cost is far from the list value, \$0\.\d+\. Check that it is in US dollars/)
  })

  test('takes standard input', async () => {
    const { agent_name } = await tally.json(['entries', 'report', '--file', '-'], {
      env,
      stdin: JSON.stringify(entry({ agent_name: 'piped' })),
    })
    expect(agent_name).toBe('piped')
  })

  test('prints every issue that the server finds', async () => {
    const { code, stdout, stderr } = await tally.run(['entries', 'report', '--file', '-'], {
      env,
      stdin: JSON.stringify(entry({ model: '', tokens: { input: -1, output: '5' }, colour: 'red' })),
    })
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('422 validation_failed')
    for (const pointer of ['/model', '/tokens/input', '/tokens/output', '/colour']) {
      expect(stderr).toMatch(new RegExp(`^tally:   ${pointer}: `, 'm'))
    }
  })

  const refusals: { what: string; args: string[]; code: number; message: string; stdin?: string; with?: object }[] = [
    {
      what: 'missing flags',
      args: ['--harness', 'x', '--input', '1'],
      code: 2,
      message: '--agent, --model, --started-at, --output',
    },
    { what: 'a count with a fraction', args: flags({ input: '1.5' }), code: 2, message: 'whole number' },
    { what: 'a cost in words', args: flags({ cost: 'free' }), code: 2, message: 'as a decimal number' },
    { what: 'a label without a value', args: [...flags(), '--label', 'x'], code: 2, message: 'name=value' },
    {
      what: 'a label with another name',
      args: [...flags(), '--label', 'Foo Bar=1'],
      code: 1,
      message: '/labels/Foo Bar: is not a valid name of a label: use 1 to 64 of the characters a-z 0-9 _ . -',
    },
    {
      what: 'flags beside a file',
      args: ['--file', 'x', '--model', 'y'],
      code: 2,
      message: 'cannot be combined with --model',
    },
    { what: 'a file that is not there', args: ['--file', 'none.json'], code: 1, message: 'none.json cannot be read' },
    {
      what: 'a file that is no JSON',
      args: ['--file', '-'],
      code: 1,
      message: 'Standard input is not valid JSON',
      stdin: '{',
    },
    { what: 'a list', args: ['--file', '-'], code: 1, message: 'this command sends one entry', stdin: '[{}]' },
    { what: 'a number', args: ['--file', '-'], code: 1, message: 'must contain one JSON object', stdin: '5' },
    { what: 'no token', args: flags(), code: 2, message: '--token (TALLY_TOKEN)', with: { TALLY_TOKEN: '' } },
    {
      what: 'a mistyped token',
      args: flags(),
      code: 1,
      message: '401 unauthenticated',
      with: { TALLY_TOKEN: 'tally_svc_x' },
    },
    { what: 'a bad address', args: [...flags(), '--url', 'tally.lan'], code: 2, message: '--url (TALLY_URL)' },
  ]
  test.each(refusals)('refuses $what', async ({ args, code, message, stdin, with: change }) => {
    const ran = await tally.run(['entries', 'report', ...args], {
      env: { ...env, ...change },
      ...(stdin === undefined ? {} : { stdin }),
    })
    expect(ran.stderr).toContain(message)
    expect(ran.stderr).not.toMatch(/^ +at /m)
    expect([ran.code, ran.stdout]).toEqual([code, ''])
  })

  test('takes the token from a file, and none from the command line, where others can read it', async () => {
    const { token } = await tally.createToken('svc')
    const file = join(tally.folder, 'token')
    await Bun.write(file, `${token}\n`)
    const without = { ...env, TALLY_TOKEN: '' }
    expect((await tally.run(['entries', 'report', ...flags(), '--token-file', file], { env: without })).code).toBe(0)
    const visible = await tally.run(['entries', 'report', ...flags(), '--token', token], { env: without })
    expect(visible.code).toBe(2)
    expect(visible.stderr).toContain('Set TALLY_TOKEN, or put it in a file and pass its path with --token-file')
    expect(visible.stderr).not.toContain(token)
  })

  test('refuses a token of another kind, naming the right one', async () => {
    const { token } = await tally.createToken('read')
    const { code, stderr } = await tally.run(['entries', 'report', ...flags()], { env: { ...env, TALLY_TOKEN: token } })
    expect(code).toBe(1)
    expect(stderr).toContain('a service token (tally_svc_…)')
  })

  test('refuses a server that is none of Tally’s, and follows it nowhere', async () => {
    const other = Bun.serve({
      port: 0,
      fetch: ({ url }) =>
        url.includes('moved')
          ? Response.redirect('http://elsewhere.example/', 301)
          : url.includes('page')
            ? new Response('<h1>Hello</h1>', { headers: { 'content-type': 'text/html' } })
            : new Response('Hello', { status: 404 }),
    })
    const at = async (path: string) =>
      (await tally.run(['entries', 'report', ...flags(), '--url', `http://127.0.0.1:${other.port}${path}`], { env }))
        .stderr
    expect(await at('')).toContain('404 Not Found: is this a Tally server?')
    expect(await at('/page')).toContain('200 OK: is this a Tally server?')
    expect(await at('/moved')).toContain('redirects to http://elsewhere.example/')
    other.stop(true)
  })

  test('retries a failed request without creating a second entry', async () => {
    const keys: (string | null)[] = []
    // The server is busy, then its answer is lost on the way, and then all is well.
    const flaky = Bun.serve({
      port: 0,
      async fetch(request) {
        keys.push(request.headers.get('idempotency-key'))
        if (keys.length === 1) {
          return Response.json(
            { code: 'database_busy', detail: 'Busy.' },
            { status: 503, headers: { 'content-type': 'application/problem+json', 'retry-after': '1' } },
          )
        }
        const answer = await fetch(new Request(server.url + new URL(request.url).pathname, request))
        return keys.length === 2 ? new Response('', { status: 502 }) : answer
      },
    })
    const startedAt = performance.now()
    const { stdout, stderr } = await tally.done(
      ['entries', 'report', ...flags({ agent: 'persistent' }), '--url', `http://127.0.0.1:${flaky.port}`],
      { env },
    )
    flaky.stop(true)
    expect(performance.now() - startedAt).toBeGreaterThan(1_000)
    expect(stderr.match(/retrying/g)).toHaveLength(2)
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]!, keys[0]!])
    expect(stdout).toContain('ent_')
    expect((await tally.json(['entries', 'list', '--agent-name', 'persistent'])).data).toHaveLength(1)
  })

  test('waits for a server that starts meanwhile', async () => {
    const port = freePort()
    const url = `http://127.0.0.1:${port}`
    const args = ['entries', 'report', ...flags({ agent: 'patient' }), '--url', url]
    const waiting = await tally.spawn(args, 'ignore', env)
    let shown = ''
    for await (const text of waiting.stderr.pipeThrough(new TextDecoderStream())) {
      shown += text
      if (shown.includes('retrying')) break
    }
    expect(shown).toContain(`tally: ${url}: connection refused; retrying`)
    const door = Bun.serve({
      port,
      hostname: '127.0.0.1',
      fetch: (request) => fetch(new Request(server.url + new URL(request.url).pathname, request)),
    })
    expect(await waiting.exited).toBe(0)
    await door.stop(true)
    expect((await tally.json(['entries', 'list', '--agent-name', 'patient'])).data).toHaveLength(1)
  })

  test('gives up in the end with an error', async () => {
    const { code, stdout, stderr } = await givingUp
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.match(/connection refused; retrying/g)).toHaveLength(4)
    expect(stderr).toMatch(
      /Could not send the entry to \S+ after 5 attempts: connection refused\. Check that the server is running/,
    )
  })
})

describe('tally entries list', () => {
  const list = async (...args: string[]) =>
    (await tally.json(['entries', 'list', ...args])).data.map(({ agent_name }: { agent_name: string }) => agent_name)

  beforeAll(async () => {
    const report = (change: Record<string, unknown>) =>
      tally.done(['entries', 'report', '--file', '-'], {
        env,
        stdin: JSON.stringify(entry({ agent_harness: 'listed', ...change })),
      })
    await report({ agent_name: 'first', started_at: '2026-11-01T08:00:00Z', project: 'alpha', labels: { team: 'a,b' } })
    await report({
      agent_name: 'second',
      started_at: '2026-11-02T08:00:00Z',
      project: 'beta',
      summary: 'Mend the fence',
    })
    await report({ agent_name: 'third', started_at: '2026-11-03T08:00:00Z', model: 'home-grown' })
  })

  test('has the same entries as an export', async () => {
    const flags = ['--project', 'alpha,beta', '--to', '2026-11-02']
    const { data } = await tally.json(['entries', 'list', ...flags])
    const exported = async (format: string) =>
      (await tally.done(['entries', 'export', '--format', format, ...flags])).stdout.trimEnd().split(/\r?\n/)
    expect((await exported('ndjson')).map((line) => JSON.parse(line))).toEqual(data)
    const firstCells = (await exported('csv')).map((line) => line.split(',')[0])
    expect(firstCells).toEqual(['id', data[0].id, data[1].id])
  })

  test.each([
    [
      ['--ending-at', '2026-11-03T00:00:00Z'],
      ['second', 'first'],
    ],
    [
      ['--starting-at', '2026-11-02T08:00:00Z'],
      ['third', 'second'],
    ],
    [
      ['--project', 'alpha,beta'],
      ['second', 'first'],
    ],
    [
      ['--project', 'ALPHA', '--project', 'beta'],
      ['second', 'first'],
    ],
    [
      ['--agent-harness', 'listed', '--sort', 'started_at', '--order', 'asc'],
      ['first', 'second', 'third'],
    ],
    [
      ['--agent-harness', 'listed', '--sort', 'cost', '--order', 'asc'],
      ['first', 'second', 'third'],
    ],
    [
      ['--agent-harness', 'listed', '--updated-since', '2026-01-01'],
      ['first', 'second', 'third'],
    ],
    [['--label', 'team:a,b'], ['first']],
    [['--label', 'team=a,b'], ['first']],
    [['--q', 'FENCE'], ['second']],
    [['--priced', 'false'], ['third']],
    [['--placed', 'none'], ['third']],
    [['--agent-name', 'first', '--status', 'submitted', '--agent-manager', 'ada@example.com'], ['first']],
    [['--agent-name', 'first', '--status', 'billed'], []],
    [
      ['--limit', '2'],
      ['third', 'second'],
    ],
  ])('%p', async (args, expected) => {
    expect(await list('--agent-harness', 'listed', ...args)).toEqual(expected)
  })

  test('goes on where the page before ended', async () => {
    const { next_page } = await tally.json(['entries', 'list', '--agent-harness', 'listed', '--limit', '2'])
    expect(await list('--agent-harness', 'listed', '--limit', '2', '--page', next_page)).toEqual(['first'])
  })

  test('prints a table for people', async () => {
    const { stdout, stderr } = await tally.done(['entries', 'list', '--agent-harness', 'listed', '--limit', '2'])
    const [title, ...rows] = stdout.trimEnd().split('\n')
    expect(title).toMatch(/^STARTED \(UTC\) +PERSON +HARNESS +AGENT +MODEL +TOKENS +COST \(USD\) +PLACE +STATUS +ID$/)
    expect(rows[0]).toMatch(
      /^2026-11-03 08:00 +ada +listed +third +home-grown +10,024 +unpriced +unattributed +submitted +ent_/,
    )
    expect(rows[1]).toMatch(/0\.01192 +beta +submitted/)
    expect(stderr).toContain('--page')
  })

  test('fails for a filter by a project that does not exist, and says which exist', async () => {
    for (const command of [['entries', 'list'], ['usage']]) {
      const { code, stdout, stderr } = await tally.run([...command, '--project', 'alhpa'])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toBe("tally: --project: there is no project 'alhpa'; did you mean 'alpha'?\n")
    }
  })

  test.each([
    [['--bill', '9999-1'], "--bill: there is no bill '9999-1'"],
    [['--sheet', 'sht_1'], "--sheet: there is no token sheet 'sht_1'"],
    [['--price-load', 'pld_1'], "--price-load: there is no price load 'pld_1'"],
  ])('fails for %j, which does not exist', async (flags, message) => {
    const { code, stdout, stderr } = await tally.run(['entries', 'list', ...flags])
    expect([code, stdout, stderr]).toEqual([1, '', `tally: ${message}\n`])
  })

  test('reports every issue of its filters', async () => {
    const { code, stderr } = await tally.run(['entries', 'list', '--status', 'lost', '--starting-at', 'monday'])
    expect(code).toBe(2)
    for (const flag of ['status', 'starting-at']) expect(stderr).toMatch(new RegExp(`^tally: --${flag}: `, 'm'))
  })
})
