/** Entries as lines of JSON: the same as in lists, which a test compares. */
import { type ByteWriter, plainCharacters } from '../../../lib/byte-writer.ts'
import { ZERO_COUNTS } from '../../prices/usage.ts'
import { wireRequestsAbove, wireTokens } from '../wire.ts'
import { isMismatch, type LineFormat } from './export-lines.ts'

/** Those that need no escape in a string. */
const PLAIN = plainCharacters({ except: '"\\' })

const QUOTE = 0x22

export const NDJSON: LineFormat = {
  heading: '',
  none: 'null',
  referred: {
    managers: ({ id, name }) => JSON.stringify({ id, name }),
    names: ({ text }) => JSON.stringify(text),
    prices: ({ id }) => `{"id":"${id}","step":`,
    projects: ({ id, project: key, name }) => JSON.stringify({ id, key, name }),
    tickets: ({ id, ticket: key }) => JSON.stringify({ id, key }),
    rules: ({ id, name, version }) => JSON.stringify({ id, name, version }),
    labels: ({ labels }) => JSON.stringify(labels),
    entries: ({ id }) => JSON.stringify(id),
    bills: ({ id, number }) => JSON.stringify({ id, number }),
    sheets: ({ id }) => JSON.stringify({ id }),
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
    return [fieldsText(shares), fieldsText(others)]
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
    writer.ascii('","agent_manager":')
    writer.bytes(texts.managers.of(row.managerId))
    writer.ascii(',"manager_by":')
    writeConstant(writer, row.sheetId === null ? row.managerBy : null)
    writer.ascii(',"agent_harness":')
    writer.bytes(texts.names.of(row.harnessId))
    writer.ascii(',"agent_name":')
    writer.bytes(texts.names.of(row.agentId))
    writer.ascii(',"model":')
    writer.bytes(texts.names.of(row.modelId))
    writer.ascii(',"provider":')
    writer.bytes(texts.names.of(row.providerId))
    writer.ascii(',"started_at":')
    writeMoment(writer, row.startedAt)
    writer.ascii(',"ended_at":')
    writeMoment(writer, row.endedAt)
    writer.ascii(',"tokens":{"input":')
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
    writer.ascii(',')
    writer.bytes(shares!)
    writer.ascii('},"requests":')
    writeInteger(writer, row.requests)
    writer.ascii(',')
    writer.bytes(others!)
    writer.ascii(',"cost":')
    if (row.reportedDollars === null) writeMoney(writer, row.listDollars, row.listNanos)
    else writer.money(row.reportedDollars, row.reportedNanos)
    writer.ascii(',"reported_cost":')
    writeMoney(writer, row.reportedDollars, row.reportedNanos)
    writer.ascii(',"list_value":')
    writeMoney(writer, row.listDollars, row.listNanos)
    writer.ascii(',"cost_mismatch":')
    writer.ascii(isMismatch(row) ? 'true' : 'false')
    writer.ascii(',"price":')
    writer.bytes(texts.prices.of(row.priceId))
    if (row.priceId !== null) {
      writer.integer(row.priceStep!)
      writer.ascii(',"note":')
      writeText(writer, row.priceNote)
      writer.ascii('}')
    }
    writer.ascii(',"project":')
    writer.bytes(texts.projects.of(row.projectId))
    writer.ascii(',"ticket":')
    writer.bytes(texts.tickets.of(row.ticketId))
    writer.ascii(',"placement":{"by":')
    writeConstant(writer, row.placedBy ?? 'unattributed')
    writer.ascii(',"rule":')
    writer.bytes(texts.rules.of(row.ruleVersionId))
    writer.ascii(',"note":')
    writeText(writer, row.placementNote)
    writer.ascii(',"named_project":')
    writeText(writer, row.namedProject)
    writer.ascii(',"named_ticket":')
    writeText(writer, row.namedTicket)
    writer.ascii('},"summary":')
    writeText(writer, row.summary)
    writer.ascii(',"labels":')
    if (row.labelSetId === null) writer.ascii('{}')
    else writer.bytes(texts.labels.of(row.labelSetId))
    writer.ascii(',"session_id":')
    writeText(writer, row.sessionKey)
    writer.ascii(',"part":')
    writeInteger(writer, row.part)
    writer.ascii(',"continues":')
    writer.bytes(texts.entries.of(row.continuesId))
    writer.ascii(',"superseded":')
    writer.ascii(row.superseded === 1 ? 'true' : 'false')
    writer.ascii(',"possible_duplicate_of":')
    writer.bytes(texts.entries.of(row.duplicateId))
    writer.ascii(',"bill":')
    writer.bytes(texts.bills.of(row.billId))
    writer.ascii(',"sheet":')
    writer.bytes(texts.sheets.of(row.sheetId))
    writer.ascii(',"created_at":')
    writeMoment(writer, row.createdAt)
    writer.ascii(',"updated_at":')
    if (row.updatedAt === null) writer.ascii('null')
    else writeMoment(writer, row.updatedAt)
    writer.ascii('}\n')
  },
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
