/** A row of the inbox: what it is, its numbers, and what can be done with it. */
import { Alert, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Problem } from '../../server/problem.ts'
import classes from './inbox.module.css'
import { ROW } from './rows.ts'

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
          {detail && (
            <Text size="xs" c="dimmed" component="div">
              {detail}
            </Text>
          )}
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

export const Rows = ({ label, children }: { label: string; children: ReactNode }) => (
  <ul className={classes.rows} aria-label={label}>
    {children}
  </ul>
)
