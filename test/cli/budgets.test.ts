import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'
import { startMailServer } from '../support/mail-server.ts'

let tally: CommandLine
let token: string
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser('ada@example.com', 'admin')
  await tally.done(['clients', 'add', 'Acme Ltd'])
  await tally.done(['projects', 'add', 'ACME', '--client', 'Acme Ltd', '--lead', 'ada@example.com'])
  token = (await tally.createToken()).token
})
afterAll(() => tally.remove())

const budgets = (...args: string[]) => tally.json(['budgets', ...args])

async function refused(...args: string[]): Promise<string> {
  const { code, stderr } = await tally.run(['budgets', ...args])
  return `${code} ${stderr}`
}

/** Reports usage at a cost in dollars, to a server that runs meanwhile. */
async function report(project: string, cost: number): Promise<void> {
  const server = await tally.app()
  const answer = await fetch(`${server.url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_harness: 'curl',
      agent_name: 'builder',
      model: 'claude-sonnet-4-5',
      project,
      started_at: new Date(Date.now() - 60_000).toISOString(),
      ended_at: new Date().toISOString(),
      tokens: { input: 1_000, output: 200 },
      reported_cost: cost,
    }),
  })
  expect(answer.status).toBe(201)
}

test('a budget is added with scope and thresholds, listed, changed, archived and restored', async () => {
  const added = await budgets(
    ...['add', '--client', 'acme ltd', '--project', 'ACME', '--label', 'team=web', '--amount', '2500.50'],
    ...['--period', 'quarter', '--from', '2026-01-15', '--roll-over', 'yes'],
    ...['--threshold', '80=leads,ada@example.com,finance@example.com', '--threshold', '100'],
    ...['--forecast-threshold', '110=none'],
  )
  const person = expect.stringMatching(/^usr_/)
  expect(added).toMatchObject({
    name: 'Acme Ltd, ACME, team:web, quarterly',
    scope: { client: { name: 'Acme Ltd' }, project: { key: 'ACME' }, label: 'team:web', model: null },
    measure: 'cost',
    amount: 2500.5,
    period: 'quarter',
    starts_on: '2026-01-15',
    roll_over: true,
    thresholds: [
      { percent: 80, of: 'spent', leads: true, billing: false, people: [person], emails: ['finance@example.com'] },
      { percent: 100, of: 'spent', leads: true, billing: true, people: [], emails: [] },
      { percent: 110, of: 'forecast', leads: false, billing: false, people: [], emails: [] },
    ],
  })
  const { id } = added
  expect((await budgets('list', '--client', 'Acme Ltd')).data).toMatchObject([{ id, current: { state: 'within' } }])
  const changed = await budgets('change', id, '--label', 'none', '--amount', '3000', '--threshold', 'none')
  expect(changed).toMatchObject({ amount: 3000, thresholds: [], roll_over: true })
  // A part of the scope that no flag names stays.
  expect(changed.scope).toMatchObject({ client: { name: 'Acme Ltd' }, project: { key: 'ACME' }, label: null })
  expect(await refused('change', id)).toMatch(/^2 tally: Nothing to change/)

  expect((await tally.done(['budgets', 'archive', id])).stdout).toMatch(/^Archived Acme Ltd/)
  const ids = async (...flags: string[]) =>
    (await budgets('list', ...flags)).data.map((budget: { id: string }) => budget.id)
  expect([await ids(), await ids('--archived'), await ids('--all')]).toEqual([[], [id], [id]])
  expect((await budgets('restore', id)).archived_at).toBe(null)
  await tally.done(['budgets', 'archive', id])
})

test('what is spent is counted without a server, and a used-up budget ends a check with 3', async () => {
  const { id } = await budgets('add', '--project', 'ACME', '--amount', '10', '--name', 'Acme work', '--threshold', '80')
  expect(await budgets('check', '--project', 'ACME')).toMatchObject({ allowed: true, remaining: 10 })
  await report('ACME', 8.5)
  const shown = await tally.done(['budgets', 'show', id])
  expect(shown.stdout).toMatch(/^spent +\$8\.50 of \$10\.00 \(85%\)$/m)
  expect(shown.stdout).toMatch(/^state +nearly used up$/m)
  expect(shown.stdout).toMatch(/^counts +cost of project ACME$/m)
  expect((await tally.done(['budgets', 'list'])).stdout).toMatch(/Acme work .* \$8\.50 +\$10\.00 +85% +nearly used up/)
  expect(await budgets('alerts', '--budget', id)).toMatchObject({ data: [{ percent: 80, of: 'spent', spent: 8.5 }] })
  expect((await tally.done(['budgets', 'alerts'])).stdout).toMatch(/Acme work .* 80% +\$8\.50 +\$10\.00 /)

  await tally.done(['budgets', 'change', id, '--amount', '8.5'])
  const { code, stdout, stderr } = await tally.run(['budgets', 'check', '--project', 'ACME', '--json'])
  expect([code, JSON.parse(stdout)]).toMatchObject([3, { allowed: false, remaining: 0 }])
  expect(stderr).toBe("tally: The budget 'Acme work' is used up: $8.50 of $8.50 spent.\n")
  expect((await tally.run(['budgets', 'check', '--agent-manager', 'ada@example.com'])).code).toBe(0)
})

test('a budget whose entries exist already is counted when it is first shown', async () => {
  const { id } = await budgets('add', '--client', 'Acme Ltd', '--amount', '34')
  expect(await budgets('show', id)).toMatchObject({ complete: true, spent: 8.5, entries: 1, percent: 25 })
})

test('the field budget of a project is one of the budgets', async () => {
  await tally.done(['projects', 'change', 'ACME', '--budget', '50'])
  const [budget] = (await budgets('list', '--project', 'ACME')).data
  expect(budget).toMatchObject({ of_project: true, period: 'once', amount: 50 })
  await tally.done(['budgets', 'change', budget.id, '--amount', '60'])
  expect((await tally.json(['projects', 'show', 'ACME'])).budget).toBe(60)
})

test('amounts of tokens are shown as tokens', async () => {
  const { id } = await budgets(
    'add',
    '--measure',
    'tokens',
    '--amount',
    '50000000',
    '--model',
    'gpt-5',
    '--period',
    'day',
  )
  expect((await tally.done(['budgets', 'show', id])).stdout).toMatch(/^amount +50,000,000 tokens per day$/m)
  await tally.done(['budgets', 'archive', id])
})

describe('a test alert', () => {
  test('reaches everyone whom a threshold names', async () => {
    const server = await startMailServer()
    try {
      const env = {
        TALLY_SMTP_URL: `smtp://${server.address.host}:${server.address.port}`,
        TALLY_SMTP_FROM: 'tally@example.com',
      }
      const { id } = await budgets(
        'add',
        '--project',
        'ACME',
        '--amount',
        '5',
        '--threshold',
        '90=ada@example.com,cfo@example.com',
      )
      const tested = await tally.json(['budgets', 'test', id], { env })
      expect(tested.recipients.sort()).toEqual(['ada@example.com', 'cfo@example.com'])
      expect(new Set(server.letters.map(({ headers }) => headers.get('message-id'))).size).toBe(2)
      const silent = await budgets('add', '--project', 'ACME', '--amount', '5', '--threshold', '90=none')
      const { code, stderr } = await tally.run(['budgets', 'test', silent.id], { env })
      expect([code, stderr]).toEqual([1, expect.stringContaining('No e-mail was sent')])
    } finally {
      await server.close()
    }
  })

  test('says which variables are missing without a mail server', async () => {
    const { data } = await budgets('list')
    expect(await refused('test', data[0].id)).toMatch(/^1 tally: .*TALLY_SMTP_URL/)
  })
})

test('messages name the flags', async () => {
  const add = (...flags: string[]) => refused('add', '--amount', '5', ...flags)
  expect(await refused('add')).toMatch(/^2 .*--amount/)
  expect(await refused('add', '--amount', 'much')).toMatch(/^2 tally: --amount: 'much' is not a valid number/)
  expect(await refused('add', '--amount', '1.5', '--measure', 'tokens')).toMatch(/^2 tally: --amount: must be a whole/)
  expect(await add('--threshold', '80=everyone')).toMatch(/^2 .*'everyone' cannot be notified/)
  expect(await add('--threshold', '0')).toMatch(/^2 .*percentage from 1 to 1000/)
  expect(await add('--threshold', '80', '--threshold', '80')).toMatch(/^2 tally: --threshold: .*same percentage/)
  expect(await add('--from', '2026-11-30', '--to', '2026-11-01')).toMatch(/^2 tally: --to must not be earlier/)
  expect(await add('--client', 'Acme')).toMatch(/^1 tally: --client: there is no client 'Acme'/)
  expect(await add('--label', 'web')).toMatch(/^2 tally: --label: must be name:value/)
  expect(await refused('list', '--project', 'NOPE')).toMatch(/^1 tally: --project: there is no project 'NOPE'/)
  expect(await refused('show', 'bdg_0')).toMatch(/^1 tally: The budget bdg_0 was not found/)
})

test('an empty variable neither makes a budget of everything nor allows a check', async () => {
  for (const command of [['add', '--amount', '5'], ['check']]) {
    expect(await refused(...command, '--project', '')).toMatch(/^2 .*--project.*must not be empty/)
    expect(await refused(...command, '--project', 'none')).toMatch(/^2 .*--project.*Leave the flag out/)
  }
})
