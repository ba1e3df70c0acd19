/**
 * Commands in this process: the same function that `src/main.ts` calls, with what a process has of its own (its streams,
 * environment and folder) replaced for as long as the command runs. A process takes fifty times the processor time.
 */
import { Database, type Statement } from 'bun:sqlite'
import { Readable, Writable } from 'node:stream'
import type { Ran } from './command-line.ts'

export interface Surroundings {
  folder: string
  env: Record<string, string>
  stdin: string
  /** The width of the terminal that it runs on; undefined without one. */
  columns?: number | undefined
}

/** Thrown by `process.exit` while a command runs. */
class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit with ${code}`)
  }
}

/** There is one standard output, so commands that tests run side by side wait for each other. */
let last: Promise<unknown> = Promise.resolve()

export function runInProcess(args: string[], surroundings: Surroundings): Promise<Ran> {
  const ran = last.then(() => runNow(args, surroundings))
  last = ran.catch(() => {})
  return ran
}

async function runNow(args: string[], { folder, env, stdin, columns }: Surroundings): Promise<Ran> {
  const { run } = await import('../../src/cli/program.ts')
  const [stdout, stderr] = [new Collected(), new Collected()]
  const terminal = columns === undefined ? {} : { isTTY: true, columns }
  const restore = replaceAll(folder, [
    [process, 'stdout', Object.assign(stdout, terminal)],
    [process, 'stderr', stderr],
    [process, 'stdin', Object.assign(Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]), terminal)],
    [process, 'env', { ...env }],
    [process, 'exit', exit],
    [Bun, 'stdin', new Blob([stdin])],
    ...closingAtOnce(),
  ])
  try {
    const code = await run(args).catch((error: unknown) => {
      if (error instanceof Exit) return error.code
      throw error
    })
    return { code, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    restore()
  }
}

function exit(code = 0): never {
  throw new Exit(code)
}

/**
 * Connections that close their files at once, as the end of a process does. bun:sqlite keeps the files of a closed
 * connection until its last statement is collected, and meanwhile the next command would join its log in memory, which
 * another process may have removed.
 */
function closingAtOnce(): [of: object, name: string, value: unknown][] {
  const { prepare, close } = Database.prototype
  const statements = new Map<Database, Statement[]>()
  return [
    [
      Database.prototype,
      'prepare',
      function (this: Database, ...parameters: Parameters<typeof prepare>) {
        const statement = prepare.apply(this, parameters)
        const prepared = statements.get(this)
        if (prepared) prepared.push(statement)
        else statements.set(this, [statement])
        return statement
      },
    ],
    [
      Database.prototype,
      'close',
      function (this: Database, ...parameters: Parameters<typeof close>) {
        for (const statement of statements.get(this) ?? []) statement.finalize()
        close.apply(this, parameters)
      },
    ],
  ]
}

/** Everything that is written to it. */
class Collected extends Writable {
  readonly #pieces: Buffer[] = []

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    this.#pieces.push(piece)
    done()
  }

  text(): string {
    return Buffer.concat(this.#pieces).toString()
  }
}

/** Returns what gives this process its own back, without the handlers of signals that the command has left. */
function replaceAll(folder: string, replacements: [of: object, name: string, value: unknown][]): () => void {
  const before = process.cwd()
  const handlers = new Map(process.eventNames().map((name) => [name, process.rawListeners(name as 'exit')]))
  const own = replacements.map(([of, name]) => [of, name, Reflect.get(of, name)] as const)
  for (const [of, name, value] of replacements) Reflect.set(of, name, value)
  process.chdir(folder)
  return () => {
    process.chdir(before)
    for (const [of, name, value] of own) Reflect.set(of, name, value)
    for (const name of process.eventNames()) {
      for (const handler of process.rawListeners(name as 'exit')) {
        if (!handlers.get(name)?.includes(handler)) process.off(name as 'exit', handler as () => void)
      }
    }
  }
}
