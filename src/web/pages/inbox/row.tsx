/** A row of the inbox: what it is, its numbers, and what can be done with it. */
import { Alert, Button, Group, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Caption } from '../../parts/texts.tsx'
import type { Problem } from '../../server/problem.ts'
import classes from './inbox.module.css'
import { pressedBy, ROW } from './rows.ts'

interface RowProps {
  title: ReactNode
  detail?: ReactNode
  numbers?: ReactNode
  actions: ReactNode
  /** Why the last action failed. */
  problem?: Pick<Problem, 'message'> | null | undefined
  /** Rows below it. */
  children?: ReactNode
}

export const Row = ({ title, detail, numbers, actions, problem, children }: RowProps) => (
  <>
    <li {...ROW} className={classes.row}>
      <div className={classes.line}>
        <div className={classes.what}>
          <Text size="sm" fw={600} component="div">
            {title}
          </Text>
          {detail && <Caption component="div">{detail}</Caption>}
        </div>
        {numbers && <div className={classes.numbers}>{numbers}</div>}
        {actions}
      </div>
      {problem && (
        <Alert color="red" variant="light" role="alert" mt="xs" p="xs">
          {problem.message}
        </Alert>
      )}
    </li>
    {children && <li className={classes.nested}>{children}</li>}
  </>
)

interface Decision {
  label: string
  /** The beginning of its accessible name, which the name of the row completes. */
  verb: string
  decide: () => void
  isPending?: boolean
}

interface DecisionsProps {
  /** Of what the row shows. */
  name: string
  approve: Decision
  refuse: Decision
  /** How to open it, and dialogs. */
  children: ReactNode
}

/** The buttons of a row that waits for approval, with their keys. */
export const Decisions = ({ name, approve, refuse, children }: DecisionsProps) => (
  <Group gap="xs">
    <Button
      size="compact-sm"
      loading={approve.isPending ?? false}
      onClick={approve.decide}
      aria-label={`${approve.verb}: ${name}`}
      {...pressedBy('a')}
    >
      {approve.label}
    </Button>
    <Button
      size="compact-sm"
      variant="default"
      onClick={refuse.decide}
      aria-label={`${refuse.verb}: ${name}`}
      {...pressedBy('r')}
    >
      {refuse.label}
    </Button>
    {children}
  </Group>
)

export const Rows = ({ label, children }: { label: string; children: ReactNode }) => (
  <ul className={classes.rows} aria-label={label}>
    {children}
  </ul>
)
