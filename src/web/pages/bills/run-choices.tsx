/** Decisions that apply to all bills of a run, and its exchange rates. */
import { Input, Select, Switch } from '@mantine/core'
import { useState } from 'react'
import { BASIS_TITLES, COST_BASES, type CostBasis } from '../../../shared/cost-basis.ts'
import { dayInWords } from '../../format/moments.ts'
import { DecimalField } from '../../parts/number-fields.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { type RunRow, ratesOf } from './run-body.ts'

type Earlier = '' | 'include' | 'leave'

interface RunChoicesProps {
  rows: readonly RunRow[]
  earlier: Earlier
  isUnpricedLeft: boolean
  /** Empty for the usual one of each bill. */
  basis: CostBasis | ''
  isProvisional: boolean
  /** As in the address: `EUR:0.92`. */
  rates: readonly string[]
  show: (changes: {
    earlier?: Earlier
    unpriced?: boolean
    basis?: CostBasis | ''
    provisional?: boolean
    rate?: string[]
  }) => void
}

export function RunChoices({ rows, earlier, isUnpricedLeft, basis, isProvisional, rates, show }: RunChoicesProps) {
  const others = (currency: string) => rates.filter((rate) => !rate.startsWith(`${currency}:`))
  return (
    <>
      <Input.Wrapper label="Entries from before the month" labelElement="div">
        <div>
          <Segmented
            aria-label="Entries from before the month"
            titles={{ '': 'Choose…', include: 'Include', leave: 'Exclude' }}
            value={earlier}
            choose={(earlier) => show({ earlier })}
          />
        </div>
      </Input.Wrapper>
      <Switch
        label="Leave out unpriced entries"
        checked={isUnpricedLeft}
        onChange={(event) => show({ unpriced: event.currentTarget.checked })}
        mb={8}
      />
      <Select
        label="Basis"
        data={[
          { value: '', label: 'As usual for each' },
          ...COST_BASES.map((one) => ({ value: one, label: BASIS_TITLES[one] })),
        ]}
        allowDeselect={false}
        w={180}
        value={basis}
        onChange={(value) => show({ basis: value as CostBasis | '' })}
      />
      {(isProvisional || rows.some((row) => row.provisional)) && (
        <Switch
          label="Bill open periods of plans provisionally"
          checked={isProvisional}
          onChange={(event) => show({ provisional: event.currentTarget.checked })}
          mb={8}
        />
      )}
      {ratesOf(rows).map(({ currency, rate, on }) => (
        <Rate
          key={currency}
          currency={currency}
          rate={rate}
          // One that was entered just now has no day of its own.
          on={rates.some((text) => text.startsWith(`${currency}:`)) ? undefined : on}
          change={(text) =>
            show({ rate: text === '' ? others(currency) : [...others(currency), `${currency}:${text}`] })
          }
        />
      ))}
    </>
  )
}

interface RateProps {
  currency: string
  rate: number | undefined
  on: string | undefined
  change: (text: string) => void
}

/** Applies once the field is left, or with Enter: each rate composes all bills again. */
function Rate({ currency, rate, on, change }: RateProps) {
  const [typed, setTyped] = useState<number | string>()
  const apply = () => {
    if (typed === undefined || (typed !== '' && !(Number(typed) > 0))) return
    change(
      typed === ''
        ? ''
        : Number(typed)
            .toFixed(RATE_DECIMALS)
            .replace(/\.?0+$/, ''),
    )
    setTyped(undefined)
  }
  return (
    <DecimalField
      label={`${currency} per US dollar`}
      description={on && `Rate of ${dayInWords(on)}`}
      placeholder="0.92"
      digits={RATE_DECIMALS}
      min={0}
      w={170}
      value={typed ?? rate ?? ''}
      onChange={setTyped}
      onBlur={apply}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply()
      }}
    />
  )
}

/** As many as the API takes. */
const RATE_DECIMALS = 10
