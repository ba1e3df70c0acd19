/** The columns, their widths and the density of a table, kept for the person in all browsers; and printing it. */
import { ActionIcon, Button, Checkbox, Group, Popover, Stack, Text } from '@mantine/core'
import { IconAdjustmentsHorizontal, IconPrinter } from '@tabler/icons-react'
import type { SyntheticEvent } from 'react'
import { count } from '../format/counts.ts'
import type { List } from '../server/list.ts'
import type { Column } from './column.ts'
import { Segmented } from './segmented.tsx'
import { usePrintAll } from './table-print.ts'
import { isAlwaysShown, type useTableView } from './table-view.ts'

interface TableMenuProps<Row> {
  label: string
  list: List<Row> | readonly Row[]
  columns: readonly Column<Row>[]
  view: Pick<ReturnType<typeof useTableView>, 'chosen' | 'choose' | 'density' | 'setDensity' | 'isUsual' | 'reset'>
}

export const TableMenu = <Row,>({ label, columns, view, list }: TableMenuProps<Row>) => {
  // Continues while the menu is closed.
  const printing = usePrintAll(list)
  return (
    <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label={`Columns of ${label}`}
          title="Columns, density and printing"
        >
          <IconAdjustmentsHorizontal size={15} stroke={1.6} />
        </ActionIcon>
      </Popover.Target>
      {/* Columns are not what a form that the table is in asks for. */}
      <Popover.Dropdown className="tally-no-print" onChange={stop} onInput={stop}>
        <Checkbox.Group value={view.chosen} onChange={view.choose} label="Columns">
          <Stack gap={6} mt="xs" mah="max(180px, min(50vh, 100vh - 620px))" style={{ overflowY: 'auto' }}>
            {columns
              .filter((column) => !isAlwaysShown(column, columns))
              .map(({ key, title }) => (
                <Checkbox key={key} value={key} label={title} size="xs" />
              ))}
          </Stack>
        </Checkbox.Group>
        <Text size="sm" fw={500} mt="sm" mb={4}>
          Density of all tables
        </Text>
        <Segmented
          size="xs"
          aria-label="Density of all tables"
          value={view.density}
          choose={view.setDensity}
          titles={{ comfortable: 'Comfortable', compact: 'Compact' }}
        />
        <Button variant="subtle" size="compact-xs" mt="sm" display="block" disabled={view.isUsual} onClick={view.reset}>
          Reset columns and widths
        </Button>
        <PrintButton {...printing} />
      </Popover.Dropdown>
    </Popover>
  )
}

/** Prints all rows of the list, once they are loaded. */
function PrintButton({ loaded, print, cancel }: ReturnType<typeof usePrintAll>) {
  if (loaded === null)
    return (
      <Button
        variant="subtle"
        size="compact-xs"
        mt={4}
        display="block"
        leftSection={<IconPrinter size={14} />}
        onClick={print}
      >
        Print all rows
      </Button>
    )
  return (
    <Group gap="xs" mt={4} wrap="nowrap">
      <Text size="xs" role="status">
        {count(loaded)} rows loaded…
      </Text>
      <Button variant="subtle" size="compact-xs" onClick={cancel}>
        Cancel
      </Button>
    </Group>
  )
}

const stop = (event: SyntheticEvent) => event.stopPropagation()
