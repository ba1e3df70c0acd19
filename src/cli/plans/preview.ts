/** What a change of plans or funding rules would change, on the command line. */
import type { FundingPreviewBody } from '../../features/funding/schema.ts'
import { fundingTitle } from '../../shared/funding.ts'
import { counted, countText, exactText } from '../terminal/numbers.ts'
import { note, print, printTable } from '../terminal/print.ts'

export const DRY_RUN_DOC = 'count the entries that would be paid for otherwise, and change nothing'

export function printPreview({ changes, locked_entries, searched_to }: FundingPreviewBody): void {
  const sideText = ({ funding: kind, plan }: FundingPreviewBody['changes'][number]['from']) =>
    fundingTitle({ kind, plan })
  if (changes.length === 0) print('The change would not affect what pays for any entry.')
  else {
    printTable(
      [
        { title: 'NOW', of: ({ from }) => sideText(from) },
        { title: 'THEN', of: ({ to }) => sideText(to) },
        { title: 'ENTRIES', of: ({ entries }) => countText(entries), align: 'right' },
        { title: 'COST (USD)', of: ({ cost }) => exactText(cost), align: 'right' },
      ],
      changes,
    )
  }
  if (locked_entries > 0) note(`${countText(locked_entries)} approved, billed or voided entries keep what they have.`)
  if (searched_to !== null) note(`Only entries from ${searched_to} on were checked; older ones change as well.`)
}

/** The same before a question: `3 entries would be paid for otherwise, and 1 approved, billed or voided entry stays.` */
export function previewText({ entries, locked_entries, searched_to }: FundingPreviewBody): string {
  const least = searched_to === null ? '' : 'At least '
  const changing = `${least}${counted(entries, 'entry', 'entries')} would be paid for otherwise`
  const kept = counted(
    locked_entries,
    'approved, billed or voided entry keeps',
    'approved, billed or voided entries keep',
  )
  return locked_entries === 0 ? `${changing}.` : `${changing}; ${kept} what they have.`
}
