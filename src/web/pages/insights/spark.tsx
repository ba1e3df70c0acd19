/** A row of small bars: a share from 0 to 1 over time. */
import { percent } from '../../format/counts.ts'
import classes from './insights.module.css'

interface SparkProps {
  /** What it is a share of: “Cache hit rate of claude-opus-4-5”. */
  label: string
  /** By step; null where there was none. */
  shares: readonly (number | null)[]
}

/** A bar and the gap after it; bars of many steps are narrower. */
const STEP_PX = 13

export function Spark({ label, shares }: SparkProps) {
  const known = shares.filter((share) => share !== null)
  const reading = known.length === 0 ? 'none' : `from ${percent(known[0]!)} to ${percent(known.at(-1)!)}`
  return (
    <div
      className={classes.spark}
      role="img"
      aria-label={`${label}: ${reading}`}
      title={reading}
      style={{ maxWidth: shares.length * STEP_PX }}
    >
      {shares.map((share, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a period have no other key
        <div key={at} style={{ height: `${share === null ? 0 : Math.max(4, share * 100)}%` }} />
      ))}
    </div>
  )
}
