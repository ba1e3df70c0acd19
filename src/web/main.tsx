import './main.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queryClient } from './server/queries.ts'
import { Application } from './shell/application.tsx'
import { askOnNavigation, sendFirstRequests } from './shell/first-requests.ts'
import { theme } from './theme.ts'

// Scroll locking behind dialogs adds a style element, which the content security policy allows only with this nonce.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')!.content
setNonce(nonce)

/** Longer than a server nearby takes to answer. To render that it is being asked would take as long as that. */
const UNNOTICED_MS = 200

const render = () =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <Notifications position="bottom-right" limit={3} />
        <QueryClientProvider client={queryClient}>
          <Application />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )

askOnNavigation()

// Not awaited: the scripts of pages import this one, and would wait for it. An error there does not leave the page empty.
void Promise.race([sendFirstRequests(), new Promise((end) => setTimeout(end, UNNOTICED_MS))]).finally(render)
