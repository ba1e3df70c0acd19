import { afterAll, beforeAll, expect, setSystemTime, test } from 'bun:test'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fillHome } from '../support/agents-home.ts'
import { CommandLine } from '../support/command-line.ts'

let tally: CommandLine
const zone = process.env.TZ
beforeAll(async () => {
  tally = await CommandLine.make({ isFirst: true })
})
afterAll(async () => {
  setSystemTime()
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
  await tally.remove()
})

let homes = 0

async function newHome(): Promise<string> {
  homes += 1
  const home = join(tally.folder, `home-${homes}`)
  await mkdir(home)
  return home
}

interface Call {
  session?: string
  at: string
  model?: string
  folder?: string
  input: number
}

/** Calls as Claude Code writes them. */
async function withCalls(calls: Call[]): Promise<string> {
  const home = await newHome()
  const lines = calls.map(
    ({ session = 'one', at, model = 'claude-sonnet-4-5', folder = '/nowhere/web', input }, index) =>
      JSON.stringify({
        type: 'assistant',
        message: { id: `msg-${index}`, model, usage: { input_tokens: input, output_tokens: 0 } },
        requestId: `req-${index}`,
        sessionId: session,
        timestamp: at,
        cwd: folder,
      }),
  )
  await Bun.write(join(home, '.claude/projects/-nowhere/calls.jsonl'), `${lines.join('\n')}\n`)
  return home
}

const summary = (home: string, columns = 80) => tally.run([], { env: { HOME: home }, columns })

/** The amounts of the rows below a title, without the bars. */
function amountsBelow(title: string, shown: string): number[] {
  const rows = shown.split(`${title} `)[1]!.split('\n\n')[0]!.split('\n').slice(1)
  return rows.map((row) => Number(/ ([\d.]+)(?: +[█▏▎▍▌▋▊▉]+)?$/.exec(row)![1]))
}

test('shows this week by project and by model, whose sums are what a scan lists', async () => {
  setSystemTime(new Date('2026-11-22T12:00:00Z'))
  const home = await newHome()
  await fillHome(home)
  const { code, stdout, stderr } = await summary(home)
  const scan = await tally.json(['agents', 'scan'], { env: { HOME: home } })
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toStartWith('Your agents this week, from Monday 16 November')
  expect(stdout).toContain(`$${scan.cost.toFixed(2)} list value\n6 sessions · `)
  expect(stdout).toContain('Read from the session files of Claude Code, Codex and Gemini CLI. Nothing was sent.')
  expect(stdout).toMatch(/\nNext: \S+ up +a private server on this machine, with all of this\n +\S+ --help +everything/)
  expect(stdout.match(/^acme-web .*/m)![0]).toMatch(/ 4 +135k +0\.14 {2}█{25}$/)
})

test('counts from midnight on Monday, of the clock of this machine', async () => {
  process.env.TZ = 'Asia/Kathmandu'
  setSystemTime(new Date('2026-11-25T12:00:00Z'))
  // Midnight in Kathmandu is within a day of UTC.
  const home = await withCalls([
    { at: '2026-11-22T18:14:59Z', input: 1_000_000 },
    { at: '2026-11-22T18:15:00Z', input: 2_000_000 },
    { at: '2026-11-23T18:15:00Z', input: 4_000_000 },
    { session: 'before', at: '2026-11-22T18:00:00Z', input: 8_000_000 },
  ])
  const { stdout } = await summary(home)
  expect(stdout).toMatch(
    /^Your agents this week, from Monday 23 November +\$18.00 list value\n1 session · 6.00M tokens\n/,
  )
  expect(stdout).toMatch(/\nweb +1 +6.00M +18.00 /)
  delete process.env.TZ
})

test('shows a longer period if there was nothing this week', async () => {
  const home = await withCalls([{ at: '2026-11-02T12:00:00Z', input: 1_000_000 }])
  setSystemTime(new Date('2026-11-25T12:00:00Z'))
  expect((await summary(home)).stdout).toStartWith('Your agents in the last 30 days, from 27 October  ')
  setSystemTime(new Date('2027-02-25T12:00:00Z'))
  expect((await summary(home)).stdout).toStartWith('Your agents so far, from 2 November 2026  ')
})

test('adds up what it does not list, and names what has no price', async () => {
  setSystemTime(new Date('2026-11-25T12:00:00Z'))
  const at = '2026-11-24T12:00:00Z'
  const projects = Array.from({ length: 8 }, (_, index) => ({
    ...{ at, session: `s${index}`, folder: `/nowhere/p${index}`, input: (index + 1) * 1_000_000 },
  }))
  const unpriced = { at, session: 's0', folder: '/nowhere/p7', model: 'nameless-1\u001b[2J', input: 5 }
  const { stdout } = await summary(await withCalls([...projects, unpriced]))
  expect(stdout).toContain('$108.00 list value\n8 sessions · ')
  expect(stdout).toMatch(/\np7 +2 .*\np6 .*\np5 .*\np4 .*\np3 .*\n3 more +3 +6.00M +18.00 /)
  expect(amountsBelow('PROJECT', stdout).reduce((sum, amount) => sum + amount)).toBe(108)
  expect(stdout).toContain('A session in several projects counts in each of them.\n')
  expect(stdout).toContain('Without a list price, and not included in the value: nameless-1 [2J.\n')
})

test('fits a narrow terminal', async () => {
  setSystemTime(new Date('2026-11-25T12:00:00Z'))
  const home = await withCalls([{ at: '2026-11-24T12:00:00Z', folder: `/nowhere/${'long'.repeat(20)}`, input: 1 }])
  const { stdout, stderr } = await summary(home, 48)
  const tables = stdout.split('\n\n').slice(1, 3)
  for (const line of tables.join('\n').split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(48)
  expect([stdout.includes('…'), stderr]).toEqual([true, ''])
})

test('reports what could not be read', async () => {
  setSystemTime(new Date('2026-11-25T12:00:00Z'))
  const home = await withCalls([{ at: '2026-11-24T12:00:00Z', input: 1 }])
  const path = join(home, '.claude/projects/-nowhere/calls.jsonl')
  await Bun.write(path, `${await Bun.file(path).text()}{"type":"assistant","message":{"usage":\n`)
  const { code, stdout, stderr } = await summary(home)
  expect([code, stdout.includes('1 session')]).toEqual([4, true])
  expect(stderr).toContain('calls.jsonl:2')
})

test('is the help without agents, and without a terminal', async () => {
  const help = await tally.run([])
  expect([help.code, help.stderr.includes('Usage: tally ')]).toEqual([2, true])
  expect(await summary(await newHome())).toEqual(help)
  const home = await withCalls([{ at: '2026-11-24T12:00:00Z', input: 1 }])
  expect(await tally.run([], { env: { HOME: home } })).toEqual(help)
})
