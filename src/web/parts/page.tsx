import { Anchor, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import classes from './page.module.css'

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
        <Title order={1} size="h3">
          <bdi>{title}</bdi>
        </Title>
        {lead && (
          <Text c="dimmed" size="sm" maw={720} component="div" className={classes.lead}>
            {lead}
          </Text>
        )}
      </div>
      {actions && (
        <Group gap="xs" className={`${classes.actions} tally-no-print`}>
          {actions}
        </Group>
      )}
    </Group>
    {children}
  </Stack>
)
