import { Center, Paper, Stack, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Note } from './texts.tsx'

interface AuthLayoutProps {
  title: string
  /** One line that explains the page. */
  lead?: ReactNode
  /** In pixels. */
  width?: number
  children: ReactNode
}

/** The layout of pages outside a session, such as sign-in. */
export function AuthLayout({ title, lead, width = 380, children }: AuthLayoutProps) {
  useDocumentTitle(`${title} · Tally`)
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" w="100%" maw={width}>
        <Stack>
          <div>
            <img src="/assets/icon.svg" alt="" width={28} height={28} />
            <Title order={1} size="h3">
              {title}
            </Title>
            {lead && <Note mt={4}>{lead}</Note>}
          </div>
          {children}
        </Stack>
      </Paper>
    </Center>
  )
}
