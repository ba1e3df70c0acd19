/** Chooses light or dark before anything is painted, so that no page flashes white at night. */
const chosen = (() => {
  try {
    return localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // Storage may be refused; the system's choice is as good.
    return null
  }
})()
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
