/** The frame of the largest groups by a dimension, which are asked for once it is near. */
import { Paper, Skeleton } from '@mantine/core'
import type { ReactNode } from 'react'
import { CardTitle } from '../texts.tsx'
import type { useNear } from '../when-near.tsx'
import { type Dimension, pluralOf } from './dimensions.ts'

/** Of six groups, as many as pages show, and a link to all: what is below stays where it is when they load. */
const ROOM_PX = 237

interface GroupPanelProps {
  near: ReturnType<typeof useNear<HTMLDivElement>>
  dimension: Dimension
  isLoading: boolean
  /** Whether it shows what was asked before. */
  isStale: boolean
  children: ReactNode
}

export const GroupPanel = ({ near: { ref, isNear }, dimension, isLoading, isStale, children }: GroupPanelProps) => (
  <Paper ref={ref} withBorder p="md" h="100%" opacity={isStale ? 0.55 : 1} data-deferred={!isNear || undefined}>
    <CardTitle mb="xs">{pluralOf(dimension)}</CardTitle>
    {isLoading && <Skeleton height={ROOM_PX} />}
    {children}
  </Paper>
)
