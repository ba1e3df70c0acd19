import { Progress, Text, Tooltip } from '@mantine/core'
import { percent } from '../../format/counts.ts'
import { money } from '../../format/money.ts'

/** The share of a budget from which it is highlighted. */
const NEARLY = 0.8

/** How much of a budget is used, both in US dollars. */
export function Budget({ used, budget }: { used: number; budget: number }) {
  const share = budget === 0 ? (used === 0 ? 0 : Number.POSITIVE_INFINITY) : used / budget
  const color = share > 1 ? 'red' : share >= NEARLY ? 'orange' : 'teal'
  const text = share > 1 ? `${money(used - budget)} over ${money(budget)}` : `${percent(share)} of ${money(budget)}`
  return (
    <Tooltip label={`${money(used)} of ${money(budget)}`}>
      <div tabIndex={-1}>
        <Progress
          value={Math.min(share, 1) * 100}
          color={color}
          size="sm"
          aria-label={`${money(used)} of the ${money(budget)} budget`}
        />
        <Text size="xs" c={share > 1 ? 'var(--mantine-color-error)' : 'dimmed'}>
          {text}
        </Text>
      </div>
    </Tooltip>
  )
}
