/** Entries as lines of JSON: the same as in lists, which a test compares. */
import { type ByteWriter, encoded, plainCharacters } from '../../../lib/byte-writer.ts'
import { dayText } from '../../../lib/calendar.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { ZERO_COUNTS } from '../../../shared/usage.ts'
import { NO_FUNDING, wireFunding, wireRequestsAbove, wireTokens } from '../wire.ts'
import { divisionOf, isMismatch, type LineFormat } from './export-lines.ts'
import type { ExportedCosts } from './exported-costs.ts'
import { AT, type ExportedRow } from './store/export.ts'

/** Those that need no escape in a string. */
const PLAIN = plainCharacters({ except: '"\\' })

const NO_NOTES = encoded(',"note":null,"named_project":null,"named_ticket":null},"summary":')

type NdjsonPart = 'manager' | 'agent' | 'price' | 'place' | 'rule' | 'labels' | 'continued' | 'links'

export const ndjsonFormat = (basis: CostBasis): LineFormat<NdjsonPart> => ({
  heading: '',
  last: 'updatedAt',
  parts: {
    manager: { managers: (row) => `","agent_manager":${json(row && { id: row.id, name: row.name })},"manager_by":` },
    agent: {
      harnesses: (row) => `,"agent_harness":${json(row?.text ?? null)}`,
      agents: (row) => `,"agent_name":${json(row?.text ?? null)}`,
      models: (row) => `,"model":${json(row?.text ?? null)}`,
      providers: (row) => `,"provider":${json(row?.text ?? null)},"started_at":"`,
    },
    price: { prices: (row) => `,"price":${row ? `{"id":"${row.id}","step":` : 'null'}` },
    place: {
      projects: (row) => `,"project":${json(row && { id: row.id, key: row.project, name: row.name })}`,
      tickets: (row) => `,"ticket":${json(row && { id: row.id, key: row.ticket })},"placement":{"by":`,
    },
    rule: { rules: (row) => `,"rule":${json(row && { id: row.id, name: row.name, version: row.version })}` },
    labels: { labels: (row) => `,"labels":${json(row?.labels ?? {})},"session_id":` },
    continued: { continued: (row) => `,"continues":${json(row?.id ?? null)},"corrected":` },
    links: {
      duplicated: (row) => `,"possible_duplicate_of":${json(row?.id ?? null)}`,
      bills: (row) => `,"bill":${json(row && { id: row.id, number: row.number })}`,
      sheets: (row) => `,"sheet":${json(row && { id: row.id })}`,
      fundings: (row) => `,"funding":${json(row ? wireFunding(row) : NO_FUNDING)},"created_at":"`,
    },
  },
  details(details) {
    const { input, output, cache_read, cache_write, cache_write_1h, total, ...shares } = wireTokens(
      ZERO_COUNTS,
      details,
    )
    const { serviceTier, speed, region, tools } = details ?? {}
    const others = {
      requests_above: details && wireRequestsAbove(details),
      service_tier: serviceTier ?? null,
      speed: speed ?? null,
      region: region ?? null,
      tools: tools ?? null,
    }
    return [`,${fieldsText(shares)}},"requests":`, `,${fieldsText(others)},"cost":`]
  },

  none: 'null',
  moment: (writer, moment) => writer.timestamp(moment),
  any: writeText,

  /** Fields in the order of `toListedEntry`. Ids, timestamps and our own constants need no escapes. */
  steps: [
    { text: '{"id":"ent_' },
    { word: 'uid' },
    { text: '","status":"' },
    { word: 'status' },
    { text: '","source":"' },
    { word: 'source' },
    { part: 'manager' },
    { rare: (row) => constant(row[AT.sheetId] === null ? row[AT.managerBy] : null) },
    { part: 'agent' },
    { moment: 'startedAt' },
    { text: '","ended_at":"' },
    { moment: 'endedAt' },
    { text: '","tokens":{"input":' },
    { integer: 'input' },
    { text: ',"output":' },
    { integer: 'output' },
    { text: ',"cache_read":' },
    { integer: 'cacheRead' },
    { text: ',"cache_write":' },
    { integer: 'cacheWrite' },
    { text: ',"cache_write_1h":' },
    { integer: 'cacheWrite1h' },
    { text: ',"total":' },
    { special: 'total' },
    { details: 0 },
    { integer: 'requests' },
    { rare: activeSeconds },
    { details: 1 },
    basis === 'cost'
      ? { special: 'cost' }
      : basis === 'list'
        ? { money: 'listDollars' }
        : { paid: ({ cost }) => `${cost}` },
    { text: ',"reported_cost":' },
    { money: 'reportedDollars' },
    { text: ',"list_value":' },
    { money: 'listDollars' },
    { rare: (row) => (isMismatch(row) ? ',"cost_mismatch":true' : ',"cost_mismatch":false') },
    { part: 'price' },
    { further: writePriceStep },
    { part: 'place' },
    { rare: (row) => constant(row[AT.placedBy] ?? 'unattributed') },
    { part: 'rule' },
    { further: writeNotes },
    { any: 'summary' },
    { part: 'labels' },
    { any: 'sessionKey' },
    { text: ',"part":' },
    { integer: 'part' },
    { rare: slice },
    { part: 'continued' },
    { rare: changes },
    { part: 'links' },
    { moment: 'createdAt' },
    { further: writeUpdated },
    { paid: paidFields },
  ],
})

const json = (value: unknown): string => JSON.stringify(value)

const QUOTED = new Map<string | null, string>()

/** One of our own constants, which are few. */
function constant(text: string | null): string {
  let quoted = QUOTED.get(text)
  if (quoted === undefined) {
    quoted = json(text)
    QUOTED.set(text, quoted)
  }
  return quoted
}

function activeSeconds(row: ExportedRow): string {
  const activeMs = row[AT.activeMs]
  return activeMs === null ? ',"active_seconds":null' : `,"active_seconds":${activeMs / 1_000}`
}

function slice(row: ExportedRow): string {
  const day = row[AT.sliceDay]
  if (day === null) return ',"slice":null'
  return `,"slice":${json({ day: dayText(day), estimated: row[AT.estimated] === 1 })}`
}

function changes(row: ExportedRow): string {
  const corrected = row[AT.corrected]
  const isAsReported = corrected === null && row[AT.amendment] === null && row[AT.superseded] === 0
  if (isAsReported) return '[],"division":null,"superseded":false'
  return `${corrected === null ? '[]' : json(JSON.parse(corrected))},"division":${json(divisionOf(row))},"superseded":${row[AT.superseded] === 1}`
}

/** The rest of the price. */
function writePriceStep(writer: ByteWriter, row: ExportedRow): void {
  if (row[AT.priceId] === null) return
  writer.integer(row[AT.priceStep]!)
  writer.ascii(',"note":')
  writeText(writer, row[AT.priceNote])
  writer.ascii('}')
}

/** The rest of the placement. Few entries have any of it. */
function writeNotes(writer: ByteWriter, row: ExportedRow): void {
  const note = row[AT.placementNote]
  const namedProject = row[AT.namedProject]
  const namedTicket = row[AT.namedTicket]
  if (note === null && namedProject === null && namedTicket === null) {
    writer.bytes(NO_NOTES)
    return
  }
  writer.ascii(',"note":')
  writeText(writer, note)
  writer.ascii(',"named_project":')
  writeText(writer, namedProject)
  writer.ascii(',"named_ticket":')
  writeText(writer, namedTicket)
  writer.ascii('},"summary":')
}

function writeUpdated(writer: ByteWriter, row: ExportedRow): void {
  const updatedAt = row[AT.updatedAt]
  if (updatedAt === null) {
    writer.ascii('","updated_at":null')
    return
  }
  writer.ascii('","updated_at":"')
  writer.timestamp(updatedAt)
  writer.ascii('"')
}

function paidFields({ marginal, allocated, fee, isProvisional }: ExportedCosts): string {
  return `,"marginal_cost":${marginal},"allocated_cost":${allocated},"fee_share":${fee},"provisional":${isProvisional}}\n`
}

function writeText(writer: ByteWriter, text: string | null): void {
  if (text === null) writer.ascii('null')
  else if (!writer.quoted(text, PLAIN)) writer.text(JSON.stringify(text))
}

/** The fields of an object, without its braces. */
function fieldsText(object: object): string {
  return JSON.stringify(object).slice(1, -1)
}
