/** A titled section of names and values, as in the drawer of an entry. */
import { Title } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './entries.module.css'

export const Part = ({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) => (
  <section>
    <div className={classes.partTitle}>
      <Title order={3} size="h6">
        {title}
      </Title>
      {aside}
    </div>
    {children}
  </section>
)

/** Values that are null are left out. */
export const Facts = ({ facts }: { facts: [name: string, value: ReactNode][] }) => (
  <dl className={classes.facts}>
    {facts.map(([name, value]) =>
      value === null || value === undefined || value === false ? null : (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
)
