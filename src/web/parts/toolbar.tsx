import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './toolbar.module.css'

interface ToolbarProps {
  /** The search and the filters. */
  children: ReactNode
  actions?: ReactNode
}

/** Above a list. On a phone, the actions are next to the search, and the filters share the lines below. */
export const Toolbar = ({ children, actions }: ToolbarProps) => (
  <Group className={`${classes.toolbar} tally-no-print`} justify="space-between" gap="xs">
    <Group className={classes.filters} gap="xs">
      {children}
    </Group>
    {actions && (
      <Group className={classes.actions} gap="xs">
        {actions}
      </Group>
    )}
  </Group>
)
