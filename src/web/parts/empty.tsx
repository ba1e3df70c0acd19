import { Box, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Note } from './texts.tsx'

interface EmptyProps {
  title: string
  /** What will appear here, or why there is nothing. */
  children: ReactNode
  /** The one thing to do next. */
  action?: ReactNode
  /** Whether it replaces the whole page, so that its title is the page's heading. */
  isPage?: boolean
}

/** An empty state. */
export const Empty = ({ title, children, action, isPage = false }: EmptyProps) => (
  <Stack align="center" gap="xs" py={64} px="md" maw={480} mx="auto" ta="center">
    <Title order={isPage ? 1 : 2} size="h4">
      {title}
    </Title>
    <Note component="div">{children}</Note>
    {action && <Box mt="sm">{action}</Box>}
  </Stack>
)
