import { Progress, Text, Tooltip } from '@mantine/core'
import { percent } from '../../format/counts.ts'
import { money } from '../../format/money.ts'

/** From this share on somebody should look. */
const NEARLY = 0.8

/** How much of what the work may cost it has cost. */
export function Budget({ used, budget }: { used: number; budget: number }) {
  const share = budget === 0 ? (used === 0 ? 0 : Number.POSITIVE_INFINITY) : used / budget
  const color = share > 1 ? 'red' : share >= NEARLY ? 'orange' : 'teal'
  const text = share > 1 ? `${money(used - budget)} over` : percent(share)
  return (
    <Tooltip label={`${money(used)} of ${money(budget)}`}>
      <div tabIndex={-1}>
        <Progress
          value={Math.min(share, 1) * 100}
          color={color}
          size="sm"
          aria-label={`${money(used)} of the budget of ${money(budget)}`}
        />
        <Text size="xs" c={share > 1 ? 'var(--mantine-color-error)' : 'dimmed'}>
          {text} of {money(budget)}
        </Text>
      </div>
    </Tooltip>
  )
}
