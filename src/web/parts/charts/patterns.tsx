/** What fills bars: a color, or a pattern in that color where another series has the same. */
import type { Pattern } from './colors.ts'
import type { ChartSeries } from './series.ts'

const SIZE_PX = 6

/** The light part of a pattern shows the color too: the bar keeps its outline on any background. */
const LIGHT = 0.35

const DRAWN: Record<Exclude<Pattern, 'solid'>, string> = {
  diagonal: 'M-1 1l2 -2M0 6l6 -6M5 7l2 -2',
  dots: 'M1.5 1.5h2v2h-2z',
  horizontal: 'M0 1.5h6',
}

type Filled = Pick<ChartSeries, 'key' | 'color' | 'pattern'>

const nameOf = (id: string, { color, pattern }: Filled): string =>
  `${id}-${pattern}-${color.replace(/[^a-z0-9]/gi, '')}`

/** The `fill` of a series in the chart of this id. */
export const patternFill = (id: string, series: Filled): string =>
  series.pattern === 'solid' ? series.color : `url(#${CSS.escape(nameOf(id, series))})`

export const PatternDefinitions = ({ id, series }: { id: string; series: readonly Filled[] }) => (
  <defs>
    {series.map((each) => {
      const { key, color, pattern } = each
      if (pattern === 'solid') return null
      return (
        <pattern key={key} id={nameOf(id, each)} width={SIZE_PX} height={SIZE_PX} patternUnits="userSpaceOnUse">
          <rect width={SIZE_PX} height={SIZE_PX} fill={color} fillOpacity={LIGHT} />
          <path d={DRAWN[pattern]} stroke={color} strokeWidth={2} fill={pattern === 'dots' ? color : 'none'} />
        </pattern>
      )
    })}
  </defs>
)
