/** A compressed font: its path, also within the executable. */
declare module '*.zst' {
  const path: string
  export default path
}
