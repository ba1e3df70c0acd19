import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './details.module.css'
import { Caption } from './texts.tsx'

/** Names and values, one per line: `[['Client', 'Acme'], …]`. Empty values are left out. */
export const Details = ({ of }: { of: readonly (readonly [title: string, value: ReactNode])[] }) => (
  <dl className={classes.details}>
    {of
      .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
      .map(([title, value]) => (
        <div key={title}>
          <Caption component="dt">{title}</Caption>
          <Text component="dd" size="sm">
            {value}
          </Text>
        </div>
      ))}
  </dl>
)
