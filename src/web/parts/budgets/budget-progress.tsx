/** How much of a budget is spent, as a bar and in words. */
import { Badge, Group, Progress, Text } from '@mantine/core'
import { percent, roughCount } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { Count, Money } from '../figures.tsx'
import { type BudgetState, type Measure, shownShare, spentInWords, stateInWords } from './budget.ts'

const COLORS = { within: 'teal', nearly: 'orange', exceeded: 'red' } as const

interface Use {
  measure: Measure
  spent: number
  available: number
  state: BudgetState
  /** False while the entries are being counted. */
  complete: boolean
}

export const Amount = ({ measure, value }: { measure: Measure; value: number }) =>
  measure === 'tokens' ? (
    <>
      <Count value={value} /> tokens
    </>
  ) : (
    <Money amount={value} />
  )

export const BudgetStateBadge = ({ use }: { use: Use }) =>
  use.complete ? <Badge color={COLORS[use.state]}>{stateInWords(use)}</Badge> : <Badge color="gray">Counting…</Badge>

export function BudgetProgress({ use, size = 'sm' }: { use: Use; size?: 'sm' | 'lg' }) {
  const { measure, state, complete } = use
  return (
    <div>
      <Progress
        value={shownShare(use) * 100}
        color={COLORS[state]}
        size={size}
        striped={!complete}
        animated={!complete}
        aria-label={`${spentInWords(use, measure)} spent: ${complete ? stateInWords(use) : 'counting'}`}
      />
      <Group justify="space-between" gap="xs" wrap="nowrap" mt={2}>
        <Text size={size === 'lg' ? 'sm' : 'xs'} c="dimmed" truncate>
          {spentInWords(use, measure)}
        </Text>
        <Text
          size={size === 'lg' ? 'sm' : 'xs'}
          c={state === 'exceeded' ? 'var(--mantine-color-error)' : 'dimmed'}
          style={{ flexShrink: 0 }}
        >
          {shareInWords(use)}
        </Text>
      </Group>
    </div>
  )
}

function shareInWords({ measure, spent, available, state, complete }: Use): string {
  if (!complete) return 'counting…'
  if (state === 'exceeded')
    return `${measure === 'tokens' ? roughCount(spent - available) : money(spent - available)} over`
  return available > 0 ? percent(spent / available) : ''
}
