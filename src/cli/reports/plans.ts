import type { Command } from 'commander'
import { reportPlans } from '../../features/plans/operations/plans.ts'
import type { PlanValue, PlanValueReport, PlanValueSums } from '../../features/plans/schema.ts'
import { addAction } from '../operations.ts'
import { counted, dollars, exactText, inDollars } from '../terminal/numbers.ts'
import { print, printTable } from '../terminal/print.ts'

export function addReportsPlansCommand(reports: Command): void {
  addAction(reports, reportPlans, {
    name: 'plans',
    description: 'Show whether plan seats pay for themselves: list value and fee by plan, period and person',
    flags: { from: '--from <day>', to: '--to <day>' },
    examples: ['tally reports plans', 'tally reports plans --from 2026-09-01 --to 2026-11-30'],
    show: printPlans,
  })
}

/** A person in a period, or its unused seats. */
type Row = { of: PlanValue; name: string; fee: number } & Partial<PlanValue['people'][number]>

function printPlans({ data, ended, running }: PlanValueReport): undefined {
  if (data.length === 0) return void print('No plan has a period in this date range. Add one with `tally plans add`.')
  const rows = data.flatMap((of): Row[] => [
    ...of.people.map((person) => ({ of, ...person })),
    ...(of.unused_seats && of.unused !== null
      ? [{ of, name: `(${counted(of.unused_seats, 'unused seat')})`, fee: of.unused }]
      : []),
  ])
  printTable(
    [
      { title: 'PLAN', of: ({ of }) => of.plan.name },
      { title: 'FROM', of: ({ of }) => of.from },
      { title: 'TO', of: ({ of }) => of.to ?? '' },
      { title: 'STATE', of: ({ of }) => (of.state === 'ended' ? 'close it' : of.state) },
      { title: 'PERSON', of: ({ name }) => name },
      { title: 'LIST VALUE (USD)', of: ({ list_value }) => dollars(list_value ?? null), align: 'right' },
      { title: 'CHARGED', of: ({ charge }) => dollars(charge ?? null), align: 'right' },
      { title: 'FEE', of: ({ fee }) => dollars(fee), align: 'right' },
      { title: 'TIMES FEE', of: ({ ratio }) => exactText(ratio), align: 'right' },
      { title: 'ALLOWANCE USED', of: allowanceText, align: 'right' },
    ],
    rows,
  )
  print('')
  for (const [name, sums] of Object.entries({ 'Ended periods': ended, 'Running periods': running })) {
    if (sums.periods > 0) print(`${name}: ${sumsText(sums)}`)
  }
}

function sumsText({ fee_usd, unused, pending, list_value, charge, ratio }: PlanValueSums): string {
  const parts = [`list value ${inDollars(list_value)}`, `${inDollars(charge)} charged`, `fees ${inDollars(fee_usd)}`]
  const left = [
    ...(unused ? [`${inDollars(unused)} for unused seats`] : []),
    ...(pending ? [`${inDollars(pending)} not allocated`] : []),
  ]
  const times = ratio === null ? '' : `: ${exactText(ratio)} times the fees`
  return `${parts.join(', ')}${left.length > 0 ? ` (of these ${left.join(', ')})` : ''}${times}.`
}

function allowanceText({ of: { allowance, allowance_unit: unit }, allowance_used: used }: Row): string {
  if (allowance === null || used === undefined || used === null) return ''
  return `${unit === 'usd' ? dollars(used) : exactText(used)} of ${exactText(allowance)} ${unit}`
}
