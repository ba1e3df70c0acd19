import { CommandError } from '../failures.ts'

/** Whether the command runs on a terminal and can ask questions. */
export function isInteractive(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY)
}

/** Asks on a terminal before something is written. Without one, or with `yes`, the command line has said it all. */
export async function confirm(question: string, { yes }: { yes: boolean }): Promise<void> {
  if (yes || !isInteractive()) return
  const { createInterface } = await import('node:readline/promises')
  const prompt = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
  try {
    const answer = await prompt.question(`${question} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Nothing was changed.')
  } catch (error) {
    // Ctrl-C or Ctrl-D.
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error
    process.stderr.write('\n')
    throw new CommandError('Nothing was changed.')
  } finally {
    prompt.close()
  }
}
