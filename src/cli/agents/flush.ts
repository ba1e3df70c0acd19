import { type Command, Option } from 'commander'
import { damageNotice, damageWire } from '../../agents/agent.ts'
import {
  BACKGROUND_PATIENCE_MS,
  type Delivery,
  deliverInBackground,
  deliverWaiting,
  waitingFor,
} from '../../agents/delivery.ts'
import { log } from '../../agents/journal.ts'
import { readJobs, retryRefused } from '../../agents/spool.ts'
import { namedServer, readAgentsEnvironment } from '../../config.ts'
import { CommandError } from '../failures.ts'
import { examples, optionOf } from '../flags/options.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print, printJson, printTable } from '../terminal/print.ts'
import { type AgentsServer, agentsServer, notePause, type ServerFlags } from './server.ts'

interface FlushFlags extends ServerFlags {
  wait?: boolean
  refused?: boolean
  background?: boolean
  json?: boolean
}

export function addAgentsFlushCommand(agents: Command): void {
  agents
    .command('flush')
    .description('Deliver the sessions that hooks have queued, and list them')
    .addOption(optionOf('url'))
    .addOption(optionOf('token'))
    .addOption(optionOf('tokenFile'))
    .option('--wait', 'retry until the server is reachable')
    .option('--refused', 'also retry sessions that the server refused')
    // Started by hooks. It prints nothing.
    .addOption(new Option('--background').hideHelp())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('tally agents flush', 'tally agents flush --wait', 'tally agents flush --refused'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<FlushFlags>()
      if (flags.background) return flushInBackground(flags)
      const target = agentsServer(flags)
      if (flags.refused) retryRefused(target.environment)
      const delivery = await deliverWaiting({
        ...target,
        patienceMs: flags.wait ? Number.POSITIVE_INFINITY : 0,
        onPause: ({ message }, pauseMs) => notePause(message, pauseMs),
      })
      if (flags.json) printJson(jsonOf(delivery, target))
      else printDelivery(delivery, target)
      const problem = problemOf(delivery, target)
      if (problem) throw new CommandError(problem)
    })
}

/** Its output is not shown: errors go to the log and to `tally agents status`. */
async function flushInBackground(flags: FlushFlags): Promise<void> {
  try {
    const target = agentsServer(flags)
    await deliverInBackground({ ...target, named: namedServer(), patienceMs: BACKGROUND_PATIENCE_MS })
  } catch (error) {
    log(readAgentsEnvironment(), `delivery failed: ${(error as Error).message}`)
  }
}

function jsonOf({ delivered, refused, empty, damage, issue }: Delivery, target: AgentsServer) {
  return {
    delivered: delivered.map(({ agent, sessionId, entries, result }) => ({
      agent_harness: agent,
      session_id: sessionId,
      entries,
      result,
    })),
    refused: refused.map(({ job, reasons }) => ({
      agent_harness: job.agent,
      session_id: job.sessionId,
      reasons,
    })),
    empty: empty.map(({ agent, sessionId }) => ({ agent_harness: agent, session_id: sessionId })),
    damage: damage.map(damageWire),
    waiting: waitingFor(target).length,
    issue: issue?.message ?? null,
  }
}

function printDelivery(
  { delivered, refused, empty, damage, issue }: Delivery,
  { environment, server }: AgentsServer,
): void {
  if (delivered.length > 0) {
    printTable(
      [
        { title: 'AGENT', of: ({ agent }) => agent },
        { title: 'SESSION', of: ({ sessionId }) => sessionId },
        { title: 'ENTRIES', of: ({ entries }) => String(entries), align: 'right' },
        { title: 'RESULT', of: ({ result }) => result },
      ],
      delivered,
    )
  }
  for (const { agent, sessionId } of empty) note(`${agent} ${sessionId}: no usage in its session files.`)
  for (const each of damage) note(damageNotice(each))
  const elsewhere = readJobs(environment).waiting.flatMap(({ content }) => content.server ?? [])
  for (const other of new Set(elsewhere)) {
    if (other !== server.url)
      note(
        `More sessions are queued for ${other}, the TALLY_URL of a hook. To deliver them: tally agents flush --url ${other}`,
      )
  }
  if (delivered.length === 0 && refused.length === 0 && empty.length === 0 && !issue) print('No sessions are queued.')
  else if (delivered.length > 0) print(`Delivered ${counted(delivered.length, 'session')} to ${server.url}.`)
}

function problemOf({ refused, issue }: Delivery, target: AgentsServer): string | undefined {
  const lines = refused.map(
    ({ job, reasons }) => `The server refused ${job.agent} ${job.sessionId}, which is kept: ${reasons.join('; ')}`,
  )
  if (issue) {
    lines.push(issue.message)
    lines.push(
      `${counted(waitingFor(target).length, 'session')} still queued; no data is lost. To retry: tally agents flush`,
    )
  }
  return lines.length > 0 ? lines.join('\n') : undefined
}
