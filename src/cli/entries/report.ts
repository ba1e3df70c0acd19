/** `tally entries report`: sends one entry to a server through the API, and retries until it is acknowledged. */
import type { Command } from 'commander'
import { namesToken, readClientConfig } from '../../config.ts'
import type { TokenEntry } from '../../features/entries/schema.ts'
import { numberText, parseExactJson } from '../../lib/exact-json.ts'
import { findServerOfJob, type ServerFlags } from '../agents/server.ts'
import { addEntryFlags, type EntryFlags, readEntry } from '../flags/entry.ts'
import { examples, optionOf } from '../flags/options.ts'
import { note, print } from '../terminal/print.ts'
import { deliver } from './delivery.ts'

interface ReportFlags extends EntryFlags, ServerFlags {
  json?: boolean
}

export function addEntriesReportCommand(entries: Command): void {
  addEntryFlags(
    entries
      .command('report')
      .description('Send one entry to a server, from flags, a JSON file or standard input')
      .addOption(optionOf('url'))
      .addOption(optionOf('token'))
      .addOption(optionOf('tokenFile')),
  )
    .option('--session <id>', 'session id; the counts are totals so far and update the entry of the session')
    .option('--json', 'print the entry as JSON, as returned by the server')
    .addHelpText(
      'after',
      examples(
        'tally entries report --harness codex --agent reviewer --model gpt-5-codex --started-at 2026-11-20T17:53:04Z --input 6153 --output 1421 --cache-read 12150 --project acme-web',
        'tally entries report --file session.json --url http://tally.lan:4747',
        'jq -n "$ENTRY" | TALLY_TOKEN=tally_svc_… tally entries report --file - --json',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ReportFlags>()
      const ofJob = namesToken({ ...flags }) ? undefined : await findServerOfJob(flags, 'svc')
      const config = ofJob ?? readClientConfig(flags)
      const { text, entry } = await readEntry(flags)
      const { created, answer } = await deliver(config, text, {
        inSession: 'session_id' in entry && Boolean(entry.session_id),
      })
      if (flags.json) return print(answer)
      const made = parseExactJson(answer) as TokenEntry
      print(
        `${created ? 'Created' : 'Already reported, up to date:'} ${made.id} (${made.agent_manager.name}, ${made.status})`,
      )
      print(`  cost   ${costOf(made)}`)
      print(`  place  ${placeOf(made)}`)
      if (made.cost_mismatch) {
        note(
          `The reported cost is far from the list value, $${numberText(made as { list_value: number }, 'list_value')}. Check that it is in US dollars, and the price of the model.`,
        )
      }
      // Without a session each run has an idempotency key of its own, and counts as meant.
      if (made.possible_duplicate_of !== null) {
        const outcome =
          made.status === 'held'
            ? 'This entry is held: it is not counted until billing or an admin releases it.'
            : 'Both are kept. Use unique session ids, such as UUIDs.'
        note(`Another person's session has the same id: see ${made.possible_duplicate_of}. ${outcome}`)
      }
    })
}

export function costOf(entry: TokenEntry): string {
  if (entry.cost === null)
    return `unpriced: no cost was reported, and the price table has no price for '${entry.model}'`
  const basis = entry.reported_cost === null ? 'list value' : 'as reported'
  return `$${numberText(entry as { cost: number }, 'cost')} (${basis})`
}

function placeOf({ project, ticket, placement }: TokenEntry): string {
  const place = [project?.key, ticket && `ticket ${ticket.key}`].filter(Boolean).join(', ') || 'unattributed'
  return placement.note === null ? place : `${place} – ${placement.note}`
}
