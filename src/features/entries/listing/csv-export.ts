/** Entries as lines of CSV: the same as `entryColumns` produce, which a test compares. */
import type { LabelMap } from '../../../database/schema/records.ts'
import { type ByteWriter, plainCharacters } from '../../../lib/byte-writer.ts'
import { dayText } from '../../../lib/calendar.ts'
import { csvCell, csvLine } from '../../../lib/csv-text.ts'
import { timestamp } from '../../../lib/duration.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { MEDIA_KINDS, type UsageDetails } from '../../../shared/usage.ts'
import { entryColumns, labelColumns, labelsText } from './csv.ts'
import { divisionOf, isMismatch, type LineFormat, type LineStep } from './export-lines.ts'
import type { ExportedCosts } from './exported-costs.ts'
import { AT, type ExportedRow } from './store/export.ts'

/** Those that need no quotes, wherever they are. */
const PLAIN = plainCharacters({ except: '",' })

const YEAR_0 = Date.parse('0000-01-01T00:00:00Z')
const YEAR_10000 = Date.parse('+010000-01-01T00:00:00Z')

type CsvPart = 'manager' | 'managerId' | 'agent' | 'price' | 'place' | 'labels' | 'labelCells' | 'links' | 'funding'

/** With a column for each of the labels with these names. */
export const csvFormat = (basis: CostBasis, labelNames: readonly string[]): LineFormat<CsvPart> => ({
  heading: csvLine([...entryColumns(basis), ...labelColumns(labelNames)].map(({ heading }) => heading)),
  last: 'createdAt',
  parts: {
    manager: { managers: (row) => `${csvCell(row?.name ?? '')},` },
    managerId: { managers: (row) => `,${row?.id ?? ''},${csvCell(row?.email ?? '')},` },
    agent: { harnesses: nameCell, agents: nameCell, models: nameCell, providers: nameCell },
    price: { prices: (row) => `${row?.id ?? ''},` },
    place: {
      projects: (row) => `${csvCell(row?.project ?? '')},`,
      tickets: (row) => `${csvCell(row?.ticket ?? '')},`,
    },
    labels: { labels: (row) => `${row ? csvCell(labelsText(row.labels)) : ''},` },
    funding: { fundings: (row) => `,${row?.funding.funding ?? 'unknown'},${csvCell(row?.fundingPlan?.name ?? '')}` },
    labelCells: { labels: (row) => `${labelCells(labelNames, row?.labels)}\r\n` },
    links: {
      duplicated: (row) => `${row?.id ?? ''},`,
      bills: (row) => `${csvCell(row?.number ?? '')},`,
      sheets: (row) => `${row?.id ?? ''},`,
    },
  },
  details: (details) => [`${detailsCells(details)},`],

  none: '',
  moment: writeMoment,
  any: writeCell,

  /** Cells in the order of `entryColumns`. Ids, timestamps, numbers and our own constants need no quotes. */
  steps: [
    { text: 'ent_' },
    { word: 'uid' },
    ...afterCommas({ word: 'status' }, { word: 'source' }, { part: 'manager' }),
    { rare: (row) => (row[AT.sheetId] === null ? row[AT.managerBy] : '') },
    ...afterCommas({ part: 'agent' }),
    { moment: 'startedAt' },
    ...afterCommas(
      { moment: 'endedAt' },
      { integer: 'input' },
      { integer: 'output' },
      { integer: 'cacheRead' },
      { integer: 'cacheWrite' },
      { integer: 'cacheWrite1h' },
      { special: 'total' },
      { integer: 'requests' },
      basis === 'cost'
        ? { special: 'cost' }
        : basis === 'list'
          ? { money: 'listDollars' }
          : { paid: ({ cost }) => cost ?? '' },
      { money: 'reportedDollars' },
      { money: 'listDollars' },
      { part: 'price' },
    ),
    { any: 'priceNote' },
    ...afterCommas({ part: 'place' }),
    { rare: (row) => row[AT.placedBy] ?? 'unattributed' },
    ...afterCommas({ any: 'summary' }, { part: 'labels' }),
    { any: 'sessionKey' },
    ...afterCommas({ integer: 'part' }, { part: 'links' }),
    { moment: 'createdAt' },
    { rare: (row) => (isMismatch(row) ? ',true,' : ',false,') },
    { details: 0 },
    { rare: changedCells },
    { part: 'managerId' },
    { rare: sliceCells },
    { part: 'funding' },
    { paid: paidCells },
    { part: 'labelCells' },
  ],
})

function afterCommas(...steps: LineStep<CsvPart>[]): LineStep<CsvPart>[] {
  return steps.flatMap((step) => [{ text: ',' }, step])
}

function changedCells(row: ExportedRow): string {
  const corrected = row[AT.corrected]
  const division = divisionOf(row)
  if (corrected === null && division === null) return ',,'
  const share = division ? `,${division.entry},${division.share}` : ',,'
  return `${corrected === null ? '' : JSON.parse(corrected).join(' ')}${share}`
}

function sliceCells(row: ExportedRow): string {
  const activeMs = row[AT.activeMs]
  const sliceDay = row[AT.sliceDay]
  if (activeMs === null && sliceDay === null) return ',,'
  const slice = sliceDay === null ? ',' : `${dayText(sliceDay)},${row[AT.estimated] === 1}`
  return `${activeMs === null ? '' : activeMs / 1_000},${slice}`
}

const paidCells = ({ marginal, allocated, fee, isProvisional }: ExportedCosts) =>
  `,${marginal ?? ''},${allocated ?? ''},${fee ?? ''},${isProvisional}`

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

function writeCell(writer: ByteWriter, text: string | null): void {
  if (text === null || text === '') return
  if (!(isAlphanumeric(text.charCodeAt(0)) && writer.plain(text, PLAIN))) writer.text(csvCell(text))
}

/** A cell that begins with anything else may be a formula. */
function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
}
