/**
 * The page of the manual about what commands print with `--json`. Commands of operations print what the operation returns, and
 * others name a request in the description of the flag; the rest is in `OUTPUTS`. A test runs commands and checks what they print.
 */
import type { Command } from 'commander'
import { commandsByHeading, fullNameOf, withSubcommands } from '../../src/cli/command-tree.ts'
import { operationOf } from '../../src/cli/flags/fields.ts'

/** JSON Schema, as far as shapes use it. */
export interface Shape {
  $ref?: string
  type?: string | string[]
  description?: string
  properties?: Record<string, Shape>
  additionalProperties?: boolean | Shape
  items?: Shape
  anyOf?: Shape[]
  oneOf?: Shape[]
  allOf?: Shape[]
  enum?: unknown[]
  const?: unknown
  required?: string[]
}

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, { schema: Shape }> }> }>>
  components: { schemas: Record<string, Shape> }
}

const named = (name: string): Shape => ({ $ref: `#/components/schemas/${name}` })
const text: Shape = { type: 'string' }
const integer: Shape = { type: 'integer' }
const number: Shape = { type: 'number' }
const flag: Shape = { type: 'boolean' }
const anything: Shape = { description: 'any value' }
const orNull = (shape: Shape): Shape => ({ anyOf: [shape, { type: 'null' }] })
const listOf = (items: Shape): Shape => ({ type: 'array', items })
const mapOf = (values: Shape): Shape => ({ type: 'object', additionalProperties: values })
const choice = (...values: string[]): Shape => ({ type: 'string', enum: values })
const object = (properties: Record<string, Shape>, optional: string[] = []): Shape => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
})
const page = (items: Shape): Shape => object({ data: listOf(items), has_more: flag, next_page: orNull(text) })

const link = object({ user: named('User'), link: text, expires_at: text })
const placed = listOf(object({ id: text, result: text, problem: orNull(object({ code: text, detail: text })) }))
const imported = {
  ...{ dry_run: flag, organization: text, exported_at: text, tally: text },
}
const damage = listOf(object({ file: text, line: orNull(integer), what: text, note: flag, not_read: anything }))
const session = { agent_harness: text, session_id: text }
const shareLink: Shape = { allOf: [named('ShareLink'), object({ link: text })] }
const backup = object({ file: text, bytes: integer, entries: integer, schema_version: integer, sha256: text }, [
  'sha256',
])

/** By the name of the command; several shapes where its flags decide. */
const OUTPUTS: Record<string, Shape | Shape[]> = {
  'entries report': named('TokenEntry'),
  'entries place': placed,
  'entries unplace': placed,
  ...Object.fromEntries(
    ['approve', 'reject', 'reopen', 'withdraw-approval', 'release', 'discard', 'void', 'restore'].map((verb) => [
      `entries ${verb}`,
      named('TokenEntriesActionResults'),
    ]),
  ),
  'entries correct': named('TokenEntry'),
  'entries divide': named('DividedTokenEntry'),
  ...Object.fromEntries(
    ['lead', 'approver'].flatMap((name) =>
      ['add', 'remove'].flatMap((verb) => [
        [`clients ${name} ${verb}`, named('Client')],
        [`projects ${name} ${verb}`, named('Project')],
      ]),
    ),
  ),
  ...Object.fromEntries(
    ['alias', 'repository'].flatMap((name) =>
      ['add', 'remove'].map((verb) => [`projects ${name} ${verb}`, named('Project')]),
    ),
  ),
  'deputies remove': named('Deputy'),
  'rules move': page(named('PlacementRule')),
  'rules apply': named('AppliedRules'),
  'sheets show': {
    allOf: [named('TokenSheet'), object({ data: listOf(named('TokenEntry')), overlaps: listOf(anything) })],
  },
  'sheets open': named('TokenSheet'),
  'sheets import': named('ImportedTokenEntries'),
  'sheets add': named('TokenEntry'),
  'sheets change': named('TokenEntry'),
  'sheets submit': named('TokenSheet'),
  'prices load': named('LoadedPriceTable'),
  'prices update': named('LoadedPriceTable'),
  'prices check': named('PriceComparison'),
  'prices loads': object({ data: listOf(named('PriceLoad')) }),
  'prices undo': named('PriceLoad'),
  'prices list': page(named('ListedPrice')),
  'prices show': object({
    model: text,
    prices: listOf(named('Price')),
    aliases: listOf(named('PriceAlias')),
    resolution: named('PriceResolution'),
  }),
  'prices set': named('AddedPrice'),
  'prices withdraw': named('WithdrawnPrices'),
  'prices alias add': object({
    ...{ alias: text, model: text, provider: orNull(text) },
    ...{ resolution: named('PriceResolution'), valued: named('Repricing') },
  }),
  'prices alias list': page(named('PriceAlias')),
  'prices reprice': named('Repricing'),
  'budgets add': named('Budget'),
  'budgets change': named('Budget'),
  'plans load': named('LoadedPlans'),
  'plans rules move': page(named('FundingRule')),
  'plans rules test': named('FundingExplanation'),
  'agents scan': object({
    data: listOf(
      object(
        {
          report: { type: 'object', description: 'as it would be sent to POST /api/v1/token-entries' },
          cost: orNull(number),
          cost_basis: orNull(choice('list_value', 'agent')),
          days: listOf(
            object({
              ...{ day: text, repository: orNull(text), branch: orNull(text), requests: integer },
              ...{ tokens: mapOf(integer), cost: orNull(number) },
            }),
          ),
          folder: orNull(text),
          file: text,
        },
        ['days'],
      ),
    ),
    damage,
    agents: listOf(
      object({ agent_harness: text, version: orNull(text), sessions: integer, not_read: listOf(anything) }),
    ),
    files: integer,
    bytes: integer,
    cost: number,
    unpriced: integer,
    reported: orNull(
      object({
        ...{ created: integer, updated: integer, repeated: integer, held: integer, left: integer },
        refused: listOf(object({ ...session, model: text, problem: anything })),
      }),
    ),
    preview: anything,
  }),
  'agents status': object({
    agents: listOf(
      object({
        ...{ agent: text, found: flag, version: orNull(text), program: orNull(text), folders: listOf(text) },
        ...{ session_files: integer, last_session_at: orNull(text), connected: listOf(text), hook: text },
        ...{
          file: orNull(text),
          error: orNull(text),
          waiting: integer,
          version_read: orNull(text),
          not_read: listOf(anything),
        },
        last_hook: orNull(object({ at: text, event: text })),
        refused: listOf(object({ session_id: text, at: text, reasons: listOf(text) })),
        last_delivery: orNull(object({ at: text, session_id: text, entries: integer })),
        missing: listOf(object({ what: text, command: orNull(text) })),
      }),
    ),
    unread: listOf(object({ agent: text, title: text, path: text, reason: text })),
    watch: object({
      ...{ running: flag, pid: orNull(integer), started_at: orNull(text), agents: listOf(text), limit: orNull(text) },
      ...{ retry_at: orNull(text), service: orNull(object({ kind: text, file: text })) },
    }),
    server: object({
      ...{ url: orNull(text), reachable: flag, reports_for: orNull(text) },
      ...{ held_entries: orNull(integer), error: orNull(text) },
    }),
    last_error: anything,
    damaged: listOf(anything),
    ...{ spool: text, refused: text, log: text },
  }),
  'agents flush': object({
    delivered: listOf(object({ ...session, entries: integer, result: text })),
    refused: listOf(object({ ...session, reasons: listOf(text) })),
    empty: listOf(object(session)),
    damage,
    waiting: integer,
    issue: orNull(text),
  }),
  'telemetry assign': named('TelemetryAssigned'),
  'webhooks test': named('WebhookDelivery'),
  'webhooks deliveries': page(named('WebhookDelivery')),
  'webhooks resend': [named('WebhookDelivery'), named('Webhook')],
  'webhooks listen': object({ headers: mapOf(text), body: anything, signature: orNull(text) }),
  'events follow': named('Event'),
  'users add': named('User'),
  'users show': named('User'),
  'users unlock': named('User'),
  'users grants': object({ data: listOf(named('Grant')) }),
  'users grant': named('Grant'),
  'users revoke': named('Grant'),
  'users emails': object({ emails: listOf(text) }),
  'users set-password': named('User'),
  'users invite': link,
  'users reset-password': link,
  'users erase': [named('PlannedErasure'), named('Erasure')],
  'tokens scopes': page(object({ scope: text, description: text, roles: orNull(listOf(text)) })),
  'share-links create report': shareLink,
  'share-links create bill': shareLink,
  demo: [
    object({ reports: integer, password: text, people: listOf(object({ email: text, role: text })) }),
    object({ removed: flag }),
  ],
  'settings show': named('Settings'),
  doctor: object({
    findings: listOf(
      object({ what: text, level: choice('ok', 'warning', 'error'), message: text, advice: orNull(text) }),
    ),
  }),
  update: [
    object({ installed: text, newest: text, is_newer: flag, signature: choice('valid', 'unchecked', 'none') }),
    object(
      {
        ...{ installed: text, is_updated: flag, executable: text },
        previous: object({ version: text, executable: text }),
        backup: orNull(text),
      },
      ['executable', 'previous', 'backup'],
    ),
  ],
  backup,
  'backup list': page(
    object({
      ...{ place: text, name: text, made_at: text, bytes: integer },
      ...{ database: orNull(text), timeline: orNull(text), origin: text },
    }),
  ),
  'backup verify': object({ backup: text, ok: flag, differences: listOf(text) }),
  import: [
    object({
      ...imported,
      counts: mapOf(integer),
      tokens: listOf(object({ id: text, kind: text, name: text, created_by: text })),
    }),
    object({
      ...imported,
      ...{ added: integer, held: integer, created: anything, not_merged: mapOf(integer) },
      skipped: mapOf(object({ entries: integer, ids: listOf(text) })),
    }),
  ],
  move: object({
    ...{ from: text, to: text, rows: integer, copied: integer, copying_ms: integer },
    ...{ entries: integer, bills: integer, tables: anything },
  }),
  partition: object({ earlier: text, first: text }, ['earlier', 'first']),
  compact: object({ bytes_before: integer, bytes: integer }, ['bytes_before', 'bytes']),
  'retention apply': object({
    dry_run: flag,
    data: listOf(object({ kind: text, months: integer, before: text, rows: integer })),
  }),
  verify: object({ ok: flag, differences: listOf(text) }),
  sql: listOf(mapOf({ description: 'text, number or null' })),
  version: object({ version: text, commit: text, bun: text, platform: text }),
}

/** The shapes of what a command prints; undefined if it is not known. `request` is the one that returns the same. */
export function outputOf(command: Command, document: Document): { shapes: Shape[]; request?: string } | undefined {
  const own = OUTPUTS[fullNameOf(command).replace('tally ', '')]
  if (own) return { shapes: [own].flat() }
  const request = requestOf(command)
  const [method = '', path = ''] = request?.split(' ') ?? []
  const responses = Object.entries(document.paths[path]?.[method.toLowerCase()]?.responses ?? {})
  const shapes = responses.flatMap(([status, { content }]) =>
    status.startsWith('2') ? (content?.['application/json']?.schema ?? []) : [],
  )
  return request === undefined || shapes.length === 0 ? undefined : { shapes: unique(shapes), request }
}

function requestOf(command: Command): string | undefined {
  const operation = operationOf.get(command)
  const { description = '' } = command.options.find(({ long }) => long === '--json')!
  if (!operation) return /as returned by ([A-Z]+ \/api\/v1\/\S+)/.exec(description)?.[1]
  const method = 'method' in operation ? operation.method : 'GET'
  return `${method} /api/v1${operation.path.replaceAll(/:(\w+)/g, '{$1}')}`
}

const unique = (shapes: Shape[]): Shape[] => [
  ...new Map(shapes.map((shape) => [JSON.stringify(shape), shape])).values(),
]

const nameOf = ({ $ref }: Shape): string | undefined => $ref?.split('/').at(-1)

export const printsJson = (command: Command): boolean =>
  command.options.some(({ long }) => long === '--json') &&
  (command.commands.length === 0 || OUTPUTS[fullNameOf(command).replace('tally ', '')] !== undefined)

export function commandOutputPage(program: Command, document: Document): string {
  const used = new Set<string>()
  const sections = commandsByHeading(program).flatMap(([heading, commands]) => {
    const printing = commands.flatMap((command) => [...withSubcommands(command)]).filter(printsJson)
    if (printing.length === 0) return []
    const parts = printing.map((command) => {
      const output = outputOf(command, document)
      if (!output) throw new Error(`What ${fullNameOf(command)} prints with --json is not in OUTPUTS`)
      const same = output.request === undefined ? '' : `As \`${output.request}\`. `
      const shapes = output.shapes.map((shape) => shapeText(shape, used)).join('\nor\n\n')
      return `### \`${fullNameOf(command)}\`\n\n${same}${shapes}`
    })
    return [`## ${heading}\n\n${parts.join('\n')}`]
  })
  const named: string[] = []
  for (const name of used) named.push(`### ${name}\n\n${outline(document.components.schemas[name]!, used)}`)
  named.sort()
  return `# Output of commands as JSON

What each command prints with \`--json\` on standard output. Names such as \`TokenEntry\` are [shapes](#shapes) of the API, which the
OpenAPI document describes in full, with limits and examples. Fields may be added, and programs ignore those that they do not know;
none is removed or changes its meaning within \`/api/v1\`. Amounts are numbers with all their digits, timestamps are in UTC.

Messages are on standard error. A command that fails prints no JSON, except that \`tally verify\`, \`tally doctor\`, \`tally backup verify\` and
commands that refuse a part of their entries print what they found, and end with 1.

${sections.join('\n')}
## Shapes

${named.join('\n')}`
}

function shapeText(shape: Shape, used: Set<string>): string {
  const name = nameOf(shape)
  if (name === undefined) return `${shape.items ? 'A list of:\n\n' : ''}${outline(shape, used)}`
  used.add(name)
  return `One [${name}](#${name.toLowerCase()}).\n`
}

/** A line for each field, those of objects within it below. */
function outline(shape: Shape, used: Set<string>): string {
  const lines = linesOf(shape, '', used)
  const width = Math.min(34, Math.max(0, ...lines.map(([field]) => field.length)))
  const shown = lines.map(([field, type]) => `${field.padEnd(width)}  ${type}`.trimEnd())
  return `\`\`\`text\n${shown.length > 0 ? shown.join('\n') : typeOf(shape, used)}\n\`\`\`\n`
}

function linesOf(shape: Shape, indent: string, used: Set<string>): [field: string, type: string][] {
  return fieldsOf(shape, used).flatMap(([name, field]): [string, string][] => [
    [`${indent}${name}`, typeOf(field, used)],
    ...linesOf(field, `${indent}  `, used),
  ])
}

/** Of an object, also within a list or beside null. */
function fieldsOf(shape: Shape, used: Set<string>): [string, Shape][] {
  if (shape.$ref) return []
  const some = shape.anyOf ?? shape.oneOf
  if (some) return some.flatMap((each) => fieldsOf(each, used))
  if (shape.allOf) {
    return shape.allOf.flatMap((each): [string, Shape][] =>
      each.$ref ? [[`(all of ${typeOf(each, used)})`, {}]] : fieldsOf(each, used),
    )
  }
  if (shape.items) return fieldsOf(shape.items, used)
  if (shape.properties) return Object.entries(shape.properties)
  return typeof shape.additionalProperties === 'object' ? fieldsOf(shape.additionalProperties, used) : []
}

function typeOf(shape: Shape, used: Set<string>): string {
  const name = nameOf(shape)
  if (name !== undefined) {
    used.add(name)
    return name
  }
  const some = shape.anyOf ?? shape.oneOf
  if (some) return [...new Set(some.map((each) => typeOf(each, used)))].join(' or ')
  if (shape.const !== undefined) return JSON.stringify(shape.const)
  if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(' or ')
  if (shape.items) return `list of ${typeOf(shape.items, used)}`
  if (typeof shape.additionalProperties === 'object') return `by name: ${typeOf(shape.additionalProperties, used)}`
  return [shape.type ?? shape.description ?? ''].flat().join(' or ')
}
