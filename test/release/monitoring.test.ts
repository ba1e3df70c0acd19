/** The dashboard and the alerts, compared with the metrics of a running server, and checked by Prometheus' own tool. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { CommandLine } from '../support/command-line.ts'

const ROOT = join(import.meta.dir, '../..')
const ALERTS = join(ROOT, 'packaging/prometheus/alerts.yaml')

/** Of Prometheus itself, about what it scrapes. */
const OF_PROMETHEUS = 'up'

const hasPromtool = Bun.which('promtool') !== null
if (!hasPromtool) console.warn('The alerts are not checked in tests: promtool is missing (Debian package prometheus).')

interface Panel {
  id: number
  title: string
  type: string
  targets?: { expr: string }[]
  gridPos: { x: number; y: number; w: number; h: number }
}

interface Dashboard {
  __inputs: { name: string }[]
  panels: Panel[]
  templating: { list: { definition: string }[] }
}

interface Alerts {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[]
}

let tally: CommandLine
/** The series that a server prints, or will print once there is something to count. */
let series: Set<string>
let dashboard: Dashboard
let alerts: string

beforeAll(async () => {
  dashboard = await Bun.file(join(ROOT, 'packaging/grafana/tally.json')).json()
  alerts = await Bun.file(ALERTS).text()
  tally = await CommandLine.make({ engine: 'sqlite' })
  // With uploads, to where nothing listens.
  const server = await tally.serve(['--backup-every', '24h', '--backup-s3', 's3://backups/'], {
    ...{ AWS_ENDPOINT_URL: 'http://127.0.0.1:1', AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
    TALLY_BACKUP_RECIPIENTS: 'age139m8d99c4uvyny2u4u9umewuwvz68mmtlze705z83uvzmsxscyus8ymve3',
  })
  const text = await (await fetch(`${server.url}/metrics`)).text()
  series = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name!],
    ),
  )
})
afterAll(() => tally.remove())

const metricsIn = (expression: string) => expression.match(/\b(?:tally|process)_\w+|\bup\b/g) ?? []
const expressions = () => dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
const rules = () => (Bun.YAML.parse(alerts) as Alerts).groups.flatMap((group) => group.rules)

test('every panel and alert asks for metrics that the server has', () => {
  const asked = [...expressions(), ...rules().map(({ expr }) => expr)]
  for (const expression of [...asked, ...dashboard.templating.list.map(({ definition }) => definition)]) {
    const metrics = metricsIn(expression)
    expect({ expression, unknown: metrics.filter((each) => each !== OF_PROMETHEUS && !series.has(each)) }).toEqual({
      expression,
      unknown: [],
    })
  }
  expect(asked.every((expression) => metricsIn(expression).length > 0)).toBeTrue()
})

test('the dashboard shows every metric of the server', () => {
  const shown = new Set(expressions().flatMap(metricsIn))
  // Of a histogram, one of its series is enough.
  const nameOf = (each: string) => each.replace(/_(bucket|sum|count)$/, '')
  const names = new Set([...shown].map(nameOf))
  expect([...series].filter((each) => !names.has(nameOf(each)))).toEqual([])
})

test('the dashboard asks for its data source when it is imported, and its panels do not overlap', () => {
  const sources = JSON.stringify(dashboard).match(/"uid":"\$\{\w+\}"/g)
  expect(new Set(sources)).toEqual(new Set([`"uid":"\${${dashboard.__inputs[0]!.name}}"`]))
  const taken = new Set<string>()
  for (const { gridPos } of dashboard.panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x},${y}`)).toBeFalse()
        taken.add(`${x},${y}`)
      }
    }
  }
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
})

test('every alert says what happened and what to do, and the manual has all of them', async () => {
  for (const { alert, annotations } of rules()) {
    expect({ alert, keys: Object.keys(annotations) }).toEqual({ alert, keys: ['summary', 'description'] })
  }
  expect(await Bun.file(join(ROOT, 'docs/operations/monitoring.md')).text()).toContain(alerts)
})

test.if(hasPromtool)('Prometheus accepts the alerts', async () => {
  const { exitCode, stderr } = await Bun.$`promtool check rules --lint-fatal ${ALERTS}`.quiet().nothrow()
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: '' })
})
