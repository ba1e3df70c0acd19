/** Helpers of the client, project and ticket commands. */
import type { Command } from 'commander'
import type { Nanos } from '../lib/money.ts'
import { eachPage } from '../lists.ts'
import { CommandError } from './failures.ts'
import { print } from './terminal/print.ts'
import type { DatabaseFlags } from './with-services.ts'

export interface WorkFlags extends DatabaseFlags {
  json?: boolean
}

/** What a list of work takes. */
export interface ListFlags extends WorkFlags {
  search?: string
  archived?: boolean
  all?: boolean
}

/** The services, loaded with the database and not before: `--help` does without them. */
export const work = () => import('../features/projects/service.ts')

/** The word that clears a field. */
const NONE = 'none'

/** A text that may be cleared; absent stays absent. */
export function textOrNone(text: string | undefined): string | null | undefined {
  return text === NONE ? null : text
}

/** A percentage in parts per million. */
export async function markupOf(text: string | undefined): Promise<number | null | undefined> {
  if (text === undefined || text === NONE) return textOrNone(text) as null | undefined
  const ppm = (await work()).parseMarkup(text)
  if (ppm !== undefined) return ppm
  throw new CommandError(
    '--markup is not valid. Use a percentage from -100 to 10000 with at most 4 decimals, such as 12.5, or none.',
    2,
  )
}

export async function budgetOf(text: string | undefined): Promise<Nanos | null | undefined> {
  if (text === undefined || text === NONE) return textOrNone(text) as null | undefined
  const nanos = (await work()).parseBudget(text)
  if (nanos !== undefined) return nanos
  throw new CommandError('--budget is not valid. Use US dollars from 0 to 1000000000, such as 2500, or none.', 2)
}

/** As in a query of the API: repeated, or separated by commas. */
export function collect(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(',')]
}

/** Throws if a change names no fields. */
export function requireFields(fields: object, command: Command): void {
  if (Object.values(fields).some((value) => value !== undefined)) return
  const options = command.options.map(({ long }) => long).filter((long) => long !== '--json')
  throw new CommandError(`Nothing to change. Use ${options.join(', ')}.`, 2)
}

/** Which of archived and other things a list shows. */
export function archivedOf({ archived, all }: ListFlags): 'true' | 'all' | undefined {
  return all ? 'all' : archived ? 'true' : undefined
}

/** Every row of a list, however long it is. */
export async function everyPage<Row>(
  list: (page: { after: number | undefined; limit: number }) => Promise<Row[]>,
  keyOf: (row: Row) => number,
): Promise<Row[]> {
  return (await Array.fromAsync(eachPage(list, keyOf))).flat()
}

/** Exact numbers are raw JSON, whose text is that of the JSON. */
export function numberText(number: number | null | undefined): string {
  return number === null || number === undefined ? '–' : JSON.stringify(number)
}

export function percentText(percent: number | null | undefined): string {
  return percent === null || percent === undefined ? '–' : `${JSON.stringify(percent)}%`
}

/** A line for each field that has a value. */
export function printFields(fields: [name: string, value: string | null | undefined][]): void {
  for (const [name, value] of fields) {
    if (value !== null && value !== undefined && value !== '–') print(`${name.padEnd(12)} ${value}`)
  }
}

export function sinceText(archivedAt: string | null): string | null {
  return archivedAt && `archived ${archivedAt.slice(0, 10)}`
}
