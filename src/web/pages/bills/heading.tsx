import { Title } from '@mantine/core'

export const Heading = ({ children }: { children: string }) => (
  <Title order={2} size="h6" mb="xs">
    {children}
  </Title>
)
