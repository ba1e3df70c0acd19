/** The largest groups by cost or tokens, with links to their entries. */
import { Anchor, Paper, Skeleton, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { count, percent } from '../../format/counts.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { addressOfGroup } from '../../parts/thing-address.ts'
import { entriesOf, groupsReport, keyOf, labelOf, type Measure, measured } from './groups.ts'
import classes from './overview.module.css'
import type { Scope } from './scope.ts'
import { type Dimension, type Result, useGroups } from './usage.ts'

export const LARGEST = ['project', 'model', 'agent_manager', 'agent_harness'] as const satisfies Dimension[]
type LargestDimension = (typeof LARGEST)[number]

const TITLES: Record<LargestDimension, string> = {
  project: 'Projects',
  model: 'Models',
  agent_manager: 'Agent managers',
  agent_harness: 'Harnesses',
}

/** The number of groups shown. */
const SHOWN = 6

interface LargestProps {
  scope: Scope
  dimension: LargestDimension
  measure: Measure
}

export function Largest({ scope, dimension, measure }: LargestProps) {
  const { data, isPlaceholderData } = useGroups(scope, dimension)
  const groups = data?.toSorted((one, other) => measured(other, measure) - measured(one, measure))
  const all = groups?.reduce((sum, group) => sum + measured(group, measure), 0) ?? 0
  const more = (groups?.length ?? 0) - SHOWN
  return (
    <Paper withBorder p="md" h="100%" opacity={isPlaceholderData ? 0.55 : 1}>
      <Title order={2} size="h5" mb="xs">
        {TITLES[dimension]}
      </Title>
      {!groups && <Skeleton height={160} />}
      <ol className={classes.largest}>
        {groups?.slice(0, SHOWN).map((group) => (
          <Line
            key={keyOf(group, dimension) ?? ''}
            group={group}
            dimension={dimension}
            measure={measure}
            scope={scope}
            share={all > 0 ? measured(group, measure) / all : 0}
          />
        ))}
      </ol>
      {more > 0 && (
        <Anchor
          component={Link}
          href={groupsReport(scope, { dimension, measure })}
          size="xs"
          mt={6}
          display="inline-block"
        >
          Show all {count(SHOWN + more)}
        </Anchor>
      )}
    </Paper>
  )
}

interface LineProps extends LargestProps {
  group: Result
  share: number
}

function Line({ group, dimension, measure, scope, share }: LineProps) {
  const href = entriesOf(group, dimension, scope)
  const page = addressOfGroup(dimension, keyOf(group, dimension), scope.name) ?? href
  const label = <bdi>{labelOf(group, dimension)}</bdi>
  const amount = measure === 'cost' ? <Money amount={group.cost} /> : <Count value={group.tokens.total} />
  return (
    <li>
      {page === undefined ? (
        <Text span size="sm" truncate>
          {label}
        </Text>
      ) : (
        <Anchor component={Link} href={page} size="sm" c="inherit" truncate>
          {label}
        </Anchor>
      )}
      <Text span size="sm">
        {href === undefined ? (
          amount
        ) : (
          <FigureLink figure={measure} value={measure === 'cost' ? group.cost : group.tokens.total} to={href}>
            {amount}
          </FigureLink>
        )}
      </Text>
      <div className={classes.share} title={percent(share)} aria-hidden>
        <div style={{ width: `${share * 100}%` }} />
      </div>
    </li>
  )
}
