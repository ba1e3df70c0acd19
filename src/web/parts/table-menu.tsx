/** The columns, their widths and the density of a table; kept for the person, in all browsers. */
import { ActionIcon, Button, Checkbox, Popover, SegmentedControl, Stack, Text } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import type { Column } from './column.ts'
import { isAlwaysShown, type useTableView } from './table-view.ts'

interface TableMenuProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  view: Pick<ReturnType<typeof useTableView>, 'chosen' | 'choose' | 'density' | 'setDensity' | 'isUsual' | 'reset'>
}

export const TableMenu = <Row,>({ label, columns, view }: TableMenuProps<Row>) => (
  <Popover position="bottom-end" shadow="md" trapFocus returnFocus>
    <Popover.Target>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={`Columns of ${label}`}
        title="Columns and density"
      >
        <IconAdjustmentsHorizontal size={15} stroke={1.6} />
      </ActionIcon>
    </Popover.Target>
    <Popover.Dropdown>
      <Checkbox.Group value={view.chosen} onChange={view.choose} label="Columns">
        <Stack gap={6} mt="xs" mah="50vh" style={{ overflowY: 'auto' }}>
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
      <SegmentedControl
        size="xs"
        aria-label="Density of all tables"
        value={view.density}
        onChange={(density) => view.setDensity(density as 'comfortable' | 'compact')}
        data={[
          { value: 'comfortable', label: 'Comfortable' },
          { value: 'compact', label: 'Compact' },
        ]}
      />
      <Button variant="subtle" size="compact-xs" mt="sm" display="block" disabled={view.isUsual} onClick={view.reset}>
        Reset columns and widths
      </Button>
    </Popover.Dropdown>
  </Popover>
)
