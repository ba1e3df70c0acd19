/** The usual texts and headings of pages. */
import { Text, Title } from '@mantine/core'

/** The title of a part of the page. */
export const SectionTitle = Title.withProps({ order: 2, size: 'h4' })
/** The title of a card, or of one of many parts. */
export const CardTitle = Title.withProps({ order: 2, size: 'h5' })
/** Explains what is next to it. */
export const Note = Text.withProps({ size: 'sm', c: 'dimmed' })
/** Belongs to what is above it. */
export const Caption = Text.withProps({ size: 'xs', c: 'dimmed' })
/** Within a text. */
export const Dimmed = Text.withProps({ span: true, inherit: true, c: 'dimmed' })
