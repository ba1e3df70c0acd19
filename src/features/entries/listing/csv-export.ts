/** Entries as lines of CSV: the same as `ENTRY_COLUMNS` produce, which a test compares. */
import type { LabelMap } from '../../../database/schema/records.ts'
import { type ByteWriter, plainCharacters } from '../../../lib/byte-writer.ts'
import { dayText } from '../../../lib/calendar.ts'
import { csvCell, csvLine } from '../../../lib/csv-text.ts'
import { timestamp } from '../../../lib/duration.ts'
import { MEDIA_KINDS, type UsageDetails } from '../../../shared/usage.ts'
import { ENTRY_COLUMNS, labelColumns, labelsText } from './csv.ts'
import { divisionOf, isMismatch, type LineFormat } from './export-lines.ts'

/** Those that need no quotes, wherever they are. */
const PLAIN = plainCharacters({ except: '",' })

const COMMA = 0x2c

const YEAR_0 = Date.parse('0000-01-01T00:00:00Z')
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z')

/** With a column for each of the labels with these names. */
export const csvFormat = (labelNames: readonly string[]): LineFormat => ({
  heading: csvLine([...ENTRY_COLUMNS, ...labelColumns(labelNames)].map(({ heading }) => heading)),
  referred: {
    managers: (row) => `${csvCell(row?.name ?? '')},`,
    managerIds: (row) => `,${row?.id ?? ''},${csvCell(row?.email ?? '')}`,
    harnesses: nameCell,
    agents: nameCell,
    models: nameCell,
    providers: nameCell,
    prices: (row) => `${row?.id ?? ''},`,
    projects: (row) => `${csvCell(row?.project ?? '')},`,
    tickets: (row) => `${csvCell(row?.ticket ?? '')},`,
    rules: () => '',
    labels: (row) => `${row ? csvCell(labelsText(row.labels)) : ''},`,
    labelCells: (row) => labelCells(labelNames, row?.labels),
    continued: () => '',
    duplicated: (row) => `${row?.id ?? ''},`,
    bills: (row) => `${csvCell(row?.number ?? '')},`,
    sheets: (row) => `${row?.id ?? ''},`,
  },
  unused: ['rules', 'continued'],
  details: (details) => [`${detailsCells(details)},`],

  /** Cells in the order of `ENTRY_COLUMNS`. Ids, timestamps, numbers and our own constants need no quotes. */
  line(writer, row, texts) {
    writer.ascii('ent_')
    writer.hex(row.uid)
    writer.byte(COMMA)
    writer.ascii(row.status)
    writer.byte(COMMA)
    writer.ascii(row.source)
    writer.byte(COMMA)
    writer.bytes(texts.managers.of(row.managerId))
    if (row.sheetId === null) writer.ascii(row.managerBy)
    writer.byte(COMMA)
    writer.bytes(texts.harnesses.of(row.harnessId))
    writer.bytes(texts.agents.of(row.agentId))
    writer.bytes(texts.models.of(row.modelId))
    writer.bytes(texts.providers.of(row.providerId))
    writeMoment(writer, row.startedAt)
    writer.byte(COMMA)
    writeMoment(writer, row.endedAt)
    writer.byte(COMMA)
    writer.integer(row.input)
    writer.byte(COMMA)
    writer.integer(row.output)
    writer.byte(COMMA)
    writer.integer(row.cacheRead)
    writer.byte(COMMA)
    writer.integer(row.cacheWrite)
    writer.byte(COMMA)
    writer.integer(row.cacheWrite1h)
    writer.byte(COMMA)
    writer.integer(row.input + row.output + row.cacheRead + row.cacheWrite + row.cacheWrite1h)
    writer.byte(COMMA)
    writeInteger(writer, row.requests)
    writer.byte(COMMA)
    if (row.reportedDollars === null) writeMoney(writer, row.listDollars, row.listNanos)
    else writer.money(row.reportedDollars, row.reportedNanos)
    writer.byte(COMMA)
    writeMoney(writer, row.reportedDollars, row.reportedNanos)
    writer.byte(COMMA)
    writeMoney(writer, row.listDollars, row.listNanos)
    writer.byte(COMMA)
    writer.bytes(texts.prices.of(row.priceId))
    writeCell(writer, row.priceNote)
    writer.byte(COMMA)
    writer.bytes(texts.projects.of(row.projectId))
    writer.bytes(texts.tickets.of(row.ticketId))
    writer.ascii(row.placedBy ?? 'unattributed')
    writer.byte(COMMA)
    writeCell(writer, row.summary)
    writer.byte(COMMA)
    writer.bytes(texts.labels.of(row.labelSetId))
    writeCell(writer, row.sessionKey)
    writer.byte(COMMA)
    writeInteger(writer, row.part)
    writer.byte(COMMA)
    writer.bytes(texts.duplicated.of(row.duplicateId))
    writer.bytes(texts.bills.of(row.billId))
    writer.bytes(texts.sheets.of(row.sheetId))
    writeMoment(writer, row.createdAt)
    writer.byte(COMMA)
    writer.ascii(isMismatch(row) ? 'true,' : 'false,')
    writer.bytes(texts.details.of(row.usageDetails)[0]!)
    if (row.corrected !== null) writer.ascii(JSON.parse(row.corrected).join(' '))
    const division = divisionOf(row)
    writer.ascii(division ? `,${division.entry},${division.share}` : ',,')
    writer.bytes(texts.managerIds.of(row.managerId))
    writer.byte(COMMA)
    if (row.activeMs !== null) writer.ascii(`${row.activeMs / 1_000}`)
    writer.ascii(row.sliceDay === null ? ',,' : `,${dayText(row.sliceDay)},${row.estimated === 1}`)
    writer.bytes(texts.labelCells.of(row.labelSetId))
    writer.ascii('\r\n')
  },
})

function nameCell(row: { text: string } | null): string {
  return `${csvCell(row?.text ?? '')},`
}

/** Each with the comma before it. */
function labelCells(names: readonly string[], labels: LabelMap = {}): string {
  return names.map((name) => `,${csvCell(Object.hasOwn(labels, name) ? labels[name]! : '')}`).join('')
}

function detailsCells(details: UsageDetails | null): string {
  const { serviceTier, speed, region, tools, media } = details ?? {}
  const texts = [serviceTier, speed, region, tools && labelsText(tools)].map((text) => csvCell(text ?? ''))
  return [...texts, ...MEDIA_KINDS.map((kind) => media?.[kind] ?? '')].join(',')
}

/** In a year of another length, a timestamp begins with a sign, as a formula does. */
function writeMoment(writer: ByteWriter, moment: number): void {
  if (moment >= YEAR_0 && moment < YEAR_10000) writer.timestamp(moment)
  else writer.text(csvCell(timestamp(moment)))
}

function writeInteger(writer: ByteWriter, number: number | null): void {
  if (number !== null) writer.integer(number)
}

function writeMoney(writer: ByteWriter, dollars: number | null, nanos: number): void {
  if (dollars !== null) writer.money(dollars, nanos)
}

function writeCell(writer: ByteWriter, text: string | null): void {
  if (text === null || text === '') return
  if (!(isAlphanumeric(text.charCodeAt(0)) && writer.plain(text, PLAIN))) writer.text(csvCell(text))
}

/** A cell that begins with anything else may be a formula. */
function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
}
