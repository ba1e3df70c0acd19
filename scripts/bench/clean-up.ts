import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** On the checkout's disk: /tmp is often in memory, where an fsync costs nothing. */
export const DIST = join(import.meta.dir, '../../dist')

/** A temporary folder in dist/. */
export async function temporaryFolder(stack: AsyncDisposableStack): Promise<string> {
  await mkdir(DIST, { recursive: true })
  const folder = await mkdtemp(join(DIST, 'bench-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** What a benchmark is given is wrong; the message alone explains what to do. */
export class UsageError extends Error {}

/** The number in an option, or a `UsageError` that names the option. */
export function wholeNumberFrom(name: string, text: string, least: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(number >= least)) throw new UsageError(`--${name} must be a whole number of at least ${least}: ${text}`)
  return number
}

/** Names of which each must be known, or a `UsageError` that names the option. */
export function knownNames<Name extends string>(
  option: string,
  names: readonly string[],
  known: readonly Name[],
): Name[] {
  const unknown = names.find((name) => !(known as readonly string[]).includes(name))
  if (unknown !== undefined) throw new UsageError(`${option} must be some of ${known.join(', ')}, not ${unknown}.`)
  return names as Name[]
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The shell's convention for a program that was interrupted. */
const EXIT_INTERRUPTED = 130

/**
 * Runs a task and then removes what it registered on the stack, last first, also after an error or a signal. Then the
 * process ends.
 */
export async function runAndCleanUp(task: (stack: AsyncDisposableStack) => Promise<void>): Promise<never> {
  const stack = new AsyncDisposableStack()
  let removal: Promise<void> | undefined
  const remove = () => {
    removal ??= stack.disposeAsync()
    return removal
  }
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      console.error('… removing what this run created')
      void remove().finally(() => process.exit(EXIT_INTERRUPTED))
    })
  }
  let code = 0
  try {
    await task(stack)
  } catch (error) {
    code = removal ? EXIT_INTERRUPTED : 1
    // After a signal, servers and load generators have ended, and further errors are only a consequence of that.
    if (!removal) console.error(error instanceof UsageError ? error.message : error)
  }
  await remove()
  process.exit(code)
}

/** Runs a part of a task, and then removes what it registered on its own stack; a signal removes that as well. */
export async function cleanedUp<Result>(
  stack: AsyncDisposableStack,
  part: (own: AsyncDisposableStack) => Promise<Result>,
): Promise<Result> {
  const own = stack.use(new AsyncDisposableStack())
  try {
    return await part(own)
  } finally {
    await own.disposeAsync()
  }
}

/** Prints to standard error, so that standard output contains only results. */
export function printProgress(what: string): void {
  console.error(`… ${what}`)
}
