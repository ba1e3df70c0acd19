import type { Command } from 'commander'
import type { TokenEntry } from '../../features/entries/schema.ts'
import { defined } from '../../lib/defined.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { addCountFlags, type EntryFlags, parseCost, parseCount } from '../flags/entry.ts'
import { NONE } from '../flags/none.ts'
import { examples, requireFields, textOrNone } from '../flags/options.ts'
import { print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { costOf } from './report.ts'

type Flags = CommandFlags &
  Omit<EntryFlags, 'cost'> & {
    reason: string
    reportedCost?: number | typeof NONE
  }

/** `tally entries correct`. */
export function addEntriesCorrectCommand(entries: Command): void {
  const command = entries
    .command('correct')
    .description('Correct what an agent has reported by mistake; later reports of the session do not undo it')
    .argument('<id>', 'id of the entry (ent_…)')
    .requiredOption('--reason <text>', 'reason, shown to the agent manager')
    .option('--model <name>', 'name of the model')
    .option('--provider <name>', 'provider of the model; none removes it')
    .option('--started-at <timestamp>', 'session start, such as 2026-11-20T17:53:04Z')
    .option('--ended-at <timestamp>', 'session end')
  addCountFlags(command)
    .option('--requests <count>', 'model calls', parseCount)
    .option('--service-tier <name>', 'service tier; none is the standard one')
    .option('--speed <name>', 'speed; none is the standard one')
    .option('--region <name>', 'region; none if the vendor does not charge by region')
    .option('--reported-cost <dollars>', 'cost in US dollars; none uses the list value', parseCostOrNone)
    .option('--json', 'print the entry as JSON')
    .addHelpText(
      'after',
      examples(
        'tally entries correct ent_01a1fa172a0277f3983322718874f2ef --reported-cost 1.25 --reason "The script reported cents"',
        'tally entries correct ent_01a1fa172a0277f3983322718874f2ef --model claude-sonnet-4-5 --reason "The wrong model was named"',
      ),
    )
    .action(async (id: string, _flags, command: Command) => {
      const { reason, json, ...flags } = command.optsWithGlobals<Flags>()
      const entry = await withServices(flags, async ({ entries }, self) => {
        const { readCorrection } = await import('../../features/entries/contract.ts')
        const { tokens } = await entries.listing.getEntry(id, self.viewer)
        const figures = figuresOf(flags, tokens)
        requireFields(figures, command)
        return entries.places.changeEntry(
          id,
          readCorrection(parseExactJson(JSON.stringify({ ...figures, reason }))),
          self,
        )
      })
      if (json) return printJson(entry)
      print(`Corrected ${entry.id} (${entry.agent_manager.name}, ${entry.status})`)
      print(`  tokens ${entry.tokens.total.toLocaleString('en')} of ${entry.model}`)
      print(`  cost   ${costOf(entry)}`)
    })
}

/** Not null, which commander turns into an empty text. */
function parseCostOrNone(text: string): number | typeof NONE {
  return text === NONE ? NONE : parseCost(text)
}

/** The fields to correct. Token counts are replaced as a whole, so the others stay as they are. */
function figuresOf(flags: Omit<Flags, 'reason'>, tokens: TokenEntry['tokens']) {
  const counts = {
    input: flags.input,
    output: flags.output,
    cache_read: flags.cacheRead,
    cache_write: flags.cacheWrite,
    cache_write_1h: flags.cacheWrite1h,
  }
  const hasCounts = Object.values(counts).some((count) => count !== undefined)
  return {
    model: flags.model,
    provider: textOrNone(flags.provider),
    started_at: flags.startedAt,
    ended_at: flags.endedAt,
    tokens: hasCounts ? { ...keptOf(tokens), ...defined(counts) } : undefined,
    requests: flags.requests,
    service_tier: textOrNone(flags.serviceTier),
    speed: textOrNone(flags.speed),
    region: textOrNone(flags.region),
    reported_cost: flags.reportedCost === NONE ? null : flags.reportedCost,
  }
}

/** As a report has them. */
function keptOf({ total: _total, over_200k: _long, ...counts }: TokenEntry['tokens']): object {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== null))
}
