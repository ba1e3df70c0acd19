/** What a viewer sees of money. */
import { count, counted } from '../../format/counts.ts'
import { billedMoney } from '../../format/money.ts'
import { Money } from '../../parts/figures.tsx'
import type { Me } from '../../server/me.ts'
import type { Result } from './usage-query.ts'

export type Shared = NonNullable<Me['shared']>

export const showsMoney = (shared: Shared, money: 'amounts' | 'cost') =>
  shared.grants.some((grant) => grant.money === money)

/** One for each currency, as on the bills. */
export const Amounts = ({ of: amounts }: { of: Result['amounts'] }) =>
  amounts.length === 0 ? '–' : amounts.map(({ currency, amount }) => billedMoney(amount, currency)).join(' + ')

/** Nothing, where the cost of a row is not shared or not known. */
export const Known = ({ amount }: { amount: number | null }) => (amount === null ? '–' : <Money amount={amount} />)

export const covered = (some: number, all: number) =>
  some < all ? `${count(some)} of ${counted(all, 'entry', 'entries')}` : `all ${counted(all, 'entry', 'entries')}`
