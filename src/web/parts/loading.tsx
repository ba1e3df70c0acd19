import { Skeleton } from '@mantine/core'

const WIDTHS = [92, 84, 97, 78, 90, 86, 95, 80]

/** A loading placeholder. */
export const Loading = ({ lines = WIDTHS.length }: { lines?: number }) => (
  <div role="status" aria-label="Loading">
    {WIDTHS.slice(0, lines).map((width) => (
      <Skeleton key={width} height={14} my={11} width={`${width}%`} />
    ))}
  </div>
)
