/** Runs `tally receipt`. */
import { writeFileSync } from 'node:fs'
import { readMe, readReceipt } from '../../agents/server.ts'
import type { ClientConfig } from '../../config.ts'
import type { Receipt } from '../../features/receipts/schema.ts'
import { moneyNanos, moneyNumber, type Nanos } from '../../lib/money.ts'
import { failWhereUnread, type PricedScan, scanned } from '../agents/scan-run.ts'
import { printDamage } from '../agents/scan-text.ts'
import { withServerIssues } from '../agents/server.ts'
import { CommandError, EXIT_INCOMPLETE, EXIT_USAGE, EXIT_USED_UP } from '../failures.ts'
import { counted, inDollars } from '../terminal/numbers.ts'
import { note, print } from '../terminal/print.ts'
import { type AskedBranch, branchOf } from './branch.ts'
import type { ReceiptFlags } from './flags.ts'
import { localReceipt } from './local.ts'
import { receiptServer } from './server.ts'
import { receiptText, type ShownReceipt } from './text.ts'

export async function runReceipt(flags: ReceiptFlags): Promise<void> {
  const { format = 'text', output, max, ticket } = flags
  const asked = ticket === undefined ? branchOf(flags) : undefined
  const server = flags.local ? undefined : await receiptServer(flags)
  const { receipt, project, scan } = server
    ? { ...(await askedOf(server, asked, flags)), scan: undefined }
    : { ...(await readHere(asked, flags)), project: undefined }
  const text = receiptText(receipt, format, { url: server?.url, since: asked?.since, project })
  if (output === undefined) print(text)
  else writeFileSync(output, `${text}\n`)
  if (scan) printDamage(scan)
  if (max !== undefined) failAbove(max, receipt.totals)
  if (scan) failWhereUnread(scan.damage)
}

/** `project` is the key of the project that the token is limited to. */
async function askedOf(
  server: ClientConfig,
  asked: AskedBranch | undefined,
  { ticket, basis, people }: ReceiptFlags,
): Promise<{ receipt: Receipt; project: string | undefined }> {
  if (asked?.repository === null) {
    throw new CommandError(
      'This repository has no remote, so the server does not know its name. Use --repository, or --local for the session files of this machine.',
      EXIT_USAGE,
    )
  }
  const query = new URLSearchParams({
    ...(asked ? { repository: asked.repository, branch: asked.branch } : { ticket: ticket! }),
    ...(asked?.since && { starting_at: new Date(asked.since.at).toISOString() }),
    ...(basis && { basis }),
    ...(people && { people: 'true' }),
  })
  return withServerIssues(async () => {
    const receipt = await readReceipt(server, query)
    // Servers of earlier versions know no limit.
    return { receipt, project: (await readMe(server)).token?.limit?.project }
  })
}

async function readHere(
  asked: AskedBranch | undefined,
  { basis = 'cost', people }: ReceiptFlags,
): Promise<{ receipt: ShownReceipt; scan: PricedScan }> {
  const missing =
    asked === undefined ? 'tickets' : basis !== 'cost' ? 'other cost bases' : people ? 'people' : undefined
  if (asked === undefined || missing) {
    throw new CommandError(
      `Session files have no ${missing}. Set TALLY_URL and TALLY_READ_TOKEN to ask a server.`,
      EXIT_USAGE,
    )
  }
  const scan = await scanned({})
  return { receipt: localReceipt(scan.uses, asked), scan }
}

function failAbove(max: Nanos, { cost, unpriced_entries: unpriced }: Receipt['totals']): void {
  const nanos = cost === null ? 0n : moneyNanos(cost)
  const limit = inDollars(moneyNumber(max))
  if (nanos > max) throw new CommandError(`The cost is ${inDollars(cost)}, more than ${limit}.`, EXIT_USED_UP)
  if (unpriced === 0) return
  note(`Give ${unpriced === 1 ? 'its model' : 'their models'} a price, or report a cost with the usage.`)
  throw new CommandError(
    `Whether the cost is more than ${limit} is not known: ${counted(unpriced, 'entry has', 'entries have')} no price.`,
    EXIT_INCOMPLETE,
  )
}
