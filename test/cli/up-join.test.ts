/** `tally up --join`: what a private server has goes to the team's, by real servers and the real executable. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ListedTokenEntry } from '../../src/features/entries/schema.ts'
import { CLAUDE_SESSION, fillHome } from '../support/agents-home.ts'
import { CommandLine, type Ran, type RunningServer } from '../support/command-line.ts'

let tally: CommandLine
let team: CommandLine
let server: RunningServer
let token: string
beforeEach(async () => {
  tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
  await fillHome(tally.folder)
  team = await CommandLine.make()
  await team.addUser('ada@work.example')
  token = (await team.createToken('svc', 'ada@work.example')).token
  server = await team.serve()
})
afterEach(async () => {
  await tally.run(['up', '--stop'])
  await tally.remove()
  await team.remove()
})

const at = (...path: string[]) => join(tally.folder, ...path)
const login = () => JSON.parse(readFileSync(at('.config/tally/agents.json'), 'utf8'))
const own = (args: string[]) => tally.json(['--data', at('.local/state/tally/up/data'), ...args])
const change = (args: string[]) => tally.done(['--data', at('.local/state/tally/up/data'), ...args])
const joined = (args: string[] = []): Promise<Ran> =>
  tally.run(['up', '--join', server.url, ...args], { env: { TALLY_TOKEN: token } })

const entriesOf = async (list: typeof own): Promise<ListedTokenEntry[]> =>
  (await list(['entries', 'list', '--limit', '1000'])).data
const there = () => entriesOf((args) => team.json(args))

/** What is the same on both servers; cost and day only of what was one slice of a session here. */
function contentOf({ session_id, model, slice, project, ticket, cost, ...entry }: ListedTokenEntry, isWhole: boolean) {
  const { started_at, ended_at, tokens, requests, requests_above, tools, active_seconds, labels, summary } = entry
  return JSON.stringify({
    ...{ session_id, model, project: project?.key, ticket: ticket?.key, started_at, ended_at, tokens },
    ...{ requests, requests_above, tools, active_seconds, labels, summary },
    ...(isWhole && { cost, day: slice?.day }),
  })
}

test('everything that counts is moved once, placed by name; what is left out is said', async () => {
  await tally.done(['up', '--no-browser', '--yes'])
  await own(['projects', 'add', 'acme-web', '--name', 'Web'])
  await own(['projects', 'add', 'acme-api', '--name', 'API'])
  const [divided, voided, placed, held] = await entriesOf(own)
  await change(['entries', 'divide', divided!.id, '--keep', '70', '--project', 'acme-api=30'])
  await change(['entries', 'void', voided!.id, '--reason', 'A test', '--yes'])
  await change(['entries', 'place', placed!.id, '--project', 'acme-web'])
  await change(['entries', 'reject', held!.id, '--reason', 'Private', '--yes'])
  const { token: ownToken, url } = login()
  const report = {
    agent_harness: 'cron',
    agent_name: 'nightly',
    model: 'claude-sonnet-4-5',
    summary: 'Without a session',
  }
  const when = { started_at: '2026-11-20T10:00:00Z', ended_at: '2026-11-20T10:05:00Z' }
  const answer = await fetch(`${url}/api/v1/token-entries`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...report, ...when, tokens: { input: 1_000, output: 20 }, reported_cost: 0.123456789 }),
  })
  expect(answer.status).toBe(201)
  const here = (await entriesOf(own)).filter(({ status }) => status === 'submitted')
  expect(here.length).toBe(7)

  // Without a terminal and --yes, it is only shown.
  const asked = await joined()
  expect([asked.code, await there()]).toEqual([2, []])
  expect(asked.stderr).toContain('Add --yes to confirm.')
  expect(asked.stdout).toContain(`Sessions on this machine become entries of ada (ada@work.example) at ${server.url}.`)
  expect(asked.stdout).toContain('Projects: ')
  expect(asked.stdout).toMatch(
    /^Left out: 2 entries, \$\d+\.\d\d \(1 voided, 1 rejected\)\. Bills, approvals and prices stay/m,
  )

  const moved = await joined(['--yes'])
  expect([moved.code, moved.stderr]).toEqual([0, ''])
  const got = await there()
  const withSession = here.map((entry) => {
    const { session_id, division, id } = entry
    const whole = here.find((each) => each.id === division?.entry)
    return { ...entry, session_id: session_id ?? whole?.session_id ?? id }
  })
  const isWhole = ({ session_id }: ListedTokenEntry) =>
    session_id !== divided!.session_id && here.some((entry) => entry.session_id === session_id)
  const contentsOf = (entries: ListedTokenEntry[]) => entries.map((entry) => contentOf(entry, isWhole(entry))).sort()
  expect(contentsOf(got)).toEqual(contentsOf(withSession))
  expect(got.every(({ agent_manager }) => agent_manager.name === 'ada')).toBe(true)
  expect(got.find(({ agent_name }) => agent_name === 'nightly')!.reported_cost).toBe(0.123456789)
  expect(moved.stdout).toContain(`New sessions are reported to ${server.url}. Nothing was removed here.`)
  expect(login()).toEqual({ url: server.url, token })

  // Again, it is all there, whatever was placed elsewhere since.
  await team.done(['projects', 'add', 'elsewhere', '--name', 'Elsewhere'])
  for (const { id } of got) await team.done(['entries', 'place', id, '--project', 'elsewhere'])
  const before = await there()
  const again = await joined(['--yes'])
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining(`Nothing to report to ${server.url}`)])
  expect(await there()).toEqual(before)
  expect((await entriesOf(own)).length).toBe(9)
})

test('sessions that the team has already stay where it has placed them, and count once', async () => {
  await tally.done(['up', '--no-browser'])
  await own(['projects', 'add', 'mine', '--name', 'Mine'])
  for (const { id } of await entriesOf(own)) await change(['entries', 'place', id, '--project', 'mine'])
  const env = { TALLY_URL: server.url, TALLY_TOKEN: token }
  await tally.done(['agents', 'scan', '--agent', 'claude-code', '--report'], { env })
  const known = await there()
  expect(known.some(({ session_id }) => session_id === CLAUDE_SESSION)).toBe(true)
  const { code, stdout } = await joined(['--yes'])
  expect(code).toBe(0)
  expect(stdout).toContain('Projects: mine.')
  const all = await there()
  const byId = new Map(all.map((entry) => [entry.id, entry]))
  for (const entry of known) expect(byId.get(entry.id)).toEqual(entry)
  const others = all.filter(({ id }) => !known.some((entry) => entry.id === id))
  expect(others.every(({ project }) => project?.key === 'mine')).toBe(true)
  const sumOf = (entries: readonly ListedTokenEntry[]) => entries.reduce((sum, { tokens }) => sum + tokens.total, 0)
  expect(sumOf(all)).toBe(sumOf(await entriesOf(own)))
  // What the agents' files say of the same sessions later changes nothing.
  await tally.done(['agents', 'scan', '--report'], { env })
  expect(await there()).toEqual(all)
})

test('--no-names leaves the place to the rules of the team', async () => {
  await tally.done(['up', '--no-browser'])
  await own(['projects', 'add', 'mine', '--name', 'Mine'])
  for (const { id } of await entriesOf(own)) await change(['entries', 'place', id, '--project', 'mine'])
  expect((await joined(['--yes', '--no-names'])).code).toBe(0)
  expect((await there()).map(({ project }) => project)).toEqual(Array(7).fill(null))
})

test('agents that report to a third server go on with that', async () => {
  await tally.done(['up', '--no-browser', '--yes'])
  const other = { url: 'https://other.example.com', token: 'tally_svc_x' }
  await Bun.write(at('.config/tally/agents.json'), JSON.stringify(other))
  const { code, stderr } = await joined(['--yes'])
  expect([code, stderr]).toEqual([
    0,
    'Agents on this machine report to https://other.example.com. That does not change.\n',
  ])
  expect(login()).toEqual(other)
})

test('what cannot be joined is said before anything is sent', async () => {
  const nothing = await joined(['--yes'])
  expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('there is nothing to move')])
  await tally.done(['up', '--no-browser', '--yes'])
  const { url, token: ownToken } = login()
  const itself = await tally.run(['up', '--join', `${url}/`, '--yes'])
  expect([itself.code, itself.stderr]).toEqual([2, expect.stringContaining('is the server of `tally up` itself')])
  const unasked = await tally.run(['up', '--join', server.url, '--yes'])
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('Set TALLY_TOKEN')])
  const { token: reading } = await team.createToken('read', 'ada@work.example')
  const wrong = await tally.run(['up', '--join', server.url], { env: { TALLY_TOKEN: reading } })
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('This is a read token, which cannot report')])
  const unknown = await tally.run(['up', '--join', server.url], { env: { TALLY_TOKEN: ownToken } })
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('does not accept the token')])
  expect(await there()).toEqual([])
  expect(existsSync(at('.config/tally/agents.json'))).toBe(true)
})

test('a server of an earlier version is sent nothing', async () => {
  await tally.done(['up', '--no-browser'])
  const calls: string[] = []
  const older = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      calls.push(`${request.method} ${new URL(request.url).pathname}`)
      return Response.json({ kind: 'service', person: { id: 'usr_1', name: 'Ada', email: 'a@b.c' }, organization: {} })
    },
  })
  const { code, stderr } = await tally.run(['up', '--join', `http://127.0.0.1:${older.port}`, '--yes'], {
    env: { TALLY_TOKEN: token },
  })
  expect([code, stderr]).toEqual([1, expect.stringContaining('is of an earlier version')])
  expect(new Set(calls)).toEqual(new Set(['GET /api/v1/me']))
  await older.stop(true)
})
