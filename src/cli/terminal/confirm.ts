import { CommandError, EXIT_USAGE } from '../failures.ts'

/** Whether the command runs on a terminal and can ask questions. */
export function isInteractive(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

/** Throws if there is no terminal to ask on: only `--yes` then says that a change is wanted. */
export function requireTerminal({ dryRun }: { dryRun: boolean }): void {
  if (isInteractive()) return
  const instead = dryRun ? ' To see what would change, use --dry-run.' : ''
  throw new CommandError(
    `Cannot ask for confirmation without a terminal, so nothing was changed. Add --yes to confirm.${instead}`,
    EXIT_USAGE,
  )
}

/** Asks before something is written. Commands that ask are declared with `asksFirst`. */
export async function confirm(question: string, { yes = false }: { yes?: boolean }): Promise<void> {
  if (yes) return
  requireTerminal({ dryRun: false })
  const answer = await ask(`${question} [y/N] `)
  if (answer === undefined || !/^y(es)?$/i.test(answer)) throw new CommandError('Nothing was changed.')
}

/** What is answered on the terminal; undefined after Ctrl-C or Ctrl-D. */
export async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
  try {
    return (await prompt.question(question)).trim()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error
    process.stderr.write('\n')
    return undefined
  } finally {
    prompt.close()
  }
}
