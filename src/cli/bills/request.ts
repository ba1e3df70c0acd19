/** The flags of a bill as the request body of the API, and its issues in terms of flags. */
import { type Command, Option } from 'commander'
import { type Issue, Problem } from '../../errors.ts'
import type { BillRequest } from '../../features/bills/schema.ts'
import type { Services } from '../../services.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'
import { CommandError, EXIT_USAGE } from '../failures.ts'
import { checked, numberOf } from '../flags/body.ts'
import { collect } from '../flags/options.ts'
import { yesNoOption } from '../flags/yes-no.ts'
import { inCommands } from '../wording.ts'

export interface BillFlags {
  month?: string
  from?: string
  to?: string
  client?: string
  project?: string
  groupBy?: string[]
  markup?: string
  currency?: string
  exchangeRate?: string
  line?: string[]
  tax?: string
  taxName?: string
  note?: string
  purchaseOrder?: string
  dueDays?: string
  leaveUnpriced?: boolean
  includeEarlier?: boolean
  basis?: string
  provisional?: boolean
  showCost?: boolean
  showActiveTime?: boolean
  replaces?: string
}

const each = (text: string, before: string[] = []): string[] => [...before, text]

export function addBillFlags(command: Command): Command {
  return command
    .option('--month <month>', 'month to bill, such as 2026-11')
    .option('--from <day>', 'first day to bill, instead of --month')
    .option('--to <day>', 'last day to bill, inclusive')
    .option('--client <client>', 'name or id of the client to bill')
    .option('--project <project>', 'project to bill; without --client and --project, everything is billed')
    .option(
      '--group-by <what>',
      'group lines by project, ticket, model, agent_manager, agent_name, label:<name>; repeatable or comma-separated',
      collect,
    )
    .option('--markup <percent>', 'markup on costs, instead of the markups of project, client and organization')
    .option('--currency <code>', 'bill currency (default: that of the client, or else of the organization)')
    .option('--exchange-rate <rate>', 'value of one US dollar in the bill currency')
    .option('--line <text=amount>', 'additional line, such as "Set-up=250"; repeatable', each)
    .option('--tax <percent>', 'tax on the subtotal')
    .option('--tax-name <name>', 'name of the tax, such as VAT')
    .option('--note <text>', 'note above the lines')
    .option('--purchase-order <reference>', 'purchase order number of the client')
    .option('--due-days <days>', 'days until the bill is due (default: that of the organization)')
    .option('--leave-unpriced', 'leave out unpriced entries, which otherwise prevent sending the bill')
    .addOption(yesNoOption('--include-earlier', 'whether to bill unbilled entries from before the period'))
    .addOption(
      new Option('--basis <basis>', 'what entries cost (default: the setting of the organization)').choices([
        ...COST_BASES,
      ]),
    )
    .option('--provisional', 'bill shares of periods of plans that are not closed, and mark the bill as provisional')
    .option('--show-cost', 'show costs and markups on the documents')
    .option('--show-active-time', 'show on the documents how long agents worked for each line')
    .option('--replaces <bill>', 'number or id of the void bill that this bill replaces')
}

/** Throws a {@link CommandError} for missing or conflicting flags, and a 422 problem with all other issues. */
export async function readBillFlags(flags: BillFlags): Promise<BillRequest> {
  if (flags.month === undefined && flags.from === undefined && flags.to === undefined) {
    throw new CommandError('No period given. Use --month 2026-11, or --from and --to.', 2)
  }
  if ((flags.from === undefined) !== (flags.to === undefined)) {
    throw new CommandError('Use --from and --to together.', 2)
  }
  if (flags.taxName !== undefined && flags.tax === undefined) {
    throw new CommandError('--tax-name requires --tax.', 2)
  }
  const { BillRequest: schema } = await import('../../features/bills/schema.ts')
  return checked(schema, {
    period: flags.from === undefined ? undefined : { from: flags.from, to: flags.to },
    month: flags.month,
    client: flags.client,
    project: flags.project,
    group_by: flags.groupBy,
    markup: numberOf('--markup', flags.markup),
    currency: flags.currency?.toUpperCase(),
    exchange_rate: numberOf('--exchange-rate', flags.exchangeRate),
    extra_lines: flags.line?.map(readLine),
    tax: flags.tax === undefined ? undefined : { name: flags.taxName, percent: numberOf('--tax', flags.tax) },
    note: flags.note,
    purchase_order: flags.purchaseOrder,
    due_days: numberOf('--due-days', flags.dueDays),
    leave_unpriced: flags.leaveUnpriced,
    include_earlier: flags.includeEarlier,
    basis: flags.basis,
    provisional: flags.provisional,
    show_cost: flags.showCost,
    show_active_time: flags.showActiveTime,
    replaces: flags.replaces,
  }) as Promise<BillRequest>
}

/** With the basis that the organization has chosen, unless a flag names another one. */
export async function withUsualBasis(
  body: BillRequest,
  { organization }: Pick<Services, 'organization'>,
): Promise<BillRequest> {
  const { costBasis } = await organization.settings()
  return body.basis !== undefined || costBasis === 'cost' ? body : { ...body, basis: costBasis }
}

/** `Set-up=250`: what it is for, and its amount after the last `=`. */
export function readLine(line: string): { text: string; amount: number | undefined } {
  const at = line.lastIndexOf('=')
  if (at < 1)
    throw new CommandError(`--line: '${line}' is not a valid line. Use a text and an amount, such as "Set-up=250".`, 2)
  return { text: line.slice(0, at).trim(), amount: numberOf('--line', line.slice(at + 1)) }
}

/** E-mail addresses of a flag that is repeatable or comma-separated. */
export const addresses = (text: string, before?: string[]): string[] =>
  collect(text, before).map((address) => address.trim())

/** Flags whose names differ from the fields of the API. */
const FLAGS: [pointer: RegExp, flag: string][] = [
  [/^\/period\/(from|to)$/, '--$1'],
  [/^\/period$/, '--month, or --from and --to'],
  [/^\/extra_lines(\/.*)?$/, '--line'],
  [/^\/tax\/percent$/, '--tax'],
  [/^\/tax\/name$/, '--tax-name'],
  [/^\/(deliver_to|group_by)(\/\d+)?$/, '--$1'],
  [/^\/(.*)$/, '--$1'],
]

/** Runs `work` and names the flags of fields that are parts of others in its issues. */
export async function refusedInFlags<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    const issues = error instanceof Problem ? (error.more.issues ?? []) : []
    if (issues.length === 0) throw error
    throw new CommandError(inCommands(issues.map(issueText).join('\n')), EXIT_USAGE)
  }
}

function issueText({ pointer, message }: Issue): string {
  const [pattern, flag] = FLAGS.find(([pattern]) => pattern.test(pointer)) ?? [/^$/, '']
  const name = pointer.replace(pattern, flag).replaceAll('_', '-')
  return `${name === '' ? '' : `${name}: `}${message.replace('`from`', '--from')}`
}
