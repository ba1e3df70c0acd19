import type { Command } from 'commander'
import { type OptionName, readConfig } from '../config.ts'
import { localUrl } from './address.ts'
import { CommandError } from './failures.ts'
import { examples, optionOf } from './flags/options.ts'
import { hindranceOf } from './readiness.ts'
import { print } from './terminal/print.ts'

export function addReadyCommand(program: Command): void {
  program
    .command('ready')
    .description('Check whether the server on this machine is ready for reports; exit code 1 if not')
    .addOption(optionOf('host'))
    .addOption(optionOf('port'))
    .addHelpText('after', `\nMeant for container health checks.\n${examples('tally ready', 'tally ready --port 8080')}`)
    .action(async (_flags, command: Command) => {
      const { host, port } = readConfig(command.optsWithGlobals<Partial<Record<OptionName, string>>>())
      const url = localUrl(host, port)
      const hindrance = await hindranceOf(url).catch((error: Error) => `${url}/ready does not answer: ${error.message}`)
      if (hindrance !== undefined) throw new CommandError(hindrance)
      print('ready')
    })
}
