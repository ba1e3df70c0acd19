/** Runs `tally up --join`: what the own server has is reported to the team's, after a preview. */
import { previewAll, reportAll } from '../../agents/batches.ts'
import { storeCredentials } from '../../agents/credentials.ts'
import {
  type AgentsEnvironment,
  type ClientConfig,
  namesToken,
  readAgentsServer,
  readClientConfigOf,
  readConfig,
} from '../../config.ts'
import type { ListedTokenEntry } from '../../features/entries/schema.ts'
import { moneyNanos, moneyNumber } from '../../lib/money.ts'
import { askToken, requireServiceToken } from '../agents/login.ts'
import { printPreview } from '../agents/scan-preview.ts'
import { failWhereLeft, printOutcome, withProgress } from '../agents/scan-run.ts'
import { withServerIssues } from '../agents/server.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { findProvenServer, PROGRAM } from '../running-server.ts'
import { ask, requireTerminal } from '../terminal/confirm.ts'
import { counted, inDollars } from '../terminal/numbers.ts'
import { note, print } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { type MovedUse, movedText, movedUses } from './moved.ts'
import { type Place, remembered } from './place.ts'
import { storedLogin } from './sessions.ts'

interface JoinFlags {
  names: boolean
  yes: boolean
}

export async function join(
  environment: AgentsEnvironment,
  place: Place,
  url: string,
  { names, yes }: JoinFlags,
): Promise<void> {
  const { owner } = remembered(place)
  if (owner === undefined) {
    throw new CommandError(
      `There is no server of \`tally up\` on this machine, so there is nothing to move. To report this machine's sessions: tally agents login --url ${url} --report`,
    )
  }
  const running = await findProvenServer(place.data)
  if (running && running.program !== PROGRAM) {
    throw new CommandError('The server of `tally up` runs another version. Run `tally up` first.')
  }
  const server = await serverAt(environment, url)
  const { person } = await requireServiceToken(server)
  if (person.id === owner) throw new CommandError(`${server.url} is the server of \`tally up\` itself.`, EXIT_USAGE)
  const { entries, settings } = await ownData(place)
  const reasonOf = (entry: ListedTokenEntry) => reasonToStay(entry, owner)
  const uses = movedUses(entries.filter((entry) => !entry.superseded && reasonOf(entry) === undefined))
  const { known, ...first } = await previewOf(server, uses, () => names)
  const isNamed = (use: MovedUse) => names && !known.has(use)
  const preview = names && known.size > 0 ? await previewOf(server, uses, isNamed) : first
  print(`Sessions on this machine become entries of ${person.name} (${person.email}) at ${server.url}.`)
  printPreview(preview, server.url)
  const projects = new Set(preview.entries.flatMap(({ before, after }) => (before ? [] : (after.project?.key ?? []))))
  if (names && projects.size > 0) print(`Projects: ${[...projects].join(', ')}. Missing ones are created.`)
  const { timeZone, hashedSessionIds } = settings
  if (timeZone !== preview.timeZone) {
    note(`Days are in ${preview.timeZone} there, and in ${timeZone} here: usage of one day here stays together.`)
  }
  if (hashedSessionIds) {
    note('Ids of old sessions are hashes here. If agents also report these sessions there, they count twice.')
  }
  printLeft(Map.groupBy(entries, reasonOf))
  if (preview.entries.some(({ result }) => result !== 'repeated')) {
    await requireYes('Move them? [y/N] ', { yes })
    const textOf = (use: MovedUse) => movedText(use, { isNamed: isNamed(use) })
    const outcome = await withProgress('Reporting entries', (options) => reportAll(server, uses, () => textOf, options))
    printOutcome(outcome, server.url)
    failWhereLeft(outcome)
  }
  await offerReporting(environment, place, server, { yes })
}

/** With the token that flags or the environment name, or that is stored for it, or else one that is asked for. */
async function serverAt(environment: AgentsEnvironment, url: string): Promise<ClientConfig> {
  const stored = storedLogin(environment)
  if (namesToken({}) || stored?.url === url.replace(/\/+$/, '')) return readAgentsServer({ url }, stored)
  return readClientConfigOf(await askToken('Set TALLY_TOKEN.'), { url })
}

const ownData = ({ data }: Place) =>
  withServices(
    { data, as: '' },
    async ({ entries, organization }, { viewer }) => ({
      entries: await Array.fromAsync(entries.listing.exportEntries(viewer, {})),
      settings: await organization.settings(),
    }),
    { config: readConfig({ data }, {}) },
  )

const MOVED_STATUSES: readonly ListedTokenEntry['status'][] = ['submitted', 'approved', 'billed']

/** Undefined for an entry that is moved. */
function reasonToStay({ agent_manager, funding, status }: ListedTokenEntry, owner: string): string | undefined {
  if (agent_manager.id !== owner) return 'of other people'
  if (funding.reason === 'correction') return 'correcting a plan'
  return MOVED_STATUSES.includes(status) ? undefined : status
}

function printLeft(byReason: ReadonlyMap<string | undefined, readonly ListedTokenEntry[]>): void {
  const reasons = [...byReason].flatMap(([reason, { length }]) => (reason === undefined ? [] : `${length} ${reason}`))
  const left = [...byReason].flatMap(([reason, entries]) => (reason === undefined ? [] : entries))
  const cost = left.reduce((sum, { cost }) => sum + moneyNanos(cost ?? 0), 0n)
  const what = left.length === 0 ? '' : `${counted(left.length, 'entry', 'entries')}, ${inDollars(moneyNumber(cost))}`
  const text = left.length === 0 ? '' : `Left out: ${what} (${reasons.join(', ')}). `
  print(`${text}Bills, approvals and prices stay here.`)
}

/** What is there already stays where the team has placed it, and only gets what was used since. */
async function previewOf(server: ClientConfig, uses: readonly MovedUse[], isNamed: (use: MovedUse) => boolean) {
  const preview = await withServerIssues(() =>
    withProgress('Asking the server', (options) =>
      previewAll(server, uses, () => (use) => movedText(use, { isNamed: isNamed(use) }), options),
    ),
  )
  if (preview) return preview
  throw new CommandError(
    `${server.url} is of an earlier version, which cannot show what it would create and change. Upgrade it first.`,
  )
}

async function requireYes(question: string, { yes }: { yes: boolean }): Promise<void> {
  if (yes) return
  requireTerminal({ dryRun: false })
  if (!/^y(es)?$/i.test((await ask(question)) ?? '')) throw new CommandError('Nothing was moved.')
}

/** Unless the agents report to a third server. */
async function offerReporting(
  environment: AgentsEnvironment,
  place: Place,
  server: ClientConfig,
  { yes }: { yes: boolean },
): Promise<void> {
  const login = storedLogin(environment)
  if (login?.url === server.url) return
  if (login && login.token !== remembered(place).token) {
    return note(`Agents on this machine report to ${login.url}. That does not change.`)
  }
  if (!yes) {
    requireTerminal({ dryRun: false })
    const answer = await ask(`Report new sessions to ${server.url} from now on? [Y/n] `)
    if (answer === undefined || !/^(y(es)?)?$/i.test(answer)) return
  }
  storeCredentials(environment, server)
  print(`New sessions are reported to ${server.url}. Nothing was removed here.`)
  if (!login) note('To make the agents report them automatically: tally agents install')
}
