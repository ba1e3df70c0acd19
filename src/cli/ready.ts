import type { Command } from 'commander'
import { type OptionName, readConfig } from '../config.ts'
import { localUrl } from './address.ts'
import { CommandError } from './failures.ts'
import { examples, optionOf } from './flags/options.ts'
import { print } from './terminal/print.ts'

/** A server that takes longer is considered unhealthy. */
const TIMEOUT_MS = 5_000

export function addReadyCommand(program: Command): void {
  program
    .command('ready')
    .description('Check whether the server on this machine is ready for reports; exit code 1 if not')
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .addHelpText('after', `\nMeant for container health checks.\n${examples('tally ready', 'tally ready --port 8080')}`)
    .action(async (_flags, command: Command) => {
      const { host, port } = readConfig(command.optsWithGlobals<Partial<Record<OptionName, string>>>())
      const url = `${localUrl(host, port)}/ready`
      const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: Error) => error)
      if (answer instanceof Error) throw new CommandError(`${url} does not answer: ${answer.message}`)
      const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string }
      if (!answer.ok) throw new CommandError(detail ?? `${url} answered ${answer.status}`)
      print('ready')
    })
}
