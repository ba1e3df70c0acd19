import type { Command } from 'commander'
import type { TokenEntry } from '../features/entries/schema.ts'
import { examples } from './options.ts'
import { minute, note, printJson, printTable } from './print.ts'
import { addReportCommand } from './report-entry.ts'
import { addShowEntryCommand } from './show-entry.ts'
import { type DatabaseFlags, withServices } from './with-services.ts'

/** As in a query of the API: repeated, or separated by commas. */
function collect(text: string, before: string[] = []): string[] {
  return [...before, ...text.split(',')]
}

interface ListFlags extends DatabaseFlags {
  startingAt?: string
  endingAt?: string
  endedAfter?: string
  project?: string[]
  ticket?: string[]
  client?: string[]
  agentManager?: string[]
  agentName?: string[]
  agentHarness?: string[]
  model?: string[]
  provider?: string[]
  status?: string[]
  source?: string[]
  sessionId?: string[]
  label?: string[]
  placed?: string[]
  priced?: string
  possibleDuplicate?: string
  superseded?: string
  bill?: string[]
  q?: string
  limit?: string
  page?: string
  json?: boolean
}

function placeOf({ project, ticket }: TokenEntry): string {
  if (!project && !ticket) return 'unattributed'
  return [project?.key, ticket?.key].filter(Boolean).join(' ')
}

export function addEntriesCommands(program: Command): void {
  const entries = program
    .command('entries')
    .description('Report token entries to a server, list and show those in the database')
    .addHelpText(
      'after',
      examples(
        'tally entries list --project acme-web',
        'tally entries report --file session.json --url http://tally.lan:4747',
      ),
    )
  addReportCommand(entries)
  addShowEntryCommand(entries)

  entries
    .command('list')
    .description('List the entries in the database, newest first; several filters must all hold')
    .option('--starting-at <timestamp>', 'sessions that started at or after this moment')
    .option('--ending-at <timestamp>', 'sessions that started before this moment')
    .option('--ended-after <timestamp>', 'sessions that ended behind this moment')
    .option('--project <project>', 'id, key, name or alias; like most filters repeatable or with commas', collect)
    .option('--ticket <ticket>', 'id or key', collect)
    .option('--client <client>', 'id or name', collect)
    .option('--agent-manager <person>', 'id or e-mail address', collect)
    .option('--agent-name <name>', 'name of the agent', collect)
    .option('--agent-harness <name>', 'name of the harness', collect)
    .option('--model <name>', 'model as it was reported', collect)
    .option('--provider <name>', 'who sold the model, as it was reported, or none', collect)
    .option('--status <status>', 'submitted, draft, pending, approved, rejected, billed', collect)
    .option('--source <source>', 'report, log, span, metric, sheet', collect)
    .option('--session-id <id>', 'the harness’s id of the session', collect)
    .option('--label <name:value>', 'such as repository:acme/web', collect)
    .option('--placed <how>', 'named, rule, manual, or none for unattributed ones', collect)
    .option('--priced <true|false>', 'whether the cost is known')
    .option('--possible-duplicate <true|false>', 'whether an earlier entry says exactly the same')
    .option('--superseded <true|false>', 'whether another source supplies the session now')
    .option('--bill <bill>', 'id or number, or none', collect)
    .option('--q <text>', 'a text that the summary contains')
    .option('--limit <number>', 'entries a page, 1 to 1000 (default 50)')
    .option('--page <page>', 'the next_page of the list before')
    .option('--json', 'print JSON, as GET /api/v1/token-entries answers it')
    .addHelpText(
      'after',
      examples(
        'tally entries list --project acme-web --starting-at 2026-11-01T00:00:00Z',
        'tally entries list --placed none --json',
        'tally entries list --label repository:acme/web --priced false',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>()
      const { readListQuery } = await import('../features/entries/service.ts')
      const query = readListQuery({
        starting_at: flags.startingAt,
        ending_at: flags.endingAt,
        ended_after: flags.endedAfter,
        project: flags.project,
        ticket: flags.ticket,
        client: flags.client,
        agent_manager: flags.agentManager,
        agent_name: flags.agentName,
        agent_harness: flags.agentHarness,
        model: flags.model,
        provider: flags.provider,
        status: flags.status,
        source: flags.source,
        session_id: flags.sessionId,
        label: flags.label,
        placed: flags.placed,
        priced: flags.priced,
        possible_duplicate: flags.possibleDuplicate,
        superseded: flags.superseded,
        bill: flags.bill,
        q: flags.q,
        limit: flags.limit,
        page: flags.page,
      })
      const answer = await withServices(flags, ({ entries }, { viewer }) => entries.listEntries(viewer, query))
      if (flags.json) return printJson(answer)
      printTable(
        [
          { title: 'STARTED (UTC)', of: ({ started_at }) => minute(started_at) },
          { title: 'PERSON', of: ({ agent_manager }) => agent_manager.name },
          { title: 'HARNESS', of: ({ agent_harness }) => agent_harness },
          { title: 'AGENT', of: ({ agent_name }) => agent_name },
          { title: 'MODEL', of: ({ model }) => model },
          { title: 'TOKENS', of: ({ tokens }) => tokens.total.toLocaleString('en'), align: 'right' },
          // Money is JSON's exact number, not one to calculate with; its text is that of the JSON.
          {
            title: 'COST (USD)',
            of: ({ cost }) => (cost === null ? 'unpriced' : JSON.stringify(cost)),
            align: 'right',
          },
          { title: 'PLACE', of: placeOf },
          { title: 'STATUS', of: ({ status }) => status },
          { title: 'ID', of: ({ id }) => id },
        ],
        answer.data,
      )
      if (answer.has_more) note(`There are more: add --page ${answer.next_page}`)
    })
}
