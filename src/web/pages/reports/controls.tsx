/** What a report measures, by what, how finely, and compared with what. */

import { Button, NativeSelect, TextInput } from '@mantine/core'
import { IconAdjustments } from '@tabler/icons-react'
import { useState } from 'react'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import type { Comparison } from '../../../shared/report-table.ts'
import { BasisSelect } from '../../parts/basis-select.tsx'
import { widthsFor } from '../../parts/charts/buckets.ts'
import { DIMENSION_NAMES, type Dimension, isLabel, titleOf } from '../../parts/usage/dimensions.ts'
import { MEASURE_NAMES, type MeasureName, measureOf } from '../../parts/usage/measures.ts'
import type { CHARTS } from './address.ts'
import type { Question } from './question.ts'
import classes from './reports.module.css'

export type ChartChoice = (typeof CHARTS)[number]

interface ControlsProps {
  question: Question
  chart: ChartChoice
  compare: Comparison
  show: (changes: {
    measure?: MeasureName
    basis?: CostBasis
    by?: Dimension
    second?: Dimension | undefined
    bucket?: string
    chart?: ChartChoice
    compare?: Comparison
    search?: undefined
  }) => void
}

const CHART_TITLES: Record<ChartChoice, string> = {
  stacked: 'Stacked bars',
  bars: 'Bars',
  lines: 'Lines',
  share: 'Shares',
  none: 'No chart',
}

/** The charts that say something true: what does not add up cannot be stacked, and neither can two periods. */
const chartsFor = (measure: MeasureName, isCompared: boolean): ChartChoice[] =>
  isCompared || measureOf(measure).isDistinct
    ? ['bars', 'lines', 'none']
    : ['stacked', 'bars', 'lines', 'share', 'none']

export const chartFor = (chosen: ChartChoice, measure: MeasureName, isCompared: boolean): ChartChoice => {
  const offered = chartsFor(measure, isCompared)
  return offered.includes(chosen) ? chosen : offered[0]!
}

export function Controls({ question, chart, compare, show }: ControlsProps) {
  const { measure, basis = 'cost', by, second, period, width, earlier } = question
  const widths = [...widthsFor(period), { value: 'all', label: 'Whole period' }]
  // Only on a phone, where they would be as high as the chart.
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={`${classes.controls} tally-no-print`} data-open={isOpen || undefined}>
      <Button
        variant="default"
        size="xs"
        hiddenFrom="sm"
        leftSection={<IconAdjustments size={14} />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {[measureOf(measure, basis).title, ...[by, second].flatMap((each) => (each ? titleOf(each) : []))].join(' · ')}
      </Button>
      <NativeSelect
        size="xs"
        label="Measure"
        data={MEASURE_NAMES.map((value) => ({ value, label: measureOf(value, basis).title }))}
        value={measure}
        onChange={({ currentTarget }) => show({ measure: currentTarget.value as MeasureName })}
      />
      <BasisSelect label="Cost basis" value={basis} change={(basis) => show({ basis })} />
      <DimensionSelect label="Group by" value={by} change={(by) => by && show({ by, search: undefined })} />
      <DimensionSelect
        isOptional
        label="Then by"
        value={second}
        without={by}
        change={(second) => show({ second, search: undefined })}
      />
      <NativeSelect
        size="xs"
        label="Granularity"
        data={widths}
        value={width}
        onChange={({ currentTarget }) => show({ bucket: currentTarget.value })}
      />
      <NativeSelect
        size="xs"
        label="Compare with"
        data={[
          { value: 'none', label: 'Nothing' },
          { value: 'previous', label: 'Previous period' },
          { value: 'year', label: 'A year earlier' },
        ]}
        value={compare}
        onChange={({ currentTarget }) => show({ compare: currentTarget.value as Comparison })}
      />
      <NativeSelect
        size="xs"
        label="Chart"
        data={chartsFor(measure, earlier !== undefined).map((value) => ({ value, label: CHART_TITLES[value] }))}
        value={chart}
        onChange={({ currentTarget }) => show({ chart: currentTarget.value as ChartChoice })}
      />
    </div>
  )
}

interface DimensionSelectProps {
  label: string
  value: Dimension | undefined
  change: (value: Dimension | undefined) => void
  without?: Dimension
  isOptional?: boolean
}

const NONE = 'none'
const LABEL = 'label'

/** With a field for the name of a label, which anything may have. */
function DimensionSelect({ label, value, change, without, isOptional = false }: DimensionSelectProps) {
  const [isNaming, setNaming] = useState(false)
  const offered = DIMENSION_NAMES.filter((name) => name !== without)
  return (
    <>
      <NativeSelect
        size="xs"
        label={label}
        data={[
          ...(isOptional ? [{ value: NONE, label: 'Nothing' }] : []),
          ...offered.map((name) => ({ value: name as string, label: titleOf(name) })),
          ...(value && isLabel(value) ? [{ value: value as string, label: titleOf(value) }] : []),
          { value: LABEL, label: 'Label…' },
        ]}
        value={isNaming ? LABEL : (value ?? NONE)}
        onChange={({ currentTarget: { value } }) => {
          setNaming(value === LABEL)
          if (value !== LABEL) change(value === NONE ? undefined : (value as Dimension))
        }}
      />
      {isNaming && (
        <LabelField
          label={`${label} label`}
          name={(name) => {
            setNaming(false)
            change(`label:${name}`)
          }}
        />
      )}
    </>
  )
}

function LabelField({ label, name }: { label: string; name: (name: string) => void }) {
  const [typed, setTyped] = useState('')
  const isName = isLabel(`label:${typed}`)
  return (
    <TextInput
      size="xs"
      label={label}
      placeholder="repository"
      // The field appears because it was chosen.
      data-autofocus
      autoFocus
      value={typed}
      error={typed !== '' && !isName && 'Small letters, digits, _ . and - only'}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onKeyDown={({ key }) => key === 'Enter' && isName && name(typed)}
      onBlur={() => isName && name(typed)}
    />
  )
}
