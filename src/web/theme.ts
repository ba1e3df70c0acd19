import { createTheme, defaultVariantColorsResolver, type MantineColorsTuple } from '@mantine/core'

/** A quiet green-blue. Color only marks actions and what needs attention. */
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

const PRIMARY = 'teal'

const SYSTEM_FONT =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', 'Liberation Sans', Arial, sans-serif"

/** Of the buttons with an arrow. */
const CALENDAR = {
  defaultProps: {
    ariaLabels: {
      previousMonth: 'Previous month',
      nextMonth: 'Next month',
      previousYear: 'Previous year',
      nextYear: 'Next year',
      previousDecade: 'Previous decade',
      nextDecade: 'Next decade',
    },
  },
}

export const theme = createTheme({
  primaryColor: PRIMARY,
  primaryShade: { light: 7, dark: 5 },
  autoContrast: true,
  // White on the dark scheme's teal would have a contrast of only 2.8.
  luminanceThreshold: 0.3,
  // Mantine picks the text color by the light scheme's shade, for buttons in both schemes.
  variantColorResolver: (input) => {
    const isPrimary = input.variant === 'filled' && (input.color ?? PRIMARY) === PRIMARY
    const colors = defaultVariantColorsResolver(input)
    return isPrimary ? { ...colors, color: 'var(--mantine-primary-color-contrast)' } : colors
  },
  colors: { teal },
  fontFamily: SYSTEM_FONT,
  fontFamilyMonospace: "ui-monospace, 'Cascadia Code', 'SF Mono', Menlo, 'Liberation Mono', monospace",
  headings: { fontFamily: SYSTEM_FONT, fontWeight: '650' },
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Tables and forms are dense: people look at hundreds of rows, not at the space between them.
    DatePicker: CALENDAR,
    DateInput: CALENDAR,
    DateTimePicker: CALENDAR,
    MonthPickerInput: CALENDAR,
    // In texts, tables and cards: the color of the text, with a line (main.css).
    Anchor: { defaultProps: { underline: 'always' } },
    Button: { defaultProps: { size: 'sm' } },
    Badge: { defaultProps: { variant: 'light', size: 'sm', radius: 'sm', tt: 'none' } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, events: { hover: true, focus: true, touch: true } } },
    // Outside of the page, it would be a second banner.
    DrawerHeader: { defaultProps: { role: 'none' } },
    ModalHeader: { defaultProps: { role: 'none' } },
    Drawer: { defaultProps: { position: 'right', size: 'lg', closeButtonProps: { 'aria-label': 'Close' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Modal: { defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } } },
  },
})
