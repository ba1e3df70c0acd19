/** The values of a bar, next to it, and their total. */
import classes from './chart.module.css'
import { type AmountFormat, type ChartSeries, inWords } from './series.ts'

interface ChartValuesProps {
  title: string
  rows: readonly { series: ChartSeries; value: number | null }[]
  total: number | null
  format: AmountFormat
  /** Of the bar. */
  side: 'left' | 'right'
  /** The edge of the bar, in pixels. */
  at: number
}

export function ChartValues({ title, rows, total, format, side, at }: ChartValuesProps) {
  return (
    <div className={classes.values} data-side={side} style={{ left: at }}>
      <b>{title}</b>
      {rows.map(({ series, value }) => (
        <div key={series.key} className={classes.value}>
          <Swatch series={series} />
          <bdi>{series.label}</bdi>
          <span>{inWords(value, format)}</span>
        </div>
      ))}
      {rows.length > 1 && (
        <div className={classes.value} data-total>
          <span />
          <span>Total</span>
          <span>{inWords(total, format)}</span>
        </div>
      )}
    </div>
  )
}

interface SwatchProps {
  series: Pick<ChartSeries, 'color' | 'pattern' | 'isEarlier'>
  isLine?: boolean
}

export const Swatch = ({ series: { color, pattern, isEarlier }, isLine = false }: SwatchProps) => (
  <span
    className={classes.swatch}
    style={{ color }}
    data-pattern={pattern}
    data-line={isLine || undefined}
    data-earlier={isEarlier || undefined}
    aria-hidden
  />
)
