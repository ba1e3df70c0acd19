import { Text } from '@mantine/core'

/** An empty cell. On a phone, tables leave such lines out. */
export const EmptyCell = ({ children = '–' }: { children?: string }) => (
  <Text span inherit c="dimmed" data-nothing>
    {children}
  </Text>
)
