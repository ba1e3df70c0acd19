/** The largest groups by cost or tokens, with links to their entries. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { addressOfGroup } from '../../parts/thing-address.ts'
import { type Dimension, keyOf, labelOf } from '../../parts/usage/dimensions.ts'
import { GroupLine, GroupList } from '../../parts/usage/group-list.tsx'
import { GroupPanel } from '../../parts/usage/group-panel.tsx'
import type { Result } from '../../parts/usage/usage.ts'
import { useNear } from '../../parts/when-near.tsx'
import { entriesOf, groupsReport, type Measure, measured } from './groups.ts'
import type { Scope } from './scope.ts'
import { useGroups } from './usage.ts'

export const LARGEST = ['project', 'ticket', 'model', 'agent_manager', 'agent_harness'] as const satisfies Dimension[]
type LargestDimension = (typeof LARGEST)[number]

/** The number of groups shown. */
const SHOWN = 6

interface LargestProps {
  scope: Scope
  dimension: LargestDimension
  measure: Measure
}

export function Largest({ scope, dimension, measure }: LargestProps) {
  const near = useNear<HTMLDivElement>()
  const { data, isPlaceholderData } = useGroups(scope, dimension, near.isNear)
  const groups = data?.toSorted((one, other) => measured(other, measure) - measured(one, measure))
  const all = groups?.reduce((sum, group) => sum + measured(group, measure), 0) ?? 0
  const more = (groups?.length ?? 0) - SHOWN
  return (
    <GroupPanel near={near} dimension={dimension} isLoading={!groups} isStale={isPlaceholderData}>
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
          Show all {count(SHOWN + more)} in reports
        </Anchor>
      )}
    </GroupPanel>
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
  />
)
