import { Group, Paper, Stack, Text } from '@mantine/core'
import type { ComponentProps, ReactNode } from 'react'
import { DownloadCsv } from '../../parts/download.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { CardTitle, Note } from '../../parts/texts.tsx'

interface SectionProps {
  title: string
  /** What was found; absent until it is known. */
  found?: string | undefined
  /** What the figures mean. */
  note: string
  controls?: ReactNode
  /** The same as a file; absent if there is nothing in it. */
  csv?: ComponentProps<typeof DownloadCsv> | undefined
  /** Of its request. */
  request: { error: unknown; refetch: () => unknown; isPlaceholderData?: boolean; isLoading: boolean }
  /** What it takes with the usual number of rows, reserved until they are here, so that what is below stays below. */
  roomPx?: number
  children?: ReactNode
}

/** A question, its answer in words, and the figures. */
export const Section = ({ title, found, note, controls, csv, request, roomPx, children }: SectionProps) => (
  <Paper component="section" withBorder p="md" aria-label={title} mih={found === undefined ? roomPx : undefined}>
    <Group justify="space-between" gap="xs" align="flex-start">
      <CardTitle>{title}</CardTitle>
      <Group gap="xs" className="tally-no-print">
        {controls}
        {csv && <DownloadCsv {...csv} size="xs" label={`Export CSV: ${title}`} />}
      </Group>
    </Group>
    {found !== undefined && (
      <Text mt={4} role="status">
        {found}
      </Text>
    )}
    <Note mb="sm" maw={820}>
      {note}
    </Note>
    {found === undefined && Boolean(request.error) && <Failure error={request.error} retry={request.refetch} />}
    {found === undefined && request.isLoading && <Loading lines={4} />}
    {found !== undefined && (
      <Stack gap="sm" opacity={request.isPlaceholderData ? 0.55 : 1}>
        {children}
      </Stack>
    )}
  </Paper>
)
