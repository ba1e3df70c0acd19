import { percent } from '../../format/counts.ts'
import classes from './share-bar.module.css'

interface ShareBarProps {
  /** Of 1. */
  share: number
  'aria-hidden'?: true
}

/** How much something is of the whole, with the percentage on hover. */
export const ShareBar = ({ share, ...hidden }: ShareBarProps) => (
  <div className={classes.bar} title={percent(share)} {...hidden}>
    <div style={{ width: `${Math.min(1, share) * 100}%` }} />
  </div>
)
