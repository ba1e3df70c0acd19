import { Progress, Text, Tooltip } from '@mantine/core'
import { money } from '../../format/money.ts'
import { budgetUse } from './budget-use.ts'

const COLORS = { within: 'teal', nearly: 'orange', over: 'red' }

/** How much of a budget is used, both in US dollars. */
export function Budget({ used, budget }: { used: number; budget: number }) {
  const { share, state, text } = budgetUse(used, budget)
  return (
    <Tooltip label={`${money(used)} of ${money(budget)}`}>
      <div tabIndex={-1}>
        <Progress
          value={Math.min(share, 1) * 100}
          color={COLORS[state]}
          size="sm"
          aria-label={`${money(used)} of the ${money(budget)} budget`}
        />
        <Text size="xs" c={state === 'over' ? 'var(--mantine-color-error)' : 'dimmed'}>
          {text}
        </Text>
      </div>
    </Tooltip>
  )
}
