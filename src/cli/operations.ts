/**
 * Commands of operations. Arguments, flags and their checks follow from the operation; a command adds how it is called, and
 * what people read.
 */
import type { Static, TProperties, TSchema } from '@sinclair/typebox'
import { Argument, type Command, Option } from 'commander'
import { exactNumber, parseExactJson } from '../lib/exact-json.ts'
import { Serialized } from '../lib/serialized.ts'
import type { AnyAction, AnyListing, Call, ResultOf } from '../operations/operation.ts'
import { listPage } from '../operations/parameters.ts'
import { everyRow, lastPage, type Page, pageOf, type Rows } from '../schema/lists.ts'
import { DEFAULT_LIMIT, LIST_LIMIT, type QueryTexts } from '../schema/query.ts'
import type { Services } from '../services.ts'
import { checked } from './flags/body.ts'
import { columnsOption, wideOption } from './flags/columns.ts'
import { asksFirst } from './flags/confirmation.ts'
import { type FieldFlags, fieldFlagsOf, operationOf } from './flags/fields.ts'
import { emptyText } from './flags/filters.ts'
import { NONE } from './flags/none.ts'
import { collect, examples, requireFields } from './flags/options.ts'
import { addDayAndEarlierFlags, dayTexts } from './flags/period.ts'
import { readYesNo, YES_NO } from './flags/yes-no.ts'
import type { ColumnFlags } from './terminal/columns.ts'
import { confirm } from './terminal/confirm.ts'
import { type Column, note, print, printCsv, printFields, printJson, printTable } from './terminal/print.ts'
import { type CommandFlags, type Self, withServices } from './with-services.ts'

/** A flag of a field that differs from what its schema says. */
interface Flag {
  /** `--tax <percent>`; without a value, it sets `value`. */
  flag: string
  doc?: string
  value?: string | boolean | string[]
  /** The value as the field has it, after those of the same flag before. Throws `InvalidArgumentError` for what it cannot be. */
  read?: (text: string, before: never) => unknown
  /** The other flag that it cannot be used with. */
  conflicts?: string
}

interface Called {
  /** The last word of the command. */
  name: string
  /** The summary of the operation by default. */
  description?: string
  /** In the list of commands, if the description is too long for it. */
  summary?: string
  /** How the arguments are called, those for the parameters of the path first: `client` for `:id`. */
  subject?: string | readonly string[]
  /** Fields of the query and the body that are arguments, called like the field if `subject` does not say. */
  positional?: readonly string[]
  /** The body, for a command that is named after it: `enable` for `{ enabled: true }`. */
  body?: object
  /** Of fields of the query and the body; none for a field that is not changed by this command. */
  flags?: Record<string, string | Flag | readonly Flag[]>
  /** Flags of the command alone. */
  options?: readonly Option[]
  /** What is limited by the flags of a period, such as "sheets that begin". */
  days?: string
  examples: readonly string[]
  /** What the command line does before, because no server may be running. */
  prepare?: (services: Services) => Promise<unknown>
}

/** What the services of the command line suffice for. */
export type Runnable = { run: (needs: Services, call: never) => Promise<unknown> }

interface ActionCommand<Of, First> extends Called {
  /** What is done instead: for flags of the command alone. */
  run?: (services: Services, call: CallOf<Of>, flags: never) => Promise<ResultOf<Of>>
  /** What is read before `confirm`, with the same parameters. */
  first?: First
  /** What to ask before it is done: about the last parameter of the path, what `first` has read, and the body. */
  confirm?: (subject: string, found: ResultOf<First>, body: BodyOf<Of>) => string
  /** Whether these flags are asked about; all are if absent. */
  asks?: (flags: Record<string, unknown>) => boolean
  /** A sentence or the fields of a result, unless it prints them itself. */
  show: (
    result: ResultOf<Of>,
    subject: string,
    body: BodyOf<Of>,
  ) => string | Parameters<typeof printFields>[0] | undefined
}

type CallOf<Of> = Of extends { run: (needs: never, call: infer Made) => unknown } ? Made : never

type BodyOf<Of> = Of extends { body?: infer Body } ? (Body extends TSchema ? Static<Body> : undefined) : undefined

export function addAction<Of extends AnyAction & Runnable, First extends AnyAction & Runnable>(
  group: Command,
  operation: Of,
  presented: ActionCommand<Of, First>,
): void {
  const { run, first, confirm: question, asks = () => true, show, prepare } = presented
  const command = declare(group.command(presented.name), operation, presented)
  if (question) asksFirst(command, asks)
  if ([operation.answer].flat().some(({ status }) => status !== 204)) command.option('--json', 'print JSON')
  command.action(async (...args: unknown[]) => {
    const flags = command.optsWithGlobals<Record<string, unknown> & CommandFlags & { yes?: boolean }>()
    const call = await callOf(operation, command, presented, args)
    const subject = Object.values(call.params).at(-1) ?? ''
    const body = call.body as BodyOf<Of>
    // A flag of a field is no option of this process, even if one has the same name.
    const result = await withServices(group.optsWithGlobals(), async (services, self) => {
      const made = madeBy(self, call) as never
      await prepare?.(services)
      if (question && !flags.yes && asks(flags)) {
        const found = contentOf(await first?.run(services, made)) as ResultOf<First>
        await confirm(question(subject, found, body), flags)
      }
      return run ? run(services, made, flags as never) : operation.run(services, made)
    })
    if (flags.json) return result instanceof Serialized ? print(result.text) : printJson(result)
    const shown = show(contentOf(result) as ResultOf<Of>, subject, body)
    if (typeof shown === 'string') print(shown)
    else if (shown) printFields(shown)
  })
}

/** What a result says, with every digit. */
const contentOf = (result: unknown) => (result instanceof Serialized ? parseExactJson(result.text) : result)

interface ListCommand<Body> extends Partial<Called> {
  columns: Column<Body>[]
  /** Of the query, where no flag says otherwise. */
  usual?: QueryTexts
  /** In which order they are shown; as the operation lists them by default. */
  order?: (one: Body, other: Body) => number
  /** What they are, if not what the group is of. */
  plural?: string
  /** What the list is of, if flags narrow it: `active clients`. */
  listed?: (flags: Record<string, unknown>) => string
  /** How one is made. */
  howToAdd: string
  /** For what the executable contains. */
  needsNoDatabase?: true
  /** Printed below the table. */
  below?: (services: Services, call: never) => Promise<string>
}

/** A list: an operation of its own kind, or one that returns a page. */
type Listed = (AnyListing & { rows: (needs: Services, call: never) => unknown }) | (AnyAction & Runnable)

type BodyIn<Of> = ResultOf<Of> extends { data: (infer Body)[] } ? Body : never

/** Of a list, what the query may have beside its own filters. */
const OF_EVERY_LIST = new Set(['sort', 'order', 'limit', 'page', 'format'])

/** Prints all of a list, or a page of one that is `paged`. */
export function addListing<Of extends Listed>(
  group: Command,
  operation: Of,
  presented: ListCommand<BodyIn<Of>> & { paged?: boolean },
): void {
  const {
    plural = group.name().replaceAll('-', ' '),
    columns,
    usual,
    order,
    howToAdd,
    listed = () => plural,
    prepare,
    paged,
    below,
    needsNoDatabase,
  } = presented
  const called = { name: 'list', examples: [`tally ${group.name()} list`], ...presented }
  if (paged) called.flags = { ...called.flags, ...pageFlags(plural) }
  const command = declare(group.command(called.name), operation, called)
    .addOption(columnsOption(columns))
    .addOption(wideOption())
  if (paged && isListing(operation)) command.option('--csv', 'print CSV, all pages')
  command.option('--json', 'print JSON').action(async () => {
    const flags = command.optsWithGlobals<CommandFlags & ColumnFlags & { csv?: boolean }>()
    const { query: given } = await callOf(operation, command, called, [])
    const query = { ...usual, ...given }
    const run: typeof withServices = needsNoDatabase ? (_, work) => work({} as Services, {} as Self) : withServices
    await run(flags, async (services, self) => {
      await prepare?.(services)
      const call = { ...madeBy(self, { params: {}, query, body: undefined }), query }
      const list = listOf<BodyIn<Of>>(operation, services, call)
      if (flags.csv) return printCsv<never>(list.every() as AsyncIterable<never>, (operation as AnyListing).columns)
      const { data, has_more, next_page } = paged ? await list.page() : lastPage(await Array.fromAsync(list.every()))
      if (flags.json) return printJson({ data, has_more, next_page })
      if (order) data.sort(order)
      printTable(columns, data, flags)
      if (data.length === 0) return note(emptyText(flags, listed(command.opts()), howToAdd))
      if (below) print(`\n${await below(services, call as never)}`)
      if (has_more) note(`More ${plural}: add --page ${next_page}`)
    })
  })
}

const pageFlags = (plural: string) => ({
  limit: { flag: '--limit <number>', doc: `${plural} per page, 1 to ${LIST_LIMIT} (default ${DEFAULT_LIMIT})` },
  page: { flag: '--page <page>', doc: 'next_page of the previous page' },
})

/** What a list has: a page of it, as the API returns it, and all of it. */
function listOf<Body>(operation: Listed, services: Services, call: Call<unknown, QueryTexts>) {
  if (!isListing(operation)) {
    const page = (query = call.query) => operation.run(services, { ...call, query } as never) as Promise<Page<Body>>
    return { page, every: () => everyItem((paging) => page({ ...call.query, ...paging })) }
  }
  const rows = operation.rows(services, call as never) as Rows<unknown, string, unknown>
  const { filter, after, by, limit } = operation.read(call.query)
  const check = () => operation.check?.(services as never, filter as never, call.asker)
  const bodyOf = (row: unknown) => operation.bodyOf(row as never, call as never) as Body
  return {
    async page(): Promise<Page<Body>> {
      await check()
      const found = await rows.list(filter, { after, by, limit: limit + 1 })
      const { data, ...rest } = pageOf(found, limit, (last) => rows.pageAfter(last, by))
      return { data: data.map(bodyOf), ...rest }
    },
    async *every(): AsyncGenerator<Body> {
      await check()
      for await (const some of everyRow(rows, filter)) yield* some.map(bodyOf)
    },
  }
}

async function* everyItem<Body>(read: (paging: QueryTexts) => Promise<Page<Body>>): AsyncGenerator<Body> {
  for (let page: string | undefined; ; ) {
    const { data, next_page } = await read({ limit: String(LIST_LIMIT), ...(page !== undefined && { page }) })
    yield* data
    if (next_page === null) return
    page = next_page
  }
}

/** Adds what the operation says: description, arguments and flags. */
function declare(command: Command, operation: AnyAction | AnyListing, called: Called): Command {
  const { subject, positional = [], flags = {}, options = [], examples: lines } = called
  command.description(called.description ?? operation.summary)
  if (called.summary !== undefined) command.summary(called.summary)
  const names = [subject ?? []].flat()
  for (const description of Object.values<string>(operation.params ?? {}))
    command.argument(`<${names.shift()}>`, docOf(description))
  const fields = called.body ? new Map<string, Field>() : fieldsOf(operation)
  for (const name of positional) {
    const { schema } = fields.get(name)!
    const argument = new Argument(`<${names.shift() ?? name}>`, docOf(schema.description as string))
    command.addArgument(schema.enum ? argument.choices(schema.enum) : argument)
  }
  const isChange = 'method' in operation && operation.method === 'PATCH'
  const declared: FieldFlags = new Map()
  for (const [name, { schema, isRequired }] of fields) {
    if (positional.includes(name) || (OF_EVERY_LIST.has(name) && flags[name] === undefined)) continue
    if (called.days !== undefined && OF_DAYS.has(name)) continue
    for (const given of [flags[name] ?? flagOf(name, schema)].flat()) {
      const flag: Flag = typeof given === 'string' ? { flag: given } : given
      const option = optionOf(flag, schema, { replaces: isChange })
      if (isRequired) option.makeOptionMandatory()
      if (flag.conflicts !== undefined) option.conflicts(flag.conflicts)
      command.addOption(option)
      declared.set(option.attributeName(), { name, long: option.long!, value: flag.value })
    }
  }
  if (called.days !== undefined) addDayAndEarlierFlags(command, called.days)
  fieldFlagsOf.set(command, declared)
  operationOf.set(command, operation)
  for (const option of options) command.addOption(option)
  return command.addHelpText('after', examples(...lines))
}

/** Parameters of a period, which flags for days say. */
const OF_DAYS = new Set(['starting_at', 'ending_at'])

const isListing = (operation: AnyAction | AnyListing): operation is AnyListing => 'plural' in operation

const queryOf = (operation: AnyAction | AnyListing): TProperties => ({
  ...operation.query,
  ...(isListing(operation) && listPage(operation.plural)),
})

/** A field, of the query or the body. */
interface Field {
  schema: TSchema
  isRequired: boolean
}

function fieldsOf(operation: AnyAction | AnyListing): Map<string, Field> {
  const body = 'body' in operation ? operation.body : undefined
  return new Map([
    ...Object.entries(queryOf(operation)).map(([name, schema]) => [name, { schema, isRequired: false }] as const),
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
    item && value === undefined && !read
      ? [...(replaces ? ['replaces the list'] : []), 'repeatable or comma-separated']
      : isExplained
        ? []
        : [`${NONE} clears it`]
  const option = new Option(flag, [text, ...hints].join('; '))
  if (value !== undefined) return option
  if (read) return option.argParser(read as (text: string) => unknown)
  if (item) return option.argParser<string[]>(collect)
  if (given.schema.type === 'boolean') return option.argParser(readYesNo)
  return given.schema.enum ? option.choices(given.schema.enum) : option
}

/** A description's first sentence as a part of one: `E-mail address for bills.` as `e-mail address for bills`. */
function docOf(description: string): string {
  const [sentence = ''] = description.split(/\.( |$)/)
  const text = sentence
    .replace('; null for none', '')
    .replace(/\bnull\b/g, NONE)
    .replace(/^ID\b/, 'id')
  return /^[A-Z][A-Z0-9]/.test(text) ? text : `${text.charAt(0).toLowerCase()}${text.slice(1)}`
}

interface CommandCall {
  params: Record<string, string>
  query: QueryTexts
  body: unknown
}

/** With the rights of an admin. */
const madeBy = (self: Self, call: CommandCall): Call => ({
  ...call,
  viewer: self.viewer,
  asker: self,
  party: self,
  approver: self,
  hasScope: () => true,
  principal: null,
  request: null,
  idempotencyKey: undefined,
})

/** What a command line says. Throws 422 for what the schema of the body does not allow. */
async function callOf(
  operation: AnyAction | AnyListing,
  command: Command,
  { positional = [], days, body: fixed, options = [] }: Called,
  args: readonly unknown[],
): Promise<CommandCall> {
  const names = Object.keys(operation.params ?? {})
  const params = Object.fromEntries(names.map((name, at) => [name, args[at] as string]))
  const given = new Map<string, unknown>(positional.map((name, at) => [name, args[names.length + at]]))
  for (const [attribute, { name, value }] of fieldFlagsOf.get(command)!) {
    if (command.getOptionValueSource(attribute) !== 'cli') continue
    given.set(name, value ?? command.getOptionValue(attribute))
  }
  if (days !== undefined) for (const [name, text] of Object.entries(dayTexts(command.opts()))) given.set(name, text)
  const query = Object.fromEntries(
    Object.keys(queryOf(operation)).flatMap((name) => (given.has(name) ? [[name, textOf(given.get(name))]] : [])),
  ) as QueryTexts
  if (!('body' in operation) || !operation.body) return { params, query, body: undefined }
  const body = fixed ?? (await bodyOf(operation.body, given))
  const own = options.map((option) => command.getOptionValue(option.attributeName()))
  if (operation.method === 'PATCH') requireFields([...Object.values(body), ...own], command)
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
