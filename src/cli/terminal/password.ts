/** Passwords come by standard input or a prompt, never as a flag: flags are visible in the process list and the shell's history. */
import { Writable } from 'node:stream'
import { CommandError } from '../failures.ts'

/** The first line of standard input. */
export async function pipedSecret(): Promise<string> {
  return (await Bun.stdin.text()).split(/\r?\n/, 1)[0]!
}

type Ask = (question: string) => Promise<string>

/** Asks on the terminal without showing what is typed. Without an answer, nothing is done: `cancelled` says what not. */
export async function askSecretly(work: (ask: Ask) => Promise<string>, cancelled: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  // What is typed goes nowhere; the questions go to standard error.
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: process.stdin, output: silence, terminal: true })
  try {
    return await work(async (question) => {
      process.stderr.write(question)
      const answer = await prompt.question('')
      process.stderr.write('\n')
      return answer
    })
  } catch (error) {
    // Ctrl-C or Ctrl-D.
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error
    process.stderr.write('\n')
    throw new CommandError(cancelled)
  } finally {
    prompt.close()
  }
}

async function chosenPassword(ask: Ask): Promise<string> {
  const password = await ask('New password: ')
  if ((await ask('Repeat new password: ')) !== password)
    throw new CommandError('The passwords do not match. Nothing was changed.')
  return password
}

export async function readPassword({ fromStdin }: { fromStdin: boolean }): Promise<string> {
  if (fromStdin) return pipedSecret()
  if (process.stdin.isTTY) return askSecretly(chosenPassword, 'No password was entered. Nothing was changed.')
  throw new CommandError('Cannot prompt for the password without a terminal. Pipe it in and add --password-stdin.', 2)
}
