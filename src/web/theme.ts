import { createTheme, type MantineColorsTuple } from '@mantine/core'

/** A quiet green-blue: money and counts carry the page, colour only marks what can be done or must be seen. */
const teal: MantineColorsTuple = [
  '#eaf7f6',
  '#d5ecea',
  '#a9d9d5',
  '#7ac5bf',
  '#53b4ac',
  '#3aa9a0',
  '#2b958d',
  '#0f766e',
  '#0b625c',
  '#064e49',
]

const SYSTEM_FONT =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', Arial, sans-serif"

export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: { light: 7, dark: 5 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  colors: { teal },
  fontFamily: SYSTEM_FONT,
  fontFamilyMonospace: "ui-monospace, 'Cascadia Code', 'SF Mono', Menlo, 'Liberation Mono', monospace",
  headings: { fontFamily: SYSTEM_FONT, fontWeight: '650' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Tables and forms are dense: people look at hundreds of rows, not at the space between them.
    Button: { defaultProps: { size: 'sm' } },
    Badge: { defaultProps: { variant: 'light', size: 'sm', radius: 'sm', tt: 'none' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, events: { hover: true, focus: true, touch: true } } },
    Drawer: { defaultProps: { position: 'right', size: 'lg', closeButtonProps: { 'aria-label': 'Close' } } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
  },
})
