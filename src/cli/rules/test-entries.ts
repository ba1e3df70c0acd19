import type { RuleTrialAnswer } from '../../features/entries/contract.ts'
import type { Unsaved } from '../../features/placement/service.ts'
import { countText } from '../terminal/numbers.ts'
import { minute, print, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { placeText } from './place-text.ts'

/** How many entries a call takes. */
const PAGE = 1_000

/** `tally rules test --last <number>`: tests the newest entries instead of a sample. */
export async function testOnEntries(flags: CommandFlags, tried: Unsaved, last: number): Promise<void> {
  const { readPage } = await import('../../features/selection/contract.ts')
  const data = await withServices(flags, async ({ entries }, { viewer }) => {
    const found: RuleTrialAnswer['data'] = []
    let page: string | null | undefined
    while (found.length < last && page !== null) {
      const after = page === undefined ? undefined : readPage(page)
      const limit = Math.min(PAGE, last - found.length)
      const answer: RuleTrialAnswer = await entries.places.tryRules(viewer, { filter: {}, ...tried, limit, after })
      found.push(...answer.data)
      page = answer.next_page
    }
    return found
  })
  if (flags.json) printJsonList(data)
  else printTrial(data)
}

function printTrial(data: RuleTrialAnswer['data']): void {
  printTable(
    [
      { title: 'STARTED (UTC)', of: ({ entry }) => minute(entry.started_at) },
      { title: 'ENTRY', of: ({ entry }) => entry.id },
      { title: 'CURRENT PLACE', of: ({ entry }) => placeText(entry) },
      { title: 'RULE', of: ({ taken }) => taken?.rule.name ?? 'none' },
      {
        title: 'NEW PLACE',
        of: ({ taken }) => (taken ? [taken.project.key, taken.ticket].filter(Boolean).join(' ') : '–'),
      },
      { title: 'EARLIER RULES', of: whyNotEarlier },
    ],
    data,
  )
  print('')
  const taken = Map.groupBy(data, ({ taken }) => taken?.rule.name ?? 'none')
  printTable(
    [
      { title: 'RULE', of: ([name]) => name },
      { title: 'ENTRIES', of: ([, those]) => countText(those.length), align: 'right' },
    ],
    [...taken].sort(([, one], [, other]) => other.length - one.length),
  )
}

/** Reasons that fit into a line; the JSON has all of them. */
const REASONS_SHOWN = 2

function whyNotEarlier({ steps }: RuleTrialAnswer['data'][number]): string {
  const reasons = steps.flatMap(({ rule, verdict, failed }) => {
    if (verdict === 'takes') return []
    if (verdict !== 'not_met') return [`${rule.name}: ${verdict === 'disabled' ? 'disabled' : 'project archived'}`]
    const { field, matches, value } = failed[0]!
    return [`${rule.name}: ${value === null ? `no ${field}` : `${field} is '${value}', not ${matches}`}`]
  })
  const more = reasons.length > REASONS_SHOWN ? `; ${countText(reasons.length - REASONS_SHOWN)} more` : ''
  return reasons.slice(0, REASONS_SHOWN).join('; ') + more
}
