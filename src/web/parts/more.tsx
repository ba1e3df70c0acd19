/** Fields of a form that few people need. They stay in the form, so that an issue in one of them can be shown. */
import { Button, Stack } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'

interface MoreProps {
  /** Whether any of the fields is set. */
  isUsed: boolean
  /** Whether any of the fields has an issue, which opens them. */
  hasIssue: boolean
  children: ReactNode
}

export function More({ isUsed, hasIssue, children }: MoreProps) {
  const [chosen, choose] = useState(isUsed)
  const isOpen = chosen || hasIssue
  return (
    <>
      <Button
        variant="subtle"
        size="compact-sm"
        w="fit-content"
        leftSection={isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
        aria-expanded={isOpen}
        onClick={() => choose(!isOpen)}
      >
        More
      </Button>
      <Stack hidden={!isOpen} style={isOpen ? undefined : { display: 'none' }}>
        {children}
      </Stack>
    </>
  )
}
