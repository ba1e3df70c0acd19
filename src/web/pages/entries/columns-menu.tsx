import { Button, Checkbox, Popover, Stack } from '@mantine/core'
import { IconColumns3 } from '@tabler/icons-react'
import { COLUMNS, type useColumns } from './columns.tsx'

type ColumnsMenuProps = Pick<ReturnType<typeof useColumns>, 'chosen' | 'choose' | 'reset'>

/** Chooses the columns of the table; stored in the browser. */
export const ColumnsMenu = ({ chosen, choose, reset }: ColumnsMenuProps) => (
  <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
    <Popover.Target>
      <Button variant="default" leftSection={<IconColumns3 size={16} />} visibleFrom="sm">
        Columns
      </Button>
    </Popover.Target>
    <Popover.Dropdown>
      <Checkbox.Group value={chosen} onChange={choose} label="Columns">
        <Stack gap={6} mt="xs" mah="60vh" style={{ overflowY: 'auto' }}>
          {COLUMNS.filter(({ key }) => key !== 'summary').map(({ key, title }) => (
            <Checkbox key={key} value={key} label={title} size="xs" />
          ))}
        </Stack>
      </Checkbox.Group>
      <Button variant="subtle" size="compact-xs" mt="sm" onClick={reset}>
        Reset to default
      </Button>
    </Popover.Dropdown>
  </Popover>
)
