/**
 * Commands of operations. Arguments, flags and their checks follow from the operation; a command adds how it is called, and
 * what people read.
 */
import type { Static, TSchema } from '@sinclair/typebox'
import { type Command, Option } from 'commander'
import { exactNumber } from '../lib/exact-json.ts'
import type { AnyAction, AnyListing, Call, ResultOf } from '../operations/operation.ts'
import { everyRow, type Rows } from '../schema/lists.ts'
import type { QueryTexts } from '../schema/query.ts'
import type { Services } from '../services.ts'
import { checked } from './flags/body.ts'
import { columnsOption, wideOption } from './flags/columns.ts'
import { asksFirst } from './flags/confirmation.ts'
import { type FieldFlags, fieldFlagsOf } from './flags/fields.ts'
import { emptyText } from './flags/filters.ts'
import { NONE } from './flags/none.ts'
import { collect, examples, requireFields } from './flags/options.ts'
import { readYesNo, YES_NO } from './flags/yes-no.ts'
import type { ColumnFlags } from './terminal/columns.ts'
import { confirm } from './terminal/confirm.ts'
import { type Column, note, print, printFields, printJson, printJsonList, printTable } from './terminal/print.ts'
import { type CommandFlags, type Self, withServices } from './with-services.ts'

/** A flag of a field that differs from what its schema says. */
interface Flag {
  /** `--tax <percent>`; without a value, it sets `value`. */
  flag: string
  doc?: string
  value?: string | boolean | string[]
  /** The value as the field has it. Throws `InvalidArgumentError` for what it cannot be. */
  read?: (text: string) => unknown
  /** The other flag that it cannot be used with. */
  conflicts?: string
}

interface Called {
  /** The last word of the command. */
  name: string
  /** The summary of the operation by default. */
  description?: string
  /** How the argument for a parameter of the path is called: `client` for `:id`. */
  subject?: string
  /** Fields of the body that are arguments. */
  positional?: readonly string[]
  /** Of fields of the query and the body. */
  flags?: Record<string, string | Flag | readonly Flag[]>
  examples: readonly string[]
}

/** What the services of the command line suffice for. */
export type Runnable = { run: (needs: Services, call: never) => Promise<unknown> }

interface ActionCommand<Of, First> extends Called {
  /** Flags of the command alone. */
  options?: readonly Option[]
  /** What is done instead, with an admin's rights: for flags of the command alone. */
  run?: (services: Services, self: Self, body: BodyOf<Of>, flags: never) => Promise<ResultOf<Of>>
  /** What is read before `confirm`, with the same parameters. */
  first?: First
  /** What to ask before it is done: about the parameter of the path, and what `first` has read. */
  confirm?: (subject: string, found: ResultOf<First>) => string
  /** A sentence or the fields of a result, unless it prints them itself. */
  show: (result: ResultOf<Of>, subject: string) => string | Parameters<typeof printFields>[0] | undefined
}

type BodyOf<Of> = Of extends { body?: infer Body } ? (Body extends TSchema ? Static<Body> : undefined) : undefined

export function addAction<Of extends AnyAction & Runnable, First extends AnyAction & Runnable>(
  group: Command,
  operation: Of,
  presented: ActionCommand<Of, First>,
): void {
  const { options = [], run, first, confirm: question, show } = presented
  const command = declare(group.command(presented.name), operation, presented)
  for (const option of options) command.addOption(option)
  if (question) asksFirst(command)
  if ([operation.answer].flat().some(({ status }) => status !== 204)) command.option('--json', 'print JSON')
  command.action(async (...args: unknown[]) => {
    const flags = command.optsWithGlobals<CommandFlags & { yes?: boolean }>()
    const call = await callOf(operation, command, presented, args)
    const [subject = ''] = Object.values(call.params)
    const result = (await withServices(flags, async (services, self) => {
      const made = madeBy(self, call) as never
      if (question && !flags.yes) {
        const found = await first?.run(services, made)
        await confirm(question(subject, found as ResultOf<First>), flags)
      }
      return run ? run(services, self, call.body as BodyOf<Of>, flags as never) : operation.run(services, made)
    })) as ResultOf<Of>
    if (flags.json) return printJson(result)
    const shown = show(result, subject)
    if (typeof shown === 'string') print(shown)
    else if (shown) printFields(shown)
  })
}

interface ListCommand<Body> extends Partial<Called> {
  columns: Column<Body>[]
  /** Of the query, where no flag says otherwise. */
  usual?: QueryTexts
  /** In which order they are shown; as the operation lists them by default. */
  order?: (one: Body, other: Body) => number
  /** What the list is of, if flags narrow it: `active clients`. */
  listed?: (flags: Record<string, unknown>) => string
  /** How one is made. */
  howToAdd: string
}

/** Of a listing, what the query may have beside its own filters. */
const OF_EVERY_LIST = new Set(['sort', 'order'])

export function addListing<Of extends AnyListing & { rows: (needs: Services, call: never) => unknown }>(
  group: Command,
  operation: Of,
  presented: ListCommand<ResultOf<Of> extends { data: (infer Body)[] } ? Body : never>,
): void {
  const { columns, usual, order, howToAdd, listed = () => operation.plural } = presented
  const called = { name: 'list', examples: [`tally ${group.name()} list`], ...presented }
  const command = declare(group.command(called.name), operation, called)
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON')
  command.action(async () => {
    const flags = command.optsWithGlobals<CommandFlags & ColumnFlags>()
    const { query: given } = await callOf(operation, command, called, [])
    const query = { ...usual, ...given }
    const bodies = await withServices(flags, async (services, self) => {
      const needs = services as never
      const call = madeBy(self, { params: {}, query, body: undefined })
      const filter = operation.read(query).filter as never
      await operation.check?.(needs, filter, self)
      const rows = operation.rows(needs, call) as Rows<unknown, string, unknown>
      const found = (await Array.fromAsync(everyRow(rows, filter))).flat()
      return found.map((row) => operation.bodyOf(row as never, call) as never)
    })
    if (flags.json) return printJsonList(bodies)
    if (order) bodies.sort(order)
    printTable(columns, bodies, flags)
    if (bodies.length === 0) note(emptyText(flags, listed(command.opts()), howToAdd))
  })
}

/** Adds what the operation says: description, arguments and flags. */
function declare(command: Command, operation: AnyAction | AnyListing, called: Called): Command {
  const { subject, positional = [], flags = {}, examples: lines } = called
  command.description(called.description ?? operation.summary)
  for (const description of Object.values<string>(operation.params ?? {}))
    command.argument(`<${subject}>`, docOf(description))
  const fields = fieldsOf(operation)
  for (const name of positional) command.argument(`<${name}>`, docOf(fields.get(name)!.schema.description as string))
  const isChange = 'method' in operation && operation.method === 'PATCH'
  const declared: FieldFlags = new Map()
  for (const [name, { schema, isRequired }] of fields) {
    if (positional.includes(name) || (OF_EVERY_LIST.has(name) && flags[name] === undefined)) continue
    for (const given of [flags[name] ?? flagOf(name, schema)].flat()) {
      const flag: Flag = typeof given === 'string' ? { flag: given } : given
      const option = optionOf(flag, schema, { replaces: isChange })
      if (isRequired) option.makeOptionMandatory()
      if (flag.conflicts !== undefined) option.conflicts(flag.conflicts)
      command.addOption(option)
      declared.set(option.attributeName(), { name, long: option.long!, value: flag.value })
    }
  }
  fieldFlagsOf.set(command, declared)
  return command.addHelpText('after', examples(...lines))
}

/** A field, of the query or the body. */
interface Field {
  schema: TSchema
  isRequired: boolean
}

function fieldsOf(operation: AnyAction | AnyListing): Map<string, Field> {
  const body = 'body' in operation ? operation.body : undefined
  return new Map([
    ...Object.entries(operation.query ?? {}).map(([name, schema]) => [name, { schema, isRequired: false }] as const),
    ...Object.entries((body?.properties ?? {}) as Record<string, TSchema>).map(
      ([name, schema]) => [name, { schema, isRequired: body?.required?.includes(name) ?? false }] as const,
    ),
  ])
}

/** A value that may also be null, without the null. */
function nonNullOf(schema: TSchema): { schema: TSchema; isNullable: boolean } {
  const alternatives: TSchema[] | undefined = schema.anyOf
  const others = alternatives?.filter(({ type }) => type !== 'null')
  if (others?.length !== 1 || others.length === alternatives!.length) return { schema, isNullable: false }
  return { schema: others[0]!, isNullable: true }
}

/** What each of several values is, of a field that has any number of them. */
function itemOf(schema: TSchema): TSchema | undefined {
  const alternatives: TSchema[] = schema.anyOf ?? [schema]
  return alternatives.find(({ type }) => type === 'array')?.items
}

const PLACEHOLDERS: Record<string, string> = { boolean: YES_NO, integer: 'number', number: 'number' }

function flagOf(name: string, schema: TSchema): string {
  const flag = `--${name.replaceAll('_', '-')}`
  const value = itemOf(schema) ?? nonNullOf(schema).schema
  return `${flag} <${value.enum ? value.enum.join('|') : (PLACEHOLDERS[value.type] ?? 'text')}>`
}

function optionOf({ flag, doc, value, read }: Flag, schema: TSchema, { replaces }: { replaces: boolean }): Option {
  const item = itemOf(schema)
  const given = nonNullOf(schema)
  const text = doc ?? docOf((schema.description ?? given.schema.description) as string)
  const isExplained = !replaces || !given.isNullable || new RegExp(`\\b${NONE}\\b`).test(text)
  const hints =
    item && value === undefined
      ? [...(replaces ? ['replaces the list'] : []), 'repeatable or comma-separated']
      : isExplained
        ? []
        : [`${NONE} clears it`]
  const option = new Option(flag, [text, ...hints].join('; '))
  if (value !== undefined) return option
  if (read) return option.argParser(read)
  if (item) return option.argParser<string[]>(collect)
  if (given.schema.type === 'boolean') return option.argParser(readYesNo)
  return given.schema.enum ? option.choices(given.schema.enum) : option
}

/** A description's first sentence as a part of one: `E-mail address for bills.` as `e-mail address for bills`. */
function docOf(description: string): string {
  const [sentence = ''] = description.split(/\.( |$)/)
  const text = sentence.replace(/\bnull\b/g, NONE)
  return /^[A-Z][A-Z0-9]/.test(text) ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}

interface CommandCall {
  params: Record<string, string>
  query: QueryTexts
  body: unknown
}

/** With the rights of an admin. */
const madeBy = (self: Self, call: CommandCall): Call => ({ ...call, viewer: self.viewer, asker: self, party: self })

/** What a command line says. Throws 422 for what the schema of the body does not allow. */
async function callOf(
  operation: AnyAction | AnyListing,
  command: Command,
  { positional = [] }: Called,
  args: readonly unknown[],
): Promise<CommandCall> {
  const names = Object.keys(operation.params ?? {})
  const params = Object.fromEntries(names.map((name, at) => [name, args[at] as string]))
  const given = new Map<string, unknown>(positional.map((name, at) => [name, args[names.length + at]]))
  for (const [attribute, { name, value }] of fieldFlagsOf.get(command)!) {
    if (command.getOptionValueSource(attribute) !== 'cli') continue
    given.set(name, value ?? command.getOptionValue(attribute))
  }
  const query = Object.fromEntries(
    Object.keys(operation.query ?? {}).flatMap((name) => (given.has(name) ? [[name, textOf(given.get(name))]] : [])),
  ) as QueryTexts
  if (!('body' in operation) || !operation.body) return { params, query, body: undefined }
  const body = await bodyOf(operation.body, given)
  if (operation.method === 'PATCH') requireFields(body, command)
  return { params, query, body }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/

/** The body that a request would have, read and checked like one. */
async function bodyOf(schema: TSchema, given: ReadonlyMap<string, unknown>): Promise<object> {
  const fields = Object.entries(schema.properties as Record<string, TSchema>).flatMap(([name, field]) =>
    given.has(name) ? [[name, jsonOf(field, given.get(name))]] : [],
  )
  return (await checked(schema, Object.fromEntries(fields))) as object
}

/** A value as a query has it. */
const textOf = (value: unknown) => (typeof value === 'boolean' ? String(value) : value)

/** A value of the command line as JSON. A text that is not a number stays one, which the check refuses. */
function jsonOf(schema: TSchema, value: unknown): unknown {
  const { schema: one, isNullable } = nonNullOf(schema)
  if (typeof value !== 'string') return value
  if (isNullable && value === NONE) return null
  return (one.type === 'number' || one.type === 'integer') && NUMBER.test(value) ? exactNumber(value) : value
}
