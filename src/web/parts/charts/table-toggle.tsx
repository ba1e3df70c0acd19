import { Button, Collapse } from '@mantine/core'
import { IconTable } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'

/** The amounts of a chart as a table, for those who cannot see it, which is only rendered while it is shown. */
export function TableToggle({ children }: { children: ReactNode }) {
  const [isShown, setShown] = useState(false)
  return (
    <>
      <Button
        size="compact-xs"
        variant="subtle"
        color="gray"
        mt="xs"
        w="fit-content"
        leftSection={<IconTable size={14} />}
        onClick={() => setShown(!isShown)}
        aria-expanded={isShown}
      >
        {isShown ? 'Hide table' : 'Show as table'}
      </Button>
      <Collapse expanded={isShown}>{isShown && children}</Collapse>
    </>
  )
}
