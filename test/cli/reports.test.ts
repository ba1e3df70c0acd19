import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'
import { rowsAt } from '../support/databases.ts'

let tally: CommandLine

/** Three entries of November 2025, the third of which is without a price and runs into December. */
beforeAll(async () => {
  tally = await CommandLine.make()
  await tally.addUser()
  const { token } = await tally.createToken()
  const server = await tally.app()
  const report = async (change: Record<string, unknown>) => {
    const response = await fetch(`${server.url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        agent_harness: 'codex',
        agent_name: 'builder',
        model: 'gpt-5-codex',
        started_at: '2025-11-10T10:00:00Z',
        ended_at: '2025-11-10T10:30:00Z',
        tokens: { input: 1_000, output: 200 },
        ...change,
      }),
    })
    if (response.status !== 201) throw new Error(await response.text())
  }
  await report({ project: 'acme-web', reported_cost: 2_000 })
  await report({ project: 'acme-api', started_at: '2025-11-11T23:30:00Z', ended_at: '2025-11-11T23:40:00Z' })
  await report({
    model: 'house-model',
    started_at: '2025-11-30T22:00:00Z',
    ended_at: '2025-12-01T02:00:00Z',
    labels: { repository: 'acme/web' },
  })
})
afterAll(() => tally.remove())

const NOVEMBER = ['--month', '2025-11']

describe('tally usage', () => {
  test('draws a table with bars, most expensive first, and notes what its numbers leave out', async () => {
    const { stdout } = await tally.done(['usage', ...NOVEMBER, '--by', 'project,model'])
    expect(stdout.split('\n')).toEqual([
      'PROJECT   MODEL        ENTRIES  TOKENS  COST (USD)',
      expect.stringMatching(/^acme-web {2}gpt-5-codex {8}1 {3}1,200 {4}2,000.00 {2}█+$/),
      'acme-api  gpt-5-codex        1   1,200       <0.01  ▏',
      '(none)    house-model        1   1,200    unpriced',
      '',
      '3 entries, 3,600 tokens for $2,000.00 from 2025-11-01 00:00 to 2025-12-01 00:00 (UTC).',
      'Of these, 1 entry is unpriced and not included in the cost. To list their models: tally reports unpriced',
      '1 session ended after the period; it counts fully in the period in which it started.',
      '',
    ])
  })

  test('has buckets of the zone', async () => {
    const { stdout } = await tally.done([
      ...['usage', '--from', '2025-11-10', '--to', '2025-11-14', '--time-zone', 'Europe/Berlin'],
      ...['--bucket', '1d', '--fill-gaps'],
    ])
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      'DAY         ENTRIES  TOKENS  COST (USD)',
      expect.stringMatching(/^2025-11-10 {8}1 {3}1,200 {4}2,000.00 {2}█+$/),
      '2025-11-11        0       0           –',
      '2025-11-12        1   1,200       <0.01  ▏',
      '2025-11-13        0       0           –',
    ])
  })

  test('names weeks, quarters and years', async () => {
    const names = async (...options: string[]) => {
      const { stdout } = await tally.done(['usage', ...options, '--fill-gaps'])
      const lines = stdout.split('\n')
      return lines.slice(0, lines.indexOf('')).map((line) => line.split(/ {2,}/)[0])
    }
    const fortnight = ['--from', '2025-12-22', '--to', '2026-01-04', '--bucket', '1w']
    expect(await names(...fortnight)).toEqual(['WEEK OF', '2025-12-22 (W52)', '2025-12-29 (W1)'])
    expect(await names(...fortnight, '--week-start', 'sunday')).toEqual([
      'WEEK OF',
      '2025-12-21',
      '2025-12-28',
      '2026-01-04',
    ])
    expect(await names('--year', '2025', '--bucket', '1q')).toEqual([
      ...['QUARTER', '2025-Q1', '2025-Q2', '2025-Q3', '2025-Q4'],
    ])
    expect(await names('--quarter', '2025-Q4', '--bucket', '1y')).toEqual(['YEAR', '2025'])
  })

  test('draws bars of tokens where no cost is known', async () => {
    const { stdout } = await tally.done(['usage', ...NOVEMBER, '--model', 'house-model', '--by', 'label:repository'])
    expect(stdout).toMatch(/acme\/web .* unpriced {2}█+\n/)
    expect(stdout).toContain('1 entry, 1,200 tokens with no known cost from')
  })

  test('covers the last 30 days by default, including today', async () => {
    const { starting_at, ending_at, time_zone, bucket_width } = await tally.json(['usage'])
    const days = (Date.parse(ending_at) - Date.parse(starting_at)) / 86_400_000
    expect([starting_at.slice(11), Math.ceil(days), time_zone, bucket_width]).toEqual([
      '00:00:00.000Z',
      30,
      'UTC',
      'all',
    ])
    const hours = await tally.json(['usage', '--last', '12h'])
    expect((Date.parse(hours.ending_at) - Date.parse(hours.starting_at)) / 3_600_000).toBeCloseTo(12, 1)
    expect((await tally.done(['usage'])).stdout).toStartWith('No entries from ')
  })

  test('prints the response of the API, and CSV', async () => {
    const { totals, data } = await tally.json(['usage', ...NOVEMBER, '--by', 'project'])
    expect([totals.entries, totals.straddling_entries, data[0].results[0].project.name]).toEqual([3, 1, 'acme-web'])
    const { stdout } = await tally.done(['usage', ...NOVEMBER, '--by', 'agent_name', '--csv', '--bucket', '1mo'])
    expect(stdout).toStartWith('starting_at,ending_at,agent_name,entries,')
    expect(stdout.split('\r\n')[1]).toStartWith('2025-11-01T00:00:00.000Z,2025-12-01T00:00:00.000Z,builder,3,1,1,')
  })

  test('reports what is wrong with its flags', async () => {
    const refused = async (...args: string[]) => {
      const { code, stderr } = await tally.run(['usage', ...args])
      return `${code} ${stderr}`
    }
    expect(await refused('--by', 'modell')).toStartWith('2 tally: --by: must be one of project,')
    expect(await refused('--last', '1y')).toBe('2 tally: --last: must be a duration, such as 30d, 12h or 2w\n')
    expect(await refused('--month', '2025-13')).toBe('2 tally: --month: must be a month, such as 2026-11\n')
    expect(await refused('--month', '2025-11', '--last', '2d')).toContain(
      '--month: cannot be combined with another period',
    )
    expect(await refused('--to', '2025-11-01')).toContain('--to: requires a start date')
    expect(await refused('--time-zone', 'Mars/Base')).toContain('--time-zone: must be an IANA time zone')
  })
})

describe('tally reports', () => {
  test('unpriced lists the models without a price', async () => {
    const { stdout } = await tally.done(['reports', 'unpriced'])
    expect(stdout.split('\n')[1]).toMatch(/^house-model {2}\(none\) +1 +1,000 +200 +0 +0 +0 +2025-11-30 22:00$/)
    expect((await tally.json(['reports', 'unpriced'])).data[0].model).toBe('house-model')
    expect((await tally.done(['reports', 'unpriced', '--csv'])).stdout).toContain('\r\nhouse-model,,1,1000,200,')
    const { stdout: none } = await tally.done(['reports', 'unpriced', '--project', 'acme-web'])
    expect(none).toBe('All entries have a cost.\n')
  })

  test('variance compares what was reported with the price table', async () => {
    const { stdout } = await tally.done(['reports', 'variance', ...NOVEMBER])
    expect(stdout.split('\n')[1]).toMatch(/^gpt-5-codex {2}builder +1 +2,000.00 +<0.01 +2,000.00 +\d+(\.\d+)?$/)
    expect(stdout).toContain('1 entry of 3 compared: reported $2,000.00, list value <$0.01.')
    expect((await tally.json(['reports', 'variance', ...NOVEMBER])).totals.compared_entries).toBe(1)
    expect((await tally.done(['reports', 'variance', ...NOVEMBER, '--csv'])).stdout).toStartWith('model,agent_name,')
  })

  test('print what is behind the cost as tables, JSON and CSV', async () => {
    const cache = await tally.done(['reports', 'cache', '--by', 'model', ...NOVEMBER])
    expect(cache.stdout).toMatch(/^MODEL +ENTRIES +CACHE READS .*\n(.*\n)*gpt-5-codex +2 +0 +0\.0% +0\.00 /)
    const whatIf = ['reports', 'what-if', '--as-model', 'gpt-5', ...NOVEMBER]
    expect((await tally.done(whatIf)).stdout).toMatch(
      /Hypothetical: .* prices of gpt-5 would have cost .* 1 entry without a price left out\.\n/,
    )
    expect((await tally.json(whatIf)).totals).toMatchObject({ entries: 3, unvalued_entries: 1 })
    expect((await tally.done(['reports', 'price-changes', ...NOVEMBER])).stdout).toBe(
      'No price of a model in use changed in this period.\n',
    )
    expect((await tally.done(['reports', 'surcharges', ...NOVEMBER])).stdout).toBe(
      'No entry in this period is valued at prices of long requests.\n',
    )
    expect((await tally.done(['reports', 'outliers', ...NOVEMBER])).stdout).toBe(
      'No session cost far more than usual in this period.\n',
    )
    for (const [command, columns] of [
      ['cache', 'starting_at,ending_at,entries,unvalued_entries,'],
      ['price-changes', 'model,provider,changed_at,ending_at,input_before,'],
      ['surcharges', 'model,provider,entries,unvalued_entries,cost,list_value,surcharge,'],
      ['outliers', 'id,started_at,agent_manager,agent_manager_id,'],
    ] as const) {
      expect((await tally.done(['reports', command, ...NOVEMBER, '--csv'])).stdout).toStartWith(columns)
    }
    expect((await tally.done([...whatIf, '--csv'])).stdout).toContain('\r\nhouse-model,,1,1,1000,200,')
    expect((await tally.run(['reports', 'what-if', ...NOVEMBER])).stderr).toContain('--as-model')
    expect((await tally.run(['reports', 'cache', '--by', 'ticket', ...NOVEMBER])).stderr).toContain(
      '--by: must be one of',
    )
  })

  test('completeness lists the open issues of a month', async () => {
    const { stdout } = await tally.done(['reports', 'completeness', ...NOVEMBER])
    expect(stdout).toMatch(/\nunattributed \(no project or ticket\) +1 +– +1\n/)
    expect(stdout).toMatch(/\nreported cost far from the list value +1 +2,000.00\n/)
    expect(stdout).toMatch(/\nstarted in the period and ended after it +1 +– +1\n/)
    expect(stdout).toContain('From 2025-11-01 00:00 to 2025-12-01 00:00 (UTC).')
    const { data } = await tally.json(['reports', 'completeness', ...NOVEMBER])
    expect(data[0]).toMatchObject({ check: 'all', entries: 3 })
    expect((await tally.done(['reports', 'completeness', '--csv'])).stdout).toStartWith('check,entries,')
  })

  test('lists an entry whose cost is far from its list value with both, and explains it', async () => {
    const far = ['entries', 'list', '--cost-mismatch', 'true']
    const { stdout } = await tally.done(far)
    expect(stdout).toMatch(/ COST \(USD\) {2}LIST VALUE \(USD\) /)
    expect(stdout).toMatch(/ 2000 +0\.0\d+ /)
    const [entry] = (await tally.json(far)).data
    expect(entry.cost_mismatch).toBe(true)
    expect((await tally.done(['entries', 'show', entry.id])).stdout).toContain(
      '$2000 (as reported; far from the list value: check the report and the price)',
    )
  })
})

test('the settings say how far the sums are that are made again for a time zone', async () => {
  const { time_zone: timeZone } = JSON.parse((await tally.run(['settings', 'show', '--json'])).stdout)
  const rows = ['clean', 'stale', 'stale'].map(
    (state, day) =>
      `(${day + 1_001}, '${timeZone}', 'day', ${day * 86_400_000}, ${(day + 1) * 86_400_000}, '${state}', 0, 1)`,
  )
  await rowsAt(tally.location, `INSERT INTO rollup_periods VALUES ${rows}`)
  expect((await tally.run(['settings', 'show'])).stdout).toMatch(/being prepared for \S+: \d+ of \d+ days \(\d+%\)/)
})
