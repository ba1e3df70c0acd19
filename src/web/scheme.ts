/** Sets the light or dark scheme before the first paint, so that dark pages don't flash white. */
const chosen = (() => {
  try {
    return localStorage.getItem('mantine-color-scheme-value')
  } catch {
    // Storage may be blocked; fall back to the system's scheme.
    return null
  }
})()
const isDark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light')
