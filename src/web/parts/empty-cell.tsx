import { Text } from '@mantine/core'

/** Where a cell has nothing to say. On a phone, tables leave such lines out. */
export const EmptyCell = ({ children = '–' }: { children?: string }) => (
  <Text span inherit c="dimmed" data-nothing>
    {children}
  </Text>
)
