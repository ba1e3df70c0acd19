/** The largest groups by cost or tokens, with links to their entries. */

import { Anchor, Paper, Skeleton, Title } from '@mantine/core'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { addressOfGroup } from '../../parts/thing-address.ts'
import { type Dimension, keyOf, labelOf } from '../../parts/usage/dimensions.ts'
import { GroupLine, GroupList } from '../../parts/usage/group-list.tsx'
import type { Result } from '../../parts/usage/usage.ts'
import { entriesOf, groupsReport, type Measure, measured } from './groups.ts'
import type { Scope } from './scope.ts'
import { useGroups } from './usage.ts'

export const LARGEST = ['project', 'model', 'agent_manager', 'agent_harness'] as const satisfies Dimension[]
type LargestDimension = (typeof LARGEST)[number]

const TITLES: Record<LargestDimension, string> = {
  project: 'Projects',
  model: 'Models',
  agent_manager: 'People',
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
      <GroupList>
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
      </GroupList>
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

const Line = ({ group, dimension, measure, scope, share }: LineProps) => (
  <GroupLine
    label={labelOf(group, dimension)}
    figures={group}
    measure={measure}
    share={share}
    page={addressOfGroup(dimension, keyOf(group, dimension), scope.name)}
    entries={entriesOf(group, dimension, scope)}
    c="inherit"
  />
)
