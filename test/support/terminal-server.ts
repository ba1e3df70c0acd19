/** A server that a person has started on a terminal. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandLine } from './command-line.ts'
import { isRunning, until } from './processes.ts'

export interface TerminalServer {
  url: string
  /** The secret of the set-up link. */
  secret: string
  stop(): Promise<void>
}

const LINK = /\/setup#(\w+)/

/** Of a database without people; waits for the set-up link. */
export async function serveOnTerminal(tally: CommandLine, args = ''): Promise<TerminalServer> {
  const child = Bun.spawn(['script', '-qec', `'${await tally.executable()}' serve --port 0 ${args}`, '/dev/null'], {
    cwd: tally.folder,
    env: { ...tally.env, TERM: 'xterm' },
    stdin: 'ignore',
    stdout: 'pipe',
  })
  let output = ''
  // All of it is read: a terminal that is gone ends the server.
  void (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) output += text
  })()
  if (!(await until(() => LINK.test(output)))) throw new Error(`The server did not print a link: ${output}`)
  const { url, pid } = JSON.parse(readFileSync(join(tally.dataDir, 'tally.db-server'), 'utf8'))
  return {
    url,
    secret: LINK.exec(output)![1]!,
    async stop() {
      process.kill(pid, 'SIGTERM')
      await until(() => !isRunning(pid))
    },
  }
}
