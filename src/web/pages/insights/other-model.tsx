/** What the same tokens would have cost at the prices of another model. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { count, percentChange } from '../../format/counts.ts'
import { cellColumn, moneyColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Money } from '../../parts/figures.tsx'
import { ModelInput } from '../../parts/model-input.tsx'
import { AllEntries, Entries, ModelName } from './cells.tsx'
import { LeftOut, PartsOf } from './left-out.tsx'
import { type ReportQuery, useWhatIf, type WhatIfReport } from './queries.ts'
import { Section } from './section.tsx'
import { whatIfInWords } from './words.ts'

interface OtherModelProps {
  query: ReportQuery
  /** The chosen model. */
  as: string | undefined
  choose: (model: string | undefined) => void
}

type Model = WhatIfReport['data'][number]

export function OtherModel({ query, as, choose }: OtherModelProps) {
  const report = useWhatIf(query, as)
  const { data } = report
  return (
    <Section
      title="At the prices of another model"
      found={as === undefined ? undefined : data && whatIfInWords(data)}
      note="Hypothetical: another model would use other numbers of tokens. Both amounts are at list prices. Filter by model to replace only some models."
      controls={<ModelForm key={as ?? ''} as={as} choose={choose} />}
      csv={
        as !== undefined && data && data.data.length > 0
          ? { path: '/reports/what-if', query: { ...query, as_model: as } }
          : undefined
      }
      request={report}
    >
      {data && <LeftOut parts={data.left_out} />}
      {data && (
        <DataTable
          label="Models at the prices of another"
          columns={columnsOf(data)}
          list={data.data}
          rowKey={({ list }) => list}
          empty={<Empty title="No usage in this period">Choose a longer period, or remove a filter.</Empty>}
          foot={{
            model: 'Total',
            value: <Money amount={data.totals.value} />,
            other: <Money amount={data.totals.other_value} />,
            difference: <Money amount={data.totals.difference} />,
            ratio: changeOf(data.totals.ratio),
            left_out: count(data.totals.unvalued_entries),
            entries: <AllEntries entries={data.totals.entries} query={query} />,
          }}
        />
      )}
    </Section>
  )
}

function ModelForm({ as, choose }: Omit<OtherModelProps, 'query'>) {
  const [typed, setTyped] = useState(as ?? '')
  return (
    <form
      style={{ display: 'flex', gap: 8 }}
      onSubmit={(event) => {
        event.preventDefault()
        choose(typed.trim() || undefined)
      }}
    >
      <ModelInput
        size="xs"
        aria-label="Other model"
        placeholder="Model of the price table"
        value={typed}
        onChange={setTyped}
        onOptionSubmit={choose}
      />
      <Button type="submit" size="xs" variant="default">
        Compare
      </Button>
    </form>
  )
}

const changeOf = (ratio: number | null): string => (ratio === null ? '–' : percentChange(ratio - 1))

const columnsOf = ({ left_out }: WhatIfReport): Column<Model>[] =>
  unsorted([
    cellColumn('model', 'Model', { minWidth: '180px', phone: 'title' }, (row) => <ModelName {...row} />),
    moneyColumn('value', 'Own prices', ({ value }) => value, { width: '120px' }),
    moneyColumn('other', 'Other prices', ({ other_value }) => other_value, { width: '130px' }),
    moneyColumn('difference', 'Difference', ({ difference }) => difference, { width: '120px', phone: 'value' }),
    cellColumn('ratio', 'Change', { isNumber: true, width: '100px' }, ({ ratio }) => changeOf(ratio)),
    cellColumn('left_out', 'Without a price', { isNumber: true, width: '140px' }, ({ model, provider }) => (
      <PartsOf parts={left_out.filter((part) => part.model === model && part.provider === provider)} />
    )),
    cellColumn('entries', 'Entries', { isNumber: true, width: '90px' }, (row) => <Entries {...row} />),
  ])
