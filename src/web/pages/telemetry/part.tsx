import { Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface PartProps {
  title: string
  lead?: string
  children: ReactNode
}

export const Part = ({ title, lead, children }: PartProps) => (
  <section>
    <Title order={2} size="h5">
      {title}
    </Title>
    {lead && (
      <Text size="sm" c="dimmed" maw={720}>
        {lead}
      </Text>
    )}
    {children}
  </section>
)
