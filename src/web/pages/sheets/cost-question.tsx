/** Asks before costs are saved that are far from the list value: in cents, of another entry, or at a wrong price. */
import { Alert, List, Text } from '@mantine/core'
import { count } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import type { SheetEntry } from './sheet-body.ts'

/** More than anyone reads one by one. */
const SHOWN = 5

/** `entries` are those of a dry run with `cost_mismatch`. */
export const CostQuestion = ({ entries }: { entries: SheetEntry[] }) => (
  <Alert color="orange" variant="light" title="Is this cost right?" role="alert">
    <Text size="sm">
      It is more than 10 times the list value, or less than a tenth of it. Check that it is in US dollars, that it
      belongs to this usage only, and that the model is right.
    </Text>
    <List size="sm" mt={4}>
      {entries.slice(0, SHOWN).map((entry) => (
        <List.Item key={entry.id}>
          {money(entry.reported_cost ?? 0)} for {count(entry.tokens.total)} tokens of <bdi>{entry.model}</bdi>, with a
          list value of {money(entry.list_value ?? 0)}
        </List.Item>
      ))}
    </List>
    {entries.length > SHOWN && <Text size="sm">and {count(entries.length - SHOWN)} more</Text>}
  </Alert>
)
