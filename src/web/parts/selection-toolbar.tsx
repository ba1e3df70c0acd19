import { Group, type MantineSpacing, Paper } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './selection-toolbar.module.css'

interface SelectionToolbarProps {
  label: string
  /** The space above and below it. */
  my?: MantineSpacing
  children: ReactNode
}

/** What can be done with the selected rows of a list. */
export function SelectionToolbar({ label, my = 0, children }: SelectionToolbarProps) {
  return (
    <Paper className={`${classes.bar} tally-no-print`} my={my} role="toolbar" aria-label={label}>
      <Group gap="xs">{children}</Group>
    </Paper>
  )
}
