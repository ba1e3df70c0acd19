import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDuration } from '../../lib/duration.ts'
import { examples } from '../flags/options.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { printCreated, TOKEN } from './token.ts'

const DAY_MS = 86_400_000

/** Two weeks, as over HTTP. */
const OVERLAP_LIMIT_MS = 14 * DAY_MS

export function addTokensRotateCommand(tokens: Command): void {
  tokens
    .command('rotate')
    .description('Replace an API token by one with the same scopes, networks and lifetime; it is shown only once')
    .argument('<id>', TOKEN)
    .addOption(
      new Option('--overlap <duration>', 'how long the old token keeps working, at most 2w')
        .argParser(parseOverlap)
        .default(DAY_MS, '24h'),
    )
    .option('--json', 'print the token and its details as JSON')
    .addHelpText(
      'after',
      examples('TALLY_TOKEN=$(tally tokens rotate tok_01a1fa172a0277f3983322718874f2ef --overlap 2h)'),
    )
    .action(async (id: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { overlap: number }>()
      const { EVERYBODYS_TOKENS } = await import('../../features/people/service.ts')
      const made = await withServices(flags, ({ people }, { by }) =>
        people.rotateToken(EVERYBODYS_TOKENS, id, flags.overlap, by),
      )
      await printCreated(made, flags)
    })
}

function parseOverlap(text: string): number {
  const overlapMs = text === '0' ? 0 : parseDuration(text)
  if (overlapMs === undefined || overlapMs > OVERLAP_LIMIT_MS) {
    throw new InvalidArgumentError('Use a duration of at most two weeks in min, h, d or w, such as 30min or 24h, or 0.')
  }
  return overlapMs
}
