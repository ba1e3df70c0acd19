/** Entries as lines of JSON: the same as in lists, which a test compares. */
import { type ByteWriter, encoded, plainCharacters } from '../../../lib/byte-writer.ts'
import { dayText } from '../../../lib/calendar.ts'
import { ZERO_COUNTS } from '../../../shared/usage.ts'
import { wireRequestsAbove, wireTokens } from '../wire.ts'
import { divisionOf, isMismatch, type LineFormat } from './export-lines.ts'
import type { ExportedRow } from './store/export.ts'

/** Those that need no escape in a string. */
const PLAIN = plainCharacters({ except: '"\\' })

const QUOTE = 0x22

const TOKENS = encoded('","tokens":{"input":')
const MISMATCH = encoded(',"cost_mismatch":true')
const NO_MISMATCH = encoded(',"cost_mismatch":false')
const NO_ACTIVE_TIME = encoded(',"active_seconds":null')
const NO_SLICE = encoded(',"slice":null')
const NO_NOTES = encoded(',"note":null,"named_project":null,"named_ticket":null},"summary":')

export const NDJSON: LineFormat = {
  heading: '',
  referred: {
    managers: (row) => `","agent_manager":${json(row && { id: row.id, name: row.name })},"manager_by":`,
    managerIds: () => '',
    labelCells: () => '',
    harnesses: (row) => `,"agent_harness":${json(row?.text ?? null)}`,
    agents: (row) => `,"agent_name":${json(row?.text ?? null)}`,
    models: (row) => `,"model":${json(row?.text ?? null)}`,
    providers: (row) => `,"provider":${json(row?.text ?? null)},"started_at":"`,
    prices: (row) => `,"price":${row ? `{"id":"${row.id}","step":` : 'null'}`,
    projects: (row) => `,"project":${json(row && { id: row.id, key: row.project, name: row.name })}`,
    tickets: (row) => `,"ticket":${json(row && { id: row.id, key: row.ticket })},"placement":{"by":`,
    rules: (row) => `,"rule":${json(row && { id: row.id, name: row.name, version: row.version })}`,
    labels: (row) => `,"labels":${json(row?.labels ?? {})},"session_id":`,
    continued: (row) => `,"continues":${json(row?.id ?? null)},"corrected":`,
    duplicated: (row) => `,"possible_duplicate_of":${json(row?.id ?? null)}`,
    bills: (row) => `,"bill":${json(row && { id: row.id, number: row.number })}`,
    sheets: (row) => `,"sheet":${json(row && { id: row.id })},"created_at":"`,
  },
  unused: ['managerIds', 'labelCells'],
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

  /** Fields in the order of `toTokenEntry`. Ids, timestamps and our own constants need no escapes. */
  line(writer, row, texts) {
    const [shares, others] = texts.details.of(row.usageDetails)
    writer.ascii('{"id":"ent_')
    writer.hex(row.uid)
    writer.ascii('","status":"')
    writer.ascii(row.status)
    writer.ascii('","source":"')
    writer.ascii(row.source)
    writer.bytes(texts.managers.of(row.managerId))
    writeConstant(writer, row.sheetId === null ? row.managerBy : null)
    writer.bytes(texts.harnesses.of(row.harnessId))
    writer.bytes(texts.agents.of(row.agentId))
    writer.bytes(texts.models.of(row.modelId))
    writer.bytes(texts.providers.of(row.providerId))
    writer.timestamp(row.startedAt)
    writer.ascii('","ended_at":"')
    writer.timestamp(row.endedAt)
    writer.bytes(TOKENS)
    writer.integer(row.input)
    writer.ascii(',"output":')
    writer.integer(row.output)
    writer.ascii(',"cache_read":')
    writer.integer(row.cacheRead)
    writer.ascii(',"cache_write":')
    writer.integer(row.cacheWrite)
    writer.ascii(',"cache_write_1h":')
    writer.integer(row.cacheWrite1h)
    writer.ascii(',"total":')
    writer.integer(row.input + row.output + row.cacheRead + row.cacheWrite + row.cacheWrite1h)
    writer.bytes(shares!)
    writeInteger(writer, row.requests)
    if (row.activeMs === null) writer.bytes(NO_ACTIVE_TIME)
    else writer.ascii(`,"active_seconds":${row.activeMs / 1_000}`)
    writer.bytes(others!)
    if (row.reportedDollars === null) writeMoney(writer, row.listDollars, row.listNanos)
    else writer.money(row.reportedDollars, row.reportedNanos)
    writer.ascii(',"reported_cost":')
    writeMoney(writer, row.reportedDollars, row.reportedNanos)
    writer.ascii(',"list_value":')
    writeMoney(writer, row.listDollars, row.listNanos)
    writer.bytes(isMismatch(row) ? MISMATCH : NO_MISMATCH)
    writer.bytes(texts.prices.of(row.priceId))
    if (row.priceId !== null) {
      writer.integer(row.priceStep!)
      writer.ascii(',"note":')
      writeText(writer, row.priceNote)
      writer.ascii('}')
    }
    writer.bytes(texts.projects.of(row.projectId))
    writer.bytes(texts.tickets.of(row.ticketId))
    writeConstant(writer, row.placedBy ?? 'unattributed')
    writer.bytes(texts.rules.of(row.ruleVersionId))
    writeNotes(writer, row)
    writeText(writer, row.summary)
    writer.bytes(texts.labels.of(row.labelSetId))
    writeText(writer, row.sessionKey)
    writer.ascii(',"part":')
    writeInteger(writer, row.part)
    if (row.sliceDay === null) writer.bytes(NO_SLICE)
    else writer.ascii(`,"slice":${json({ day: dayText(row.sliceDay), estimated: row.estimated === 1 })}`)
    writer.bytes(texts.continued.of(row.continuesId))
    writer.ascii(row.corrected === null ? '[]' : json(JSON.parse(row.corrected)))
    writer.ascii(',"division":')
    writer.ascii(json(divisionOf(row)))
    writer.ascii(row.superseded === 1 ? ',"superseded":true' : ',"superseded":false')
    writer.bytes(texts.duplicated.of(row.duplicateId))
    writer.bytes(texts.bills.of(row.billId))
    writer.bytes(texts.sheets.of(row.sheetId))
    writer.timestamp(row.createdAt)
    writer.ascii('","updated_at":')
    if (row.updatedAt === null) writer.ascii('null')
    else writeMoment(writer, row.updatedAt)
    writer.ascii('}\n')
  },
}

const json = (value: unknown): string => JSON.stringify(value)

/** The rest of the placement. Few entries have any of it. */
function writeNotes(writer: ByteWriter, { placementNote, namedProject, namedTicket }: ExportedRow): void {
  if (placementNote === null && namedProject === null && namedTicket === null) {
    writer.bytes(NO_NOTES)
    return
  }
  writer.ascii(',"note":')
  writeText(writer, placementNote)
  writer.ascii(',"named_project":')
  writeText(writer, namedProject)
  writer.ascii(',"named_ticket":')
  writeText(writer, namedTicket)
  writer.ascii('},"summary":')
}

/** The fields of an object, without its braces. */
function fieldsText(object: object): string {
  return JSON.stringify(object).slice(1, -1)
}

function writeConstant(writer: ByteWriter, text: string | null): void {
  if (text === null) writer.ascii('null')
  else writer.ascii(`"${text}"`)
}

function writeMoment(writer: ByteWriter, moment: number): void {
  writer.byte(QUOTE)
  writer.timestamp(moment)
  writer.byte(QUOTE)
}

function writeInteger(writer: ByteWriter, number: number | null): void {
  if (number === null) writer.ascii('null')
  else writer.integer(number)
}

function writeMoney(writer: ByteWriter, dollars: number | null, nanos: number): void {
  if (dollars === null) writer.ascii('null')
  else writer.money(dollars, nanos)
}

function writeText(writer: ByteWriter, text: string | null): void {
  if (text === null) writer.ascii('null')
  else if (!writer.quoted(text, PLAIN)) writer.text(JSON.stringify(text))
}
