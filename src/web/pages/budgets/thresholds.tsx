import { Stack } from '@mantine/core'
import { counted } from '../../format/counts.ts'
import type { Budget } from '../../parts/budgets/budget.ts'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Note, SectionTitle } from '../../parts/texts.tsx'
import type { People } from './budget-values.ts'

type Threshold = Budget['thresholds'][number]

/** What causes alerts, and who is notified. */
export const Thresholds = ({ budget: { thresholds }, people }: { budget: Budget; people: People }) => (
  <Stack gap="xs">
    <SectionTitle>Thresholds</SectionTitle>
    {thresholds.length === 0 ? (
      <Note>None: nobody is notified when this budget is used up. Edit the budget to add thresholds.</Note>
    ) : (
      <PlainTable
        label="Thresholds"
        columns={[
          { key: 'threshold', title: 'Threshold', width: '160px', cell: thresholdInWords },
          {
            key: 'notifies',
            title: 'Notifies',
            cell: (threshold) => <bdi>{recipientsInWords(threshold, people)}</bdi>,
          },
        ]}
        rows={thresholds}
        rowKey={thresholdInWords}
      />
    )}
  </Stack>
)

/** `80% spent`, `100% forecast` */
export const thresholdInWords = ({ percent, of }: Pick<Threshold, 'percent' | 'of'>): string =>
  `${percent}% ${of ?? 'spent'}`

function recipientsInWords(threshold: Threshold, known: People): string {
  const { leads, billing, people = [], emails = [], webhooks = [] } = threshold
  const names = known.filter(({ id }) => people.includes(id)).map(({ name }) => name)
  const others = people.length - names.length
  const all = [
    leads && 'leads',
    billing && 'billing',
    ...names,
    others > 0 && counted(others, names.length > 0 ? 'other person' : 'person', names.length > 0 ? 'others' : 'people'),
    ...emails,
    webhooks.length > 0 && counted(webhooks.length, 'webhook'),
  ]
  return all.filter(Boolean).join(', ') || 'nobody'
}
