/** The flags that filter the entries of a list or report; they correspond to the parameters of the API. */
import type { Command } from 'commander'
import type { QueryTexts } from '../../query.ts'
import { collect } from './options.ts'

export interface EntryFilterFlags {
  endedAfter?: string
  project?: string[]
  ticket?: string[]
  client?: string[]
  billable?: string
  agentManager?: string[]
  agentName?: string[]
  agentHarness?: string[]
  model?: string[]
  provider?: string[]
  status?: string[]
  source?: string[]
  sessionId?: string[]
  label?: string[]
  withoutLabel?: string[]
  placed?: string[]
  priced?: string
  possibleDuplicate?: string
  superseded?: string
  sheet?: string[]
  bill?: string[]
  q?: string
}

/** A label as every other command writes it, or as the API asks for it; no label's name contains either sign. */
const collectLabel = (text: string, before?: string[]): string[] => collect(text.replace(/^([^=:]+)=/, '$1:'), before)

/** Of what and whose the entries are. */
export function addSubjectFilters(command: Command): Command {
  return command
    .option(
      '--project <project>',
      'id, key, name or alias, or none; like most filters repeatable or comma-separated',
      collect,
    )
    .option('--ticket <ticket>', 'id or key', collect)
    .option('--client <client>', 'id or name, or none', collect)
    .option('--billable <true|false>', 'whether the project is billable')
    .option('--agent-manager <person>', 'id or e-mail address', collect)
    .option('--agent-name <name>', 'name of the agent', collect)
    .option('--agent-harness <name>', 'name of the harness', collect)
    .option('--model <name>', 'model as reported', collect)
    .option('--provider <name>', 'provider of the model as reported, or none', collect)
    .option('--source <source>', 'report, log, span, metric, sheet', collect)
    .option('--label <name=value>', 'label, such as repository=acme/web', collectLabel)
    .option('--without-label <name>', 'name of a label that the entry does not have', collect)
}

export function addEntryFilters(command: Command): Command {
  return addSubjectFilters(command)
    .option('--ended-after <when>', 'sessions that ended after this timestamp, or date in UTC')
    .option('--status <status>', 'submitted, draft, pending, approved, rejected, billed', collect)
    .option('--session-id <id>', 'id that the harness gave the session', collect)
    .option('--placed <how>', 'named, rule, manual, or none for unattributed entries', collect)
    .option('--priced <true|false>', 'whether the cost is known')
    .option(
      '--possible-duplicate <true|false>',
      "whether the entry is identical to an earlier one, or another person's session has the same id",
    )
    .option('--superseded <true|false>', 'whether another source has replaced the entry')
    .option('--sheet <sheet>', 'id of a token sheet', collect)
    .option('--bill <bill>', 'id or number, or none', collect)
    .option('--q <text>', 'text in the summary')
}

/** The flags as parameters of the API, which validates them. */
export function entryFilterTexts(flags: EntryFilterFlags): QueryTexts {
  return {
    ended_after: flags.endedAfter,
    project: flags.project,
    ticket: flags.ticket,
    client: flags.client,
    billable: flags.billable,
    agent_manager: flags.agentManager,
    agent_name: flags.agentName,
    agent_harness: flags.agentHarness,
    model: flags.model,
    provider: flags.provider,
    status: flags.status,
    source: flags.source,
    session_id: flags.sessionId,
    label: flags.label,
    without_label: flags.withoutLabel,
    placed: flags.placed,
    priced: flags.priced,
    possible_duplicate: flags.possibleDuplicate,
    superseded: flags.superseded,
    sheet: flags.sheet,
    bill: flags.bill,
    q: flags.q,
  }
}
