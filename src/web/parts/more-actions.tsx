/** What else can be done with something, in a menu behind three dots. */
import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import type { ReactNode } from 'react'

interface MoreActionsProps {
  isBusy?: boolean
  /** The items of the menu. */
  children: ReactNode
}

/** Beside the buttons of a page. */
export const MoreActions = ({ isBusy = false, children }: MoreActionsProps) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <Button variant="default" px="xs" aria-label="More actions" loading={isBusy}>
        <IconDots size={16} />
      </Button>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
)

/** In a row of a list. */
export const RowActions = ({ label, children }: { label: string; children: ReactNode }) => (
  <Menu position="bottom-end">
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" aria-label={label}>
        <IconDots size={16} />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>{children}</Menu.Dropdown>
  </Menu>
)
