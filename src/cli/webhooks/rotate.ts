import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDuration } from '../../lib/duration.ts'
import { examples } from '../flags/options.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { managerOf, WEBHOOK } from './webhook.ts'

const HOUR_MS = 3_600_000

/** Two weeks, as over HTTP. */
const OVERLAP_LIMIT_HOURS = 336

export function addWebhooksRotateCommand(webhooks: Command): void {
  webhooks
    .command('rotate')
    .description('Replace the secret of a webhook; the new one is shown only once')
    .argument('<id>', WEBHOOK)
    .addOption(
      new Option(
        '--overlap <duration>',
        'how long messages are signed with the old secret too, in whole hours, at most 2w; 0 ends it at once',
      )
        .argParser(parseOverlap)
        .default(24, '24h'),
    )
    .option('--json', 'print the webhook and its secret as JSON')
    .addHelpText('after', examples('tally webhooks rotate whk_01a1fa172a0277f3983322718874f2ea --overlap 48h'))
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { overlap: number }>()
      const rotated = await withServices(flags, ({ webhooks: service }, self) =>
        service.rotateSecret(id, { overlapHours: flags.overlap }, managerOf(self)),
      )
      if (flags.json) return printJson(rotated)
      // The secret alone goes to standard output, so that a script can store it.
      print(rotated.secret)
      const until = rotated.previous_secret_until
      note(
        `Above is the new secret of '${rotated.name}': store it now, it is not shown again. ${until === null ? 'The old one no longer works.' : `Until ${until}, messages are signed with the old one, too.`}`,
      )
    })
}

function parseOverlap(text: string): number {
  const hours = text === '0' ? 0 : (parseDuration(text) ?? Number.NaN) / HOUR_MS
  if (!Number.isInteger(hours) || hours > OVERLAP_LIMIT_HOURS) {
    throw new InvalidArgumentError('Use whole hours of at most two weeks in h, d or w, such as 24h or 2d, or 0.')
  }
  return hours
}
