import { Group, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { asProblem } from '../../server/problem.ts'

interface SectionProps {
  title: string
  /** What was found; absent until it is known. */
  found?: string | undefined
  /** What the figures mean. */
  note: string
  controls?: ReactNode
  /** Of its request. */
  asked: { error: unknown; refetch: () => unknown; isPlaceholderData?: boolean; isLoading: boolean }
  children?: ReactNode
}

/** A question, its answer in words, and the figures. */
export const Section = ({ title, found, note, controls, asked, children }: SectionProps) => (
  <Paper component="section" withBorder p="md" aria-label={title}>
    <Group justify="space-between" gap="xs" align="flex-start">
      <Title order={2} size="h5">
        {title}
      </Title>
      <Group gap="xs" className="tally-no-print">
        {controls}
      </Group>
    </Group>
    {found !== undefined && (
      <Text mt={4} role="status">
        {found}
      </Text>
    )}
    <Text size="sm" c="dimmed" mb="sm" maw={820}>
      {note}
    </Text>
    {found === undefined && Boolean(asked.error) && <Failure problem={asProblem(asked.error)} retry={asked.refetch} />}
    {found === undefined && asked.isLoading && <Loading lines={4} />}
    {found !== undefined && <div style={{ opacity: asked.isPlaceholderData ? 0.55 : 1 }}>{children}</div>}
  </Paper>
)
