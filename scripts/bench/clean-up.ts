/** What a benchmark is given is wrong; the message alone explains what to do. */
export class UsageError extends Error {}

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

/** Prints to standard error, so that standard output contains only results. */
export function printProgress(what: string): void {
  console.error(`… ${what}`)
}
