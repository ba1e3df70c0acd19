import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './details.module.css'

/** Names and values, one per line: `[['Client', 'Acme'], …]`. Empty values are left out. */
export const Details = ({ of }: { of: readonly (readonly [title: string, value: ReactNode])[] }) => (
  <dl className={classes.details}>
    {of
      .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
      .map(([title, value]) => (
        <div key={title}>
          <Text component="dt" size="xs" c="dimmed">
            {title}
          </Text>
          <Text component="dd" size="sm">
            {value}
          </Text>
        </div>
      ))}
  </dl>
)
