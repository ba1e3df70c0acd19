import { SegmentedControl, type SegmentedControlProps } from '@mantine/core'

/** Values with their titles, as the inputs of Mantine take them. */
export const optionsOf = <Value extends string>(titles: Readonly<Record<Value, string>>) =>
  Object.entries<string>(titles).map(([value, label]) => ({ value: value as Value, label }))

interface SegmentedProps<Value extends string> extends Omit<SegmentedControlProps, 'data' | 'value' | 'onChange'> {
  titles: Readonly<Record<Value, string>>
  value: NoInfer<Value>
  choose: (value: Value) => void
}

/** A choice of one of a few, which are all in sight. */
export const Segmented = <Value extends string>({ titles, choose, ...props }: SegmentedProps<Value>) => (
  <SegmentedControl data={optionsOf(titles)} onChange={(value) => choose(value as Value)} {...props} />
)
