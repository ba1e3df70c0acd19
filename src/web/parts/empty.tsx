import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface EmptyProps {
  title: string
  /** Why there is nothing, and what to do about it. */
  children: ReactNode
  /** The one thing to do next. */
  action?: ReactNode
  /** Where it stands for the whole page, and its title is the page's. */
  isPage?: boolean
}

/** In the place of what is not there. */
export const Empty = ({ title, children, action, isPage = false }: EmptyProps) => (
  <Stack align="center" gap="xs" py={64} px="md" maw={480} mx="auto" ta="center">
    <Title order={isPage ? 1 : 2} size="h4">
      {title}
    </Title>
    <Text c="dimmed" size="sm" component="div">
      {children}
    </Text>
    {action}
  </Stack>
)
