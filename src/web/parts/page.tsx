import { ActionIcon, Anchor, Group, Stack, Title, Tooltip } from '@mantine/core'
import { IconHelpCircle } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { manualAddress } from '../shell/manual-pages.ts'
import classes from './page.module.css'
import { Note } from './texts.tsx'

interface PageProps {
  title: ReactNode
  /** The parent page: `{ href: '/bills', title: 'Bills' }`. */
  above?: { href: string; title: string }
  /** One line that explains the page. */
  lead?: ReactNode
  /** The actions, to the right of the title. */
  actions?: ReactNode
  children: ReactNode
}

/** Leads to the manual's page about this one, and leaves this one open. */
function Help() {
  const [path] = useLocation()
  return (
    <Tooltip label="About this page, in the manual">
      <ActionIcon
        component="a"
        href={manualAddress(path)}
        target="_blank"
        variant="subtle"
        color="gray"
        className="tally-no-print"
        aria-label="About this page, in the manual"
      >
        <IconHelpCircle size={17} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

/** On a phone its first two lines, and all of it once somebody taps it; what is cut is there for screen readers. */
function Lead({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Note
      maw={720}
      component="div"
      className={classes.lead}
      data-open={isOpen || undefined}
      onClick={() => setOpen(true)}
    >
      {children}
    </Note>
  )
}

/** The layout of a page: title, actions and content. */
export const Page = ({ title, above, lead, actions, children }: PageProps) => (
  <Stack gap="md">
    <Group justify="space-between" align="flex-start" gap="sm">
      <div className={classes.heading}>
        {above && (
          <Anchor component={Link} href={above.href} size="sm">
            ← <bdi>{above.title}</bdi>
          </Anchor>
        )}
        <Group gap={4} wrap="nowrap">
          <Title order={1} size="h3">
            <bdi>{title}</bdi>
          </Title>
          <Help />
        </Group>
        {lead && <Lead>{lead}</Lead>}
      </div>
      {actions && (
        <Group gap="xs" className={classes.actions}>
          {actions}
        </Group>
      )}
    </Group>
    {children}
  </Stack>
)
