/** What the formats of exports have in common: how an entry becomes a line. */

import { type ByteWriter, encoded } from '../../../lib/byte-writer.ts'
import type { UsageDetails } from '../../../shared/usage.ts'
import { isCostMismatch } from '../../selection/contract.ts'
import type { TokenEntry } from '../schema.ts'
import { wireDivision } from '../wire.ts'
import type { ExportedCosts } from './exported-costs.ts'
import { AT, type CellName, type ExportedRow, type Referred, type ReferredRow } from './store/export.ts'

/** Parts of a line that many entries share, as they are written. */
export interface SharedTexts<Part extends string = string> {
  /** By the position of the entry in its page. */
  parts: Record<Part, readonly Uint8Array[]>
  costs: readonly ExportedCosts[]
  /** Of the column `usage_details`. */
  detailsOf(column: string | null): readonly Uint8Array[]
}

/** Writes a row that an entry refers to, or that it refers to none. */
type ReferredText<Kind extends Referred> = (row: ReferredRow<Kind> | null) => string

/**
 * A part of a line: the rows that an entry refers to, one after the other, with what is around them in every line. Copying
 * one long text costs less than copying several.
 */
export type SharedPart = { readonly [Kind in Referred]?: ReferredText<Kind> }

type CellOf<Value> = { [Name in CellName]: ExportedRow[(typeof AT)[Name]] extends Value ? Name : never }[CellName]

/** What a line has next. */
export type LineStep<Part extends string> =
  /** The same in all lines. */
  | { text: string }
  | { part: Part }
  | { integer: CellOf<number | null> }
  /** An amount, by the name of its dollars. */
  | { money: 'reportedDollars' | 'listDollars' }
  | { moment: CellOf<number> }
  /** One of our own constants. */
  | { word: CellOf<string> }
  /** Text of any characters. */
  | { any: CellOf<string | null> }
  /** One of the parts with details, by its position. */
  | { details: number }
  | { special: 'total' | 'cost' }
  /** What was paid, as ASCII characters. */
  | { paid: (costs: ExportedCosts) => string }
  /** ASCII characters that few entries have, or one of few constants. */
  | { rare: (row: ExportedRow) => string }
  | { further: (writer: ByteWriter, row: ExportedRow) => void }

/** A format of an export. */
export interface LineFormat<Part extends string = string> {
  /** The first line, with its line end; empty if there is none. */
  heading: string
  /** The last of the cells that it shows. */
  last: CellName
  parts: Record<Part, SharedPart>
  /** The parts of a line that show the details; most entries have none, or the same as others. */
  details: (details: UsageDetails | null) => string[]
  /** A number that there is not. */
  none: string
  moment: (writer: ByteWriter, moment: number) => void
  any: (writer: ByteWriter, text: string | null) => void
  steps: readonly LineStep<Part>[]
}

/** A step with what it needs, the same properties for all of them. */
interface Compiled {
  as: number
  at: number
  bytes: Uint8Array
  found: readonly Uint8Array[]
  textOf: (row: ExportedRow) => string
  write: (writer: ByteWriter, row: ExportedRow) => void
  paidText: (costs: ExportedCosts) => string
}

/** The properties of a step, one of which each has. */
const STEPS = [
  'text',
  'part',
  'integer',
  'money',
  'moment',
  'word',
  'any',
  'details',
  'total',
  'cost',
  'rare',
  'paid',
  'further',
]
const [TEXT, PART, INTEGER, MONEY, MOMENT, WORD, ANY, DETAILS, TOTAL, COST, RARE, PAID] = STEPS.keys()

function compiled<Part extends string>(step: LineStep<Part>, { parts }: SharedTexts<Part>): Compiled {
  const [[name, value]] = Object.entries(step) as [[string, unknown]]
  const isCell = typeof value === 'string' && value in AT
  return {
    as: STEPS.indexOf(name === 'special' ? (value as string) : name),
    at: name === 'special' ? Number(AT.reportedDollars) : isCell ? Number(AT[value as CellName]) : Number(value) || 0,
    bytes: encoded(name === 'text' ? (value as string) : ''),
    found: name === 'part' ? parts[value as Part] : [],
    textOf: value as Compiled['textOf'],
    write: value as Compiled['write'],
    paidText: value as Compiled['paidText'],
  }
}

/**
 * Writes lines by a table: a function with all steps one after the other is so large that compiling it takes longer than
 * writing some hundred thousand lines.
 */
export function lineWriter<Part extends string>(format: LineFormat<Part>, texts: SharedTexts<Part>) {
  const steps = format.steps.map((step) => compiled(step, texts))
  const none = encoded(format.none)
  /** @param index the position of the row in its page */
  return (writer: ByteWriter, row: ExportedRow, index: number): void => {
    const cells = row as unknown as readonly never[]
    for (let step = 0; step < steps.length; step += 1) {
      const { as, at, bytes, found, textOf, write, paidText } = steps[step]!
      if (as === TEXT) writer.bytes(bytes)
      else if (as === PART) writer.bytes(found[index]!)
      else if (as === INTEGER) {
        if (cells[at] === null) writer.bytes(none)
        else writer.integer(cells[at]!)
      } else if (as === MONEY || as === COST) {
        const dollars = as === COST && row[AT.reportedDollars] === null ? Number(AT.listDollars) : at
        if (cells[dollars] === null) writer.bytes(none)
        else writer.money(cells[dollars]!, cells[dollars + 1]!)
      } else if (as === MOMENT) format.moment(writer, cells[at]!)
      else if (as === WORD) writer.ascii(cells[at]!)
      else if (as === ANY) format.any(writer, cells[at]!)
      else if (as === DETAILS) writer.bytes(texts.detailsOf(row[AT.usageDetails])[at]!)
      else if (as === TOTAL) {
        writer.integer(row[AT.input] + row[AT.output] + row[AT.cacheRead] + row[AT.cacheWrite] + row[AT.cacheWrite1h])
      } else if (as === RARE) writer.ascii(textOf(row))
      else if (as === PAID) writer.ascii(paidText(texts.costs[index]!))
      else write(writer, row)
    }
  }
}

/** The share that an entry is of a divided one. */
export function divisionOf(row: ExportedRow): TokenEntry['division'] {
  const amendment = row[AT.amendment]
  return amendment === null ? null : wireDivision(JSON.parse(amendment))
}

export function isMismatch(row: ExportedRow): boolean {
  const reported = row[AT.reportedDollars]
  const listed = row[AT.listDollars]
  // Less than a dollar apart, like most amounts.
  if (reported === null || listed === null || reported === listed) return false
  return isCostMismatch({
    input: row[AT.input],
    output: row[AT.output],
    cacheRead: row[AT.cacheRead],
    cacheWrite: row[AT.cacheWrite],
    cacheWrite1h: row[AT.cacheWrite1h],
    reportedCost: nanosOf(reported, row[AT.reportedNanos]),
    listValue: nanosOf(listed, row[AT.listNanos]),
  })
}

function nanosOf(dollars: number, nanos: number): bigint {
  return BigInt(dollars) * 1_000_000_000n + BigInt(nanos)
}
