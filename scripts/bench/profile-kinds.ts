/** Kinds of work in a profile of the server, recognized by the functions that were running. */

export interface Frame {
  name: string
  /** From the root of the repository, or `package/…`; empty for functions of the runtime. */
  path: string
}

/** In the order in which a profile is printed. */
export const KINDS = [
  'SQL: preparing statements',
  'SQL: executing statements',
  'SQL: BEGIN and COMMIT',
  'PostgreSQL client',
  'drizzle and column types: building queries, mapping rows',
  'stores and transactions',
  'recording: entries and sessions',
  'other features: placement, projects, prices, people',
  'JSON',
  'validation',
  'HTTP: framework, routes, access, metrics',
  'runtime: promises and other functions of no kind',
] as const
type Kind = (typeof KINDS)[number]

/** Native functions of bun:sqlite that execute a statement. */
const EXECUTING = new Set(['all', 'get', 'run', 'values', 'raw', 'iterate'])

/** Only these call bun:sqlite; elsewhere, `get` and `values` are functions of maps and objects. */
const CALLS_SQLITE = /^(bun:sqlite|drizzle-orm\/bun-sqlite\/|src\/database\/)|\/store(\/|\.ts)/

const JSON_FUNCTIONS = new Set(['json', 'parse', 'stringify', 'rawJSON'])

/** The kind of a function, whatever it calls; undefined for one that works for its caller. */
const PLACES: [RegExp, Kind][] = [
  [/^(drizzle-orm\/|src\/database\/schema\/)/, 'drizzle and column types: building queries, mapping rows'],
  [/^postgres\//, 'PostgreSQL client'],
  [/^@sinclair\/typebox\//, 'validation'],
  [/^(src\/database\/|src\/features\/.*\/store(\/|\.ts))/, 'stores and transactions'],
  [/^src\/features\/entries\/(.*\/)?routes(\/|\.ts)/, 'HTTP: framework, routes, access, metrics'],
  [/^src\/features\/entries\//, 'recording: entries and sessions'],
  [/^src\/features\//, 'other features: placement, projects, prices, people'],
  [/^src\/lib\/(exact-json|json-)/, 'JSON'],
  [/^(elysia|memoirist|prom-client|pino)\//, 'HTTP: framework, routes, access, metrics'],
  [/^src\/(http|access|app|metrics|issues)/, 'HTTP: framework, routes, access, metrics'],
]

/** The kind of work of a stack of calls, the innermost first. */
export function kindOf(stack: readonly Frame[]): Kind {
  for (const [at, frame] of stack.entries()) {
    const kind = frame.path === '' ? kindOfNative(frame.name, stack, at) : kindOfPlace(frame)
    if (kind) return kind
  }
  return 'runtime: promises and other functions of no kind'
}

function kindOfPlace({ name, path }: Frame): Kind | undefined {
  if (path === 'bun:sqlite') return name === 'prepare' ? 'SQL: preparing statements' : 'SQL: executing statements'
  return PLACES.find(([pattern]) => pattern.test(path))?.[1]
}

function kindOfNative(name: string, stack: readonly Frame[], at: number): Kind | undefined {
  if (JSON_FUNCTIONS.has(name)) return 'JSON'
  // Elysia compiles its handlers, and TypeBox its checks, to functions without a path.
  if (name.startsWith('check')) return 'validation'
  if (name === 'handle') return 'HTTP: framework, routes, access, metrics'
  const caller = stack[at + 1]
  if (!caller || !CALLS_SQLITE.test(caller.path)) return undefined
  if (name === 'prepare') return 'SQL: preparing statements'
  if (!EXECUTING.has(name)) return undefined
  return caller.name === '#runNoArgs' && stack[at + 2]?.path.startsWith('src/database/engines/')
    ? 'SQL: BEGIN and COMMIT'
    : 'SQL: executing statements'
}
