/** Opens the command palette: from the header, and with the keyboard on every page. */
import { ActionIcon, Kbd, Text, UnstyledButton } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { tinykeys } from 'tinykeys'
import type { Section } from '../navigation.ts'
import { isDialogOpen, MODIFIER } from '../shortcuts.ts'
import classes from './palette-button.module.css'

const Palette = lazy(() => import('./palette.tsx'))

export function PaletteButton({ sections, help }: { sections: readonly Section[]; help: () => void }) {
  const [isOpen, setOpen] = useState(false)
  useEffect(
    () =>
      tinykeys(
        window,
        {
          '$mod+KeyK': (event) => {
            event.preventDefault()
            // What was typed into a dialog would be lost on another page.
            if (!isDialogOpen()) setOpen(true)
          },
        },
        { ignore: () => false },
      ),
    [],
  )
  const open = () => setOpen(true)
  return (
    <>
      <UnstyledButton className={classes.button} onClick={open} visibleFrom="sm" aria-keyshortcuts="Control+K Meta+K">
        <IconSearch size={15} stroke={1.6} />
        <Text span size="sm">
          Search
        </Text>
        <Kbd size="xs" aria-hidden>
          {MODIFIER === 'Ctrl' ? 'Ctrl K' : '⌘ K'}
        </Kbd>
      </UnstyledButton>
      <ActionIcon variant="subtle" color="gray" hiddenFrom="sm" aria-label="Search" onClick={open}>
        <IconSearch size={18} stroke={1.6} />
      </ActionIcon>
      {isOpen && (
        <Suspense>
          <Palette close={() => setOpen(false)} sections={sections} help={help} />
        </Suspense>
      )}
    </>
  )
}
