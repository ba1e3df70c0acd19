/** Money, counts and times as text, with the exact value on hover. */
import { Tooltip } from '@mantine/core'
import { createContext, type ReactNode, useContext } from 'react'
import { count, roughCount } from '../format/counts.ts'
import { ago, dayAndTime, shortDayAndTime } from '../format/moments.ts'
import { columnMoney, exactMoney, fineMoney, money } from '../format/money.ts'
import { useSettings } from '../server/me.ts'
import { Dimmed } from './texts.tsx'

function Rounded({ exactly, children }: { exactly: string; children: string }) {
  if (exactly === children) return <>{children}</>
  return (
    <Tooltip label={exactly}>
      <data value={exactly}>{children}</data>
    </Tooltip>
  )
}

/** True in a column of numbers, where all amounts have the same decimals. */
export const InColumn = createContext(false)

interface MoneyProps {
  amount: number | null
  currency?: string
  /** Four decimals, for columns of small amounts. */
  isFine?: boolean
}

/** An unknown amount reads “no price”, not 0. */
export function Money({ amount, currency = 'USD', isFine = false }: MoneyProps) {
  const isInColumn = useContext(InColumn)
  if (amount === null) {
    return <Dimmed>no price</Dimmed>
  }
  return (
    <Rounded exactly={exactMoney(amount, currency)}>
      {(isFine ? fineMoney : isInColumn ? columnMoney : money)(amount, currency)}
    </Rounded>
  )
}

export const Count = ({ value }: { value: number }) => <Rounded exactly={count(value)}>{roughCount(value)}</Rounded>

interface MomentProps {
  at: string | null
  otherwise?: ReactNode
  /** Without the current year, for table columns. */
  isShort?: boolean
}

/** `21 Nov 2026, 17:53` in the organization's zone; `null` reads as `otherwise`. */
export function Moment({ at, otherwise = '–', isShort = false }: MomentProps) {
  const { time_zone } = useSettings()
  if (at === null) return <>{otherwise}</>
  return (
    <Tooltip label={isShort ? `${dayAndTime(at, time_zone)} · ${time_zone}` : `${at} · ${time_zone}`}>
      <time dateTime={at}>{(isShort ? shortDayAndTime : dayAndTime)(at, time_zone)}</time>
    </Tooltip>
  )
}

/** `5 minutes ago`, with the moment itself on hover. */
export function Ago({ at, otherwise = 'never' }: { at: string | null; otherwise?: ReactNode }) {
  const { time_zone } = useSettings()
  if (at === null) return <>{otherwise}</>
  return (
    <Tooltip label={`${dayAndTime(at, time_zone)} · ${time_zone}`}>
      <time dateTime={at}>{ago(at)}</time>
    </Tooltip>
  )
}
